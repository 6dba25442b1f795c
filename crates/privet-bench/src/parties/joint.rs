//! The cost of noise that two servers draw together, beside Table 6.2 of the thesis.
//!
//! AND gates are counted from the circuits ([`privet_joint::gates`]). Bytes and seconds are those of the
//! example `joint_cost` of the package `joint/`, which is outside the workspace: it is built and run
//! where the repository's root is the current folder, and reported as missing elsewhere.

use super::line;
use crate::error::BenchError;
use crate::parts::Emit;
use crate::race::RaceError;
use crate::suite::RunObserver;
use privet_joint::{JointGaussian, JointLaplace, Law, gates};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Servers.
const SERVERS: u32 = 2;
/// The package, from the root.
const MANIFEST: &str = "joint/Cargo.toml";

/// Emits the cost of a coordinate, then that of vectors of 104 and 122 coordinates.
pub(super) fn joint(watch: &dyn RunObserver, emit: Emit<'_>) -> Result<(), BenchError> {
    // The product's own grid for a Gaussian, 2²⁷ steps for a Laplace law: as in the example.
    let odd = |error: privet_core::Error| BenchError::Suite {
        file: super::NAME.into(),
        why: error.to_string(),
    };
    let laplace = JointLaplace::new(1.5 * 2_f64.powi(27)).map_err(odd)?;
    let gaussian = JointGaussian::new(1.5 * 2_f64.powi(40)).map_err(odd)?;
    let laws: [(&str, &dyn Law); 2] = [("laplace", &laplace), ("gaussian", &gaussian)];
    for (name, law) in laws {
        let each = gates(law, SERVERS);
        emit(line(
            "joint",
            name,
            json!({ "law": name, "servers": SERVERS, "sampler": each.sampler, "sharing": each.sharing }),
        ))?;
    }
    watch.say("joint: the engine of joint/, built if need be, between two processes");
    for row in rows(&measured()?) {
        emit(line(
            "joint",
            &row.law,
            json!({
                "law": row.law, "columns": row.columns, "servers": SERVERS, "gates": row.gates, "megabytes": row.megabytes,
                "seconds": row.seconds, "processor-seconds": row.processor,
            }),
        ))?;
    }
    Ok(())
}

fn silent(reason: String) -> BenchError {
    RaceError::Silent { who: "the engine of joint/".into(), reason }.into()
}

/// The output of the example.
fn measured() -> Result<String, BenchError> {
    if !Path::new(MANIFEST).is_file() {
        return Err(silent(format!(
            "there is no {MANIFEST} here: run it from the repository's root"
        )));
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = ["run", "--quiet", "--locked", "--manifest-path", MANIFEST];
    let done = Command::new(cargo).args(arguments).args(["--example", "joint_cost"]).output();
    let done = done.map_err(|error| silent(error.to_string()))?;
    if !done.status.success() {
        let words = String::from_utf8_lossy(&done.stderr);
        return Err(silent(words.lines().last().unwrap_or("it failed").into()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The cost of a vector.
#[derive(Debug, PartialEq)]
struct Row {
    law: String,
    columns: u32,
    gates: u64,
    megabytes: f64,
    seconds: f64,
    processor: f64,
}

/// The measured rows of the example's table: law, numbers, servers, gates of one, gates, MB, seconds,
/// and processor seconds.
fn rows(table: &str) -> Vec<Row> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [law, columns, _, _, gates, megabytes, seconds, processor] = fields[..] else {
            return None;
        };
        Some(Row {
            law: law.into(),
            columns: columns.parse().ok()?,
            gates: gates.parse().ok()?,
            megabytes: megabytes.parse().ok()?,
            seconds: seconds.parse().ok()?,
            processor: processor.parse().ok()?,
        })
    };
    table.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_measured_are_read_and_those_of_the_thesis_are_not() {
        let table = "| law | features | servers | AND a coordinate: sampler + sharing | AND | MB | s | CPU s, all servers |\n\
                     |---|---|---|---|---|---|---|---|\n\
                     | laplace | 104 | 2 | 665 + 127 | 82368 | 169 | 5.1 | 5.0 |\n\
                     | thesis, Table 6.2, Yao / DualEx | 104 | 2 | 391,700 | 40,733,500 | 777 + 35 | 22 / 56 | |\n";
        let row = Row {
            law: "laplace".into(),
            columns: 104,
            gates: 82_368,
            megabytes: 169.0,
            seconds: 5.1,
            processor: 5.0,
        };
        assert_eq!(rows(table), [row]);
    }
}
