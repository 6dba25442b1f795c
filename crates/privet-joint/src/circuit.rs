//! Boolean circuits over the servers' bits, with gates counted: AND costs, XOR and NOT are free.
//!
//! Gates are added in the order in which they are evaluated; what is known beforehand is folded away, so a gate
//! that is counted is a gate that is needed. [`Circuit::eval`] evaluates 64 draws at once, a bit of a word each:
//! what the tests measure the law with.

/// A value in a circuit: known to everybody, or the output of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A public constant.
    Known(bool),
    /// The output of the gate at this place.
    Gate(u32),
}

/// One gate; operands are places of earlier gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The next bit that a server brings.
    Input {
        /// Which server.
        server: u32,
        /// Which of its bits.
        place: u32,
    },
    /// Exclusive or.
    Xor(u32, u32),
    /// And.
    And(u32, u32),
    /// Not.
    Not(u32),
}

/// A circuit that grows.
#[derive(Debug, Clone)]
pub struct Circuit {
    gates: Vec<Gate>,
    inputs: Vec<u32>,
    outputs: Vec<Wire>,
    ands: usize,
}

impl Circuit {
    /// An empty one among this many servers.
    pub fn new(servers: u32) -> Self {
        Self { gates: vec![], inputs: vec![0; servers as usize], outputs: vec![], ands: 0 }
    }

    /// All gates, in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// How many bits each server brings.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// What comes out.
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// How many AND gates there are.
    pub fn ands(&self) -> usize {
        self.ands
    }

    fn push(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire::Gate(self.gates.len() as u32 - 1)
    }

    /// The next bit of a server.
    pub fn input(&mut self, server: u32) -> Wire {
        let place = self.inputs[server as usize];
        self.inputs[server as usize] += 1;
        self.push(Gate::Input { server, place })
    }

    /// A bit from every server, added up: uniform if one of them is, whatever the others are.
    pub fn uniform(&mut self) -> Wire {
        let servers = self.inputs.len() as u32;
        (0..servers).fold(Wire::Known(false), |sum, server| {
            let bit = self.input(server);
            self.xor(sum, bit)
        })
    }

