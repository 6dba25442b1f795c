//! Public facts that a certificate rests on and that nothing checks.
//!
//! Verification makes the plan again from what the file says. Of the facts that the plan takes for granted,
//! a file in which they are other ones, consistently, is another file on which all checks hold: they are
//! the word of whoever made it.

use crate::release::plan::Plan;
use crate::release::task::Task;
use privet_core::{Unit, printable};
use privet_dp::gate::Certificate;
use serde::Serialize;

/// Which fact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The declared number of rows.
    Rows,
    /// Bounds, categories and classes.
    Schema,
    /// Whose each record is.
    Unit,
    /// What was fitted on the records before.
    PriorFits,
    /// Public rows, of which the file states something.
    PublicRows,
    /// Parties and servers, and who of them is honest.
    Parties,
    /// When it was made, by which version, and where a ledger has it.
    Made,
}

/// A public fact that nothing checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// Which one.
    pub fact: Fact,
    /// What is taken for granted, in words.
    pub what: String,
}

/// What a plan and its certificate take for granted.
pub(crate) fn of<T: Task>(plan: &Plan<T>, certificate: &Certificate) -> Vec<Unchecked> {
    let request = plan.request();
    let schema = &request.schema;
    let mut all = Vec::new();
    let mut granted = |fact, what: String| all.push(Unchecked { fact, what });
    granted(
        Fact::Rows,
        match request.relation().count_is_public() {
            true => format!("that there were {} records", request.rows),
            false => {
                format!("that the declared {} records are no count of the table", request.rows)
            }
        },
    );
    let bought = schema.origin().is_some_and(|origin| origin.paid.is_some());
    granted(
        Fact::Schema,
        match bought {
            true => "that the schema, but for what was bought, is of public knowledge".into(),
            false => {
                "that bounds, categories and classes of the schema are of public knowledge".into()
            }
        },
    );
    if let (Unit::User { .. }, Some(unit)) = (schema.unit(), schema.unit_column()) {
        let column = printable(&unit.column).into_owned();
        granted(Fact::Unit, format!("that column '{column}' says whose each record is"));
    }
    let more = if request.prior_fits.is_empty() { "nothing" } else { "nothing else" };
    granted(Fact::PriorFits, format!("that {more} was fitted on the records before"));
    if let Some(what) = request.task.rests_on_public_rows() {
        granted(Fact::PublicRows, what);
    }
    if request.among.is_some() {
        granted(Fact::Parties, "who the parties and servers were".into());
    }
    let entered = if certificate.ledger.is_some() { ", and its entry in a ledger" } else { "" };
    granted(Fact::Made, format!("by which version and when it was made{entered}"));
    all
}
