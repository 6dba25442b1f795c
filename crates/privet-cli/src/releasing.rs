//! What every verb that spends a budget does alike: reading the table, the noise, and where a release goes.

use crate::failure::Failure;
use crate::keys::{self, Secret};
use crate::order::MadeRelease;
use crate::output::{self, WrittenPlace, number};
use crate::progress::Meter;
use crate::spending::{BudgetFlags, Spending};
use crate::{say, sentences};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use privet_core::{Neighbours, Relation, Unit};
use privet_data::read::{ReadOptions, read};
use privet_data::write::{Destination, Existing};
use privet_data::{Dataset, Schema};
use privet_dp::gate::{Certificate, LedgerEntry, public_key};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::report::Report;
use privet_learn::{Family, PlanNumbers, Released, Task, file};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where a release goes and who vouches for it.
#[derive(Args, Debug)]
pub struct Releasing {
    /// Where to write what is released, with its certificate; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite a file that is there; never a ledger, a secret key, a stream or its journal
    #[arg(long)]
    force: bool,
    /// Vouch for it with this secret key; see `privet keygen`
    #[arg(long, value_name = "KEYFILE")]
    sign: Option<PathBuf>,
    /// For tests only: repeatable noise. The certificate then says NOT PRIVATE
    #[arg(long, value_name = "SEED", hide = true)]
    seed: Option<u64>,
    #[command(flatten)]
    budget: BudgetFlags,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// The same where a release is made only if a budget is given: no flag is required.
#[derive(Debug)]
pub struct PerhapsReleasing {
    releasing: Option<Releasing>,
    /// The first flag that was given and is for releases alone.
    given: Option<String>,
    /// As JSON.
    pub json: bool,
}

impl PerhapsReleasing {
    /// What a release needs, if `--out` says where it goes.
    pub fn releasing(&self) -> Option<&Releasing> {
        self.releasing.as_ref()
    }

