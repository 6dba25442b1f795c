//! Evaluates the circuit of the noise between the servers: [`polytune`]'s protocol, one evaluation for a few coordinates at
//! a time.

use crate::{JointError, Lines};
use polytune::garble_lang::register_circuit::{
    And, Circuit as Program, Input, Inst, Not, Op, Reg, Xor,
};
use privet_joint::{Circuit, Gate, Law, RING, Wire, circuit_for, gates};
use std::panic::{AssertUnwindSafe, catch_unwind};
use zeroize::Zeroizing;

/// ANDs of an evaluation, at least, where there are as many: fewer cost more bytes each, more take more memory.
const ANDS: usize = 60_000;

/// ANDs of an evaluation, at the very least: the engine takes a ninth of them at a time, or 1000, and what is left over
/// last, which is then 992 or more. Smaller ones would be less safe
/// ([`privet_joint::UNDETECTED_CHEATING`]) and are filled up with noise that is thrown away.
const FEWEST: usize = 9_000;

/// Where a server's random bits come from: fills what it is given, or says why it cannot.
///
/// All privacy towards the other servers rests on these bits: [`system`] unless nothing is at stake.
pub type Source<'a> = dyn FnMut(&mut [u8]) -> Result<(), JointError> + 'a;

/// The operating system's generator.
pub fn system(bytes: &mut [u8]) -> Result<(), JointError> {
    getrandom::fill(bytes)
        .map_err(|error| JointError::Line(format!("the system gives no random bits: {error}")))
}

/// How many evaluations a vector takes; [`privet_joint::charge`] asks for it.
pub fn evaluations(law: &dyn Law, servers: u32, coordinates: usize) -> usize {
    (coordinates / coordinates_for(law, servers, ANDS)).max(1)
}

/// How many coordinates have so many ANDs.
fn coordinates_for(law: &dyn Law, servers: u32, ands: usize) -> usize {
    let each = gates(law, servers);
    ands.div_ceil((each.sampler + each.sharing).max(1))
}

/// This server's share of the noise of a vector: run by all servers at once, each over its own lines, with the same law and
/// length.
///
/// The shares of all servers add up to the noise mod 2¹²⁸; a server adds its own to its sum of the parties' shares before it opens
/// that ([`opening`]), and uses it for nothing else. The bits come from `source`. On an error nothing was learned of any
/// noise, and another run draws other noise.
pub fn noise(
    law: &dyn Law,
    coordinates: usize,
    lines: &Lines,
    source: &mut Source,
) -> Result<Zeroizing<Vec<u128>>, JointError> {
    let (place, servers) = (lines.place(), lines.servers());
    if servers < 2 || place >= servers {
        return Err(JointError::Asked(format!(
            "joint noise among {servers} servers, at place {place}: at least 2 servers are accepted"
        )));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| JointError::Line(format!("joint noise could not begin: {error}")))?;
    let count = evaluations(law, servers as u32, coordinates);
    let fewest = coordinates_for(law, servers as u32, FEWEST);
    let mut prepared: Option<(usize, Program)> = None;
    let mut share = Zeroizing::new(Vec::with_capacity(coordinates));
    for evaluation in 0..count {
        let needed = coordinates / count + usize::from(evaluation < coordinates % count);
        if needed == 0 {
            break;
        }
        let size = needed.max(fewest);
        let program = match &prepared {
            Some((made_for, program)) if *made_for == size => program,
            _ => {
                let circuit = circuit_for(law, servers as u32, size);
                &prepared.insert((size, program(&circuit)?)).1
            }
        };
        let bits = random_bits(program.input_regs[place], source)?;
        let out = evaluated(&runtime, program, &bits, lines)?;
        if place == servers - 1 {
            let offset = law.offset();
            let less = |bits: &[bool]| number(bits).wrapping_sub(offset);
            share.extend(out.chunks_exact(RING).take(needed).map(less));
        } else {
            // A coordinate's bits end with its mask.
            let each = bits.len() / size;
            let mask = |bits: &[bool]| number(&bits[each - RING..]).wrapping_neg();
            share.extend(bits.chunks_exact(each).take(needed).map(mask));
        }
    }
    Ok(share)
}

