//! `privet party train`: one party's part in a run, on its own table.

use super::look::{agree, own_schema};
use super::{Member, print_cost};
use crate::failure::Failure;
use crate::order::{MadeRelease, Table};
use crate::progress::Meter;
use crate::releasing::{Releasing, only_once, read_table};
use crate::say;
use clap::Args;
use privet_core::Relation;
use privet_data::ratings::{self, Layout};
use privet_data::read::ReadOptions;
use privet_data::{Dataset, Schema};
use privet_learn::ratings::Complete;
use privet_learn::statistics::count::Count;
use privet_learn::{Erm, Plan, Released, Task};
use privet_parties::tls::Connections;
use privet_parties::{Family, Folder, Party, PaymentRecord, RecognisedTable};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Take part: train (or count) on your table together with the others
#[derive(Args, Debug)]
#[command(
    long_about = "\
Carries out the agreement's plan on your own table. Sums leave in shares alone; what comes back are sums
over everyone's rows, under the noise of all servers. Every party ends with the same model, each with the
certificate of it.

What the plan spends is spent from the first share on, whatever happens then; it is written down in the
folder's state/paid.json, and in your ledger where you have one. Killed and started again with the same
command, it goes on and pays nothing more; with another table it is refused, in a copy of the folder too
(state/table.json knows the table by a keyed digest, which stays there). At the end every party signs what it
heard, and nobody gets a model without the signatures of all (state/signatures.json). A run that was ended is not taken up again: a new agreement is
a new run, and costs again.",
    after_help = "\
Examples:
  privet party train study/clinic --data clinic.csv --out model.json
  privet party train study/clinic --data clinic.csv --schema s.toml --out model.json --purpose study"
)]
pub struct Train {
    #[command(flatten)]
    member: Member,
    /// Your table
    #[arg(long, value_name = "TABLE")]
    data: PathBuf,
    /// Your own copy of the schema, to be compared with everyone's [default: that of the agreement]
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<PathBuf>,
    #[arg(
        long, value_name = "LAYOUT", default_value = "triples",
        help = format!("Of ratings: how your file is laid out: {}", Layout::ACCEPTED),
    )]
    layout: Layout,
    #[command(flatten)]
    releasing: Releasing,
}

impl Train {
    /// Agrees, pays, reads, takes part, writes.
    pub fn run(self) -> Result<(), Failure> {
        if self.releasing.is_repeatable() {
            return Err(Failure::input(
                "--seed: shares made from a seed hide nothing from whoever knows it; leave it out",
            ));
        }
        let folder = self.member.open()?;
        let table = |schema: &Schema, relation| read_table(&self.data, schema, relation);
        match folder.agreement().family() {
            Family::Model => self.take_part::<Erm>(&folder, "model", table),
            Family::Counts => self.take_part::<Count>(&folder, "counts", table),
            Family::Ratings => self.take_part::<Complete>(&folder, "model", |schema, _| {
                let _meter = Meter::spinner(&format!("reading {}", self.data.display()));
                let options = ReadOptions { allow_empty: true, ..ReadOptions::default() };
                Ok(ratings::read(&self.data, self.layout, schema, &options)?)
            }),
        }
    }

