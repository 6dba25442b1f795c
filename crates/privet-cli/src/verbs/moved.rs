//! `privet bench`, now a command of its own: names it, for one version.

use crate::failure::Failure;
use crate::output::quote_for_shell;
use clap::Args;
use std::ffi::OsString;

/// The message that names the new command.
const MOVED_MESSAGE: &str = "\
the benchmark is a command of its own, privet-bench, with the same verbs and flags; in a clone of privet's sources \
`cargo install --path crates/privet-bench` installs it, and `cargo run -p privet-bench -- VERB` runs it";

/// Moved to a command of its own, privet-bench
#[derive(Args, Debug)]
#[command(long_about = MOVED_MESSAGE)]
pub struct Bench {
    /// What that one is to be told.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Bench {
    /// Prints the new command.
    pub fn run(self) -> Result<(), Failure> {
        let words = self.words.iter().map(|word| format!(" {}", quote_for_shell(word.as_ref())));
        let line = words.collect::<String>();
        Err(Failure::input(format!("privet bench{line}: now privet-bench{line}\n{MOVED_MESSAGE}")))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_benchmark_names_its_new_command() {
        for line in [&["bench"][..], &["bench", "run", "smoke", "--out", "x", "-q"]] {
            let cli = Cli::try_parse_from([&["privet"], line].concat()).unwrap();
            let refused = cli.command.run().unwrap_err();
            assert_eq!(refused.code(), 2);
            let words = refused.to_string();
            let now = format!("now privet-{}\n", line.join(" "));
            assert!(words.contains(&now) && words.contains("cargo install"), "{words}");
        }
        let help = Cli::command().render_long_help().to_string();
        assert!(!help.contains("bench"), "{help}");
    }
}
