//! Generated tables of a known base rate and signal: forecasts of plans are compared with them.

use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, Target, read};
use privet_dp::noise::FixedSeed;
use privet_learn::linear::model::{Model, Predictions};
use privet_learn::{Erm, Method, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::atomic::AtomicBool;

/// A table to generate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratedTable {
    /// Number of rows, n.
    pub rows: usize,
    /// Number of columns before encoding.
    pub columns: usize,
    /// Number of classes; 1: a number.
    pub classes: usize,
    /// Of two classes, the fraction of the larger one.
    pub base: f64,
    /// Correlation of the label's latent score with the columns' part of it.
    pub signal: f64,
    /// True for correlated columns, every third a category of four levels; otherwise independent
    /// numbers.
    pub mixed: bool,
    pub seed: u64,
}

/// Draws of SplitMix64.
pub struct Draws(pub u64);

impl Draws {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Correlation between every two columns of a mixed table.
const TOGETHER: f64 = 0.2;

/// Φ⁻¹, by bisection of a series accurate enough for thresholds.
fn quantile(share: f64) -> f64 {
    let below = |x: f64| {
        // Abramowitz & Stegun 26.2.17.
        let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
        let tail = (-x * x / 2.0).exp() / 2.506_628_274_631
            * t
            * (0.319_381_53
                + t * (-0.356_563_782
                    + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
        if x > 0.0 { 1.0 - tail } else { tail }
    };
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if below(middle) < share { low = middle } else { high = middle }
    }
    low
}

impl GeneratedTable {
    fn is_category(&self, column: usize) -> bool {
        self.mixed && column % 3 == 2
    }

    /// Its public schema.
    pub fn schema(&self) -> Schema {
        let target = match self.classes {
            1 => "bounds = [-4, 4]".to_string(),
            count => {
                let names: Vec<String> = (0..count).map(|class| format!("\"c{class}\"")).collect();
                format!("classes = [{}]", names.join(", "))
            }
        };
        let mut text = format!(
            "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n"
        );
        for column in 0..self.columns {
            let kind = match self.is_category(column) {
                true => "type = \"category\"\ncategories = [\"a\", \"b\", \"c\", \"d\"]",
                false => "type = \"number\"\nbounds = [0, 1]",
            };
            text.push_str(&format!("[[columns]]\nname = \"x{column}\"\n{kind}\n"));
        }
        Schema::from_toml(&text).unwrap()
    }

    /// Its rows, and `more` rows of the same distribution for evaluation.
    pub fn csv(&self, more: usize) -> (String, String) {
        let mut draws = Draws(self.seed);
        let problems = if self.classes > 2 { self.classes } else { 1 };
        let together = if self.mixed { TOGETHER } else { 0.0 };
        let weights: Vec<Vec<f64>> =
            (0..problems).map(|_| (0..self.columns).map(|_| draws.normal()).collect()).collect();
        let scale = |weights: &Vec<f64>| {
            let (sum, squares) = weights.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
            (together * sum * sum + (1.0 - together) * squares).sqrt()
        };
        let scales: Vec<f64> = weights.iter().map(scale).collect();
        let threshold = quantile(self.base);
        let header: Vec<String> = (0..self.columns).map(|column| format!("x{column}")).collect();
        let header = format!("{},y\n", header.join(","));
        let mut row = |text: &mut String| {
            let common = draws.normal();
            let own: Vec<f64> = (0..self.columns)
                .map(|_| together.sqrt() * common + (1.0 - together).sqrt() * draws.normal())
                .collect();
            let said = |problem: usize| {
                let sum: f64 = weights[problem].iter().zip(&own).map(|(w, x)| w * x).sum();
                sum / scales[problem]
            };
            let left = (1.0 - self.signal * self.signal).sqrt();
            let latent: Vec<f64> = (0..problems)
                .map(|problem| self.signal * said(problem) + left * draws.normal())
                .collect();
            for (column, x) in own.iter().enumerate() {
                match self.is_category(column) {
                    // Quarters.
                    true => {
                        let level = ["a", "b", "c", "d"][usize::from(*x > -0.67)
                            + usize::from(*x > 0.0)
                            + usize::from(*x > 0.67)];
                        text.push_str(level);
                    }
                    // Even, or crowded at the low end.
                    false => {
                        let spread = if column % 2 == 0 {
                            1.0 / (1.0 + (-1.7 * x).exp())
                        } else {
                            1.0 / (1.0 + (2.0 - x).exp())
                        };
                        text.push_str(&format!("{spread:.4}"));
                    }
                }
                text.push(',');
            }
            let label = match self.classes {
                1 => format!("{:.4}", latent[0].clamp(-4.0, 4.0)),
                2 => format!("c{}", u8::from(latent[0] > threshold)),
                _ => {
                    let best = (0..problems).max_by(|a, b| latent[*a].total_cmp(&latent[*b]));
                    format!("c{}", best.unwrap_or(0))
                }
            };
            text.push_str(&label);
            text.push('\n');
        };
        let (mut first, mut second) = (header.clone(), header);
        (0..self.rows).for_each(|_| row(&mut first));
        (0..more).for_each(|_| row(&mut second));
        (first, second)
    }
}

/// A generated table, with rows for evaluation.
pub struct Table {
    pub made: GeneratedTable,
    train: String,
    test: String,
    /// Accuracy or R² of the model without privacy.
    without: f64,
}

/// Results of a method.
#[derive(Debug, Clone, Copy)]
pub struct Tried {
    /// Accuracy or R² without privacy.
    pub without: f64,
    /// Mean accuracy or R² of the private runs.
    pub with: f64,
    /// Lost fraction of the gain over the commonest class; `None` if that gain is less than two points.
    pub lost: Option<f64>,
    /// The plan's forecast of that, given the base rate.
    pub predicted: Option<f64>,
}

/// True if they are within a factor of two, or both negligible.
pub fn within_two(found: f64, predicted: f64) -> bool {
    let nothing = |a: f64, b: f64| a < 0.05 && b < 0.1;
    let near = found / 2.0 <= predicted && predicted <= found * 2.0;
    near || nothing(found, predicted) || nothing(predicted, found)
}

/// Accuracy, or R².
fn worth(model: &Model, test: &Dataset) -> f64 {
    match (model.predict(&test.features), &test.target) {
        (Predictions::Classes(found), Target::Class { codes, .. }) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            right as f64 / codes.len() as f64
        }
        (Predictions::Numbers(found), Target::Number(truth)) => {
            let truth: Vec<f64> = truth.iter().map(|y| 4.0 * y).collect();
            let mean = truth.iter().sum::<f64>() / truth.len() as f64;
            let squares =
                |of: &dyn Fn(usize) -> f64| (0..truth.len()).map(|i| of(i).powi(2)).sum::<f64>();
            1.0 - squares(&|i| truth[i] - found[i]) / squares(&|i| truth[i] - mean)
        }
        _ => unreachable!("a model of this schema"),
    }
}

impl GeneratedTable {
    /// Generates the table with 4,000 further rows, and evaluates a model without privacy.
    pub fn table(&self) -> Table {
        let (train, test) = self.csv(4000);
        let mut table = Table { made: *self, train, test, without: 0.0 };
        let request = table.request("non-private", None);
        table.without = table.fitted(&plan(&request).unwrap(), 1, 1).unwrap();
        table
    }
}

impl Table {
    pub fn request(&self, method: &str, budget: Option<Budget>) -> Request {
        let method: Method = method.parse().unwrap();
        let squares = self.made.classes == 1 || method.name() == "ssp";
        let loss = if squares { Loss::SQUARED } else { Loss::Logistic };
        let (rows, task) = (self.made.rows as u64, Erm { loss, method });
        let request = Request::new(self.made.schema(), rows, Neighbours::ReplaceOne, task);
        Request { budget, ..request }
    }

