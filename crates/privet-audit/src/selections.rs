//! The audit of private choices of columns: their certificates against their behaviour on sharp neighbours.
//!
//! Two columns, one of which is chosen. The others' records make the one column the likelier by about e^(ε/2), and
//! one record speaks against it with all its weight, or for it: then the ratio of probabilities is nearly the e^ε
//! that a choice of bounded range ε may have. For `distance` the records are as far from another answer as the
//! threshold, or one farther: an answer comes out e^ε times as often. `subsample` and votes of chunks are behind
//! the same test, but how many agree is a matter of chance: they are only asked not to be refuted.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding};
use crate::planned::claimed;
use crate::runs::{Target, Watch, World};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::select::{Select, Selector};
use privet_learn::{Plan, plan};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Which choice, and what it is to claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The selector with its settings.
    pub method: Selector,
    /// What is asked for.
    pub budget: Budget,
    /// Under which relation.
    pub neighbours: Neighbours,
    /// Whether the pair shows most of what is claimed.
    pub sharp: bool,
}

/// A record: two entries and whether it is of the second class.
type Row = (f64, f64, bool);

/// Settings, whether δ is above 0, and whether the pair is sharp.
type Case = (&'static str, &'static [(&'static str, &'static str)], bool, bool);

const CASES: [Case; 6] = [
    ("correlation", &[("association", "products"), ("clip", "1")], false, true),
    ("correlation", &[("association", "kendall")], false, true),
    ("exponential", &[("clip", "1"), ("ball", "1")], false, true),
    ("distance", &[("over", "mode")], true, true),
    ("distance", &[("chunks", "40")], true, false),
    ("subsample", &[("rate", "0.1"), ("parts", "300")], true, false),
];

impl Subject {
    /// Every selector under every relation that it covers.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let mut all = Vec::new();
        for (name, settings, approximate, sharp) in CASES {
            let set = |method: Selector, (name, value): &(&str, &str)| method.with(name, value);
            let method = settings.iter().try_fold(name.parse::<Selector>()?, set)?;
            let budget = Budget::new(epsilon, if approximate { delta } else { 0.0 })?;
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                // Pairs of records need a public number of rows.
                let pairs = settings.contains(&("association", "kendall"));
                if !pairs || neighbours == Neighbours::ReplaceOne {
                    all.push(Self { method: method.clone(), budget, neighbours, sharp });
                }
            }
        }
        Ok(all)
    }

    /// The selector and what tells it from others of its name.
    pub fn name(&self) -> String {
        let settings = serde_json::to_value(&self.method).unwrap_or_default();
        let word = |name: &str| settings[name].as_str().map(|word| format!(", {word}"));
        let more = word("association").or(word("over")).unwrap_or_default();
        format!("{}{more}", self.method)
    }

    fn schema() -> Result<Schema, AuditError> {
        let text = "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
             classes = [\"no\", \"yes\"]\n\
             [[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
             [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
        Schema::from_toml(text).map_err(|error| AuditError::Table(error.to_string()))
    }

    /// The plan that anybody would get.
    fn planned(&self, budget: Budget, rows: u64) -> Result<Plan<Select>, AuditError> {
        let task = Select { size: 1, method: self.method.clone() };
        let (epsilon, delta) = (budget.epsilon(), Some(budget.delta()));
        let request = task.request(&Self::schema()?, rows, self.neighbours, (epsilon, delta))?;
        Ok(plan(&request)?)
    }

    /// The records of others, then the one of the first world (none where it is added) and of the second.
    fn rows(&self) -> Result<(Vec<Row>, Option<Row>, Row), AuditError> {
        let replaced = self.neighbours == Neighbours::ReplaceOne;
        let one = |row: Row| replaced.then_some(row);
        Ok(match self.method.name() {
            "correlation" if self.name().ends_with("kendall") => {
                (ordered(), one((1.0, -1.0, false)), (-1.0, 1.0, false))
            }
            "correlation" => {
                let mut others = vec![(1.0, 1.0, true); 8];
                others.extend([(0.0, 1.0, true); 2]);
                (others, one((-1.0, 1.0, true)), (1.0, -1.0, true))
            }
            "exponential" => {
                // Column a leads by a few records; the record's loss is the largest there is on it alone.
                let mut others = vec![(1.0, 1.0, true); 40];
                others.extend([(1.0, 0.0, true); 3]);
                (others, one((0.0, 1.0, false)), (1.0, 0.0, false))
            }
            "distance" if self.name().ends_with("mode") => {
                let stability = self.planned(self.budget, 20)?;
                let threshold = stability.settings().get("threshold").unwrap_or(0.0) as usize;
                // Distances t and t + 1: a lead of D·t + 1, or of D more.
                let (moves, other) = if replaced { (2, 1) } else { (1, 0) };
                let mut others = vec![(0.0, 1.0, true); 4];
                others.extend(vec![(1.0, 0.0, true); 4 + moves * threshold + 1 + other]);
                (others, one((0.0, 1.0, true)), (1.0, 0.0, true))
            }
            _ => {
                let mut others = vec![(1.0, 0.0, true); 60];
                others.extend([(0.0, 1.0, true); 10]);
                (others, one((0.0, 1.0, true)), (1.0, 0.0, true))
            }
        })
    }
}

/// Records of both classes whose order in b is that of the class, in a nearly.
fn ordered() -> Vec<Row> {
    let row = |place: u32| {
        let x = f64::from(place) / 20.0 - 0.5;
        (if place == 9 || place == 10 { -x } else { x }, x, place >= 10)
    };
    (0..20).map(row).collect()
}

fn table(rows: &[Row], schema: &Schema) -> Result<Dataset, AuditError> {
    let mut text = String::from("a,b,y\n");
    for (a, b, second) in rows {
        let _ = writeln!(text, "{a},{b},{}", if *second { "yes" } else { "no" });
    }
    let read = read::csv_bytes(text.as_bytes(), schema);
    read.map_err(|error| AuditError::Table(error.to_string()))
}

/// A choice on two neighbouring tables.
struct Chosen<'a> {
    plan: &'a Plan<Select>,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for Chosen<'_> {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(world == World::Second)];
        let (support, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        // Which column, or that there is none: as three corners.
        let place = support.columns.and_then(|columns| columns.first().copied());
        let corner = |number: u32| f64::from(u32::from(place == Some(number)));
        Ok(vec![corner(0), corner(1)])
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(vec![1.0, -1.0])
    }
}

/// Audits a choice.
pub fn audit(
    subject: &Subject,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    audit_against(subject, subject.budget, options, watch)
}

/// The same, judged by the certificate that it would have with another budget: with a smaller one that
/// certificate is false, and an audit with power refutes it.
pub fn audit_against(
    subject: &Subject,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn Watch,
) -> Result<Finding, AuditError> {
    let (others, first, second) = subject.rows()?;
    let with = |row: Option<Row>| others.iter().copied().chain(row).collect::<Vec<Row>>();
    let (one, two) = (with(first), with(Some(second)));
    let rows = two.len() as u64;
    let plan = subject.planned(subject.budget, rows)?;
    let claim = claimed(&subject.planned(stated, rows)?)?;
    let claim = claim.ok_or(AuditError::NothingClaimed { method: "select" })?;
    let schema = Subject::schema()?;
    let worlds = [table(&one, &schema)?, table(&two, &schema)?];
    let chosen = Chosen { plan: &plan, worlds, stop: AtomicBool::new(false) };
    attack::audit(&chosen, &claim, options, watch)
}
