//! Audit of whatever is offered, by its declaration alone: every method that a family lists, on
//! neighbouring tables that are built in. A family or a method that is added has its audit with nothing
//! written here.
//!
//! Two columns and a target: the others' records are alike or in balance, and one record stands at one
//! corner of the bounds and then at another (replace-one), or is added (add-remove). A pilot with few
//! runs finds the pair that tells most. Such pairs are general: what must be sharp has a module of its
//! own.

use crate::AuditError;
use crate::attack::{self, AttackOptions, Finding, RUNS};
use crate::audited::{TargetAttack, audited};
use crate::claim::Claim;
use crate::planned_target::claim_of_plan;
use crate::runs::{self, AttackWatch, Neighbour, Target};
use privet_core::{Budget, Neighbours};
use privet_data::{Dataset, Schema, read};
use privet_dp::noise::Source;
use privet_learn::{
    Artefact, BudgetOptions, FamilyVisitor, LearnError, OfferedFamily, Plan, RegisteredMethod,
    each_offered, plan,
};
use std::sync::atomic::AtomicBool;

/// Maximum runs per input in the pilot.
const PILOT: u64 = 1_000;

/// Setting of an audit: a family, a method of it where it has several, and a claim.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The family's verb.
    pub verb: &'static str,
    /// Name of the method.
    pub method: Option<&'static str>,
    /// Budget requested.
    pub budget: Budget,
    /// Neighbour relation.
    pub neighbours: Neighbours,
}

/// Columns of both tables; the target stands beside them.
const COLUMNS: &str = "[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n\
     [[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\nscale = \"symmetric\"\n";
/// Targets that are tried, in order: not every method covers each.
const TARGETS: [&str; 2] = ["classes = [\"no\", \"yes\"]", "bounds = [0, 1]"];

/// Others' records, then the record in the first table (none if it is added) and in the second.
type Pair = (&'static [&'static str], &'static str, &'static str);

/// From corner to corner, beside nobody, records in balance, and records that lead by a little.
const PAIRS: [Pair; 4] = [
    (&["0,0,T"], "-1,1,T", "1,-1,T"),
    (&["0.5,-0.5,F", "-0.5,0.5,T", "0,0,F", "0,0,T"], "1,1,F", "-1,-1,F"),
    (&["1,1,T", "1,1,T", "0,1,T", "1,0,T"], "-1,1,T", "1,-1,T"),
    (&["1,0,T", "0,1,T", "1,0,T"], "0,1,T", "1,0,T"),
];

fn table(pair: Pair, schema: &Schema, neighbours: Neighbours) -> Result<[Dataset; 2], AuditError> {
    let (others, first, second) = pair;
    let numeric = schema.classes().is_none();
    let written = |own: Option<&str>| {
        let rows: String =
            others.iter().copied().chain(own).map(|row| format!("{row}\n")).collect();
        let [yes, no] = if numeric { ["1", "0"] } else { ["yes", "no"] };
        let text = format!("a,b,y\n{}", rows.replace('T', yes).replace('F', no));
        let read = read::csv_bytes(text.as_bytes(), schema);
        read.map_err(|error| AuditError::Table(error.to_string()))
    };
    let first = (neighbours != Neighbours::AddRemove).then_some(first);
    Ok([written(first)?, written(Some(second))?])
}

/// Names of the families that are offered, with the methods of each.
pub fn offered_families() -> Vec<(&'static str, Vec<&'static str>)> {
    struct All(Vec<(&'static str, Vec<&'static str>)>);
    impl FamilyVisitor for All {
        fn family<F: OfferedFamily>(&mut self) {
            self.0.push((F::VERB, F::Learner::ALL.iter().map(|info| info.name).collect()));
        }
    }
    let mut all = All(Vec::new());
    each_offered(&mut all);
    all.0
}

