//! `privet online count`: running counts.

use super::Streaming;
use super::stream::{Lines, Step};
use crate::failure::Failure;
use clap::Args;
use privet_learn::streams::tally::Tally;
use privet_learn::{Plan, Request, plan};
use serde_json::json;
use std::io::Write;

/// Count rows by a column as they arrive, and release every running count
#[derive(Args, Debug)]
#[command(
    long_about = "\
Reads rows as CSV from standard input and releases about how many there are of each category, after every
step; all counts together are within the budget. Every line takes a slot: one that does not fit the schema
counts as an empty slot. Streams are neighbours that differ in one slot.

With --state the stream goes on in a later call, from where it was; steps that a killed process lost count
as made. A state that is older than its journal is refused; copies of both, or both brought back from a
backup, go on a second time, with noise that nobody has charged for: keep them where one process finds
them.",
    after_help = "\
Example:
  privet online count --schema s.toml --by job --epsilon 1 --horizon 100000 --out jobs.json < rows.csv"
)]
pub(super) struct Count {
    /// The column: one of declared categories, of two values, or the target if it has classes
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    #[command(flatten)]
    streaming: Streaming,
}

/// The output lines of a call.
struct OutputLines;

impl Lines<Tally> for OutputLines {
    fn write(
        &mut self,
        plan: &Plan<Tally>,
        _: Step<'_>,
        (step, counts): (u32, &[f64]),
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let names = plan.facts().cells.names.iter();
        let cells: serde_json::Map<_, _> =
            names.zip(counts).map(|(name, count)| (name.clone(), json!(count))).collect();
        writeln!(out, "{}", json!({ "step": step, "counts": cells }))
    }
}

impl Count {
    pub(super) fn run(self) -> Result<(), Failure> {
        let again = [("by", self.by.is_some())];
        self.streaming.carry_out(&again, || self.plan(), &mut OutputLines)
    }

    fn plan(&self) -> Result<Plan<Tally>, Failure> {
        let by = self.by.clone().ok_or_else(|| {
            Failure::input(
                "--by is missing: the column to count by, one whose categories the schema declares",
            )
        })?;
        let Streaming { head, batch, .. } = &self.streaming;
        let horizon = self.streaming.horizon()?;
        let budget = head.budget_for(horizon)?;
        let task = Tally { batch: *batch, ..Tally::by(by) };
        let request = task.request(&head.schema()?, horizon)?.with_budget(budget);
        Ok(plan(&Request { neighbours: head.neighbours, ..request })?)
    }
}
