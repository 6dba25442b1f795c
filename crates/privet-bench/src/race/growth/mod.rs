//! Growth of a fit's time and memory with rows and with columns, beside scikit-learn's lbfgs.
//!
//! Each size is fitted in a process of its own ([`serve()`]), on generated rows ([`rows`]); the peer
//! reads the same rows from a file. A curve ends where the next size would need more than half of the
//! machine's memory, or took too long, and a line with a `notice` states it. The slopes of the curves on
//! a doubly logarithmic scale are the exponents of the growth.

mod curve;
pub mod rows;
mod serve;

use super::environment::{Environment, Rival};
use super::peer::Peer;
use super::turns::Opponent;
use super::{Emit, RaceError, Settings};
use crate::error::BenchError;
use curve::Curve;
use privet_cli::say;
use privet_data::schema::Storage;
use rows::Size;
use serde_json::{Value, json};
pub use serve::{EPSILON, Question, serve};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The peer's script.
const SCRIPT: &str = "growth.py";
/// Our learners.
const METHODS: [&str; 2] = ["amp", "gd"];
/// Seconds for which a fit is repeated.
const REPEATED: f64 = 5.0;
/// The time limit of one size, drawing or reading the rows included.
const LIMIT: Duration = Duration::from_secs(600);
/// The peer's λ where ours has none.
const RIDGE: f64 = 1.0;

/// A family of sizes.
struct Family {
    race: &'static str,
    sizes: Vec<Size>,
}

/// Sizes from small to large: rows at 20 columns, columns at 10,000 rows, these dense and then sparse.
fn families(quick: bool) -> Vec<Family> {
    let powers = |from: i32, to: i32| -> Vec<usize> {
        // Half powers of ten.
        (from..=to).map(|half| 10_f64.powf(f64::from(half) / 2.0).round() as usize).collect()
    };
    let (by_rows, by_columns, fixed) = if quick {
        (vec![100, 1_000], [vec![10, 100], vec![100, 1_000]], (20, 200))
    } else {
        (powers(8, 14), [powers(2, 8), powers(4, 10)], (20, 10_000))
    };
    let rows =
        by_rows.into_iter().map(|rows| Size { rows, columns: fixed.0, storage: Storage::Dense });
    let [dense, sparse] = [Storage::Dense, Storage::Csr]
        .map(|storage| move |columns| Size { rows: fixed.1, columns, storage });
    let [few, many] = by_columns;
    vec![
        Family { race: "growth-rows", sizes: rows.collect() },
        Family { race: "growth-columns", sizes: few.into_iter().map(dense).collect() },
        Family { race: "growth-columns", sizes: many.into_iter().map(sparse).collect() },
    ]
}

/// Runs the race.
pub fn run(
    settings: &Settings,
    environment: &Environment,
    emit: Emit<'_>,
) -> Result<(), BenchError> {
    let peer = (Rival::ScikitLearn, SCRIPT);
    let peer = Opponent::start("growth-rows", environment, peer, vec![], LIMIT, emit)?;
    let peer = peer.map(|peer| format!("{} lbfgs", peer.name()));
    let mut slopes = Vec::new();
    for Family { race, sizes } in families(settings.quick) {
        let mut curves: Vec<Curve> =
            METHODS.map(|method| Curve::new(format!("privet {method}"), Some(method))).into();
        curves.extend(peer.clone().map(|who| Curve::new(who, None)));
        for size in sizes {
            let mut turn = Turn { settings, environment, size, ridge: RIDGE, export: None };
            for curve in curves.iter_mut().filter(|curve| curve.open) {
                let measured = match curve.too_large(size) {
                    Some(reason) => Err(reason),
                    None => turn.fit(curve.method).map_err(|error| error.to_string()),
                };
                emit(curve.add(race, size, measured))?;
            }
        }
        slopes.extend(curves.iter().map(|curve| curve.summary(race)));
    }
    slopes.iter().for_each(|line| say!("race: {line}"));
    Ok(())
}

/// One size, for all entrants.
struct Turn<'a> {
    settings: &'a Settings,
    environment: &'a Environment,
    size: Size,
    /// The λ of our latest fit that has one.
    ridge: f64,
    /// The rows in files, once a peer needs them.
    export: Option<Export>,
}

impl Turn<'_> {
    /// A fit by our method, or by the peer.
    fn fit(&mut self, method: Option<&str>) -> Result<Value, BenchError> {
        if let Some(method) = method {
            let answer = self.ask(Some(method), None)?;
            self.ridge =
                answer["ridge"].as_f64().filter(|ridge| *ridge > 0.0).unwrap_or(self.ridge);
            return Ok(answer);
        }
        let stem = self.export()?;
        let Some(mut peer) = self.environment.start(Rival::ScikitLearn, SCRIPT, &[])? else {
            return Ok(Value::Null);
        };
        let Size { rows, columns, .. } = self.size;
        let question = json!({
            "rows": rows, "columns": columns, "ridge": self.ridge, "seconds": REPEATED, "export": stem,
        });
        Ok(peer.ask(&question, LIMIT)?)
    }

    /// Queries a new process of this program.
    fn ask(&self, method: Option<&str>, export: Option<&Path>) -> Result<Value, BenchError> {
        let (program, arguments) = &self.settings.server;
        let log = self.settings.work.join("growth.log");
        let mut peer = Peer::start(method.unwrap_or("export"), program, arguments, &log)?;
        let question = Question {
            size: self.size,
            method: method.map(Into::into),
            seconds: if self.settings.quick { 0.0 } else { REPEATED },
            export: export.map(Into::into),
        };
        let answer = peer.ask(&json!(question), LIMIT)?;
        match answer["refused"].as_str() {
            Some(reason) => {
                let who = method.unwrap_or("export").into();
                Err(RaceError::Silent { who, reason: reason.into() }.into())
            }
            None => Ok(answer),
        }
    }

    /// The stem of the files of the rows, which are written on first use.
    fn export(&mut self) -> Result<PathBuf, BenchError> {
        if self.export.is_none() {
            // Made first: partly written files are removed too.
            let stem = self.settings.work.join("growth-rows-to-fit");
            let export = self.export.insert(Export::new(stem)).0.clone();
            self.ask(None, Some(&export))?;
        }
        Ok(self.export.as_ref().map(|export| export.0.clone()).unwrap_or_default())
    }
}

/// Files with this stem, removed when dropped, and before: an interrupted race may have left some.
struct Export(PathBuf);

impl Export {
    fn new(stem: PathBuf) -> Self {
        let export = Self(stem);
        export.remove();
        export
    }

    fn remove(&self) {
        for extension in rows::EXTENSIONS {
            let _ = std::fs::remove_file(self.0.with_extension(extension));
        }
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.remove();
    }
}