    /// Mean accuracy or R² of `runs` runs; R² below 0 counts as 0, that of the mean.
    pub fn fitted(&self, plan: &Plan, runs: u64, seed: u64) -> Option<f64> {
        let data = read::csv_bytes(self.train.as_bytes(), plan.schema()).unwrap();
        let test = read::csv_bytes(self.test.as_bytes(), plan.schema()).unwrap();
        let mut sum = 0.0;
        for run in 0..runs {
            let mut source = FixedSeed::new(1000 * seed + run);
            let release = plan.run(&data, &mut source, &AtomicBool::new(false)).ok()?;
            let own = worth(&Model::from_release(release).unwrap(), &test);
            sum += if self.made.classes == 1 { own.max(0.0) } else { own };
        }
        Some(sum / runs as f64)
    }

    /// Accuracy or R² without any model.
    pub fn base(&self) -> f64 {
        match self.made.classes {
            1 => 0.0,
            2 => self.made.base.max(1.0 - self.made.base),
            classes => 1.0 / classes as f64,
        }
    }

    /// A method at an ε; `None` where it cannot be planned or run.
    pub fn tried(&self, method: &str, epsilon: f64, pure: bool, runs: u64) -> Option<Tried> {
        let delta = if pure { 0.0 } else { Budget::usual_delta(self.made.rows as u64) };
        let budget = Budget::new(epsilon, delta).unwrap();
        let plan = plan(&self.request(method, Some(budget))).ok()?;
        let with = self.fitted(&plan, runs, self.made.seed)?;
        let told = (self.made.classes == 2).then_some(self.made.base);
        let forecast = plan.forecast(told).unwrap();
        let gained = self.without - self.base();
        let lost = (gained >= 0.02).then(|| ((self.without - with) / gained).clamp(0.0, 1.0));
        Some(Tried { without: self.without, with, lost, predicted: forecast.map(|one| one.cost) })
    }
}
