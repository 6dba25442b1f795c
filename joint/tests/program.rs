//! The program as `privet party serve` runs it: processes that speak through their input and output alone.

use privet_joint::pipe;
use privet_joint_engine::joined;
use std::io::BufReader;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

const PROGRAM: &str = env!("CARGO_BIN_EXE_privet-joint-noise");

fn started(place: usize, servers: usize, steps: f64, coordinates: usize) -> Child {
    Command::new(PROGRAM)
        .args([place.to_string(), servers.to_string(), format!("{:016x}", steps.to_bits())])
        .arg(coordinates.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

type Boxes = (Vec<Sender<(u8, Vec<u8>)>>, Vec<Receiver<(u8, Vec<u8>)>>);

/// Every server's share of one draw, each by a process; what one says to another is passed on here.
fn shares(servers: usize, steps: f64, coordinates: usize) -> Vec<Vec<u128>> {
    let (to, from): Boxes = (0..servers).map(|_| channel()).unzip();
    let mut running = Vec::new();
    for (place, inbox) in from.into_iter().enumerate() {
        let mut child = started(place, servers, steps, coordinates);
        let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for (from, bytes) in inbox {
                if pipe::write(&mut input, from, &bytes).is_err() {
                    break;
                }
            }
        });
        let to = to.clone();
        running.push(std::thread::spawn(move || {
            let (mut output, mut share) = (BufReader::new(output), Vec::new());
            while let Some((whom, bytes)) = pipe::read(&mut output).unwrap() {
                match whom {
                    pipe::OUTCOME => share.extend(bytes),
                    whom => to[usize::from(whom)].send((place as u8, bytes)).unwrap_or(()),
                }
            }
            assert!(child.wait().unwrap().success());
            let number = |word: &[u8]| u128::from_le_bytes(word.try_into().unwrap());
            share.chunks_exact(16).map(number).collect()
        }));
    }
    drop(to);
    running.into_iter().map(|one| one.join().unwrap()).collect()
}

/// One draw a number: in two evaluations, and among three servers.
#[test]
fn programs_draw_together() {
    for (servers, coordinates) in [(2, 30), (3, 5)] {
        let steps = 1.3 * 2_f64.powi(40);
        let all = shares(servers, steps, coordinates);
        assert!(all.iter().all(|share| share.len() == coordinates));
        let noise = joined(&all).unwrap();
        let squares: f64 = noise.iter().map(|x| (*x as f64 / steps).powi(2)).sum();
        // χ² beyond n + 2√(nx) + 2x with a probability below e^(−x) (Laurent & Massart 2000), x = 21; all within σ/16 with one
        // below 0.05⁵ < 10⁻⁶ for five numbers, so that is asked of thirty alone: below 10⁻³⁸.
        let n = coordinates as f64;
        assert!(squares < n + 2.0 * (n * 21.0).sqrt() + 42.0, "{noise:?}");
        if coordinates == 30 {
            assert!(noise.iter().any(|x| x.unsigned_abs() as f64 > steps / 16.0), "{noise:?}");
        }
        // A share by itself is nothing like the noise: below 2¹⁰⁰ in all numbers with a probability below 2⁻²⁷ each, so below 2⁻¹³⁵ for five.
        let small =
            |share: &Vec<u128>| share.iter().all(|x| (*x as i128).unsigned_abs() < 1 << 100);
        assert!(!all.iter().any(small), "{all:?}");
    }
}

/// A line that ends, and what is no server's place: it says so, and draws nothing.
#[test]
fn what_cannot_be_drawn_is_said() {
    let said = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success());
        let mut out = &output.stdout[..];
        while let Some((whom, _)) = pipe::read(&mut out).unwrap_or(None) {
            assert_ne!(whom, pipe::OUTCOME);
        }
        String::from_utf8(output.stderr).unwrap()
    };
    // `wait_with_output` closes its input.
    assert!(said(started(0, 2, 2_f64.powi(40), 1)).contains("nothing is opened"));
    assert!(said(started(2, 2, 2_f64.powi(40), 1)).contains("not accepted"));
    assert!(!said(started(0, 2, 3.0, 1)).is_empty());
    let version = Command::new(PROGRAM).arg("--version").output().unwrap().stdout;
    assert_eq!(
        String::from_utf8(version).unwrap(),
        format!("privet-joint-noise {}\n", pipe::PROTOCOL)
    );
}
