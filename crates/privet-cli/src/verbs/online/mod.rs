//! `privet online`: models and counts from a stream, released as rows arrive.

mod count;
mod stream;
mod train;

use crate::failure::Failure;
use crate::keys;
use crate::releasing::Releasing;
use crate::settings::within;
use clap::{Args, Subcommand};
use privet_core::{DELTA, EPSILON, Neighbours};
use privet_data::Schema;
use privet_dp::continual::StateKey;
use privet_learn::streams::{BATCH, HORIZON};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Learn from a stream, or count in it, and release as rows arrive
#[derive(Args, Debug)]
pub struct OnlineVerb {
    #[command(subcommand)]
    what: What,
}

/// What is done with the stream.
#[derive(Subcommand, Debug)]
enum What {
    Train(train::Train),
    Count(count::Count),
}

/// What both take.
#[derive(Args, Debug)]
struct Streaming {
    /// The public schema (TOML), with invalid = "drop" or "stand-in"; not for a stream that goes on
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε of the whole stream: {EPSILON}. Smaller is more private; privet picks \
                        none for you"),
    )]
    epsilon: Option<f64>,
    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = "What probabilities may differ by beyond e^ε, δ, above 0; `online train --method experts` takes 0 \
                as well, for pure ε [default: 1/T²]",
    )]
    delta: Option<f64>,
    #[arg(
        long, value_name = "T",
        help = format!("How many rows the stream has at most, {}: what the noise is planned for",
                       HORIZON.whole()),
    )]
    horizon: Option<u64>,
    #[arg(long, value_name = "B", help = format!("Rows a step, {}: one release for each [default: 1]", BATCH.whole()))]
    batch: Option<u32>,
    /// Only replace-one: a slot's record is another, or none
    #[arg(long, value_name = "RELATION", default_value_t = Neighbours::ReplaceOne)]
    neighbours: Neighbours,
    /// Keeps what is left of the stream between calls, with FILE.journal beside it; made by the first call
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seals what is known of records without noise into the state, under this secret key (see `privet keygen`).
    /// Without it that is written nowhere, and sums begin anew at each call, with more noise
    #[arg(long, value_name = "KEYFILE", requires = "state")]
    state_key: Option<PathBuf>,
    /// How many steps are committed to the journal at once. If the process is killed, the steps of its call up to the next
    /// commit count as made
    #[arg(long, value_name = "K", requires = "state", default_value_t = 1)]
    commit: u64,
    /// Rows as CSV [default: standard input]
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    #[command(flatten)]
    releasing: Releasing,
}

impl OnlineVerb {
    /// Plans, opens the stream, and goes on until it ends.
    pub fn run(self) -> Result<(), Failure> {
        match self.what {
            What::Train(train) => train.run(),
            What::Count(count) => count.run(),
        }
    }
}

impl Streaming {
    fn schema(&self) -> Result<Schema, Failure> {
        let path = self.schema.as_ref();
        let path = path
            .ok_or_else(|| Failure::input("--schema is missing: the public schema of the rows"))?;
        Ok(Schema::load(path)?)
    }

    fn horizon(&self) -> Result<u64, Failure> {
        self.horizon.ok_or_else(|| {
            Failure::input(
                "--horizon is missing: the noise is planned for a number of rows, of which there may be fewer",
            )
        })
    }

    /// What is given beside a state that says it already.
    fn given_again(&self) -> Option<&'static str> {
        let given = [
            ("--schema", self.schema.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.is_some()),
            ("--horizon", self.horizon.is_some()),
            ("--batch", self.batch.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
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
        let all = [&self.schema, &self.state, &self.state_key, &self.rows];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}
