//! How often intervals of weights that are bought hold the weights without noise, on three generators.
//!
//! ```text
//! cargo run --release -p privet-learn --example coverage -- amp,gd,centred-gd 4000 4,20,50 2 100
//! ```
//!
//! Methods, rows, columns, ε, releases of each table. A line a cell: method, generator, columns, how
//! many of them hardly vary, ε, share of all intervals that hold, share of the column where it is the
//! least, how wide intervals are beside those that cost nothing, and beside what would do.
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../tests/common/covered.rs"]
mod covered;
#[path = "../tests/common/generated.rs"]
mod generated;

use covered::{covered, generators, minimiser, planned, table};

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [methods, rows, columns, epsilons, runs] = &given[..] else {
        eprintln!("give methods, rows, columns, epsilons and releases");
        std::process::exit(2);
    };
    let numbers = |text: &String| -> Vec<f64> {
        text.split(',').map(|one| one.parse().expect("numbers")).collect()
    };
    let (rows, runs) = (numbers(rows)[0] as usize, numbers(runs)[0] as u64);
    for &columns in &numbers(columns) {
        for (place, made) in generators(rows, columns as usize).iter().enumerate() {
            for hardly in [false, true].into_iter().filter(|hardly| !hardly || columns > 4.0) {
                let data = table(made, hardly);
                for method in methods.split(',') {
                    for &epsilon in &numbers(epsilons) {
                        let plan = planned(made, method, epsilon, true);
                        let without = minimiser(made, &plan, &data);
                        let actual = covered(&plan, &data, made.seed, runs, without);
                        let free = planned(made, method, epsilon, false);
                        let free = covered(&free, &data, made.seed, 3, None);
                        println!(
                            "{method},{},{columns},{hardly},{epsilon},{:.3},{:.3},{:.2},{:.2}",
                            place + 1,
                            actual.share,
                            actual.least,
                            actual.width / free.width,
                            actual.width / actual.needed
                        );
                    }
                }
            }
        }
    }
}
