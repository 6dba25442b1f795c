//! `privet party train`: one party's part in a run, on its own table.

use super::look::joined;
use super::{Member, tell};
use crate::failure::Failure;
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::say;
use clap::Args;
use privet_data::Schema;
use privet_learn::look::count::Count;
use privet_learn::{Erm, Plan, Released, Task};
use privet_parties::tls::Connections;
use privet_parties::{Folder, Paid, Party};
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
command, it goes on and pays nothing more. A run that was ended is not taken up again: a new agreement is
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
    #[command(flatten)]
    releasing: Releasing,
}

impl Train {
    /// Agrees, pays, reads, takes part, writes.
    pub fn run(self) -> Result<(), Failure> {
        let folder = self.member.open()?;
        match folder.agreement().is_count() {
            true => self.take_part::<Count>(&folder, "counts"),
            false => self.take_part::<Erm>(&folder, "model"),
        }
    }

    fn take_part<T: Task>(&self, folder: &Folder, noun: &str) -> Result<(), Failure> {
        let planned: Plan<T> = folder.agreement().plan()?;
        tell(&planned);
        let schema: Schema = serde_json::from_value(folder.agreement().schema.clone())
            .map_err(|error| Failure::input(format!("the agreement's schema: {error}")))?;
        let mut inputs = vec![self.data.as_path()];
        inputs.extend(self.schema.as_deref());
        let place = self.releasing.place(&inputs)?;
        let party = {
            let _meter = Meter::spinner("greeting the servers");
            joined(folder, self.schema.as_deref())?
        };
        let digest = folder.agreement().digest();
        let relation = planned.request().relation();
        let before = folder.paid()?;
        let mut spending = match &before {
            Some(paid) if paid.agreement == digest => {
                say!("going on with a run that is paid for");
                match &paid.entered {
                    Some(entered) => self.releasing.paid_before(Some(&self.data), Some(entered))?,
                    None => self.releasing.going_on()?,
                }
            }
            _ => self.releasing.spending(Some(&self.data), "party train")?,
        };
        if before.is_none() {
            spending.reserve(&planned)?;
        }
        let data = read_table(&self.data, planned.schema(), relation)?;
        let holder = party.holder();
        if relation.count_is_public() && data.rows() as u64 != holder.rows {
            return Err(Failure::input(format!(
                "{} declared {} rows and its table has {}: the number of rows is public, and must be right",
                holder.name,
                holder.rows,
                data.rows()
            )));
        }
        spending.recognise(&self.data, Some(&schema))?;
        let planned = match before {
            Some(Paid { entered, .. }) => match entered {
                Some(entered) => planned.entered_in(entered),
                None => planned,
            },
            None => {
                let planned = spending.spend_whole(planned)?;
                self.write_down(folder, &planned, digest)?;
                planned
            }
        };
        let released = self.together(&planned, &data, &party)?;
        let own = json!({ "parties": folder.agreement().parties.len(), "servers": folder.agreement().servers.len() });
        self.releasing.keep(place, &released, noun, (String::new(), own))?;
        party.finish();
        Ok(())
    }

    /// The party's own record of what it spends, before the first share leaves.
    fn write_down<T: Task>(
        &self,
        folder: &Folder,
        planned: &Plan<T>,
        agreement: String,
    ) -> Result<(), Failure> {
        let claim = planned.guarantee();
        let paid = Paid {
            agreement,
            epsilon: claim.map_or(f64::INFINITY, |claim| claim.epsilon),
            delta: claim.map_or(1.0, |claim| claim.delta),
            at: privet_core::now(),
            entered: planned.entered().cloned(),
        };
        Ok(folder.keep_paid(&paid)?)
    }

    fn together<T: Task>(
        &self,
        planned: &Plan<T>,
        data: &privet_data::Dataset,
        party: &Party<Connections>,
    ) -> Result<Released<T>, Failure> {
        let mut source = self.releasing.source()?;
        let _meter = Meter::spinner("training with the others");
        let never_stopped = AtomicBool::new(false);
        let release = planned.run_among(data, party, source.as_mut(), &never_stopped, None)?;
        Ok(Released::from_release(release)?)
    }
}
