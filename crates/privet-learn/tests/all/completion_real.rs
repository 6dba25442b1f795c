//! Accuracy on MovieLens and Jester, where they are at hand (`privet_data::testing::real_data` says where
//! they are looked for).
//!
//! `cargo test -p privet-learn --test all completion_real:: -- --ignored --nocapture` prints the tables of
//! `docs/learners.md`; METHODS, SETS, EPSILONS, SPLITS and BOTH (relations) in the environment choose what.

use privet_core::{Budget, Neighbours};
use privet_data::ratings::{self, Layout, RatingFacts};
use privet_data::read::ReadOptions;
use privet_data::{Dataset, Schema, keyed, testing};
use privet_dp::noise::FixedSeed;
use privet_learn::ratings::measure::measure;
use privet_learn::ratings::{Complete, Method};
use privet_learn::{Request, plan};
use std::sync::atomic::AtomicBool;

/// Data sets that are searched.
const SETS: [&str; 3] = ["100K", "1M", "jester"];

/// Every user's ratings, a tenth of them held out by a keyed hash.
fn split(data: &Dataset, seed: u64) -> (Dataset, Dataset) {
    ratings::hold_out(data, 0.1, u32::MAX, &keyed::key(seed))
}

/// One of [`SETS`].
fn read(name: &str) -> Option<(Schema, Dataset)> {
    let (file, layout, items) = match name {
        "1M" => ("movielens-1m/ratings.csv.zst", Layout::MovieLens, 3952),
        "100K" => ("movielens-100k/u.data.zst", Layout::MovieLens100k, 1682),
        _ => ("jester/jester-data-1.csv.zst", Layout::Grid, 100),
    };
    let bounds = if layout == Layout::Grid { [-10.0, 10.0] } else { [1.0, 5.0] };
    let path = testing::real_data("completion of ratings")?.join(file);
    let items = (1..=items).map(|item| item.to_string()).collect();
    let facts = RatingFacts { layout, items, bounds, most: 4000 };
    let schema = ratings::schema(&facts).unwrap();
    let data = ratings::read(&path, layout, &schema, &ReadOptions::default()).unwrap();
    Some((schema, data))
}

/// The error, recall and gain of one run.
fn run(
    schema: &Schema,
    parts: &(Dataset, Dataset),
    method: &Method,
    (epsilon, neighbours): (f64, Neighbours),
    seed: u64,
) -> [f64; 3] {
    let task = Complete::by(method.clone());
    let users = parts.0.rows() as u64;
    let request = task.request(schema.clone(), users, neighbours);
    let budget = method.is_private().then(|| Budget::new(epsilon, 1e-5).unwrap());
    let plan = plan(&Request { budget, ..request }).unwrap();
    let release = plan.run(&parts.0, &mut FixedSeed::new(seed), &AtomicBool::new(false)).unwrap();
    let actual = measure(release.value(), plan.facts(), &parts.0, &parts.1);
    [actual.error, actual.recall, actual.gain]
}

/// A fixed seed and split: it fails only if something changes.
#[test]
fn the_default_is_as_good_as_promised_on_movielens_100k() {
    let Some((schema, data)) = read("100K") else { return };
    let parts = split(&data, 1);
    let method = Method::default();
    for (epsilon, most) in [(1.0, 1.01), (10.0, 0.945)] {
        let [error, ..] = run(&schema, &parts, &method, (epsilon, Neighbours::AddRemove), 1);
        assert!(error < most, "epsilon {epsilon}: {error}");
    }
}

#[test]
#[ignore = "prints the tables of docs/learners.md"]
fn print_the_tables() {
    let methods = std::env::var("METHODS").unwrap_or("moments".into());
    let splits: u64 = std::env::var("SPLITS").map_or(3, |count| count.parse().unwrap());
    let sets = std::env::var("SETS").unwrap_or(SETS.join(","));
    let epsilons = std::env::var("EPSILONS").unwrap_or("0.5,1,3,10".into());
    let epsilons: Vec<f64> = epsilons.split(',').map(|epsilon| epsilon.parse().unwrap()).collect();
    let relations = [Neighbours::AddRemove, Neighbours::ReplaceOne];
    let relations = &relations[..if std::env::var("BOTH").is_ok() { 2 } else { 1 }];
    for set in sets.split(',') {
        let Some((schema, data)) = read(set) else { continue };
        for name in methods.split(',') {
            // NAME or NAME:setting=value:…
            let mut words = name.split(':');
            let method: Method = words.next().unwrap().parse().unwrap();
            let method = words.fold(method, |method, word| {
                let (setting, value) = word.split_once('=').unwrap();
                method.with(setting, value).unwrap()
            });
            for &neighbours in relations {
                for &epsilon in &epsilons {
                    let mut sums = [0.0; 3];
                    let began = std::time::Instant::now();
                    for seed in 0..splits {
                        let parts = split(&data, seed);
                        let actual = run(&schema, &parts, &method, (epsilon, neighbours), seed);
                        (0..3).for_each(|place| sums[place] += actual[place] / splits as f64);
                    }
                    let seconds = began.elapsed().as_secs_f64() / splits as f64;
                    println!(
                        "{set} {name} {neighbours} eps {epsilon}: rmse {:.4} recall {:.4} ndcg {:.4} ({seconds:.2} s)",
                        sums[0], sums[1], sums[2]
                    );
                }
            }
        }
    }
}
