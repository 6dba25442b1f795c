//! Time of each phase of a fit on an Adult-like table: 36,177 rows, 104 one-hot and numeric columns,
//! 12 or 13 of them not zero, rows of norm at most 1. Fixed seed.
//!
//! `cargo bench -p privet-optim --bench fit`; after `--`:
//! - `--newton` leaves out the other methods
//! - `--large N` fits N rows of ten columns; 20 million need double-double to prove 1/n
//! - `--repeat N` only fits N times, for a profiler; with `--dense`, dense rows
//! - `--dump FILE` writes the table as LIBSVM, for racing other solvers
//!
//! Memory traffic of a pass: CSR 8 bytes per entry and 8 per row for starts and labels each, 4.2 MB;
//! dense 4 bytes per entry, 15.0 MB. Both fit the last-level cache of a server, so a pass is bound by
//! its gathers (CSR) or by conversions to f64 (dense), not by memory.

use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_optim::sum::{
    ExactGradient, Hessian, HessianVector, LossAndGradient, PreciseGradient, Records, Summable,
    Sums,
};
use privet_optim::{InMemory, Loss, Method, Problem, SolverOptions, minimise};
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const ROWS: usize = 36_177;
/// Categories of each one-hot column, as in Adult; with five numeric columns and a bias: 104.
const CATEGORIES: [usize; 8] = [7, 16, 7, 14, 6, 5, 2, 41];
const NUMERIC: usize = 5;

struct Generator(u64);

impl Generator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn table() -> (CsrMatrix, Vec<f64>) {
    let mut random = Generator(1);
    let columns = NUMERIC + CATEGORIES.iter().sum::<usize>() + 1;
    let truth: Vec<f64> = (0..columns).map(|_| 8.0 * random.unit() - 4.0).collect();
    let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
    let mut labels = Vec::new();
    for _ in 0..ROWS {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for j in 0..NUMERIC {
            // The last two are mostly zero, as capital gain and loss are.
            let x = random.unit();
            if j < 3 || random.unit() < 0.08 {
                row.push((j as u32, x));
            }
        }
        let mut first = NUMERIC;
        for size in CATEGORIES {
            let u = random.unit();
            row.push(((first + (u * u * u * size as f64) as usize) as u32, 1.0));
            first += size;
        }
        row.push((first as u32, 1.0));
        let norm = row.iter().map(|e| e.1 * e.1).sum::<f64>().sqrt();
        let mut margin = -0.8;
        for (j, x) in row {
            let x = ((x / norm * 8_388_608.0).trunc() / 8_388_608.0) as f32;
            margin += f64::from(x) * truth[j as usize];
            indices.push(j);
            values.push(x);
        }
        starts.push(indices.len());
        let chance = 1.0 / (1.0 + (-margin).exp());
        labels.push(if random.unit() < chance { 1.0 } else { -1.0 });
    }
    (CsrMatrix::new(starts, indices, values, columns), labels)
}

fn dense(csr: &CsrMatrix) -> DenseMatrix {
    let mut values = vec![0.0; csr.rows() * csr.columns()];
    for (i, row) in values.chunks_exact_mut(csr.columns()).enumerate() {
        let (indices, entries) = csr.row(i);
        indices.iter().zip(entries).for_each(|(&j, &x)| row[j as usize] = x);
    }
    DenseMatrix::new(values, csr.rows(), csr.columns())
}

/// The least time of several runs, in milliseconds: other work on the machine only adds.
fn time<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[0]
}

fn pass<S: Summable>(records: &InMemory<'_>, statistic: &S, runs: usize) {
    let bytes = records.features().bytes() + 8 * records.rows();
    let milliseconds = time(runs, || records.sum(statistic).unwrap());
    let rate = bytes as f64 / milliseconds / 1e6;
    println!("  {:<20} {milliseconds:>8.3} ms {rate:>7.1} GB/s", S::NAME);
}

