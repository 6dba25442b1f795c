//! What a Frank–Wolfe step costs on sparse rows: touched entries alone, against a pass over all rows and a
//! look at all columns. `cargo bench -p privet-learn`.
//!
//! Rows have about 80 words drawn with probability ∝ 1/(rank + 10), as words of a text are; 20,000 rows,
//! 10⁴ to 10⁶ columns; 400 choices of range 0.02 (about ε = 1 in all: choices are mostly noise, and of rare
//! words) and of range 1 (frequent words are chosen, which many rows have). Fixed seed.

use privet_data::matrix::{CsrMatrix, Matrix};
use privet_dp::noise::{FixedSeed, SignedChoice, Source, report_noisy_max};
use privet_optim::loss::Loss;
use privet_optim::vertex::{ColumnScores, FeatureGrid, GridMatrix, Move, SlopeGrid};
use std::time::Instant;

const ROWS: usize = 20_000;
const WORDS: usize = 80;
const STEPS: usize = 400;

fn main() {
    println!(
        "range  columns  lazy step  full pass and exact choice  full pass and noisy max  ratios"
    );
    for (range, columns) in
        [0.02, 1.0].into_iter().flat_map(|r| [10_000, 100_000, 1_000_000].map(|p| (r, p)))
    {
        let (matrix, labels) = text(columns);
        let grid = FeatureGrid::new(0.1);
        let features = GridMatrix::new(&matrix, grid).expect("fewer than 2^32 rows");
        let slopes = SlopeGrid::new(0.5);
        // Replace-one.
        let bound = f64::from(grid.largest()) * f64::from(slopes.largest());
        let rate = range / (4.0 * bound);
        let begin = || {
            ColumnScores::new(&features, &labels, Loss::Logistic, slopes).expect("a label a row")
        };
        let mut source = FixedSeed::new(1);
        let step = |(column, negative): (usize, bool), revise_all: bool| Move {
            column,
            negative: !negative,
            shrink: 1.0,
            add: 1.0,
            revise_all,
        };

        let mut scores = begin();
        let mut choice = SignedChoice::new(columns, rate).expect("a rate above 0");
        scores.scores().iter().enumerate().for_each(|(j, score)| choice.set(j, *score));
        let started = Instant::now();
        for _ in 0..STEPS {
            let chosen = choice.draw(&mut source);
            scores.apply_move(step(chosen, false), |column, score| choice.set(column, score));
        }
        let lazy = started.elapsed().as_secs_f64() / STEPS as f64;

        let passes = 20;
        let mut scores = begin();
        let started = Instant::now();
        for _ in 0..passes {
            let mut choice = SignedChoice::new(columns, rate).expect("a rate above 0");
            scores.scores().iter().enumerate().for_each(|(j, score)| choice.set(j, *score));
            scores.apply_move(step(choice.draw(&mut source), true), |_, _| {});
        }
        let full = started.elapsed().as_secs_f64() / f64::from(passes);

        let mut scores = begin();
        let started = Instant::now();
        for _ in 0..passes {
            let signed = scores.scores().iter().flat_map(|score| [*score as f64, -(*score as f64)]);
            let signed: Vec<f64> = signed.collect();
            let best = report_noisy_max(&signed, 1.0 / rate, &mut source).expect("finite scores");
            scores.apply_move(step((best / 2, best % 2 == 1), true), |_, _| {});
        }
        let noisy = started.elapsed().as_secs_f64() / f64::from(passes);
        println!(
            "{range:5}  {columns:7}  {:.3} ms  {:.3} ms  {:.3} ms  {:.0} and {:.0}",
            lazy * 1e3,
            full * 1e3,
            noisy * 1e3,
            full / lazy,
            noisy / lazy
        );
    }
}

/// Made-up texts of two kinds.
fn text(columns: usize) -> (Matrix, Vec<f64>) {
    let mut source = FixedSeed::new(columns as u64);
    let mut uniform = || (source.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (mut starts, mut indices, mut values, mut labels) = (vec![0], vec![], vec![], vec![]);
    let span = ((columns as f64 + 10.0) / 10.0).ln();
    for _ in 0..ROWS {
        let kind = uniform() < 0.5;
        let mut words: Vec<u32> = (0..WORDS)
            .map(|_| {
                // Ranks of density ∝ 1/(rank + 10); the kinds prefer even and odd ones a little.
                let rank =
                    ((10.0 * (span * uniform()).exp() - 10.0) as u32).min(columns as u32 - 1);
                if uniform() < 0.1 { rank & !1 | u32::from(kind) } else { rank }
            })
            .map(|word| word.min(columns as u32 - 1))
            .collect();
        words.sort_unstable();
        words.dedup();
        values.extend(words.iter().map(|_| 0.109_375_f32));
        indices.extend(words);
        starts.push(indices.len());
        labels.push(if kind { 1.0 } else { -1.0 });
    }
    (Matrix::Csr(CsrMatrix::new(starts, indices, values, columns)), labels)
}
