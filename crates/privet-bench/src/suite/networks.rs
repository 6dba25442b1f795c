//! A job of a network.

use super::learner::{HATS, INPUT_SCALE, INPUT_SHIFT};
use super::pool::Job;
use super::table::Table;
use crate::error::BenchError;
use crate::line::Run;
use crate::memory;
use privet_data::schema::{BasisChoice, Rows};
use privet_data::{Dataset, Schema, Target};
use privet_dp::account::Event;
use privet_dp::noise::SystemRandom;
use privet_learn::linear::model::Predictions;
use privet_learn::networks::{InitialSource, Method, Network, TrainedNetwork};
use privet_learn::statistics::ranking;
use privet_learn::{LearnError, Plan, plan};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

impl Job<'_> {
    /// The value of a numeric key of the entry.
    fn number(&self, key: &str) -> Option<f64> {
        let (entry, cell) = (self.place.entry, &self.place.cell);
        let written = cell.settings.get(key).or_else(|| entry.fixed.get(key));
        written.and_then(|value| value.parse().ok())
    }

    /// Trains networks: each run begins from other weights, a function of its number, unless they are
    /// public ones.
    pub(super) fn networks(
        &self,
        table: &Table,
        method: Method,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Run),
    ) -> Result<(), BenchError> {
        let rows = table.training.rows() as u64;
        let encoded = match self.number(HATS) {
            Some(hats) => table.encoded(&expand_numbers(&table.schema, hats as u32))?,
            None => None,
        };
        let (schema, training, test) = match &encoded {
            Some(encoded) => (&encoded.schema, &encoded.training, &encoded.test),
            None => (&table.schema, &table.training, &table.test),
        };
        let net = self.place.entry.net.clone();
        let net = net.ok_or(LearnError::DataShape("the entry has no network"))?;
        let public = match &self.public {
            Some(public) => Some(public.begin(&net, stop)?),
            None => None,
        };
        let mut source = SystemRandom::new()?;
        // The noise is the same whatever the seed: it is calibrated once.
        let mut noise = Vec::new();
        for run in &self.runs {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let task = Network {
                begin: Some(match &public {
                    Some((begin, _)) => begin.clone(),
                    None => InitialSource::Seed(u64::from(*run)),
                }),
                scale: self.number(INPUT_SCALE),
                shift: self.number(INPUT_SHIFT),
                ..Network::new(net.clone(), method.clone())
            };
            let mut request = self.request(schema, rows, task)?;
            request.noise.clone_from(&noise);
            let mut plan: Plan<Network> = plan(&request)?;
            if let Some((_, weights)) = &public {
                plan = plan.with_public(weights)?;
            }
            noise.clone_from(&plan.request().noise);
            let started = Instant::now();
            let release = plan.run(training, &mut source, stop)?;
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
                score: accuracy(&network, test)?,
                ranking: area(&network, test)?,
                distance: None,
                recall: None,
                ndcg: None,
                loss: Some(network.mean_loss(&test.features, &test.target)?),
                gradient: Some(network.gradient_norm(training)?),
                passes: passes(&plan, &network),
                questions: None,
                chosen: None,
                certified: plan.guarantee().map(|guarantee| guarantee.epsilon),
                seconds,
                peak_memory: memory::peak(),
            });
        }
        Ok(())
    }
}

/// Expands each number that the schema leaves open in so many hat functions, and leaves the norms of
/// rows unbounded: a network's training clips gradients.
fn expand_numbers(schema: &Schema, hats: u32) -> Schema {
    schema.with_bases(&BasisChoice { hats, pair_hats: 0, bias: 1.0, rows: Rows::Clip, whole: true })
}

/// Number of passes of a training over the records: a gradient at a point, and a loss at one, count as a
/// pass each.
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

/// Per cent of the held-out records whose class is predicted.
fn accuracy(network: &TrainedNetwork, test: &Dataset) -> Result<f64, LearnError> {
    match (network.predict(&test.features)?, &test.target) {
        (Predictions::Classes(found), Target::Class { codes, .. }) => {
            let right = found.iter().zip(codes).filter(|(a, b)| a == b).count();
            Ok(100.0 * right as f64 / codes.len() as f64)
        }
        _ => Err(LearnError::DataShape("networks of a suite predict classes")),
    }
}

/// The area under the ROC curve in per cent, of two classes.
fn area(network: &TrainedNetwork, test: &Dataset) -> Result<Option<f64>, LearnError> {
    let Target::Class { codes, count: 2 } = &test.target else { return Ok(None) };
    let shares = network.probabilities(&test.features)?.unwrap_or_default();
    let scores: Vec<f64> = shares.chunks(2).map(|row| row[1]).collect();
    let positive: Vec<bool> = codes.iter().map(|code| *code == 1).collect();
    Ok(ranking::area(&scores, &positive).map(|area| 100.0 * area))
}
