//! Audit of private choices of columns: their certificates against their behaviour on sharp neighbouring
//! tables.
//!
//! Two columns, one of which is chosen. The others' records make one column the likelier by about
//! e^(ε/2), and one record counts against it with its whole weight, or for it: then the ratio of
//! probabilities is nearly the e^ε that a choice of bounded range ε may have. For `distance` the records
//! are as far from another answer as the threshold, or one farther: an answer is released e^ε times as
//! often. `subsample` and votes of chunks use the same test, but the number that agree is random, and
//! the margins of `lasso-stability` are upper bounds on a record's effect: these only must not be
//! refuted.

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited, plan_and_claim};
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::selection::{Select, Selector};
use privet_learn::{Plan, plan};
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Setting of an audit: a choice and its claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The selector with its settings.
    pub method: Selector,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
    /// True if the pair shows most of the claim.
    pub sharp: bool,
}

/// A record: two entries and its target, whose sign is the class if there are classes.
type Row = (f64, f64, f64);

/// Name, settings, whether δ is above 0, and whether the pair is sharp.
type Case = (&'static str, &'static [(&'static str, &'static str)], bool, bool);

const CASES: [Case; 7] = [
    ("correlation", &[("association", "products"), ("clip", "1")], false, true),
    ("correlation", &[("association", "kendall")], false, true),
    ("exponential", &[("clip", "1"), ("ball", "1")], false, true),
    ("distance", &[("over", "mode")], true, true),
    ("distance", &[("chunks", "40")], true, false),
    ("subsample", &[("rate", "0.1"), ("parts", "300")], true, false),
    ("lasso-stability", &[("lambda", "900"), ("curvature", "0.25")], true, false),
];

impl Setting {
    /// Settings of every selector under every relation that it covers.
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
                    all.push(Self { method, budget, neighbours, sharp });
                }
            }
        }
        Ok(all)
    }

    /// Name of the selector with the settings that distinguish it.
    pub fn name(&self) -> String {
        let settings = serde_json::to_value(self.method).unwrap_or_default();
        let word = |name: &str| settings[name].as_str().map(|word| format!(", {word}"));
        let more = word("association").or(word("over")).unwrap_or_default();
        format!("{}{more}", self.method)
    }

    /// True if the target is a number, which distinguishes pairs of records best.
    fn of_numbers(&self) -> bool {
        self.name().ends_with("kendall") || self.method.name() == "lasso-stability"
    }

    fn schema(&self) -> Result<Schema, AuditError> {
        let target = match self.of_numbers() {
            true => "bounds = [-1, 1]",
            false => "classes = [\"no\", \"yes\"]",
        };
        let text = "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
             [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
        let text = format!(
            "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n{text}"
        );
        Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))
    }

    /// The plan, as a caller of the learner gets it.
    fn make_plan(&self, budget: Budget, rows: u64) -> Result<Plan<Select>, AuditError> {
        let task = Select { size: 1, method: self.method };
        let (epsilon, delta) = (budget.epsilon(), Some(budget.delta()));
        let request = task.request(&self.schema()?, rows, self.neighbours, (epsilon, delta))?;
        Ok(plan(&request)?)
    }

    /// The others' records, then the record in the first table (none if it is added) and in the second.
    fn rows(&self) -> Result<(Vec<Row>, Option<Row>, Row), AuditError> {
        let replaced = self.neighbours == Neighbours::ReplaceOne;
        let one = |row: Row| replaced.then_some(row);
        let many = |row: Row, count: usize| std::iter::repeat_n(row, count);
        Ok(match self.method.name() {
            "correlation" if self.of_numbers() => {
                (ordered(), one((1.0, -1.0, -1.0)), (-1.0, 1.0, -1.0))
            }
            "correlation" => {
                let others = many((1.0, 1.0, 1.0), 8).chain(many((0.0, 1.0, 1.0), 2));
                (others.collect(), one((-1.0, 1.0, 1.0)), (1.0, -1.0, 1.0))
            }
            "exponential" => {
                // Column a leads by a few records; the record's loss is maximal on it alone.
                let others = many((1.0, 1.0, 1.0), 40).chain(many((1.0, 0.0, 1.0), 3));
                (others.collect(), one((0.0, 1.0, -1.0)), (1.0, 0.0, -1.0))
            }
            "distance" if self.name().ends_with("mode") => {
                let stability = self.make_plan(self.budget, 20)?;
                let threshold = stability.settings().get("threshold").unwrap_or(0.0) as usize;
                // Distances t and t + 1: a lead of D·t, or of D more at most.
                let lead = if replaced { 2 * threshold + 2 } else { threshold + 1 };
                let others = many((0.0, 1.0, 1.0), 4).chain(many((1.0, 0.0, 1.0), 4 + lead));
                (others.collect(), one((0.0, 1.0, 1.0)), (1.0, 0.0, 1.0))
            }
            "lasso-stability" => {
                // A clear column, its weight far from 0 and from 1; one record counts against it.
                let others = many((1.0, 0.0, 1.0), 1_000).chain(many((-1.0, 0.0, -1.0), 1_000));
                (others.collect(), one((1.0, 1.0, 1.0)), (1.0, 1.0, -1.0))
            }
            _ => {
                let others = many((1.0, 0.0, 1.0), 60).chain(many((0.0, 1.0, 1.0), 10));
                (others.collect(), one((0.0, 1.0, 1.0)), (1.0, 0.0, 1.0))
            }
        })
    }
}

/// Records whose order in b is that of the target; in a, that of seven of them is reversed.
fn ordered() -> Vec<Row> {
    let at = |place: u32| f64::from(place) / 20.0 - 0.5;
    let row = |place: u32| {
        let turned = if (7..14).contains(&place) { 20 - place } else { place };
        (at(turned), at(place), at(place))
    };
    (0..20).map(row).collect()
}

fn table(rows: &[Row], schema: &Schema) -> Result<Dataset, AuditError> {
    let mut text = String::from("a,b,y\n");
    for (a, b, target) in rows {
        let _ = match schema.classes() {
            Some(_) => writeln!(text, "{a},{b},{}", if *target > 0.0 { "yes" } else { "no" }),
            None => writeln!(text, "{a},{b},{target}"),
        };
    }
    let read = read::csv_bytes(text.as_bytes(), schema);
    read.map_err(|error| AuditError::Table(error.to_string()))
}

/// A choice on two neighbouring tables.
struct ChoicePair<'a> {
    plan: &'a Plan<Select>,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

impl Target for ChoicePair<'_> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (support, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        // The column chosen, or none, as two indicators.
        let place = support.columns.and_then(|columns| columns.first().copied());
        let corner = |number: u32| f64::from(u32::from(place == Some(number)));
        Ok(vec![corner(0), corner(1)])
    }

    fn direction(&self) -> Option<Vec<f64>> {
        Some(vec![1.0, -1.0])
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    let (others, first, second) = setting.rows()?;
    let with = |row: Option<Row>| others.iter().copied().chain(row).collect::<Vec<Row>>();
    let (one, two) = (with(first), with(Some(second)));
    let planned = |budget| setting.make_plan(budget, two.len() as u64);
    let (plan, claim) = plan_and_claim(planned, setting.budget, stated)?;
    let schema = setting.schema()?;
    let worlds = [table(&one, &schema)?, table(&two, &schema)?];
    judge.attack(&ChoicePair { plan: &plan, worlds, stop: AtomicBool::new(false) }, &claim)
}