    /// Not.
    pub fn not(&mut self, a: Wire) -> Wire {
        match a {
            Wire::Known(a) => Wire::Known(!a),
            Wire::Gate(a) => self.push(Gate::Not(a)),
        }
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::Known(false), other) | (other, Wire::Known(false)) => other,
            (Wire::Known(true), other) | (other, Wire::Known(true)) => self.not(other),
            (Wire::Gate(a), Wire::Gate(b)) if a == b => Wire::Known(false),
            (Wire::Gate(a), Wire::Gate(b)) => self.push(Gate::Xor(a, b)),
        }
    }

    /// And.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::Known(false), _) | (_, Wire::Known(false)) => Wire::Known(false),
            (Wire::Known(true), other) | (other, Wire::Known(true)) => other,
            (Wire::Gate(a), Wire::Gate(b)) if a == b => Wire::Gate(a),
            (Wire::Gate(a), Wire::Gate(b)) => {
                self.ands += 1;
                self.push(Gate::And(a, b))
            }
        }
    }

    /// Whether u < c, least significant bits first: one AND a bit.
    pub fn less(&mut self, u: &[Wire], c: &[Wire]) -> Wire {
        u.iter().zip(c).fold(Wire::Known(false), |below, (&u, &c)| {
            // Where the bits differ c decides, otherwise what is below does.
            let (differ, other) = (self.xor(u, c), self.xor(below, c));
            let change = self.and(differ, other);
            self.xor(below, change)
        })
    }

    /// For each value of the bits (least significant first) whether they have it: 2ᵇ − b − 1 ANDs.
    pub fn one_hot(&mut self, bits: &[Wire]) -> Vec<Wire> {
        let mut hot = vec![Wire::Known(true)];
        for &bit in bits {
            // All but one are ANDs with the bit; as exactly one is hot they add up to the bit.
            let mut upper: Vec<Wire> = hot[1..].iter().map(|&one| self.and(one, bit)).collect();
            let first = upper.iter().fold(bit, |sum, &one| self.xor(sum, one));
            upper.insert(0, first);
            let lower: Vec<Wire> =
                hot.iter().zip(&upper).map(|(&one, &with)| self.xor(one, with)).collect();
            hot = lower.into_iter().chain(upper).collect();
        }
        hot
    }

    /// Adds up columns of bits, the column i counting 2ⁱ, mod 2 to the number of columns: one AND for each
    /// carry, none in the last column.
    pub fn add_up(&mut self, mut columns: Vec<Vec<Wire>>) -> Vec<Wire> {
        let mut sum = Vec::with_capacity(columns.len());
        for place in 0..columns.len() {
            let mut column = std::mem::take(&mut columns[place]);
            let last = place + 1 == columns.len();
            while column.len() > 1 {
                let (a, b) = (column.remove(0), column.remove(0));
                let c = if column.is_empty() { Wire::Known(false) } else { column.remove(0) };
                let (ac, bc) = (self.xor(a, c), self.xor(b, c));
                let total = self.xor(ac, b);
                column.push(total);
                if !last {
                    // The majority of three.
                    let both = self.and(ac, bc);
                    let carry = self.xor(both, c);
                    columns[place + 1].push(carry);
                }
            }
            sum.push(column.pop().unwrap_or(Wire::Known(false)));
        }
        sum
    }

    /// Makes these come out, after what does already.
    pub fn output(&mut self, wires: &[Wire]) {
        self.outputs.extend(wires);
    }

    /// What comes out, 64 draws at once; `inputs` are each server's bits, in order. Missing bits are 0.
    pub fn eval(&self, inputs: &[Vec<u64>]) -> Vec<u64> {
        let mut values: Vec<u64> = Vec::with_capacity(self.gates.len());
        for gate in &self.gates {
            let at = |place: u32| values[place as usize];
            let value = match *gate {
                Gate::Input { server, place } => inputs
                    .get(server as usize)
                    .and_then(|bits| bits.get(place as usize))
                    .copied()
                    .unwrap_or(0),
                Gate::Xor(a, b) => at(a) ^ at(b),
                Gate::And(a, b) => at(a) & at(b),
                Gate::Not(a) => !at(a),
            };
            values.push(value);
        }
        let read = |wire: &Wire| match *wire {
            Wire::Known(bit) => 0_u64.wrapping_sub(u64::from(bit)),
            Wire::Gate(place) => values[place as usize],
        };
        self.outputs.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value of n input bits, 64 at a time.
    fn all(bits: usize) -> impl Iterator<Item = (u64, Vec<u64>)> {
        (0..(1_u64 << bits)).map(move |value| {
            (value, (0..bits).map(|bit| 0_u64.wrapping_sub(value >> bit & 1)).collect())
        })
    }

    fn number(words: &[u64]) -> u64 {
        words.iter().enumerate().map(|(bit, word)| (word & 1) << bit).sum()
    }

    #[test]
    fn comparisons_and_values_are_right_for_all_inputs() {
        let mut circuit = Circuit::new(1);
        let bits: Vec<Wire> = (0..8).map(|_| circuit.input(0)).collect();
        let less = circuit.less(&bits[..4], &bits[4..]);
        assert_eq!(circuit.ands(), 4);
        let hot = circuit.one_hot(&bits[..4]);
        assert_eq!(circuit.ands() - 4, 16 - 4 - 1);
        circuit.output(&[less]);
        circuit.output(&hot);
        for (value, inputs) in all(8) {
            let out = circuit.eval(&[inputs]);
            assert_eq!(out[0] & 1, u64::from(value % 16 < value / 16));
            assert_eq!(number(&out[1..]), 1 << (value % 16));
        }
    }

    #[test]
    fn columns_add_up_for_all_inputs() {
        let mut circuit = Circuit::new(1);
        let bits: Vec<Wire> = (0..12).map(|_| circuit.input(0)).collect();
        // Four numbers of three bits, the last one two places up, and a known one.
        let mut columns = vec![vec![]; 6];
        for (place, &bit) in bits.iter().enumerate() {
            columns[place % 3 + 2 * usize::from(place >= 9)].push(bit);
        }
        columns[1].push(Wire::Known(true));
        let sum = circuit.add_up(columns);
        circuit.output(&sum);
        for (value, inputs) in all(12) {
            let part = |at: u64| value >> (3 * at) & 7;
            let expected = part(0) + part(1) + part(2) + 4 * part(3) + 2;
            assert_eq!(number(&circuit.eval(&[inputs])), expected % 64);
        }
    }

    #[test]
    fn one_honest_server_makes_a_bit_uniform() {
        let mut circuit = Circuit::new(3);
        let bit = circuit.uniform();
        circuit.output(&[bit]);
        assert_eq!((circuit.ands(), circuit.inputs()), (0, &[1, 1, 1][..]));
        for (value, words) in all(3) {
            let inputs: Vec<Vec<u64>> = words.iter().map(|&word| vec![word]).collect();
            assert_eq!(circuit.eval(&inputs)[0] & 1, u64::from(value.count_ones() % 2));
        }
    }
}
