//! Boolean circuits over the servers' bits, with gates counted: AND has a cost, XOR and NOT are free.
//!
//! Gates are added in the order of evaluation; constants are folded, so that every gate counted is
//! needed. [`Circuit::eval`] evaluates 64 draws at once, one per bit of a word: the tests measure the
//! law with it.

/// A value in a circuit: a public constant, or the output of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A public constant.
    Known(bool),
    /// Index of the gate whose output it is.
    Gate(u32),
}

/// One gate; operands are indices of earlier gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// The next bit of a server.
    Input {
        /// Index of the server.
        server: u32,
        /// Index of the bit among the server's.
        place: u32,
    },
    /// Exclusive or.
    Xor(u32, u32),
    /// And.
    And(u32, u32),
    /// Not.
    Not(u32),
}

/// A circuit under construction.
#[derive(Debug, Clone)]
pub struct Circuit {
    gates: Vec<Gate>,
    inputs: Vec<u32>,
    outputs: Vec<Wire>,
    ands: usize,
}

impl Circuit {
    /// Creates an empty circuit for this many servers.
    pub fn new(servers: u32) -> Self {
        Self { gates: vec![], inputs: vec![0; servers as usize], outputs: vec![], ands: 0 }
    }

    /// All gates, in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The number of input bits of each server.
    pub fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// The output wires.
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// The number of AND gates.
    pub fn ands(&self) -> usize {
        self.ands
    }

    fn push(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire::Gate(self.gates.len() as u32 - 1)
    }

    /// Adds the next input bit of a server.
    pub fn input(&mut self, server: u32) -> Wire {
        let place = self.inputs[server as usize];
        self.inputs[server as usize] += 1;
        self.push(Gate::Input { server, place })
    }

    /// Adds up, mod 2, a bit of every server: uniform if one of them is, for any values of the others.
    pub fn uniform(&mut self) -> Wire {
        let servers = self.inputs.len() as u32;
        (0..servers).fold(Wire::Known(false), |sum, server| {
            let bit = self.input(server);
            self.xor(sum, bit)
        })
    }

    /// Adds a NOT gate.
    pub fn not(&mut self, a: Wire) -> Wire {
        match a {
            Wire::Known(a) => Wire::Known(!a),
            Wire::Gate(a) => self.push(Gate::Not(a)),
        }
    }

    /// Adds an exclusive or.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::Known(false), other) | (other, Wire::Known(false)) => other,
            (Wire::Known(true), other) | (other, Wire::Known(true)) => self.not(other),
            (Wire::Gate(a), Wire::Gate(b)) if a == b => Wire::Known(false),
            (Wire::Gate(a), Wire::Gate(b)) => self.push(Gate::Xor(a, b)),
        }
    }

    /// Adds an AND gate.
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

    /// Computes u < c, least significant bits first: one AND per bit.
    pub fn less(&mut self, u: &[Wire], c: &[Wire]) -> Wire {
        u.iter().zip(c).fold(Wire::Known(false), |below, (&u, &c)| {
            // If the bits differ c decides, otherwise the lower bits do.
            let (differ, other) = (self.xor(u, c), self.xor(below, c));
            let change = self.and(differ, other);
            self.xor(below, change)
        })
    }

    /// Computes, for each value of the bits (least significant first), the indicator of that value:
    /// 2ᵇ − b − 1 ANDs.
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

    /// Adds up columns of bits, column i of weight 2ⁱ, mod 2 to the number of columns: one AND per
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
                    // Majority of three bits.
                    let both = self.and(ac, bc);
                    let carry = self.xor(both, c);
                    columns[place + 1].push(carry);
                }
            }
            sum.push(column.pop().unwrap_or(Wire::Known(false)));
        }
        sum
    }

    /// Appends these wires to the outputs.
    pub fn output(&mut self, wires: &[Wire]) {
        self.outputs.extend(wires);
    }

    /// Evaluates the outputs, 64 draws at once; `inputs` are each server's bits, in order. Missing bits
    /// are 0.
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

    /// Every value of n input bits, in all 64 lanes at once.
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
        // Four numbers of three bits, the last one two places up, and a constant.
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
