//! `privet online`: models and counts from a stream, released as rows arrive.

mod count;
mod stream;
mod train;

use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::keys;
use crate::releasing::Releasing;
use clap::{Args, Subcommand};
use privet_core::Neighbours;
use privet_dp::continual::StateKey;
use privet_learn::streams::{BATCH, HORIZON};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Learn from a stream, or count in it, and release as rows arrive
#[derive(Args, Debug)]
pub struct OnlineVerb {
    #[command(subcommand)]
    what: StreamAction,
}

/// What is done with the stream.
#[derive(Subcommand, Debug)]
enum StreamAction {
    Train(train::Train),
    Count(count::Count),
}

/// What both take.
#[derive(Args, Debug)]
struct Streaming {
    #[command(flatten)]
    head: Head<OfStreams>,
    #[arg(
        long, value_name = "T",
        help = format!("How many rows the stream has at most, {}: what the noise is planned for",
                       HORIZON.whole()),
    )]
    horizon: Option<u64>,
    #[arg(long, value_name = "B", help = format!("Rows a step, {}: one release for each [default: 1]", BATCH.whole()))]
    batch: Option<u32>,
    /// Keeps what is left of the stream between calls, with FILE.journal beside it; made by the first call
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seals what is known of records without noise into the state, under this secret key (see `privet
    /// keygen`). Without it that is written nowhere, and sums begin anew at each call, with more noise
    #[arg(long, value_name = "KEYFILE", requires = "state")]
    state_key: Option<PathBuf>,
    /// How many steps are committed to the journal at once. If the process is killed, the steps of its
    /// call up to the next commit count as made
    #[arg(long, value_name = "K", requires = "state", default_value_t = 1)]
    commit: u64,
    /// Rows as CSV [default: standard input]
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

head! {
    OfStreams {
        data: (FlagPresence::Never, ""),
        schema: (
            FlagPresence::Perhaps,
            "The public schema (TOML), with invalid = \"drop\" or \"stand-in\"; not for a stream that goes on",
        ),
        epsilon: (FlagPresence::Perhaps, " of the whole stream"),
        delta: ", above 0; `online train --method experts` takes 0 as well, for pure ε [default: 1/T²]",
        neighbours: (Neighbours::ReplaceOne, "only replace-one: a slot's record is another, or none"),
        rows: (FlagPresence::Never, "rows", ""),
    }
}

impl OnlineVerb {
    /// Plans, opens the stream, and runs it to its end.
    pub fn run(self) -> Result<(), Failure> {
        match self.what {
            StreamAction::Train(train) => train.run(),
            StreamAction::Count(count) => count.run(),
        }
    }
}

impl Streaming {
    fn horizon(&self) -> Result<u64, Failure> {
        self.horizon.ok_or_else(|| {
            Failure::input(
                "--horizon is missing: the noise is planned for a number of rows, of which there may be fewer",
            )
        })
    }

    fn key(&self) -> Result<Option<StateKey>, Failure> {
        let read = |path: &PathBuf| keys::read_secret(path).map(|secret| StateKey::new(*secret));
        self.state_key.as_ref().map(read).transpose()
    }

    fn input(&self) -> Result<Box<dyn Read>, Failure> {
        Ok(match &self.rows {
            None => Box::new(std::io::stdin()),
            Some(path) => Box::new(
                std::fs::File::open(path)
                    .map_err(|error| Failure::file(&path.display().to_string(), &error))?,
            ),
        })
    }

    fn inputs(&self) -> Vec<&Path> {
        let own = [&self.state, &self.state_key, &self.rows].map(|path| path.as_deref());
        self.head.inputs(&own)
    }
}