/// One evaluation, of which the last server alone gets the outcome.
fn evaluated(
    runtime: &tokio::runtime::Runtime,
    program: &Program,
    bits: &[bool],
    lines: &Lines,
) -> Result<Zeroizing<Vec<bool>>, JointError> {
    let last = lines.servers() - 1;
    let reader = [last];
    let run = polytune::mpc(lines, program, bits, last, lines.place(), &reader, None);
    // What the engine does not expect of a message may stop it where it stands: that ends the evaluation as well.
    match catch_unwind(AssertUnwindSafe(|| runtime.block_on(run))) {
        Ok(Ok(out)) => Ok(Zeroizing::new(out)),
        Ok(Err(error)) => Err(ended(&error.to_string())),
        Err(_) => Err(ended("another server sent what is no message of the protocol")),
    }
}

/// What a server opens: its sum of the parties' shares and its share of the noise. Refused where lengths differ.
pub fn opening(sum: &[u128], noise: Zeroizing<Vec<u128>>) -> Result<Vec<u128>, JointError> {
    if sum.len() != noise.len() {
        return Err(JointError::Asked(format!(
            "noise for {} coordinates was drawn for a sum of {}: the same number is needed",
            noise.len(),
            sum.len()
        )));
    }
    Ok(sum.iter().zip(noise.iter()).map(|(sum, noise)| sum.wrapping_add(*noise)).collect())
}

/// What the openings of all servers add up to: the sum and the noise. Refused where lengths differ.
pub fn joined(openings: &[Vec<u128>]) -> Result<Vec<i128>, JointError> {
    let length = openings.first().map_or(0, Vec::len);
    if let Some(other) = openings.iter().find(|opening| opening.len() != length) {
        return Err(JointError::Asked(format!(
            "openings of {length} and of {} coordinates: the same number is needed",
            other.len()
        )));
    }
    let at = |place: usize| openings.iter().fold(0_u128, |sum, one| sum.wrapping_add(one[place]));
    Ok((0..length).map(|place| at(place) as i128).collect())
}

fn ended(why: &str) -> JointError {
    JointError::Line(format!("joint noise was not drawn, and nothing is opened: {why}"))
}

fn number(bits: &[bool]) -> u128 {
    bits.iter().enumerate().map(|(place, &bit)| u128::from(bit) << place).sum()
}

fn random_bits(count: usize, source: &mut Source) -> Result<Zeroizing<Vec<bool>>, JointError> {
    let mut bytes = Zeroizing::new(vec![0_u8; count.div_ceil(8)]);
    source(&mut bytes)?;
    let bit = |at: usize| bytes[at / 8] >> (at % 8) & 1 == 1;
    Ok(Zeroizing::new((0..count).map(bit).collect()))
}

