//! Public facts on which a certificate rests and that nothing checks.
//!
//! Verification makes the plan again from the facts in the file. A file that states other facts,
//! consistently, passes all checks as well: these facts are the word of the file's maker.

use crate::release::plan::Plan;
use crate::release::task::Task;
use privet_core::{Unit, printable};
use privet_dp::gate::Certificate;
use serde::Serialize;

/// A kind of unchecked fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The declared number of rows.
    Rows,
    /// Bounds, categories and classes.
    Schema,
    /// The unit of each record.
    Unit,
    /// Transformers fitted on the records before.
    PriorFits,
    /// Public rows that the file describes.
    PublicRows,
    /// Parties and servers, and the number of honest ones.
    Parties,
    /// The date, the version and the ledger entry.
    Made,
}

/// A public fact that nothing checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// Its kind.
    pub fact: Fact,
    /// The assumption, in words.
    pub what: String,
}

/// The unchecked facts of a plan and its certificate.
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
