//! `privet-audit page HEAD RUNS SEED` and `privet-audit peers HEAD`: the pages of `make audit` and
//! `make peers`, on standard output. Exit code 1 if the page contains an unexpected result.

use privet_audit::page::Page;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tell = |line: &str| eprintln!("{line}");
    let page = match words[..] {
        ["page", head, runs, seed] => match (runs.parse(), seed.parse()) {
            (Ok(runs), Ok(seed)) => privet_audit::page::page(head, runs, seed, &tell),
            _ => return usage(),
        },
        ["peers", head] => privet_audit::peers::page(head).map(Page::of),
        _ => return usage(),
    };
    match page {
        Ok(page) => {
            print!("{}", page.text);
            page.surprises.iter().for_each(|surprise| eprintln!("SURPRISE: {surprise}"));
            if page.surprises.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("privet-audit: {error}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: privet-audit page HEAD RUNS SEED | peers HEAD");
    ExitCode::from(2)
}
