//! Generated tables over a grid of rows, columns, ε, base rates and signals: what plans predict, beside
//! what is found.
//!
//! ```text
//! cargo run --release -p privet-learn --example forecast -- 2 gd,amp,output 300,3000 3,20 0.1,1 0.5,0.8 0.5,0.9 4
//! ```
//!
//! Classes (1: a number), methods, rows, columns, ε, base rates, signals, runs, then `pure` for δ = 0,
//! and `seed=N` for tables of other seeds than those that constants were fitted on (1, 2, …). A line a
//! cell: method, rows, columns, ε, base rate, signal, worth without privacy and with it (accuracy or
//! R², the mean of the runs), share lost, and share predicted; last, for each method, in how many cells
//! the two are within a factor of two of one another (or one below a twentieth and the other below a
//! tenth), of those where the model without privacy gains two points or more.
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../tests/common/generated.rs"]
mod generated;

use generated::{GeneratedTable, Tried, within_two};

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [classes, methods, rows, columns, epsilons, bases, signals, runs, rest @ ..] = &given[..]
    else {
        eprintln!("give classes, methods, rows, columns, epsilons, base rates, signals and runs");
        std::process::exit(2);
    };
    let numbers = |text: &String| -> Vec<f64> {
        text.split(',').map(|one| one.parse().expect("numbers")).collect()
    };
    let classes = numbers(classes)[0] as usize;
    let runs = numbers(runs)[0] as u64;
    let pure = rest.iter().any(|word| word == "pure");
    let from = rest.iter().find_map(|word| word.strip_prefix("seed="));
    let mut found: Vec<(String, u32, u32)> = Vec::new();
    let mut seed: u64 = from.map_or(0, |seed| seed.parse().expect("a number"));
    for &rows in &numbers(rows) {
        for &columns in &numbers(columns) {
            for &base in &numbers(bases) {
                for &signal in &numbers(signals) {
                    seed += 1;
                    let (rows, columns) = (rows as usize, columns as usize);
                    let mixed = seed.is_multiple_of(2);
                    let table =
                        GeneratedTable { rows, columns, classes, base, signal, mixed, seed }
                            .table();
                    for method in methods.split(',') {
                        for &epsilon in &numbers(epsilons) {
                            let Some(tried) = table.tried(method, epsilon, pure, runs) else {
                                continue;
                            };
                            let Tried { without, with, lost, predicted } = tried;
                            println!(
                                "{method},{rows},{columns},{epsilon},{base},{signal},{without:.4},{with:.4},{},{}",
                                lost.map_or("-".into(), |lost| format!("{lost:.3}")),
                                predicted.map_or("-".into(), |cost| format!("{cost:.3}"))
                            );
                            let (Some(lost), Some(predicted)) = (lost, predicted) else { continue };
                            let place = found.iter().position(|(name, ..)| name == method);
                            let place = place.unwrap_or_else(|| {
                                found.push((method.into(), 0, 0));
                                found.len() - 1
                            });
                            found[place].1 += 1;
                            found[place].2 += u32::from(within_two(lost, predicted));
                        }
                    }
                }
            }
        }
    }
    for (method, cells, within) in found {
        println!("{method}: {within} of {cells} cells within a factor of two");
    }
}