    fn take_part<T: Task>(
        &self,
        folder: &Folder,
        noun: &str,
        read: impl FnOnce(&Schema, Relation) -> Result<Dataset, Failure>,
    ) -> Result<(), Failure> {
        let planned: Plan<T> = folder.agreement().plan()?;
        print_cost(&planned);
        let schema: Schema = serde_json::from_value(folder.agreement().schema.clone())
            .map_err(|error| Failure::input(format!("the agreement's schema: {error}")))?;
        let mut inputs = vec![self.data.as_path()];
        inputs.extend(self.schema.as_deref());
        let text = self.own_text(folder)?;
        let digest = folder.agreement().digest();
        let relation = planned.request().relation();
        let before = folder.payment_record()?;
        let declared = Some(planned.request().rows);
        let (table, plan) =
            (Table::new(&self.data, &schema, relation, declared)?, |_| Ok(planned.clone()));
        // Both readings under one check for changes: the recognised table is the one trained on.
        let read = |planned: &Plan<T>| {
            Ok((read(planned.schema(), relation)?, self.recognise_table(folder, &schema)?))
        };
        let (place, ready, (data, recognised)) = match &before {
            Some(paid) if paid.agreement == digest => {
                say!("going on with a run that is paid for");
                let entered = paid.entered.as_ref();
                let (place, paid) = self.releasing.go_on(table, &inputs, entered, plan)?;
                (place, None, paid.read(read)?)
            }
            Some(_) => {
                return Err(Failure::input(
                    "the folder's state/paid.json is of another agreement: a new one needs a new folder",
                ));
            }
            None => {
                let (place, reserved) =
                    self.releasing.reserve(table, &inputs, "party train", plan)?;
                let (ready, read) = reserved.read(read)?;
                (place, Some(ready), read)
            }
        };
        // The number of people who rate is private, whichever neighbours.
        let public = relation.count_is_public() && folder.agreement().family() != Family::Ratings;
        self.check_rows(folder, public.then_some(data.rows()))?;
        // After the table was read: a refused record shows to no one else.
        let party = {
            let _meter = Meter::spinner("greeting the servers");
            let party = folder.begin_with(&text, Connections::new(folder)?, recognised)?;
            agree(&party, &text)?;
            party
        };
        let planned = match (ready, before.and_then(|paid| paid.entered)) {
            (Some(ready), _) => {
                let planned = ready.spend()?;
                self.write_down(folder, &planned, digest)?;
                planned
            }
            (None, Some(entered)) => planned.entered_in(entered),
            (None, None) => planned,
        };
        let released = self.train_together(&planned, &data, &party)?;
        let own = json!({ "parties": folder.agreement().parties.len(), "servers": folder.agreement().servers.len() });
        self.releasing
            .keep_as(place, MadeRelease::of(released), noun, |_| Ok((String::new(), own)))?;
        party.finish();
        Ok(())
    }

    /// Refuses a number of rows other than the declared one, where that number is public.
    fn check_rows(&self, folder: &Folder, rows: Option<usize>) -> Result<(), Failure> {
        let name = &folder.settings().name;
        let holder = folder.agreement().parties.iter().find(|party| party.name == *name);
        match (rows, holder) {
            (Some(rows), Some(holder)) if rows as u64 != holder.rows => {
                Err(Failure::input(format!(
                    "{name} declared {} rows and its table has {rows}: the number of rows is public, and must be right",
                    holder.rows
                )))
            }
            _ => Ok(()),
        }
    }

    /// The party's own schema; refuses a table that cannot be read twice.
    fn own_text(&self, folder: &Folder) -> Result<String, Failure> {
        let text = own_schema(folder, self.schema.as_deref())?;
        if only_once(&self.data) {
            return Err(Failure::input(format!(
                "{}: a party reads its table once more, to know it again after a restart; a file is accepted, not a pipe",
                self.data.display()
            )));
        }
        Ok(text)
    }

    /// Recognises the table as the one with which the folder's run began.
    fn recognise_table(
        &self,
        folder: &Folder,
        schema: &Schema,
    ) -> Result<RecognisedTable, Failure> {
        folder.recognise(|each| {
            privet_data::read::raw_rows(&self.data, Some(schema), each).map_err(Failure::from)
        })
    }

    /// Writes the party's own record of its spending, before the first share leaves.
    fn write_down<T: Task>(
        &self,
        folder: &Folder,
        planned: &Plan<T>,
        agreement: String,
    ) -> Result<(), Failure> {
        let claim = planned.guarantee();
        let entered = planned.ledger_entry().cloned();
        let paid = PaymentRecord {
            agreement,
            epsilon: claim.map_or(f64::INFINITY, |claim| claim.epsilon),
            delta: claim.map_or(1.0, |claim| claim.delta),
            at: privet_core::now(),
            entered,
        };
        Ok(folder.keep_paid(&paid)?)
    }

    fn train_together<T: Task>(
        &self,
        planned: &Plan<T>,
        data: &Dataset,
        party: &Party<Connections>,
    ) -> Result<Released<T>, Failure> {
        let mut source = self.releasing.source()?;
        let _meter = Meter::spinner("training with the others");
        let never_stopped = AtomicBool::new(false);
        let release = planned.run_among(data, party, source.as_mut(), &never_stopped, None)?;
        Ok(Released::from_release(release)?)
    }
}
