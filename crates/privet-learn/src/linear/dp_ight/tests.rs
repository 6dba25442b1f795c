//! Sensitivities of both stages, and rules.

use super::*;
use crate::Request;
use crate::linear::testing::{self, COLUMNS};
use privet_core::Neighbours;
use privet_dp::noise::{FixedSeed, Source};

const ROWS: usize = 40;

fn request(target: &str, neighbours: Neighbours) -> Request {
    let method = DpIght { choice: Some(Choice::Gradient), ..DpIght::default() };
    testing::request(target, Method::DpIght(method), (ROWS, None), neighbours)
}

/// Random rows, and the given last lines.
fn table(request: &Request, seed: u64, last: &str) -> Dataset {
    testing::table(request, 1..ROWS, seed, last)
}

/// Sums of both stages, with the clipping bound halved or not, move by at most what is charged: at
/// random points, for records at the ends of their ranges, replaced and added, and for every kind of
/// target.
#[test]
fn sums_of_both_stages_move_within_what_is_charged() {
    let targets = [
        ("classes = [\"no\", \"yes\"]", ["yes", "no"]),
        ("classes = [\"no\", \"yes\", \"perhaps\"]", ["yes", "perhaps"]),
        ("bounds = [-2, 2]", ["-2", "2"]),
    ];
    let mut nearest: f64 = 0.0;
    for (target, ends) in targets {
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            let request = request(target, neighbours);
            let facts = Facts::of(&request).unwrap();
            let narrow = NarrowTable::new(&facts, 2, Some(0.4)).unwrap();
            let last =
                |sign: i32, end: &str| format!("{}{end}\n", format!("{sign},").repeat(COLUMNS));
            for seed in 0..12 {
                let one = table(&request, seed, &last(1, ends[0]));
                let two = match neighbours {
                    Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                        table(&request, seed, &last(if seed % 2 == 0 { 1 } else { -1 }, ends[1]))
                    }
                    Neighbours::AddRemove => table(&request, seed, ""),
                };
                let chosen = [1, 4, COLUMNS];
                let [thin, thinner] = [&one, &two].map(|data| narrow.table(data, &chosen));
                for (facts, worlds) in [(&facts, [&one, &two]), (&narrow.fewer, [&thin, &thinner])]
                {
                    for h in [0, 3] {
                        let mut source = FixedSeed::new(seed + 100);
                        let coordinates = facts.columns * facts.problems as usize;
                        let theta: Vec<f64> = (0..coordinates)
                            .map(|_| source.below(2001) as f64 / 500.0 - 2.0)
                            .collect();
                        let slope = separate_slope(facts);
                        let full = Gradient::of(facts, false, slope).at(&theta).unit;
                        let query = Gradient::of(facts, false, slope * 2_f64.powi(-h));
                        let questions = Queries { unit: full, ..query.at(&theta) };
                        let actual = worlds.map(|data| {
                            let sums = query.records(data).unwrap().sums(&questions).unwrap();
                            sums.counts
                                .iter()
                                .map(|count| *count as f64 * sums.unit)
                                .collect::<Vec<f64>>()
                        });
                        let moved = actual[0]
                            .iter()
                            .zip(&actual[1])
                            .map(|(a, b)| (a - b).powi(2))
                            .sum::<f64>()
                            .sqrt();
                        let share = moved / sensitivity(facts);
                        assert!(share <= 1.0, "{target} {neighbours} {seed} {h}: {share}");
                        nearest = nearest.max(share);
                    }
                }
            }
        }
    }
    assert!(nearest > 0.9, "{nearest}");
}

/// The total charged is the root of the sum of squares, of both stages in their shares.
#[test]
fn both_stages_are_charged_in_their_shares() {
    let request = request("bounds = [-2, 2]", Neighbours::ReplaceOne);
    let plan = crate::plan(&request).unwrap();
    let Some(Event::All(stages)) = plan.events() else { panic!() };
    let squares: Vec<f64> = stages
        .iter()
        .map(|stage| match stage {
            Event::Repeat { count, event } => match event.single_cost() {
                Some(account::Cost::Gaussian { sensitivity, noise_scale, .. }) => {
                    f64::from(*count) * (sensitivity / noise_scale).powi(2)
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    let mu = account::gaussian::mu(1.0, 1e-6);
    let total: f64 = squares.iter().sum();
    assert!((total.sqrt() / mu - 1.0).abs() < 1e-3, "{} and {mu}", total.sqrt());
    assert!((squares[0] / total - DEFAULT_SHARE).abs() < 1e-6, "{squares:?}");
}
