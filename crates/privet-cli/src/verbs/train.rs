//! `privet train`: parse, check, plan, read, run, write.

use crate::failure::Failure;
use crate::output::{self, json_number, number};
use crate::progress::Meter;
use crate::settings::{self, Settings};
use crate::{keys, say, words};
use clap::Args;
use privet_core::{Neighbours, Unit};
use privet_data::read::{Options, read};
use privet_data::{Dataset, Schema};
use privet_dp::gate::{Certificate, public_key};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::model::{Model, file};
use privet_learn::{self as learn, Calibration, Method, Plan, Request};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Stand in for the number of rows until it is read, to find refusals that do not depend on it: some, hardly
/// any, and more than there ever are.
const SOME_ROWS: [u64; 3] = [10_000, 2, 1 << 40];

/// Train a private model and write it with its certificate
#[derive(Args, Debug)]
#[command(
    long_about = "\
Trains a linear model on a table and writes it, with its certificate, into one file that only you
can read. Whatever decides the guarantee is fixed by the schema, the number of rows, the budget and
the flags before a record is looked at (`privet plan` shows it); the records only decide the result.

Two relations between tables that must look alike:
  replace-one   one record is exchanged for another; the number of rows is public
  add-remove    one record is added or removed; the number of rows is private: you declare it with
                --rows, about right, and the file's own count is never used nor shown

A line that does not fit the schema ends the command with its number, which tells of that record.
With `invalid = \"drop\"` in the schema no record can (see docs/guide.md).

Everything spent on the same records adds up: two models of ε = 1 reveal as much as one of ε = 2.

