//! One fit on rows in memory or on disk, timed and evaluated.

use crate::error::BenchError;
use crate::memory;
use privet_core::{Budget, Neighbours};
use privet_data::Dataset;
use privet_data::Target;
use privet_data::centre::Centre;
use privet_data::matrix::Matrix;
use privet_data::schema::Schema;
use privet_dp::noise::SystemRandom;
use privet_learn::{Calibration, Erm, Method, Request, plan};
use privet_optim::loss::Loss;
use privet_optim::sum::Table;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The result of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fitted {
    pub seconds: f64,
    /// The chosen method.
    pub settled: &'static str,
    /// Accuracy on the held-out rows, in per cent.
    pub accuracy: f64,
    /// Peak memory of the process during the fit.
    pub peak: Option<u64>,
}

/// The fit to run.
#[derive(Debug, Clone, Copy)]
pub(super) struct FitSettings<'a> {
    pub method: &'a str,
    /// The ε of the budget; 0 for a method without privacy.
    pub epsilon: f64,
    /// The δ of the budget; 1/n² unless given.
    pub delta: Option<f64>,
    pub loss: Loss,
    /// The ridge λ; the method's own unless given.
    pub ridge: Option<f64>,
}

impl<'a> FitSettings<'a> {
    /// Logistic regression at the usual δ.
    pub fn usual(method: &'a str, epsilon: f64) -> Self {
        Self { method, epsilon, delta: None, loss: Loss::Logistic, ridge: None }
    }
}

/// Runs the fit.
pub(super) fn fit(
    schema: &Schema,
    table: &dyn Table,
    asked: FitSettings<'_>,
    held_out: &[Dataset],
) -> Result<Fitted, BenchError> {
    let rows = table.rows() as u64;
    let delta = asked.delta.unwrap_or_else(|| Budget::usual_delta(rows));
    let budget = match asked.epsilon > 0.0 {
        true => Some(Budget::new(asked.epsilon, delta)?),
        false => None,
    };
    let mut method: Method = asked.method.parse()?;
    if let Some(ridge) = asked.ridge {
        method = method.with("ridge", &ridge.to_string())?;
    }
    let planned = plan(&Request {
        schema: schema.clone(),
        rows,
        budget,
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        among: None,
        prior_fits: vec![],
        task: Erm { loss: asked.loss, method },
    })?;
    let mut source = SystemRandom::new()?;
    memory::start();
    let started = Instant::now();
    let release = planned.run(table, &mut source, &AtomicBool::new(false))?;
    let seconds = started.elapsed().as_secs_f64();
    let peak = memory::peak();
    let found = release.value();
    let centre = found.centre.as_ref().map(|mean| Centre::new(mean, planned.facts().radius));
    let taken =
        centre.as_ref().map(|centre| centre.inner_products(&found.weights)).unwrap_or_default();
    let score = |features: &Matrix, row: usize| match &centre {
        Some(centre) => centre.scores(&features.entries(row), &found.weights, &taken)[0],
        None => {
            let entries = features.entries(row).into_iter();
            entries.map(|(j, x)| f64::from(x) * found.weights[0][j as usize]).sum()
        }
    };
    let right = |data: &Dataset| {
        let Target::Class { codes, .. } = &data.target else { return 0 };
        let fits = |row: &usize| (score(&data.features, *row) > 0.0) == (codes[*row] == 1);
        (0..data.rows()).filter(fits).count()
    };
    let all: usize = held_out.iter().map(Dataset::rows).sum();
    let right: usize = held_out.par_iter().map(right).sum();
    let accuracy = 100.0 * right as f64 / all.max(1) as f64;
    Ok(Fitted { seconds, settled: planned.request().task.method.name(), accuracy, peak })
}