fn measure(name: &str, matrix: &Matrix, labels: &[f64]) {
    println!("{name}: {} × {}, {} bytes", matrix.rows(), matrix.columns(), matrix.bytes());
    println!("  {:<20} {:>8.3} ms", "set-up", time(15, || InMemory::new(matrix, labels).unwrap()));
    let records = InMemory::new(matrix, labels).unwrap();
    let loss = Loss::Logistic;
    let theta: Vec<f64> = (0..matrix.columns()).map(|j| (j as f64).sin()).collect();
    pass(&records, &LossAndGradient { loss, theta: theta.clone() }, 31);
    let direction = theta.clone();
    pass(&records, &HessianVector { loss, theta: theta.clone(), direction }, 31);
    pass(&records, &Hessian { loss, theta: theta.clone(), stride: 1 }, 15);
    pass(
        &records,
        &ExactGradient { loss, theta: theta.clone(), radius: 1.0, slope: loss.lipschitz() },
        15,
    );
    pass(&records, &PreciseGradient { loss, tail: vec![0.0; theta.len()], theta }, 5);
    let linear: Vec<f64> = (0..matrix.columns()).map(|j| 30.0 * (j as f64).cos()).collect();
    for (loss, ridge) in [
        (Loss::Logistic, 2.0),
        (Loss::Logistic, 20.0),
        (Loss::Logistic, 100.0),
        (Loss::HuberSvm { h: 0.1 }, 20.0),
    ] {
        for method in [Method::Newton, Method::Lbfgs, Method::NewtonCg] {
            if method != Method::Newton && std::env::args().any(|a| a == "--newton") {
                continue;
            }
            let mut passes = 0;
            let milliseconds = time(9, || {
                let records = InMemory::new(matrix, labels).unwrap();
                let problem = Problem::new(&records, loss, ridge).with_linear(&linear);
                let options = SolverOptions { method, ..SolverOptions::default() };
                let minimiser = minimise(&problem, 1.0 / ROWS as f64, &options).unwrap();
                passes = minimiser.evaluations();
            });
            println!("  {loss:?} ridge {ridge} {method:?}: {milliseconds:.2} ms, {passes} passes");
        }
    }
}

/// Many rows of ten columns, so that proving 1/n takes double-double.
fn large(rows: usize) {
    let mut random = Generator(2);
    let values: Vec<f32> = (0..rows * 10).map(|_| ((random.unit() - 0.5) / 1.6) as f32).collect();
    let matrix = Matrix::Dense(DenseMatrix::new(values, rows, 10));
    let labels: Vec<f64> = (0..rows).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let linear: Vec<f64> = (0..10).map(|j| 3000.0 * (j as f64).cos()).collect();
    let start = Instant::now();
    let records = InMemory::new(&matrix, &labels).unwrap();
    let problem = Problem::new(&records, Loss::Logistic, 10.0).with_linear(&linear);
    let minimiser = minimise(&problem, 1.0 / rows as f64, &SolverOptions::default()).unwrap();
    println!(
        "{rows} rows: {:.2} s, {} passes, double-double: {}",
        start.elapsed().as_secs_f64(),
        minimiser.evaluations(),
        minimiser.used_double_double(),
    );
}

fn main() {
    let (csr, labels) = table();
    let mut arguments = std::env::args().skip_while(|a| a != "--dump").skip(1);
    if let Some(path) = arguments.next() {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        for (i, y) in labels.iter().enumerate() {
            write!(file, "{y}").unwrap();
            let (indices, values) = csr.row(i);
            indices.iter().zip(values).for_each(|(j, x)| write!(file, " {}:{x}", j + 1).unwrap());
            writeln!(file).unwrap();
        }
        return;
    }
    if let Some(count) = std::env::args().skip_while(|a| a != "--repeat").nth(1) {
        let matrix = match std::env::args().any(|a| a == "--dense") {
            true => Matrix::Dense(dense(&csr)),
            false => Matrix::Csr(csr),
        };
        let linear: Vec<f64> = (0..matrix.columns()).map(|j| 30.0 * (j as f64).cos()).collect();
        for _ in 0..count.parse().unwrap() {
            let records = InMemory::new(&matrix, &labels).unwrap();
            let problem = Problem::new(&records, Loss::Logistic, 2.0).with_linear(&linear);
            black_box(minimise(&problem, 1.0 / ROWS as f64, &SolverOptions::default()).unwrap());
        }
        return;
    }
    if let Some(rows) = std::env::args().skip_while(|a| a != "--large").nth(1) {
        return large(rows.parse().unwrap());
    }
    let full = dense(&csr);
    measure("csr", &Matrix::Csr(csr), &labels);
    measure("dense", &Matrix::Dense(full), &labels);
}
