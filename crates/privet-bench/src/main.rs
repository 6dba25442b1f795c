//! `privet-bench fit FOLDER EXPORT`, `privet-bench accountant` and `privet-bench report LINES HEAD`; see `scripts/bench.sh`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["fit", folder, export] => privet_bench::fit::run(Path::new(folder), Path::new(export)),
        ["accountant"] => privet_bench::accountant::run(),
        ["report", lines, head] => std::fs::read_to_string(lines)
            .map(|lines| print!("{}", privet_bench::report::page(&lines, head)))
            .map_err(Into::into),
        _ => Err("usage: privet-bench fit FOLDER EXPORT | accountant | report LINES HEAD".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("privet-bench: {error}");
            ExitCode::from(2)
        }
    }
}