    /// Refuses flags that mean nothing where nothing is released.
    pub fn refuse_release_flags(&self) -> Result<(), Failure> {
        match &self.given {
            Some(flag) => {
                Err(Failure::input(format!("--{flag}: accepted with --epsilon and --out")))
            }
            None => Ok(()),
        }
    }
}

impl FromArgMatches for PerhapsReleasing {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |flag: &&str| matches.value_source(flag) == Some(ValueSource::CommandLine);
        let flags = ["force", "sign", "seed", "ledger", "dataset", "same_as", "purpose", "whole"];
        let given = flags.iter().find(|flag| typed(flag)).map(|flag| flag.replace('_', "-"));
        let releasing = match typed(&"out") {
            true => Some(Releasing::from_arg_matches(matches)?),
            false => None,
        };
        Ok(Self { releasing, given, json: matches.get_flag("json") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for PerhapsReleasing {
    fn augment_args(command: Command) -> Command {
        // For an update no flag is required.
        Releasing::augment_args_for_update(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Releasing::augment_args_for_update(command)
    }
}

/// A release that was written.
struct WrittenRelease<T: Task> {
    released: Released<T>,
    placed: WrittenPlace,
    signer: Option<String>,
    /// What to end with, if not all went well.
    failure: Option<Failure>,
}

/// A place that was found to be good before a record was read.
pub struct ReleasePlace {
    destination: Destination,
    secret: Option<Secret>,
}

impl Releasing {
    /// Whether files that are there may be overwritten.
    pub fn overwrites(&self) -> bool {
        self.force
    }

    /// Finds out before a record is read whether a release can go where it should.
    pub fn find_place(&self, inputs: &[&Path]) -> Result<ReleasePlace, Failure> {
        let secret = self.sign.as_deref().map(keys::read_secret).transpose()?;
        let mut inputs = inputs.to_vec();
        inputs.extend(self.sign.as_deref());
        let destination = output::open(&self.out, self.force, &inputs)?;
        if destination.is_standard() && self.json {
            return Err(Failure::input(
                "--json: with --out - standard output is the release's; leave one of them out",
            ));
        }
        if destination.is_void() {
            return Err(Failure::input(format!(
                "--out {}: standard output is closed or leads to /dev/null, and what is released would \
                 be lost; the name of a file is accepted, and --out /dev/null if that is meant",
                self.out.display()
            )));
        }
        if self.seed.is_some() {
            say!(
                "warning: --seed makes the noise repeatable: what is released will be NOT PRIVATE"
            );
        }
        Ok(ReleasePlace { destination, secret })
    }

    /// The same where standard output has the lines of a stream.
    pub fn place_beside(&self, inputs: &[&Path]) -> Result<ReleasePlace, Failure> {
        let place = self.find_place(inputs)?;
        match place.destination.is_standard() {
            true => Err(Failure::input(
                "--out -: standard output has the lines of the stream; the name of a file is accepted",
            )),
            false => Ok(place),
        }
    }

    /// Who pays: a ledger, where one is given or lies beside the data. `doing` says what is done, in a
    /// word or two.
    pub fn spending(&self, data: Option<&Path>, doing: &str) -> Result<Spending, Failure> {
        self.budget.spending(data, doing, self.seed.is_some())
    }

    /// Who pays, as it was said.
    pub fn budget(&self) -> &BudgetFlags {
        &self.budget
    }

    /// Whether the noise comes from a seed.
    pub fn is_repeatable(&self) -> bool {
        self.seed.is_some()
    }

    /// Refuses to go on with a stream that the ledger, where there is one, has not spent on this data set.
    /// What comes back recognises its table.
    pub fn paid_before(
        &self,
        data: Option<&Path>,
        entered: Option<&LedgerEntry>,
    ) -> Result<Spending, Failure> {
        self.budget.paid_before(data, entered, self.seed.is_some())
    }

    /// The noise.
    pub fn source(&self) -> Result<Box<dyn Source>, Failure> {
        Ok(match self.seed {
            Some(seed) => Box::new(FixedSeed::new(seed)),
            None => Box::new(
                SystemRandom::new().map_err(|error| Failure::Environment(error.to_string()))?,
            ),
        })
    }

    /// Writes what was released, closes what is open, and says so, with what is reported of it.
    pub fn keep<F: Family>(
        &self,
        place: ReleasePlace,
        made: impl Into<MadeRelease<F>>,
    ) -> Result<(), Failure> {
        self.keep_with(place, made, |_, _| Ok(String::new()))
    }

    /// The same with `more`, at the end of the words, and in the JSON.
    pub fn keep_with<F: Family>(
        &self,
        place: ReleasePlace,
        made: impl Into<MadeRelease<F>>,
        more: impl FnOnce(&Released<F>, &mut Value) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let made: MadeRelease<F> = made.into();
        let settings = if F::TELLS_SETTINGS { made.settings() } else { None };
        self.keep_as(place, made, F::NOUN, |released| {
            let (words, mut told) = report_release(released, settings.as_ref());
            Ok((words + &more(released, &mut told)?, told))
        })
    }

    /// The same of a `noun`, with `own` words and JSON.
    pub fn keep_as<T: Task>(
        &self,
        place: ReleasePlace,
        made: MadeRelease<T>,
        noun: &str,
        own: impl FnOnce(&Released<T>) -> Result<(String, Value), Failure>,
    ) -> Result<(), Failure> {
        let WrittenRelease { released, placed, signer, failure } = self.write(place, made)?;
        let WrittenPlace { path, whole, standard, .. } = placed;
        let own = own(&released)?;
        let report = if self.json {
            let place = json!({ noun: path.display().to_string(), "signer": signer });
            let parts = [place, own.1, claim_as_json(released.certificate())];
            let parts = parts.into_iter().filter_map(|part| part.as_object().cloned());
            format!("{:#}\n", Value::Object(parts.flatten().collect()))
        } else {
            own.0 + &in_words(released.certificate()) + &where_it_is(&path, whole, signer)
        };
        let shown = if standard {
            // What was released is what was asked for there.
            say!("{}", report.trim_end());
            Ok(())
        } else if self.json {
            output::print(&report)
        } else {
            output::report(&report)
        };
        failure.map_or(shown, Err)
    }

    /// Writes what was released of a stream whose own output is on standard output, and says so beside it.
    pub fn keep_beside<T: Task>(
        &self,
        place: ReleasePlace,
        released: Released<T>,
    ) -> Result<(), Failure> {
        let WrittenRelease { released, placed, signer, failure } =
            self.write(place, MadeRelease::of(released))?;
        let words =
            in_words(released.certificate()) + &where_it_is(&placed.path, placed.whole, signer);
        say!("{}", words.trim_end());
        failure.map_or(Ok(()), Err)
    }

    /// Writes, then settles. Nothing but a release that is nowhere is an error here.
    fn write<T: Task>(
        &self,
        place: ReleasePlace,
        made: MadeRelease<T>,
    ) -> Result<WrittenRelease<T>, Failure> {
        let ReleasePlace { destination, secret } = place;
        let text = file::to_json(made.released(), secret.as_deref())?;
        let mut placed = output::keep(destination, &text)?;
        let (released, settled) = made.settle();
        let signer = secret.as_deref().map(public_key);
        let failure = match (placed.misplaced.take(), settled) {
            (Some(misplaced), Err(open)) => {
                Some(Failure::Environment(format!("{misplaced}\n{open}")))
            }
            (misplaced, settled) => misplaced.or(settled.err()),
        };
        Ok(WrittenRelease { released, placed, signer, failure })
    }

    /// Writes a later release of the same stream in place of the one before.
    pub fn replace<T: Task>(&self, released: &Released<T>) -> Result<(), Failure> {
        let secret = self.sign.as_deref().map(keys::read_secret).transpose()?;
        let _guard = crate::interrupt::writing();
        let kept = file::save(released, &self.out, secret.as_deref(), Existing::Replace)?;
        output::report_leftovers(&kept.swept);
        kept.instead.map_or(Ok(()), |why| {
            let words =
                format!("{why}: what was released, and paid for, is in {}", kept.path.display());
            Err(Failure::Environment(words))
        })
    }
}

/// What is reported of a release where it is made, in words and as JSON.
fn report_release<F: Family>(
    released: &Released<F>,
    settings: Option<&PlanNumbers>,
) -> (String, Value) {
    let Report { sections, mut told, .. } = F::report(released);
    let mut text = if F::AT_ONCE { sentences::sections(&sections) } else { String::new() };
    if F::TELLS_SETTINGS {
        if let (false, Some(settings)) = (text.is_empty(), settings) {
            let (noise, other) = sentences::settings(settings);
            text.push_str(&format!("(noise: {noise}; {other})\n"));
        }
        told["settings"] = json!(settings);
    }
    (text, told)
}

fn claim_as_json(certificate: &Certificate) -> Value {
    let guarantee = certificate.guarantee.as_ref();
    json!({
        "epsilon": guarantee.map(|g| output::json_number(g.epsilon)),
        "delta": guarantee.map(|g| g.delta),
        "private": guarantee.is_some_and(|g| g.epsilon.is_finite()),
        "arithmetic": certificate.arithmetic,
        "notes": certificate.notes,
    })
}

fn where_it_is(path: &Path, whole: bool, signer: Option<String>) -> String {
    let shown = path.display().to_string();
    let mut text =
        format!("written to {}{}\n", privet_core::printable(&shown), output::mode(whole));
    if let Some(key) = signer {
        text.push_str(&format!("signed by {key}\n"));
    }
    if whole {
        text.push_str(&format!("next: privet verify {}\n", output::quote_for_shell(path)));
    }
    text
}

fn in_words(certificate: &Certificate) -> String {
    let mut text = match &certificate.guarantee {
        Some(guarantee) if guarantee.epsilon.is_finite() => {
            let promise = sentences::guarantee(guarantee);
            sentences::wrap_lines(&format!("released with this guarantee: {promise}."), "")
        }
        Some(guarantee) => format!(
            "released WITHOUT a guarantee (ε = {} at δ = {})\n",
            number(guarantee.epsilon),
            number(guarantee.delta)
        ),
        None => "released WITHOUT privacy: no noise was added\n".into(),
    };
    for note in &certificate.notes {
        text.push_str(&sentences::wrap_lines(&format!("note: {note}"), ""));
    }
    text
}

/// Reads a table, with progress where its size is no secret.
pub fn read_table(path: &Path, schema: &Schema, relation: Relation) -> Result<Dataset, Failure> {
    let public_count = relation.count_is_public();
    let words = format!("reading {}", path.display());
    let meter = if public_count { Meter::bar(&words) } else { Meter::spinner(&words) };
    let tell = |done, total| meter.at(done, total);
    let progress: Option<&dyn Fn(u64, u64)> = if public_count { Some(&tell) } else { None };
    let options = ReadOptions { progress, allow_empty: !public_count, ..ReadOptions::default() };
    Ok(read(path, schema, &options)?)
}

/// Whether what is there can be read only once: a pipe, and neither a file nor a folder.
pub fn only_once(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// The number of rows must be declared: where it is private, the file's own is not used.
pub fn rows_needed(relation: Relation) -> Failure {
    let why = match (relation.neighbours, relation.unit) {
        (Neighbours::AddRemove, _) => "under --neighbours add-remove",
        (_, Unit::User { .. }) => "where the unit is a user with several rows",
        (_, Unit::Record) => "here",
    };
    Failure::input(format!(
        "--rows is missing: {why} the number of rows is private; declare about how many there \
         are, from public knowledge"
    ))
}
