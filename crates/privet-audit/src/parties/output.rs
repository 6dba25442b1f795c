//! Audit of `output` among parties: a coalition's view of the mean of the parties' own minimisers.
//!
//! The inputs are two neighbouring tables of one party whose minimisers are as far apart as proved
//! possible (`privet_learn::linear::part`): a Huber SVM near 0, where the record contributes its full
//! derivative with either sign. The party's shared values are those of the product's own plan, recorded
//! before they are split; the other parties are in the coalition, which can only subtract their sums.

use super::Coalition;
use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited};
use crate::claim::Claim;
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::GateError;
use privet_dp::mechanism::shares::{Participants, PartyChannel, sum_openings};
use privet_dp::noise::FixedSeed;
use privet_learn::{Erm, LearnError, Plan, Request, plan};
use privet_optim::loss::Loss;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use zeroize::Zeroizing;

/// Rows of the party under attack, and of all.
const ROWS: [u64; 2] = [10, 40];

const SCHEMA: &str = r#"
bias = false
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
"#;

/// Setting of an audit: a coalition and the claim against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The number of parties and servers.
    pub among: Participants,
    /// The number of servers in the coalition.
    pub colluding: u32,
    /// Budget requested.
    pub budget: Budget,
}

impl Setting {
    /// The same coalitions as for any sum.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let of_sums = super::Setting::all(epsilon, delta)?;
        let same = |super::Setting { among, colluding, budget }| Self { among, colluding, budget };
        Ok(of_sums.into_iter().map(same).collect())
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    judge.attack(&coalition(setting)?, &Claim::stated_gaussian(stated))
}

/// Records a party's shared values, and opens them without noise.
struct Recorded(Mutex<Option<(Event, Vec<i128>)>>);

impl PartyChannel for Recorded {
    fn exchange(
        &self,
        _round: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError> {
        let openings: Vec<Vec<u128>> = shares.iter().map(|share| share.to_vec()).collect();
        let values = sum_openings(&openings).ok_or(GateError::Malformed)?;
        *self.0.lock().map_err(|_| GateError::Unanswered)? = Some((leaf.clone(), values));
        Ok(openings)
    }

    fn declared_rows(&self) -> Option<u64> {
        Some(ROWS[0])
    }

    fn is_simulated(&self) -> bool {
        true
    }
}

/// The charge of the plan's one round, and the values shared by a party with this table.
fn shared_values(planned: &Plan, table: &Dataset) -> Result<(Event, Vec<i128>), AuditError> {
    let heard = Recorded(Mutex::new(None));
    let never = AtomicBool::new(false);
    // The party's own randomness affects only the split, which is undone.
    planned.run_among(table, &heard, &mut FixedSeed::new(1), &never, None)?;
    let heard = heard.0.into_inner().ok().flatten();
    heard.ok_or_else(|| AuditError::Table("nothing was shared".into()))
}

fn coalition(setting: &Setting) -> Result<Coalition, AuditError> {
    let odd = |error: &dyn std::fmt::Display| AuditError::Table(error.to_string());
    let schema = Schema::from_toml(SCHEMA).map_err(|error| odd(&error))?;
    let task = Erm { loss: Loss::HuberSvm { h: 0.1 }, method: "output".parse()? };
    let request = Request::new(schema, ROWS[1], Neighbours::ReplaceOne, task)
        // So large that the minimum is near 0.
        .with("ridge", "400")?
        .with_budget(setting.budget)
        .shared_among(setting.among);
    let planned = plan(&request)?;
    let table = |label: &str| {
        let mut text = format!("a,y\n1,{label}\n");
        // The others' contributions cancel.
        for row in 1..ROWS[0] {
            text.push_str(["0,yes\n", "0,no\n"][row as usize % 2]);
        }
        read::csv_bytes(text.as_bytes(), planned.schema()).map_err(|error| odd(&error))
    };
    let (leaf, first) = shared_values(&planned, &table("no")?)?;
    let (_, second) = shared_values(&planned, &table("yes")?)?;
    let Event::Use { cost: Cost::Gaussian { grid: Some(grid), .. }, .. } = &leaf else {
        return Err(LearnError::from(GateError::Alone).into());
    };
    let (among, servers, step) = (setting.among, setting.colluding as usize, grid.step);
    Ok(Coalition { among, servers, leaf, step, worlds: [first, second] })
}
