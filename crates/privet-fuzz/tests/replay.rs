//! Replays the committed corpus of every fuzz target.
//!
//! A seed named `valid…` must be read, one named `bad…` refused; seeds found by fuzzing (`crash-…`) and
//! the `odd` ones must merely not panic.

use std::path::Path;

#[test]
fn no_seed_panics_and_each_fares_as_its_name_says() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut surprises = Vec::new();
    for (target, body) in privet_fuzz::TARGETS {
        let folder = corpus.join(target);
        let mut seeds: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("a readable folder").path())
            .collect();
        seeds.sort();
        assert!(seeds.len() >= 5, "{target}: the corpus is gone");
        for seed in seeds {
            let name = seed.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = std::fs::read(&seed).expect("a readable seed");
            let passed = body(&bytes);
            if name.starts_with("valid") && passed == 0 {
                surprises.push(format!("{target}/{name} was refused"));
            } else if name.starts_with("bad") && passed > 0 {
                surprises.push(format!("{target}/{name} was accepted"));
            }
            // Nor may any prefix of it: full disks truncate files.
            for length in (0..bytes.len()).step_by((bytes.len() / 64).max(1)) {
                body(&bytes[..length]);
            }
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
