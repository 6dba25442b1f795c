//! A job of a network.

use super::learner::{INPUT_SCALE, INPUT_SHIFT};
use super::pool::Job;
use super::table::Table;
use crate::error::BenchError;
use crate::line::Run;
use crate::memory;
use privet_data::Target;
use privet_dp::account::Event;
use privet_dp::noise::SystemRandom;
use privet_learn::model::Predictions;
use privet_learn::nonconvex::{Begin, Method, Network, TrainedNetwork};
use privet_learn::{LearnError, Plan, plan, ranking};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

impl Job<'_> {
    /// A number among the keys of the entry.
    fn number(&self, key: &str) -> Option<f64> {
        let (entry, cell) = (self.place.entry, &self.place.cell);
        let written = cell.settings.get(key).or_else(|| entry.fixed.get(key));
        written.and_then(|value| value.parse().ok())
    }

    /// Networks: each run begins from other weights, a function of its number.
    pub(super) fn networks(
        &self,
        table: &Table,
        method: Method,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let rows = table.training.rows() as u64;
        let net = self.place.entry.net.clone();
        let net = net.ok_or(LearnError::DataShape("the entry has no network"))?;
        let mut source = SystemRandom::new()?;
        // The noise is the same whatever the seed: it is looked for once.
        let mut noise = Vec::new();
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let task = Network {
                begin: Some(Begin::Seed(u64::from(*run))),
                scale: self.number(INPUT_SCALE),
                shift: self.number(INPUT_SHIFT),
                ..Network::new(net.clone(), method.clone())
            };
            let mut request = self.request(&table.schema, rows, task)?;
            request.noise.clone_from(&noise);
            let plan: Plan<Network> = plan(&request)?;
            noise.clone_from(&plan.request().noise);
            let started = Instant::now();
            let release = plan.run(&table.training, &mut source, stop)?;
            let seconds = started.elapsed().as_secs_f64();
            let network = TrainedNetwork::from_release(release)?;
            tell(Run {
                cell: self.place.cell.clone(),
                stage: self.stage,
                run: *run,
                rows,
                columns: plan.facts().inputs as u64,
                classes: table.schema.classes().map_or(0, <[String]>::len) as u64,
                measure: "accuracy".into(),
                score: accuracy(&network, table)?,
                ranking: area(&network, table)?,
                distance: None,
                recall: None,
                ndcg: None,
                loss: Some(network.mean_loss(&table.test.features, &table.test.target)?),
                gradient: Some(network.gradient_norm(&table.training)?),
                passes: passes(&plan, &network),
                chosen: None,
                certified: plan.guarantee().map(|guarantee| guarantee.epsilon),
                seconds,
                peak_memory: memory::peak(),
            });
        }
        Ok(())
    }
}

/// How often a training went over the records: a gradient at a point, and a loss at one, count as a pass each.
fn passes(plan: &Plan<Network>, network: &TrainedNetwork) -> Option<f64> {
    let (settings, rows) = (plan.settings(), plan.request().rows as f64);
    match network.request().task.method {
        // Each of its steps is a gradient and a choice among 21 losses.
        Method::DpAgd(_) => match &network.certificate().events {
            Some(Event::All(events)) => Some(events.len() as f64 / 2.0 * 22.0),
            _ => None,
        },
        Method::DpSrm(_) | Method::Storm(_) => {
            Some(2.0 * settings.get("steps")? * settings.get("batch")? / rows)
        }
        _ => Some(settings.get("steps")? * settings.get("batch")? / rows),
    }
}

/// Per cent of the held-out records whose class is found.
fn accuracy(network: &TrainedNetwork, table: &Table) -> Result<f64, LearnError> {
    match (network.predict(&table.test.features)?, &table.test.target) {
        (Predictions::Classes(found), Target::Class { codes, .. }) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            Ok(100.0 * right as f64 / codes.len() as f64)
        }
        _ => Err(LearnError::DataShape("networks of a suite predict classes")),
    }
}

/// The area under the ROC curve in per cent, of two classes.
fn area(network: &TrainedNetwork, table: &Table) -> Result<Option<f64>, LearnError> {
    let Target::Class { codes, count: 2 } = &table.test.target else { return Ok(None) };
    let shares = network.probabilities(&table.test.features)?.unwrap_or_default();
    let scores: Vec<f64> = shares.chunks(2).map(|row| row[1]).collect();
    let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
    Ok(ranking::area(&scores, &positive).map(|area| 100.0 * area))
}