A file that is there already is kept: a model was paid for and cannot be made again. --force overwrites
it. Links are followed; devices and pipes are written through. If, once the model is made, it cannot be
put where it should go, it is put beside that under a new name, in the current folder or in that for
temporary files; the command says where, and ends with code 3.",
    after_help = "\
Examples:
  privet train table.csv --schema s.toml --epsilon 1 --out model.json
  privet train table.csv.gz --schema s.toml --epsilon 0.5 --delta 0 --out model.json
  privet train table.parquet --schema s.toml --epsilon 1 --neighbours add-remove --rows 20000 \\
      --out model.json --sign hospital.key"
)]
pub struct Train {
    /// The table: CSV (.gz, .zst), LIBSVM or Parquet, as the schema says
    data: PathBuf,
    /// The public schema (TOML)
    #[arg(long, value_name = "SCHEMA")]
    schema: PathBuf,
    /// Number of rows you declare; required where it is private (add-remove, or users with several
    /// rows) [default: that of the file]
    #[arg(long, value_name = "N", value_parser = settings::rows)]
    rows: Option<u64>,
    #[arg(
        long, value_name = "M", default_value = "auto",
        help = format!("Which learner: {}; see `privet methods`", Method::accepted()),
    )]
    method: Method,
    #[command(flatten)]
    settings: Settings,
    #[arg(
        long, value_name = "C", default_value_t = Calibration::Sound,
        help = format!("Whose constants: {}. The certificate claims what is proved for the noise \
                        really added, whatever the paper says", Calibration::ACCEPTED),
    )]
    calibration: Calibration,
    /// Where to write model and certificate; - is standard output
    #[arg(long, value_name = "MODEL")]
    out: PathBuf,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
    /// Vouch for it with this secret key; see `privet keygen`
    #[arg(long, value_name = "KEYFILE")]
    sign: Option<PathBuf>,
    /// For tests only: repeatable noise. The certificate then says NOT PRIVATE
    #[arg(long, value_name = "SEED", hide = true)]
    seed: Option<u64>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Train {
    /// Refuses before a record is read whatever can be refused then.
    pub fn run(self) -> Result<(), Failure> {
        let schema = Schema::load(&self.schema)?;
        let public_count = self.settings.row_count_is_public(&schema);
        if self.rows.is_none() && !public_count {
            return Err(self.rows_needed(&schema));
        }
        let declared = match self.rows {
            Some(rows) => Some(self.plan(&schema, rows)?),
            None => self.refuse_whatever_the_rows(&schema).map(|()| None)?,
        };
        let secret = self.sign.as_deref().map(keys::read_secret).transpose()?;
        let mut inputs: Vec<&Path> = vec![&self.data, &self.schema];
        inputs.extend(self.sign.as_deref());
        let out = output::open(&self.out, self.force, &inputs)?;
        if out.is_standard() && self.json {
            return Err(Failure::input(
                "--json: with --out - standard output is the model's; leave one of them out",
            ));
        }
        if out.is_void() {
            return Err(Failure::input(format!(
                "--out {}: standard output is closed or leads to /dev/null, and the model would be \
                 lost; the name of a file is accepted, and --out /dev/null if that is meant",
                self.out.display()
            )));
        }
        if self.seed.is_some() {
            say!("warning: --seed makes the noise repeatable: this model will be NOT PRIVATE");
        }

        let data = self.read(&schema, public_count)?;
        let planned = match declared {
            Some(planned) => planned,
            None => self.plan(&schema, data.rows() as u64)?,
        };
        let model = self.execute(&planned, &data)?;
        let text = file::to_json(&model, secret.as_deref())?;
        let (standard, whole) = (out.is_standard(), out.file().is_some());
        let (path, failure) = output::keep(out, &text)?;
        // Elsewhere it is always a file.
        let whole = whole || failure.is_some();
        let report = self.report(&model, &path, whole, secret.as_deref().map(public_key));
        if standard {
            // The model is what was asked for there.
            say!("{}", report.trim_end());
        } else {
            output::print(&report)?;
        }
        failure.map_or(Ok(()), Err)
    }

    fn rows_needed(&self, schema: &Schema) -> Failure {
        let why = match (self.settings.neighbours, schema.unit()) {
            (Neighbours::AddRemove, _) => "under --neighbours add-remove",
            (_, Unit::User { .. }) => "where the unit is a user with several rows",
            (_, Unit::Record) => "here",
        };
        Failure::input(format!(
            "--rows is missing: {why} the number of rows is private; declare about how many there \
             are, from public knowledge"
        ))
    }

    /// Refuses before a record is read what is refused for every number of rows: limits are on few rows or on
    /// many, so that what is refused in the same words for some, hardly any and very many always is.
    fn refuse_whatever_the_rows(&self, schema: &Schema) -> Result<(), Failure> {
        let mut refusals = SOME_ROWS.iter().map(|rows| self.plan(schema, *rows).err());
        let Some(Some(first)) = refusals.next() else { return Ok(()) };
        let words = first.to_string();
        match refusals.all(|other| other.is_some_and(|other| other.to_string() == words)) {
            true => Err(first),
            false => Ok(()),
        }
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan, Failure> {
        let _meter = Meter::spinner("planning");
        let request: Request =
            self.settings.request(schema, rows, &self.method, self.calibration)?;
        Ok(learn::plan(&request)?)
    }

    fn read(&self, schema: &Schema, public_count: bool) -> Result<Dataset, Failure> {
        let words = format!("reading {}", self.data.display());
        let meter = if public_count { Meter::bar(&words) } else { Meter::spinner(&words) };
        let tell = |done, total| meter.at(done, total);
        let progress: Option<&dyn Fn(u64, u64)> = if public_count { Some(&tell) } else { None };
        let options = Options { progress, allow_empty: !public_count, ..Options::default() };
        Ok(read(&self.data, schema, &options)?)
    }

    fn execute(&self, plan: &Plan, data: &Dataset) -> Result<Model, Failure> {
        let mut source: Box<dyn Source> = match self.seed {
            Some(seed) => Box::new(FixedSeed::new(seed)),
            None => Box::new(
                SystemRandom::new().map_err(|error| Failure::Environment(error.to_string()))?,
            ),
        };
        // The solver's own numbers come from the records: only that it lives is shown.
        let _meter = Meter::spinner("training");
        let never_stopped = AtomicBool::new(false);
        Ok(Model::from_release(plan.run(data, source.as_mut(), &never_stopped)?)?)
    }

    /// What was released. Never anything read from the records.
    fn report(&self, model: &Model, path: &Path, whole: bool, signer: Option<String>) -> String {
        if self.json {
            return format!("{:#}\n", as_json(model, path, signer));
        }
        let mut text = in_words(model.certificate());
        let shown = path.display().to_string();
        let shown = privet_core::printable(&shown);
        text.push_str(&format!("written to {shown}{}\n", output::mode(whole)));
        if let Some(key) = signer {
            text.push_str(&format!("signed by {key}\n"));
        }
        if whole {
            text.push_str(&format!("next: privet verify {}\n", output::quoted(path)));
        }
        text
    }
}

fn as_json(model: &Model, out: &Path, signer: Option<String>) -> Value {
    let (request, certificate) = (model.request(), model.certificate());
    let guarantee = certificate.guarantee.as_ref();
    let settings = learn::plan(request).ok().map(|plan| plan.settings());
    json!({
        "model": out.display().to_string(),
        "method": request.task.method.name(),
        "calibration": request.calibration,
        "loss": request.task.loss,
        "rows": request.rows,
        "neighbours": request.neighbours,
        "unit": request.schema.unit(),
        "epsilon": guarantee.map(|g| json_number(g.epsilon)),
        "delta": guarantee.map(|g| g.delta),
        "private": guarantee.is_some_and(|g| g.epsilon.is_finite()),
        "arithmetic": certificate.arithmetic,
        "settings": settings,
        "notes": certificate.notes,
        "signer": signer,
    })
}

fn in_words(certificate: &Certificate) -> String {
    let mut text = match &certificate.guarantee {
        Some(guarantee) if guarantee.epsilon.is_finite() => {
            let promise = words::guarantee(guarantee);
            words::wrapped(&format!("released with this guarantee: {promise}."), "")
        }
        Some(guarantee) => format!(
            "released WITHOUT a guarantee (ε = {} at δ = {})\n",
            number(guarantee.epsilon),
            number(guarantee.delta)
        ),
        None => "released WITHOUT privacy: no noise was added\n".into(),
    };
    for note in &certificate.notes {
        text.push_str(&words::wrapped(&format!("note: {note}"), ""));
    }
    text
}
