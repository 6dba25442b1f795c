//! A small blind fuzzer for daily use: seeds of the corpus with reproducible damage, on the stable
//! compiler. `PRIVET_FUZZ_ROUNDS` sets the number of damaged copies of each seed.

use std::path::Path;

/// Pieces that are hard for readers.
const PIECES: [&str; 24] = [
    "",
    "0",
    "-1",
    "1",
    "1e308",
    "-1e308",
    "1e-320",
    "NaN",
    "inf",
    "4294967296",
    "18446744073709551616",
    "9007199254740993",
    "0.1",
    "\"",
    ",",
    "\n",
    "\r\n",
    "[",
    "]",
    "{",
    "}",
    "null",
    ":",
    "\u{feff}",
];

/// SplitMix64, for reproducible draws; their quality matters little.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }
}

fn damage(bytes: &mut Vec<u8>, draws: &mut Draws) {
    let at = draws.below(bytes.len() + 1);
    let end = (at + 1 + draws.below(12)).min(bytes.len());
    let piece = PIECES[draws.below(PIECES.len())].as_bytes();
    match draws.below(6) {
        0 if at < bytes.len() => bytes[at] ^= 1 << draws.below(8),
        1 if at < bytes.len() => bytes[at] = draws.below(256) as u8,
        2 => drop(bytes.splice(at..at, piece.iter().copied())),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let copy = bytes[at..end].to_vec();
            let to = draws.below(bytes.len() + 1);
            drop(bytes.splice(to..to, copy));
        }
        // A number replaced: the parser may accept it, and a check must refuse it.
        _ => {
            let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            let Some(start) = bytes[at..].iter().position(numeric).map(|skip| at + skip) else {
                return;
            };
            let length = bytes[start..].iter().take_while(|byte| numeric(byte)).count();
            drop(bytes.splice(start..start + length, piece.iter().copied()));
        }
    }
}

#[test]
fn damaged_seeds_do_not_panic() {
    let rounds = std::env::var("PRIVET_FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, body) in privet_fuzz::TARGETS {
        let mut draws = Draws(2026);
        let folder = std::fs::read_dir(corpus.join(target)).expect("a corpus");
        let mut seeds: Vec<_> = folder.map(|entry| entry.expect("readable").path()).collect();
        seeds.sort();
        for seed in seeds {
            let original = std::fs::read(&seed).expect("a readable seed");
            if original.len() > 1 << 16 {
                continue;
            }
            for _ in 0..rounds.unwrap_or(100) {
                let mut bytes = original.clone();
                for _ in 0..=draws.below(3) {
                    damage(&mut bytes, &mut draws);
                }
                let outcome = std::panic::catch_unwind(|| body(&bytes));
                if outcome.is_err() {
                    let kept = std::env::temp_dir().join(format!("privet-crash-{target}"));
                    let _ = std::fs::write(&kept, &bytes);
                    panic!(
                        "{target}: damaged {} panics; kept in {}",
                        seed.display(),
                        kept.display()
                    );
                }
            }
        }
    }
}
