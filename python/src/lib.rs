//! The extension behind the Python package `privet`: conversion only.
//!
//! The algorithms are those of the crates that this one calls; the public Python interface is written in
//! Python beside it (`python/privet`). Here arrays become data sets (`input`), requests plans and
//! releases (`plan` and `released` of any family; the rest of each family in `model`, `shapes`, `count`,
//! `describe`, `evaluate`, `select`, `tune`, `vote`, `nearby`, `network`, `ratings`, `online`), on rows
//! of other machines (`cluster`), paid for by a `ledger`, errors exceptions (`error`), and the
//! interpreter's lock is released while records are processed (`watched`).

mod account;
mod audit;
mod cluster;
mod count;
mod describe;
mod error;
mod evaluate;
mod input;
mod ledger;
mod model;
mod nearby;
mod network;
mod noise;
mod offered;
mod online;
mod plan;
mod ratings;
mod released;
mod schema;
mod select;
mod shapes;
mod tune;
mod vote;
mod watched;

use error::{Failure, Outcome};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::sync::OnceLock;

/// Runs the command line; the first argument is the program's name. It must run in the process that
/// first called it: a fork does not copy its threads.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> Outcome<u8> {
    static PROCESS: OnceLock<u32> = OnceLock::new();
    if *PROCESS.get_or_init(std::process::id) != std::process::id() {
        return Err(Failure::value(
            "the command line ran in the process that this one was forked from; accepted is a process of its own",
        ));
    }
    Ok(py.detach(|| privet_cli::main(arguments)))
}

/// The compiled part of `privet`; see the Python modules for documentation.
#[pymodule]
mod _privet {
    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The note of a certificate whose classes were taken from y.
    #[pymodule_export]
    const NOTE_CLASSES: &str = privet_learn::CLASSES_FROM_RECORDS;

    #[pymodule_export]
    use super::account::{account_bracket, account_calibrate, account_delta, account_epsilon};
    #[pymodule_export]
    use super::account::{account_check, account_trade_off};
    #[pymodule_export]
    use super::audit::{audit_counts, audit_learner, audit_membership, audit_one_run};
    #[pymodule_export]
    use super::cluster::{cluster_answer, cluster_cut, cluster_encode, cluster_merge};
    #[pymodule_export]
    use super::cluster::{cluster_print, cluster_rows, cluster_units};
    #[pymodule_export]
    use super::command_line;
    #[pymodule_export]
    use super::count::{Records, plan_counts};
    #[pymodule_export]
    use super::describe::plan_description;
    #[pymodule_export]
    use super::error::PrivacyError;
    #[pymodule_export]
    use super::evaluate::{evaluate_exactly, evaluate_privately, threshold_by_cost};
    #[pymodule_export]
    use super::ledger::Ledger;
    #[pymodule_export]
    use super::nearby::plan_answers;
    #[pymodule_export]
    use super::network::plan_network;
    #[pymodule_export]
    use super::noise::{noise_discrete_gaussian, noise_discrete_laplace};
    #[pymodule_export]
    use super::noise::{noise_exponential_choice, noise_gaussian, noise_l2_laplace};
    #[pymodule_export]
    use super::offered::{offered, plan_offered};
    #[pymodule_export]
    use super::online::OnlineStream;
    #[pymodule_export]
    use super::plan::{Plan, plan_linear};
    #[pymodule_export]
    use super::ratings::learn_ratings;
    #[pymodule_export]
    use super::released::{Released, load};
    #[pymodule_export]
    use super::schema::Schema;
    #[pymodule_export]
    use super::select::plan_selection;
    #[pymodule_export]
    use super::tune::plan_tuning;
    #[pymodule_export]
    use super::vote::plan_labels;
    #[pymodule_export]
    use super::watched::{find_numpy, hold_signals, let_signals_go};
}
