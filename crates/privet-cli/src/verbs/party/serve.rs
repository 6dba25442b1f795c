//! `privet party serve`: a server that adds up shares.

use super::Member;
use crate::failure::Failure;
use crate::say;
use clap::Args;
use privet_parties::tls;
use std::sync::Arc;

/// Add up what parties send in shares, add noise, and open the result
#[derive(Args, Debug)]
#[command(
    long_about = "\
Listens where the agreement says (or `listen` in party.toml) until every party has its result. It holds no
records, and what it sees are random numbers; what it opens is on disk before anyone hears it. Killed and started again it goes
on. Never bring back an older copy of its folder: a round would be opened again with other noise, which
nobody has charged for.

It ends with code 3 if a party is missing for longer than the agreement's patience, or sends what is no share:
then nothing more is opened, and everyone is told why.",
    after_help = "Examples:\n  privet party serve study/north"
)]
pub struct Serve {
    #[command(flatten)]
    member: Member,
}

impl Serve {
    /// Serves to the end of the run.
    pub fn run(self) -> Result<(), Failure> {
        let folder = self.member.open()?;
        let server = Arc::new(folder.server(Box::new(|words| say!("{words}")))?);
        Ok(tls::serve(&folder, server, Arc::new(|words: &str| say!("{words}")))?)
    }
}
