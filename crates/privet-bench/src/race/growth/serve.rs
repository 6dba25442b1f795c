//! One fit in a process of its own, so that its peak memory is its own.
//!
//! The process speaks as every peer does ([`crate::race::peer`]): one line per question, one per answer,
//! until its input ends.

use super::rows::{self, Size};
use crate::error::BenchError;
use crate::memory;
use crate::race::RoundSeconds;
use privet_core::{Budget, Neighbours};
use privet_dp::noise::SystemRandom;
use privet_learn::{Calibration, Erm, Request, plan};
use privet_optim::loss::Loss;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Instant;

/// ε of every fit; δ is 1/n².
pub const EPSILON: f64 = 1.0;
/// Largest number of fits, within the time limit.
const FITS: usize = 5;

/// A question to the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Question {
    /// The shape of the rows.
    pub size: Size,
    /// The learner, with its default settings; none to write the rows only.
    pub method: Option<String>,
    /// Repeats the fit, up to five times, for this many seconds.
    pub seconds: f64,
    /// The path for an export of the rows, if a peer needs them.
    pub export: Option<PathBuf>,
}

/// Answers questions from standard input on standard output. Ends with its input, even in the middle of
/// a fit.
pub fn serve() {
    println!("{}", json!({ "ready": {} }));
    let (sender, questions) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    for line in questions {
        let answer = match serde_json::from_str(&line) {
            Ok(question) => answer(&question).map_err(|error| error.to_string()),
            Err(error) => Err(format!("not a question: {error}")),
        };
        println!("{}", answer.unwrap_or_else(|refused| json!({ "refused": refused })));
    }
}

fn answer(question: &Question) -> Result<Value, BenchError> {
    let size = question.size;
    let base = memory::resident_bytes();
    let data = size.draw()?;
    if let Some(stem) = &question.export {
        rows::export(&data, stem)?;
    }
    let Some(method) = &question.method else {
        return Ok(json!({}));
    };
    let planned = plan(&Request {
        schema: size.schema()?,
        rows: size.rows as u64,
        budget: Some(Budget::new(EPSILON, Budget::usual_delta(size.rows as u64))?),
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        among: None,
        prior_fits: vec![],
        task: Erm { loss: Loss::Logistic, method: method.parse()? },
    })?;
    let mut source = SystemRandom::new()?;
    memory::start();
    let mut times = RoundSeconds::default();
    while times.0.is_empty() || (times.0.len() < FITS && times.total() < question.seconds) {
        let started = Instant::now();
        planned.run(&data, &mut source, &AtomicBool::new(false))?;
        times.push(started.elapsed().as_secs_f64());
    }
    Ok(json!({
        "seconds": times.fastest(),
        "fits": times.0.len(),
        "peak_memory": memory::peak(),
        "base_memory": base,
        "ridge": planned.settings().get("ridge"),
    }))
}
