//! `privet completions` and `privet man`: shell completions and manual pages, made from the flags.

use crate::cli::Cli;
use crate::failure::Failure;
use crate::output;
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Completions for a shell, on standard output
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  privet completions bash > ~/.local/share/bash-completion/completions/privet
  privet completions zsh  > ~/.zfunc/_privet
  privet completions fish > ~/.config/fish/completions/privet.fish")]
pub struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Writes the completions.
    pub fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::shape(), "privet", &mut script);
        output::print_exact(&String::from_utf8_lossy(&script))
    }
}

/// The manual page, on standard output, or one page a verb in a folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  privet man | man -l -
  privet man --out man/man1")]
pub struct Man {
    /// A folder for a page of each verb; made if need be
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Writes the manual.
    pub fn run(self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::Environment(error.to_string());
        match self.out {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Cli::shape()).render(&mut page).map_err(failed)?;
                output::print_exact(&String::from_utf8_lossy(&page))
            }
            Some(folder) => {
                output::folder("--out", &folder)?;
                let write = clap_mangen::generate_to(Cli::shape(), &folder);
                write.map_err(|error| {
                    Failure::Environment(format!("--out {}: {error}", folder.display()))
                })
            }
        }
    }
}