impl Setting {
    /// Every family that is offered by each of its methods, under both relations, with δ = 0 and δ > 0.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let mut all = Vec::new();
        for (verb, methods) in offered_families() {
            let named: Vec<_> = match methods.is_empty() {
                true => vec![None],
                false => methods.into_iter().map(Some).collect(),
            };
            for method in named {
                for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                    for delta in [0.0, delta] {
                        let budget = Budget::new(epsilon, delta)?;
                        all.push(Self { verb, method, budget, neighbours });
                    }
                }
            }
        }
        Ok(all)
    }

    /// Those of them that a plan covers.
    pub fn covered(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        struct Planned<'a>(&'a Setting, bool);
        impl FamilyVisitor for Planned<'_> {
            fn family<F: OfferedFamily>(&mut self) {
                let planned = |target| self.0.make_plan::<F>(self.0.budget, target, 4).is_ok();
                self.1 |= F::VERB == self.0.verb && TARGETS.into_iter().any(planned);
            }
        }
        let covered = |setting: &Self| {
            let mut planned = Planned(setting, false);
            each_offered(&mut planned);
            planned.1
        };
        Ok(Self::all(epsilon, delta)?.into_iter().filter(covered).collect())
    }

    /// What is audited, in a word or two.
    pub fn name(&self) -> String {
        self.method.map_or(self.verb.into(), |method| format!("{} {method}", self.verb))
    }

    fn make_plan<F: OfferedFamily>(
        &self,
        budget: Budget,
        target: &str,
        rows: usize,
    ) -> Result<Plan<F>, AuditError> {
        let text = format!(
            "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n{target}\n{COLUMNS}"
        );
        let schema =
            Schema::from_toml(&text).map_err(|error| AuditError::Table(error.to_string()))?;
        let words = F::REQUEST_FIELDS.iter().filter(|word| word.is_needed());
        let words = words.filter_map(|word| Some((word.name.into(), word.example()?))).collect();
        let asked = BudgetOptions {
            epsilon: budget.epsilon(),
            delta: Some(budget.delta()),
            neighbours: self.neighbours,
        };
        let method = self.method.and_then(F::Learner::by_name);
        Ok(plan(&F::of_words(words, method, &asked, (&schema, rows as u64))?)?)
    }
}

/// A plan on two neighbouring tables. Releases of several lengths are filled up with a number that none has.
struct Either<'a, F: OfferedFamily> {
    plan: &'a Plan<F>,
    worlds: [Dataset; 2],
    stop: AtomicBool,
}

/// Numbers of a release that are looked at.
const COMPARED_NUMBERS: usize = 64;

impl<F: OfferedFamily> Target for Either<'_, F> {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let data = &self.worlds[usize::from(neighbour == Neighbour::Second)];
        let (artefact, _) = self.plan.run(data, source, &self.stop)?.into_parts();
        let mut numbers = artefact.numbers();
        if numbers.len() < 2 {
            numbers.resize(2, -1.0);
        }
        numbers.truncate(COMPARED_NUMBERS);
        Ok(numbers)
    }
}

audited!(Setting);

/// An error if no plan covers the setting.
fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    struct FamilyAudit<'a> {
        setting: &'a Setting,
        with: (Budget, &'a TargetAttack<'a>),
        finding: Option<Result<Finding, AuditError>>,
    }
    impl FamilyVisitor for FamilyAudit<'_> {
        fn family<F: OfferedFamily>(&mut self) {
            if F::VERB == self.setting.verb {
                let (stated, TargetAttack { options, watch }) = self.with;
                self.finding = Some(of_family::<F>(self.setting, stated, options, *watch));
            }
        }
    }
    let mut found = FamilyAudit { setting, with: (stated, judge), finding: None };
    each_offered(&mut found);
    let unknown =
        || AuditError::NoTable { method: setting.verb, reason: "it is not offered".into() };
    found.finding.unwrap_or_else(|| Err(unknown()))
}

/// The same of a family that need not be listed.
pub fn of_family<F: OfferedFamily>(
    setting: &Setting,
    stated: Budget,
    options: &AttackOptions,
    watch: &dyn AttackWatch,
) -> Result<Finding, AuditError> {
    RUNS.check(options.runs as f64)?;
    let mut tried: Vec<(Plan<F>, Claim, Pair)> = Vec::new();
    let mut reason = String::new();
    for target in TARGETS {
        for pair in PAIRS {
            let planned = |budget| setting.make_plan::<F>(budget, target, pair.0.len() + 1);
            match (planned(setting.budget), planned(stated)) {
                (Ok(plan), Ok(other)) => {
                    let claim = claim_of_plan(&other)?;
                    let claim = claim.ok_or(AuditError::NothingClaimed { method: F::NAME })?;
                    tried.push((plan, claim, pair));
                }
                (Err(AuditError::Learn(error @ LearnError::NotCovered { .. })), _) => {
                    reason = error.to_string();
                }
                (Err(error), _) | (_, Err(error)) => return Err(error),
            }
        }
        if !tried.is_empty() {
            break;
        }
    }
    let pilot = (options.runs / 5).clamp(40, PILOT);
    let mut worst: Option<((f64, f64), Either<'_, F>, &Claim)> = None;
    for (plan, claim, pair) in &tried {
        let worlds = table(*pair, plan.schema(), setting.neighbours)?;
        let target = Either { plan, worlds, stop: AtomicBool::new(false) };
        let releases = runs::collect(&target, pilot, runs::scramble(options.seed), &())?;
        let promise = attack::expected_strength(&target, &releases, claim, options.confidence);
        if worst.as_ref().is_none_or(|(most, ..)| promise > *most) {
            worst = Some((promise, target, claim));
        }
    }
    let Some((_, target, claim)) = worst else {
        let method = setting.method.unwrap_or(setting.verb);
        return Err(AuditError::NoTable { method, reason });
    };
    attack::audit(&target, claim, options, watch)
}
