//! `privet train`: parse, check, plan, read, run, write.

use crate::disk::{DiskFlags, Rows};
use crate::failure::Failure;
use crate::head::{Head, MayBePlain};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::RequestFlags;
use crate::verbs::network::{self, NetworkFlags, NetworkTraining};
use clap::Args;
use privet_core::{Neighbours, Relation, Unit};
use privet_data::Schema;
use privet_data::matrix::Matrix;
use privet_learn::linear::public_norm;
use privet_learn::networks;
use privet_learn::{self as learn, Calibration, Method, Plan, Request};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Train a private model and write it with its certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Trains a linear model on a table, or with --model a network, and writes it, with its certificate, into
one file that only you can read. Whatever decides the guarantee is fixed by the schema, the number of rows, the budget and
the flags before a record is looked at (`privet plan` shows it); the records only decide the result.

Two relations between tables that must look alike:
  replace-one   one record is exchanged for another; the number of rows is public
  add-remove    one record is added or removed; the number of rows is private: you declare it with
                --rows, about right, and the file's own count is never used nor shown

Everything spent on the same records adds up: two models of ε = 1 reveal as much as one of ε = 2.

A table that takes more memory than --memory allows is encoded once on disk and read from there in every pass, with the
same result. A folder, or a pattern of names, is one table: its files in the order of their names.

A file that is there already is kept: a model was paid for and cannot be made again. --force overwrites
it. Links are followed; devices and pipes are written through. If, once the model is made, it cannot be
put where it should go, it is put beside that under a new name, in the current folder or in that for
temporary files; the command says where, and ends with code 3.",
    after_help = "\
Examples:
  privet train table.csv --schema s.toml --epsilon 1 --out model.json
  privet train table.csv.gz --schema s.toml --epsilon 0.5 --delta 0 --out model.json
  privet train table.parquet --schema s.toml --epsilon 1 --neighbours add-remove --rows 20000 \\
      --out model.json --sign hospital.key
  privet train 'visits/part-*.parquet' --schema s.toml --epsilon 1 --memory 2GB --cache /private/scratch \\
      --out model.json
  privet train table.csv --schema s.toml --method dpsl-kt --public public.csv --epsilon 2 \\
      --out model.json
  privet train images.idx --schema s.toml --model cnn.toml --method dp-sgd --set batch=2048 \\
      --epsilon 3 --delta 1e-5 --out network.json"
)]
pub struct Train {
    #[command(flatten)]
    head: Head<MayBePlain>,
    #[arg(
        long, value_name = "M", default_value = "auto", value_parser = parse_learner,
        help = format!("Which learner: {}; with --model {}; see `privet methods`", Method::accepted(),
                       networks::Method::accepted()),
    )]
    method: String,
    #[command(flatten)]
    network: NetworkFlags,
    /// Public inputs for --method dpsl-kt: a table of the same schema whose rows are NOT protected
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,
    #[command(flatten)]
    settings: RequestFlags,
    #[arg(
        long, value_name = "C", default_value_t = Calibration::Sound,
        help = format!("Whose constants: {}. The certificate claims what is proved for the noise \
                        really added, whatever the paper says", Calibration::ACCEPTED),
    )]
    calibration: Calibration,
    #[command(flatten)]
    disk: DiskFlags,
    #[command(flatten)]
    releasing: Releasing,
}

/// The name of a learner of either kind.
fn parse_learner(word: &str) -> Result<String, String> {
    match (word.parse::<Method>(), word.parse::<networks::Method>()) {
        (Err(error), Err(_)) => {
            Err(format!("{error}; with --model: {}", networks::Method::accepted()))
        }
        _ => Ok(word.into()),
    }
}

impl Train {
    /// Trains a network where one is described, otherwise a linear model.
    pub fn run(self) -> Result<(), Failure> {
        let Some(model) = &self.network.model else {
            let method = self.method.parse()?;
            return Linear { method, told: self }.run();
        };
        if self.public.is_some() {
            return Err(Failure::input(
                "--public: a network has no use for public rows; --weights takes weights learnt from them",
            ));
        }
        self.disk.refuse("a network needs all rows in memory")?;
        let told = NetworkTraining {
            head: &self.head,
            method: &self.method,
            flags: &self.network,
            settings: &self.settings,
            calibration: self.calibration,
            releasing: &self.releasing,
        };
        network::train(model, &told)
    }
}

/// A linear model and its method.
struct Linear {
    told: Train,
    method: Method,
}

impl Deref for Linear {
    type Target = Train;
    fn deref(&self) -> &Train {
        &self.told
    }
}

impl Linear {
    /// Trains; refuses everything it can before a record is read.
    fn run(mut self) -> Result<(), Failure> {
        let schema = self.head.schema()?;
        let public = self.public_rows(&schema)?;
        let (relation, table) = (self.head.relation(&schema), self.head.table(&schema)?);
        let inputs = self.head.inputs(&[self.public.as_deref()]);
        self.disk.check()?;
        let plan = |rows| {
            let plan = self.plan(&schema, rows)?;
            self.on_disk(&plan)?;
            Ok(plan)
        };
        let doing = format!("train {}", self.method);
        let (place, reserved) = self.releasing.reserve(table, &inputs, &doing, plan)?;
        let (ready, data) = reserved.read(|plan| {
            let (schema, rows) = (plan.schema(), plan.request().rows);
            match self.on_disk(plan)? {
                true => self.disk.onto_disk(self.head.data(), schema, relation, rows),
                false => {
                    Ok(Rows::Memory(Box::new(read_table(self.head.data(), schema, relation)?)))
                }
            }
        })?;
        let ready = ready.with(|plan| match &public {
            Some(rows) => plan.with_public(rows),
            None => Ok(plan),
        })?;
        let mut source = self.releasing.source()?;
        // The solver's own numbers come from the records: no progress is shown.
        let meter = Meter::spinner("training");
        let made = ready.draw(data.table(), source.as_mut(), &AtomicBool::new(false))?;
        drop(meter);
        self.releasing.keep(place, made)?;
        data.done();
        Ok(())
    }

    /// True if rows are encoded on disk, by public facts alone.
    fn on_disk(&self, plan: &Plan) -> Result<bool, Failure> {
        let request = plan.request();
        self.disk.is_needed(plan.schema(), request.rows, &request.task.method)
    }

    /// The rows of the public file, if there is one, with their number and norm among the method's settings.
    fn public_rows(&mut self, schema: &Schema) -> Result<Option<Matrix>, Failure> {
        let Some(path) = &self.told.public else { return Ok(None) };
        if !matches!(self.method, Method::DpslKt(_)) {
            return Err(Failure::input(format!(
                "--public: method {} has no use for public rows; accepted with --method dpsl-kt",
                self.method
            )));
        }
        let public = Relation::new(Neighbours::ReplaceOne, Unit::Record);
        let rows = read_table(path, &schema.linear(), public)?.features;
        let (count, norm) = (rows.rows().to_string(), public_norm::norm_bound(&rows).to_string());
        self.method = self.method.with("public_rows", &count)?.with("public_norm", &norm)?;
        Ok(Some(rows))
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan, Failure> {
        let _meter = Meter::spinner("planning");
        let request: Request =
            self.settings.request(&self.head, (schema, rows), &self.method, self.calibration)?;
        Ok(learn::plan(&request)?)
    }
}
