//! `privet-bench accuracy ORIGINALS WORK RUNS [METHOD [SET]]`, `privet-bench race ORIGINALS WORK [RACE…]
//! [--quick]`; see `scripts/bench.sh`.

use privet_bench::accuracy;
use privet_bench::race::{self, Kind, growth};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["race", from, work, ref rest @ ..] => races(from, work, rest),
        ["serve-growth"] => {
            growth::serve();
            Ok(())
        }
        ["accuracy", from, work, runs, ref rest @ ..] => table(from, work, runs, rest),
        _ => Err("usage: privet-bench accuracy ORIGINALS WORK RUNS [METHOD [SET]] | \
                  race ORIGINALS WORK [fit | accountant | samplers | growth]… [--quick]"
            .into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("privet-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn table(
    from: &str,
    work: &str,
    runs: &str,
    rest: &[&str],
) -> Result<(), Box<dyn std::error::Error>> {
    let runs = runs.parse().ok().filter(|runs| *runs >= 2);
    accuracy::run(&accuracy::Settings {
        from: from.into(),
        work: work.into(),
        method: rest.first().unwrap_or(&"auto").parse()?,
        runs: runs.ok_or("RUNS: accepted is a whole number from 2")?,
        only: rest.get(1).map(ToString::to_string),
    })
}

/// A line an entrant on standard output. `PYTHON` names the interpreter of the peers.
fn races(from: &str, work: &str, rest: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let (flags, names): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| **word == "--quick");
    let named = names.iter().map(|name| name.parse::<Kind>()).collect::<Result<Vec<_>, _>>()?;
    let settings = race::Settings {
        originals: from.into(),
        work: work.into(),
        races: if named.is_empty() { Kind::ALL.into() } else { named },
        python: std::env::var_os("PYTHON").map_or_else(|| "python3".into(), PathBuf::from),
        server: (std::env::current_exe()?, vec!["serve-growth".into()]),
        quick: !flags.is_empty(),
    };
    race::run(&settings, &mut |line| {
        println!("{}", serde_json::to_string(&line).unwrap_or_default());
        Ok(())
    })?;
    Ok(())
}
