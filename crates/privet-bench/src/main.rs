//! `privet-bench fit FOLDER EXPORT`, `privet-bench accuracy ORIGINALS WORK RUNS [METHOD [SET]]`,
//! and `privet-bench accountant`; see `scripts/bench.sh`.

use privet_bench::accuracy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["fit", folder, export] => privet_bench::fit::run(Path::new(folder), Path::new(export)),
        ["accountant"] => privet_bench::accountant::run(),
        ["accuracy", from, work, runs, ref rest @ ..] => table(from, work, runs, rest),
        _ => Err("usage: privet-bench fit FOLDER EXPORT | accuracy ORIGINALS WORK RUNS [METHOD [SET]] | \
                  accountant".into()),
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
