//! The product among parties: every sum through shares, two servers, each with noise of its own.

use super::problem::{folder, read, some};
use super::{Dealt, Parties, line};
use crate::error::BenchError;
use crate::score::score;
use crate::streams::{Emit, Settings};
use crate::suite::Onlooker;
use privet_core::{Budget, Neighbours};
use privet_data::Schema;
use privet_dp::account::{Cost, Event};
use privet_dp::mechanism::shares::{Among, InProcess, NoiseMode};
use privet_dp::noise::SystemRandom;
use privet_learn::model::Model;
use privet_learn::{Erm, Method, Request, plan};
use privet_optim::loss::Loss;
use privet_parties::Crowd;
use serde_json::json;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Numbers of all rounds of a plan, which go to every server as shares and come back as openings.
fn numbers(planned: &Event) -> u64 {
    match planned {
        Event::Use { cost: Cost::Gaussian { grid: Some(grid), .. }, .. } => grid.coordinates,
        Event::All(all) => all.iter().map(numbers).sum(),
        Event::Repeat { count, event } => u64::from(*count) * numbers(event),
        _ => 0,
    }
}

/// Runs one set.
pub(super) fn ours(
    suite: &Parties,
    dealt: &Dealt,
    settings: &Settings,
    watch: &dyn Onlooker,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let folder = folder(dealt, settings)?;
    let schema = Schema::load(folder.join("schema.toml"))?;
    let table = |stem: &str, schema: &Schema, most: usize| {
        read(&folder, stem, schema).map(|table| some(&table, most))
    };
    let linear = schema.linear();
    let (train, test) =
        (table("train", &linear, dealt.training)?, table("test", &linear, dealt.test)?);
    let rows = train.rows() as u64;
    let never = AtomicBool::new(false);
    let request = |method: &str, schema: &Schema| -> Result<Request, BenchError> {
        let task = Erm { loss: Loss::Logistic, method: method.parse::<Method>()? };
        Ok(Request::new(schema.clone(), rows, Neighbours::ReplaceOne, task))
    };
    let plain =
        plan(&request("non-private", &linear)?)?.run(&train, &mut SystemRandom::new()?, &never)?;
    let (_, best) = score(&Model::from_release(plain)?, &linear, &test);
    for parties in &dealt.parties {
        for (method, schema) in [("gd", &linear), ("auto", &schema)] {
            let among = Among { parties: *parties, servers: 2, honest: 1, noise: NoiseMode::Shares };
            let budget = Budget::new(suite.epsilon, suite.delta)?;
            let planned = plan(&request(method, schema)?.within(budget).shared(among))?;
            let (train, test) = (
                table("train", planned.schema(), dealt.training)?,
                table("test", planned.schema(), dealt.test)?,
            );
            watch.say(&format!("ours: {method} on {} among {parties} parties", dealt.dataset));
            for run in 0..suite.runs {
                let crowd = Crowd::new(train.clone(), among, Box::new(SystemRandom::new()?));
                let (mut own, mut servers) = (SystemRandom::new()?, SystemRandom::new()?);
                let together = InProcess::new(among, &mut servers);
                let started = Instant::now();
                let release = planned.run_among(&crowd, &together, &mut own, &never, None)?;
                let seconds = started.elapsed().as_secs_f64();
                let (_, found) = score(&Model::from_release(release)?, planned.schema(), &test);
                emit(line(
                    "ours",
                    method,
                    json!({
                        "dataset": dealt.dataset, "parties": parties, "method": method, "run": run,
                        "chosen": planned.request().task.method.name(), "epsilon": suite.epsilon, "delta": suite.delta,
                        "accuracy": found, "accuracy-loss": best - found, "best": best, "seconds": seconds,
                        "bytes-a-party": 2 * 16 * u64::from(among.servers) * planned.events().map_or(0, numbers),
                    }),
                ))?;
            }
        }
    }
    Ok(())
}
