//! Answers by records nearby on Covertype, where it is at hand (`privet_data::testing::real_data` says
//! where it is looked for).
//!
//! `cargo test -p privet-learn --test all neighbours_real:: -- --ignored --nocapture` prints the table of
//! `docs/learners.md`.

use privet_core::Neighbours;
use privet_data::read::{csv_bytes, decompressed};
use privet_data::{Dataset, Schema, Target, split, testing};
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::{Model, Predictions};
use privet_learn::neighbours::Nearby;
use privet_learn::{Request, RequestOptions, plan};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Covertype, the commonest kind against the rest: ten numbers and 44 indicators, the numbers scaled to
/// [0, 1].
fn covertype() -> Option<(Schema, Dataset)> {
    const TOPS: [f64; 10] =
        [4_500.0, 360.0, 90.0, 1_500.0, 700.0, 7_500.0, 255.0, 255.0, 255.0, 7_500.0];
    let path = testing::real_data("neighbours")?.join("covtype/covtype.data.zst");
    let text = String::from_utf8(decompressed(&path).ok()?).ok()?;
    let mut toml = String::from(
        "invalid = \"drop\"\nbias = false\n[clip]\nnorm = \"l2\"\nradius = 4.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"other\", \"two\"]\n",
    );
    let mut rows = String::new();
    for place in 0..54 {
        let low = if place == 0 { 1_500.0 } else { 0.0 };
        let top = TOPS.get(place).copied().unwrap_or(1.0);
        let _ = write!(
            toml,
            "[[columns]]\nname = \"x{place}\"\ntype = \"number\"\nbounds = [{low}, {top}]\n"
        );
        let _ = write!(rows, "x{place},");
    }
    rows.push_str("y\n");
    for line in text.lines().take(120_000) {
        let (cells, kind) = line.rsplit_once(',')?;
        let _ = writeln!(rows, "{cells},{}", if kind == "2" { "two" } else { "other" });
    }
    let schema = Schema::from_toml(&toml).unwrap();
    let data = csv_bytes(rows.as_bytes(), &schema).unwrap();
    Some((schema, data))
}

fn right(found: &[u32], target: &Target) -> f64 {
    let Target::Class { codes, .. } = target else { return 0.0 };
    let hits = found.iter().zip(codes).filter(|(a, b)| a == b).count();
    hits as f64 / codes.len() as f64
}

/// 1,000 questions on Covertype at several ε, r and K, beside the default learner. Minutes; run on purpose.
#[test]
#[ignore = "takes minutes; prints the table of docs/learners.md"]
fn covertype_is_answered() {
    let Some((schema, data)) = covertype() else { return };
    let parts = split::shuffled_rows(data.rows(), &privet_data::keyed::key(7));
    let (asked, kept) = parts.split_at(1_000);
    let (questions, records) = (data.select(asked), data.select(kept));
    let rows = records.rows() as u64;
    println!("| ε | within | votes | noise | right | seconds |\n|---|---|---|---|---|---|");
    for (epsilon, within, votes) in [
        (1.0, None, None),
        (4.0, None, None),
        (1.0, Some(0.2), Some(5)),
        (1.0, Some(0.3), Some(5)),
        (1.0, Some(0.4), Some(10)),
        (1.0, Some(0.5), Some(20)),
        (4.0, Some(0.2), Some(10)),
        (4.0, Some(0.3), Some(10)),
        (4.0, Some(0.3), Some(1000)),
        (100.0, Some(0.3), Some(1000)),
    ] {
        let task = Nearby { within, votes, ..Nearby::of(&questions.features) };
        let budget = (epsilon, Some(1e-6));
        let request = task.request(&schema, rows, Neighbours::AddRemove, budget).unwrap();
        let plan = plan(&request).unwrap();
        let started = Instant::now();
        let mut source = SystemRandom::new().unwrap();
        let release = plan.run(&records, &mut source, &AtomicBool::new(false)).unwrap();
        let Predictions::Classes(found) =
            release.value().predictions(&schema, Nearby::noise(plan.request()))
        else {
            return;
        };
        let shown = plan.settings();
        let get = |name| shown.get(name).unwrap();
        println!(
            "| {epsilon} | {:.3} | {} | {:.1} | {:.4} | {:.0} |",
            get("within"),
            get("votes"),
            get("vote_noise"),
            right(&found, &questions.target),
            started.elapsed().as_secs_f64()
        );
    }
    for epsilon in [1.0, 4.0] {
        let words = RequestOptions {
            epsilon: Some(epsilon),
            delta: Some(1e-6),
            neighbours: Neighbours::AddRemove,
            ..RequestOptions::of("gd".parse().unwrap())
        };
        let request = Request::build(&schema, rows, &words).unwrap();
        let plan = plan(&request).unwrap();
        let mut source = SystemRandom::new().unwrap();
        let release = plan.run(&records, &mut source, &AtomicBool::new(false)).unwrap();
        let model = Model::from_release(release).unwrap();
        let Predictions::Classes(found) = model.predict(&questions.features) else { return };
        println!("gd at {epsilon}: {:.4}", right(&found, &questions.target));
    }
}
