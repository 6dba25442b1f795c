//! The verbs of the benchmark, in a build without it.
//!
//! The Python package is such a build. It is the same command, so the verbs are known; what they lack is
//! said, and where it is.

use crate::failure::Failure;
use clap::Args;
use std::ffi::OsString;

/// What a verb of the benchmark says instead.
const WORDS: &str = "\
not in this build of privet, which is without the benchmark and its data sets; \
`cargo install --path crates/privet-cli`, in a clone of privet's sources, installs a privet that has them";

/// Measure learners on public data sets (not in this build; --help says where it is)
#[derive(Args, Debug)]
#[command(long_about = WORDS)]
pub struct Bench {
    #[command(flatten)]
    ignored: Ignored,
}

/// List and prepare well-known public data sets (not in this build; --help says where it is)
#[derive(Args, Debug)]
#[command(long_about = WORDS)]
pub struct Data {
    #[command(flatten)]
    ignored: Ignored,
}

/// Whatever the verb would have been told.
#[derive(Args, Debug)]
struct Ignored {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Bench {
    /// Says where it is.
    pub fn run(self) -> Result<(), Failure> {
        Err(self.ignored.refused("privet bench"))
    }
}

impl Data {
    /// Says where it is.
    pub fn run(self) -> Result<(), Failure> {
        Err(self.ignored.refused("privet data"))
    }
}

impl Ignored {
    fn refused(self, verb: &str) -> Failure {
        Failure::input(format!("{verb}: {WORDS}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn the_benchmark_says_where_it_is() {
        for line in [&["bench"][..], &["bench", "run", "smoke", "--out", "x"], &["data", "list"]] {
            let cli = Cli::try_parse_from([&["privet"], line].concat()).unwrap();
            let refused = cli.command.run().unwrap_err();
            assert_eq!(refused.code(), 2);
            let words = refused.to_string();
            assert!(
                words.starts_with(&format!("privet {}: not in this build", line[0])),
                "{words}"
            );
            assert!(words.contains("cargo install"), "{words}");
        }
    }
}
