//! `privet party serve`: a server that adds up shares.

use super::Member;
use crate::failure::Failure;
use crate::say;
use clap::Args;
use privet_dp::mechanism::shares::NoiseMode;
use privet_parties::{Engine, Program, tls};
use std::path::PathBuf;
use std::sync::Arc;

/// Add up what parties send in shares, add noise, and open the result
#[derive(Args, Debug)]
#[command(
    long_about = "\
Listens where the agreement says (or `listen` in party.toml) until every party has its result. It holds no
records, and what it sees are random numbers; what it opens is on disk before anyone hears it. Killed and started again it goes
on. Never bring back an older copy of its folder: a round would be opened again with other noise, which
nobody has charged for.

Where the agreement says `--noise joint`, the servers first draw the noise of all rounds together, over TLS with each
other, and parties wait until they have. That is done by the program privet-joint-noise: built by
`cargo build --release --locked --manifest-path joint/Cargo.toml`, named by --joint-program, or found beside privet or
on the PATH.

It commits itself to every opening by a digest, and opens once every party has told it the same digests of all
servers; after the last round it passes on what the parties sign.

It ends with code 3 if a party is missing for longer than the agreement's patience, sends what is no share, or
heard other digests or sums than another: then nothing more is opened, and everyone is told why.",
    after_help = "\
Examples:
  privet party serve study/north
  privet party serve study/north --joint-program joint/target/release/privet-joint-noise"
)]
pub struct Serve {
    #[command(flatten)]
    member: Member,
    /// The program that draws noise together with other servers, for an agreement with `--noise joint`
    #[arg(long, value_name = "PROGRAM")]
    joint_program: Option<PathBuf>,
}

impl Serve {
    /// Serves until the run ends.
    pub fn run(self) -> Result<(), Failure> {
        let folder = self.member.open()?;
        let engine: Option<Arc<dyn Engine>> = match folder.agreement().participants()?.noise {
            NoiseMode::Joint => Some(Arc::new(Program::find(self.joint_program.as_deref())?)),
            NoiseMode::Shares if self.joint_program.is_some() => {
                return Err(Failure::input(
                    "--joint-program: by this agreement every server draws noise of its own; leave it out",
                ));
            }
            NoiseMode::Shares => None,
        };
        let server = Arc::new(folder.server(Box::new(|words| say!("{words}")))?);
        Ok(tls::serve_with(&folder, server, engine, Arc::new(|words: &str| say!("{words}")))?)
    }
}
