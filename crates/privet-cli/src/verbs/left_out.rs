//! `privet data`, in a build without the catalog of public sets.
//!
//! The Python package is such a build. It is the same command, so it accepts the verb; the verb names
//! the missing part and where to get it.

use crate::failure::Failure;
use clap::Args;
use std::ffi::OsString;

/// The message of the verb.
const LEFT_OUT_MESSAGE: &str = "\
not in this build of privet, which is without the catalog of public data sets; \
`cargo install --path crates/privet-cli`, in a clone of privet's sources, installs a privet that has it";

/// List and prepare well-known public data sets (not in this build; --help says where it is)
#[derive(Args, Debug)]
#[command(long_about = LEFT_OUT_MESSAGE)]
pub struct Data {
    /// Whatever the verb would have been told.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Data {
    /// Prints the message.
    pub fn run(self) -> Result<(), Failure> {
        Err(Failure::input(format!("privet data: {LEFT_OUT_MESSAGE}")))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn the_catalog_says_where_it_is() {
        for line in [&["data"][..], &["data", "list", "--json"]] {
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