/// The circuit in the engine's form: inputs first, server by server, then gates, whose places are used again once nobody reads them.
fn program(circuit: &Circuit) -> Result<Program, JointError> {
    let gates = circuit.gates();
    let mut last_read = vec![0_usize; gates.len()];
    for (at, gate) in gates.iter().enumerate() {
        match *gate {
            Gate::Xor(a, b) | Gate::And(a, b) => {
                (last_read[a as usize], last_read[b as usize]) = (at, at);
            }
            Gate::Not(a) => last_read[a as usize] = at,
            Gate::Input { .. } => {}
        }
    }
    let mut outputs = Vec::with_capacity(circuit.outputs().len());
    for wire in circuit.outputs() {
        let Wire::Gate(at) = *wire else {
            return Err(JointError::Asked(
                "what everybody knows cannot come out of a circuit".into(),
            ));
        };
        last_read[at as usize] = usize::MAX;
        outputs.push(at as usize);
    }
    let mut first = vec![0_u32];
    for inputs in circuit.inputs() {
        first.push(first[first.len() - 1] + inputs);
    }
    let mut insts: Vec<Inst> = Vec::with_capacity(gates.len());
    for (server, &inputs) in circuit.inputs().iter().enumerate() {
        insts.extend((0..inputs).map(|input| Inst {
            out: Reg(first[server] + input),
            op: Op::Input(Input { party: server as u32, input }),
        }));
    }
    let (mut registers, mut free) = (insts.len() as u32, Vec::new());
    let mut place = vec![Reg(0); gates.len()];
    for (at, gate) in gates.iter().enumerate() {
        let (op, read) = match *gate {
            Gate::Input { server, place: input } => {
                place[at] = Reg(first[server as usize] + input);
                continue;
            }
            Gate::Xor(a, b) => {
                (Op::Xor(Xor(place[a as usize], place[b as usize])), [Some(a), Some(b)])
            }
            Gate::And(a, b) => {
                (Op::And(And(place[a as usize], place[b as usize])), [Some(a), Some(b)])
            }
            Gate::Not(a) => (Op::Not(Not(place[a as usize])), [Some(a), None]),
        };
        for read in read.into_iter().flatten() {
            if last_read[read as usize] == at {
                free.push(place[read as usize]);
            }
        }
        place[at] = free.pop().unwrap_or_else(|| {
            registers += 1;
            Reg(registers - 1)
        });
        insts.push(Inst { out: place[at], op });
    }
    Ok(Program {
        input_regs: circuit.inputs().iter().map(|&inputs| inputs as usize).collect(),
        max_reg_count: registers as usize,
        output_regs: outputs.into_iter().map(|at| place[at]).collect(),
        and_ops: circuit.ands(),
        insts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_joint::{JointGaussian, JointLaplace};

    /// The engine's own evaluation of the program in the clear, and ours of the circuit.
    #[test]
    fn the_program_is_the_circuit() {
        let laws: [&dyn Law; 2] =
            [&JointGaussian::new(70.0).unwrap(), &JointLaplace::new(9.5).unwrap()];
        for (law, servers) in laws.into_iter().flat_map(|law| [(law, 2), (law, 3)]) {
            let circuit = circuit_for(law, servers, 2);
            let program = program(&circuit).unwrap();
            program.validate().unwrap();
            assert!(program.max_reg_count < program.insts.len());
            for _ in 0..20 {
                let bits: Vec<Vec<bool>> = circuit
                    .inputs()
                    .iter()
                    .map(|&count| random_bits(count as usize, &mut system).unwrap().to_vec())
                    .collect();
                let words: Vec<Vec<u64>> = bits
                    .iter()
                    .map(|bits| bits.iter().map(|&bit| u64::from(bit)).collect())
                    .collect();
                let ours: Vec<bool> =
                    circuit.eval(&words).iter().map(|word| word & 1 == 1).collect();
                assert_eq!(program.eval(&bits), ours);
            }
        }
    }

    /// ln C(n, k).
    fn ln_choose(n: f64, k: u32) -> f64 {
        (0..k).map(|i| ((n - f64::from(i)) / f64::from(k - i)).ln()).sum()
    }

    /// What is said of batches, and that no evaluation has smaller ones, however the engine cuts its gates up.
    #[test]
    fn batches_are_large_enough() {
        let cheats = |gates: f64, bucket: u32| {
            let all = |m: u32| ln_choose(f64::from(m), bucket) - f64::from(m) * 2_f64.ln();
            let best = (bucket..200).map(all).fold(f64::MIN, f64::max);
            (best + gates.ln() - ln_choose(gates * f64::from(bucket), bucket)) / 2_f64.ln()
        };
        assert!(cheats(992.0, 5) < -40.0 && cheats(3100.0, 4) < -40.0);
        for ands in (FEWEST..100_000).step_by(7) {
            let batch = ands.div_ceil(9).max(1000);
            let last = (ands - 1) % batch + 1;
            assert!(last >= 992 && ands.div_ceil(batch) <= 9, "{ands}");
        }
        let law = JointLaplace::new(64.0).unwrap();
        assert!(circuit_for(&law, 2, coordinates_for(&law, 2, FEWEST)).ands() >= FEWEST);
    }

    #[test]
    fn lengths_that_differ_are_refused() {
        assert!(opening(&[1, 2], Zeroizing::new(vec![3])).is_err());
        assert_eq!(opening(&[1, u128::MAX], Zeroizing::new(vec![3, 2])).unwrap(), [4, 1]);
        assert!(joined(&[vec![1, 2], vec![3]]).is_err());
        assert_eq!(joined(&[vec![1, 2], vec![u128::MAX, 3]]).unwrap(), [0, 5]);
    }
}
