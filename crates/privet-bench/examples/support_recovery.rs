//! Probability of finding the right columns, against the number of rows: `subsample`, `lasso-stability`,
//! `correlation`.
//!
//! Rows of N(0, ¼) within ±1 (the only generator of Thakurta 2013, Theorem 6.10), weights 0.6 and −0.5,
//! noise of deviation ¼ on targets within ±2; s = 2 of p = 20 columns, ε = 1, δ = 10⁻⁶, replace-one.
//! Beside the rates the sample sizes that the thesis gives, without their constants: s·ln p/q for
//! subsampling (Corollary 6.37, q = ε/(32 ln(1/δ))) and max{s·ln p, k²s⁴/ln p, ks^(3/2)} for the LASSO
//! (Corollary 6.39, k = 2 ln(1/δ)/ε).
//!
//! `cargo run --release -p privet-bench --example support_recovery [RUNS] [FIGURE.html]`: a table in
//! Markdown, and a figure.

use privet_bench::report::document::{Block, Document};
use privet_bench::report::html::page;
use privet_cli::page::panel::{Axis, Figure, Panel, PlotLine, PlotPoint, Style};
use privet_core::Neighbours;
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::plan;
use privet_learn::selection::{Select, Selector};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

const COLUMNS: usize = 20;
const TRUTH: [(usize, f64); 2] = [(4, 0.6), (13, -0.5)];
const ROWS: [usize; 6] = [2_500, 5_000, 10_000, 20_000, 40_000, 80_000];
const METHODS: [&str; 3] = ["subsample", "lasso-stability", "correlation"];
const BUDGET: (f64, f64) = (1.0, 1e-6);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runs: u64 = arguments.first().map_or(Ok(5), |runs| runs.parse())?;
    let mut actual = vec![vec![0.0; ROWS.len()]; METHODS.len()];
    let mut wrong = 0;
    for (place, rows) in ROWS.into_iter().enumerate() {
        for run in 0..runs {
            let data = table(rows, 1_000 * run + place as u64)?;
            for (line, method) in METHODS.into_iter().enumerate() {
                let columns = chosen(method, &data, rows as u64, run)?;
                let right = columns == Some(TRUTH.map(|(column, _)| column as u32).to_vec());
                actual[line][place] += f64::from(u8::from(right)) / runs as f64;
                wrong += u32::from(columns.is_some() && !right);
            }
        }
        eprintln!("{rows} rows: done");
    }
    let (tail, p, s) = ((1.0 / BUDGET.1).ln(), COLUMNS as f64, TRUTH.len() as f64);
    let parts = s * p.ln() * 32.0 * tail / BUDGET.0;
    let k = 2.0 * tail / BUDGET.0;
    let stable = (s * p.ln()).max(k * k * s.powi(4) / p.ln()).max(k * s.powf(1.5));
    let lines = [("s ln p / q", parts), ("max{s ln p, k²s⁴/ln p, ks^1.5}", stable)];
    print!("{}", markdown(&actual, runs, wrong, &lines));
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, figure(&actual, &lines))?;
    }
    Ok(())
}

fn schema() -> Result<Schema, Box<dyn Error>> {
    let mut text =
        "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [-2, 2]\n"
            .to_string();
    for column in 0..COLUMNS {
        write!(
            text,
            "[[columns]]\nname = \"x{column}\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n"
        )?;
    }
    Ok(Schema::from_toml(&text)?)
}

fn table(rows: usize, seed: u64) -> Result<Dataset, Box<dyn Error>> {
    let mut source = FixedSeed::new(seed);
    // A sum of twelve uniform numbers, less 6.
    let mut normal =
        || (0..12).map(|_| source.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0;
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for _ in 0..rows {
        let row: Vec<f64> = (0..COLUMNS).map(|_| (0.5 * normal()).clamp(-1.0, 1.0)).collect();
        let score: f64 = TRUTH.iter().map(|(column, weight)| weight * row[*column]).sum();
        row.iter().try_for_each(|x| write!(text, "{x:.4},"))?;
        writeln!(text, "{:.4}", (score + 0.25 * normal()).clamp(-2.0, 2.0))?;
    }
    Ok(read::csv_bytes(text.as_bytes(), &schema()?)?)
}

fn chosen(
    method: &str,
    data: &Dataset,
    rows: u64,
    seed: u64,
) -> Result<Option<Vec<u32>>, Box<dyn Error>> {
    let task = Select { size: TRUTH.len() as u32, method: method.parse::<Selector>()? };
    let budget = (BUDGET.0, Some(BUDGET.1));
    let request = task.request(&schema()?, rows, Neighbours::ReplaceOne, budget)?;
    let (never, mut source) = (AtomicBool::new(false), FixedSeed::new(seed));
    let (support, _) = plan(&request)?.run(data, &mut source, &never)?.into_parts();
    Ok(support.columns)
}

fn markdown(found: &[Vec<f64>], runs: u64, wrong: u32, lines: &[(&str, f64)]) -> String {
    let rows: Vec<String> = ROWS.iter().map(|rows| format!(" {rows} |")).collect();
    let mut text = format!("| rows |{}\n|---|{}\n", rows.concat(), "---|".repeat(ROWS.len()));
    for (method, rates) in METHODS.iter().zip(found) {
        let cells: Vec<String> = rates.iter().map(|rate| format!(" {rate:.2} |")).collect();
        text += &format!("| `{method}` |{}\n", cells.concat());
    }
    text +=
        &format!("\nShare of {runs} runs that found both columns; {wrong} runs named others.\n");
    for (name, rows) in lines {
        text += &format!("{name} = {rows:.0} rows.\n");
    }
    text
}

/// Rates over the logarithm of the rows, as a page.
fn figure(found: &[Vec<f64>], lines: &[(&str, f64)]) -> String {
    let style = |line: usize| Style::Series(line, 0);
    let point = |(rows, rate): (&usize, &f64)| PlotPoint {
        x: *rows as f64,
        y: *rate,
        error: None,
        title: format!("{rows} rows: {rate:.2}"),
    };
    let drawn = |(line, rates): (usize, &Vec<f64>)| PlotLine {
        style: style(line),
        points: ROWS.iter().zip(rates).map(point).collect(),
    };
    let sizes = lines.iter().map(|(name, rows)| format!("{name} = {rows:.0} rows"));
    let panel = Panel {
        title: String::new(),
        label: "How often both columns are found, against the number of rows".into(),
        x: Axis::logarithmic("rows", &ROWS.map(|rows| rows as f64)),
        y: Axis::linear("share of runs", &[0.0, 1.0]),
        lines: found.iter().enumerate().map(drawn).collect(),
        level: None,
        bars: vec![],
    };
    let figure = Figure {
        caption: format!("Of the thesis: {}.", sizes.collect::<Vec<_>>().join("; ")),
        panels: vec![panel],
        legend: METHODS.iter().zip(0..).map(|(name, line)| (style(line), (*name).into())).collect(),
    };
    page("Support found", &Document { blocks: vec![Block::Figure(figure)] })
}
