//! Sensitivities of both stages, and their charges.

use super::*;
use crate::Request;
use crate::linear::testing::{self, COLUMNS};
use privet_core::Neighbours;
use privet_dp::noise::{FixedSeed, Source};

const ROWS: usize = 30;

fn request(target: &str, most: u32, neighbours: Neighbours) -> Request {
    let set = |method: Method, (name, value): (&str, &str)| method.with(name, value).unwrap();
    let settings = [("choice", "peeled"), ("columns", "3"), ("rounds", "2")];
    let method = settings.into_iter().fold("dp-ight".parse().unwrap(), set);
    testing::request(target, method, (ROWS, Some(most)), neighbours)
}

fn rising(request: &Request) -> Rising {
    let facts = Facts::of(request).unwrap();
    let mut stages = Vec::new();
    for (before, size, halved) in [(0, 0, 0), (0, 2, 0), (2, 1, 3)] {
        let narrow = NarrowTable::new(&facts, before + size, Some(0.4)).unwrap();
        stages.push(Stage { before, size, halved, part: 0.5, narrow });
    }
    Rising { clip: 0.3, range: 0.1, spread: 10.0, facts, stages, fit_steps: 2, rate: 1.0 }
}

/// Random rows, and the given last lines.
fn table(request: &Request, seed: u64, last: &str) -> Dataset {
    testing::table(request, 2..ROWS, seed, last)
}

/// Scores at random points, of units of one record or two at the ends of their ranges, replaced or
/// added, move by at most what is charged; and by nearly all of it.
#[test]
fn scores_move_within_what_is_charged() {
    let targets = [
        ("classes = [\"no\", \"yes\"]", ["yes", "no"]),
        ("classes = [\"no\", \"yes\", \"perhaps\"]", ["yes", "perhaps"]),
        ("bounds = [-2, 2]", ["-2", "2"]),
    ];
    let mut nearest: f64 = 0.0;
    for (target, ends) in targets {
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            for (most, seed) in [(1, 0), (1, 1), (2, 2), (2, 3), (2, 4)] {
                let request = request(target, most, neighbours);
                let rising = rising(&request);
                let unit = |sign: i32, end: &str| {
                    format!("{}{end},0\n", format!("{sign},").repeat(COLUMNS)).repeat(most as usize)
                };
                let one = table(&request, seed, &unit(1, ends[0]));
                let two = match neighbours {
                    Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                        table(&request, seed, &unit(if seed % 2 == 0 { 1 } else { -1 }, ends[1]))
                    }
                    Neighbours::AddRemove => table(&request, seed, ""),
                };
                for stage in &rising.stages[1..] {
                    let terms = rising.terms(stage);
                    let columns: Vec<usize> =
                        (0..stage.before).map(|at| 2 * at).chain([COLUMNS]).collect();
                    let narrow = &rising.stages[usize::from(stage.before > 0)].narrow;
                    let mut source = FixedSeed::new(seed + 100);
                    let coordinates = columns.len() * rising.facts.problems as usize;
                    let theta: Vec<f64> =
                        (0..coordinates).map(|_| source.below(2001) as f64 / 500.0 - 2.0).collect();
                    let actual = [&one, &two].map(|data| {
                        let grid = GridMatrix::new(&data.features, terms.features).unwrap();
                        let part = narrow.table(data, &columns);
                        let slopes = rising.slopes(&rising.facts, &part, &theta, &terms).unwrap();
                        scores(&grid, &slopes, &other_columns(COLUMNS, &columns))
                    });
                    let moved = actual[0].iter().zip(&actual[1]).map(|(a, b)| a.abs_diff(*b));
                    let share = moved.max().unwrap() as f64 / terms.sensitivity as f64;
                    assert!(share <= 1.0, "{target} {neighbours} {most} {seed}: {share}");
                    nearest = nearest.max(share);
                }
            }
        }
    }
    assert!(nearest > 0.9, "{nearest}");
}

/// The charges: as many choices as columns, as many gradients as steps, in their shares of μ².
#[test]
fn choices_and_gradients_are_charged_in_their_shares() {
    use privet_dp::account::Cost;
    let plan = crate::plan(&request("bounds = [-2, 2]", 1, Neighbours::ReplaceOne)).unwrap();
    let Some(Event::All(parts)) = plan.events() else { panic!() };
    let (mut choices, mut gradients, mut count) = (0.0, 0.0, 0);
    for part in parts {
        let Event::Repeat { count: times, event } = part else { panic!("{part:?}") };
        match event.single_cost() {
            Some(Cost::BoundedRange { range }) => {
                count += times;
                choices += f64::from(*times) * range.powi(2) / 4.0;
            }
            Some(Cost::Gaussian { sensitivity, noise_scale, .. }) => {
                gradients += f64::from(*times) * (sensitivity / noise_scale).powi(2);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((count, parts.len()), (3, 5));
    let share = choices / (choices + gradients);
    assert!((share - DEFAULT_SHARE).abs() < 1e-6, "{share}");
}
