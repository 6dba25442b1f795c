//! The list of families, one line each, with the types for a release or plan of any family.
//!
//! The path of every release is in [`crate::release`], which names no family (`tests/all/spine.rs`). How
//! to add
//!
//! **a setting** of a method: a line in `settings!` in the method's file, with the accepted values and
//! the meaning. Help, checks, errors and `privet methods` are made from it. A setting that is left out
//! is chosen in `plan`, from public facts.
//!
//! **a learner**: a file in its family's folder with three names, a type of its own settings, `INFO` and
//! `plan` ([`crate::release::registry`]), and a line in `registry!` of the family's list (`learners.rs`;
//! of votes `aggregate.rs`). The command, Python, the battery and the audit find it there
//! (`tests/toys/agreement.rs` is one, and `make toy` adds it). `LEARNER=NAME cargo test -p privet-learn
//! --test battery write -- --ignored` writes its file of `tests/battery/golden/`; `docs/learners.md` gets
//! its paragraph, and `privet-audit` its worst pair of neighbours, where the general ones are not sharp.
//!
//! **a loss** of linear models: a file in `privet-optim`'s `loss/` and a variant of `Loss` with its
//! constants (Lipschitz, curvature, sign), which the tests there check; a line in
//! [`crate::linear::request::REQUESTABLE_LOSSES`] and, if it has a setting, a field of
//! [`crate::RequestOptions`].
//!
//! **a family**: a folder beside `release/`, named for the word a newcomer would search for, with its
//! [`Task`], its [`Artefact`], and its [`Family`], which defines how its releases are reported; a line
//! below. No field of the task may have the name of a field of a request's head. [`Task::VOID`] and
//! others have defaults. With [`crate::OfferedFamily`] and the word `offered` on its line it has a verb,
//! help, `plan`, `verify`, `inspect` and a Python class without further code (`tests/toys/mean.rs` is
//! one, and `make toy` adds it).
//!
//! **any other verb**: a file in `privet-cli`'s `verbs/` and a variant of `Command` in `cli.rs`; in
//! Python an estimator or a function over a file in `python/src`.

/// The model that a release of any family may be or hold.
pub(crate) use crate::linear::model::Model as LinearModel;

use crate::linear::Erm;
use crate::linear::model::Model;
use crate::neighbours::Nearby;
use crate::networks::Network;
use crate::ratings::Complete;
use crate::release::family::{Family, FamilyVisitor, PublicFacts};
use crate::release::file::OpenedDocument;
use crate::release::private_estimates::BoundsCost;
use crate::release::report::Report;
use crate::release::request::{Request, task_of};
use crate::release::strict::unknown_field;
use crate::release::task::{Artefact, Task};
use crate::release::verify::{Verdict, verify};
use crate::release::void::{DOUBTFUL_SCHEMAS, Finding};
use crate::selection::Select;
use crate::statistics::count::Count;
use crate::statistics::describe::Describe;
use crate::statistics::evaluate::Evaluate;
use crate::statistics::outline::Outline;
use crate::streams::Online;
use crate::streams::tally::Tally;
use crate::tuning::Tune;
use crate::votes::Vote;
use crate::{LearnError, Plan, Released, plan};
use privet_core::UnitDefinition;
use privet_dp::gate::Certificate;
use serde_json::Value;

macro_rules! families {
    (@offer $visitor:ident $task:ty) => {};
    (@offer $visitor:ident $task:ty, offered) => {
        $visitor.family::<$task>()
    };
    ($d:tt $($(#[$doc:meta])* $variant:ident($task:ty) $(, $offered:ident)?;)*) => {
        /// The unit column that versions of the Python package before 0.2.1 named by themselves in
        /// releases of this family.
        pub(crate) fn own_column(family: &str) -> Option<&'static str> {
            $(if family == <$task as Task>::NAME {
                return <$task as Task>::OWN_COLUMN;
            })*
            None
        }

        /// The verbs of families that protect labels alone, as the command has them.
        pub(crate) fn label_verbs() -> String {
            let mut verbs = Vec::new();
            $(verbs.extend(<$task as Task>::LABELS.then_some(<$task as Family>::VERB));)*
            verbs.iter().map(|verb| format!("`privet {verb}`")).collect::<Vec<_>>().join(", ")
        }

        impl Finding {
            /// Certificates of any family that `verify` refuses.
            pub fn void() -> Vec<Self> {
                let mut all = Vec::new();
                $(all.extend(<$task as Task>::VOID.iter().map(|known| known.finding));)*
                in_order(all)
            }

            /// Certificates of any family about which `verify` reports a doubt.
            pub fn doubtful() -> Vec<Self> {
                let mut all: Vec<_> = DOUBTFUL_SCHEMAS.iter().map(|known| known.finding).collect();
                $(all.extend(<$task as Task>::DOUBTFUL.iter().map(|known| known.finding));)*
                in_order(all)
            }
        }

        /// Evaluates an expression on the content of a [`Loaded`] or an [`AnyPlan`], whatever its
        /// family: `of_family!(Loaded, file, released => released.request().rows)`.
        #[macro_export]
        macro_rules! of_family {
            ($d kind:ident, $d value:expr, $d of:ident => $d done:expr) => {
                match $d value {
                    $($crate::$d kind::$variant($d of) => $d done,)*
                }
            };
        }

        /// A plan of any family.
        #[derive(Debug, Clone)]
        pub enum AnyPlan {
            $($(#[$doc])* $variant(Plan<$task>),)*
        }

        $(impl From<Plan<$task>> for AnyPlan {
            fn from(plan: Plan<$task>) -> Self {
                Self::$variant(plan)
            }
        }

        impl From<Released<$task>> for Loaded {
            fn from(released: Released<$task>) -> Self {
                Self::$variant(released)
            }
        })*

        impl AnyPlan {
            /// Makes the plan of a request of any family, given as JSON as certificates carry it. Errors
            /// name the fault of the request. A settled request gives the plan that settled it.
            pub fn of(request: Value) -> Result<Self, LearnError> {
                let wrong = |what: String| LearnError::InvalidRequest { name: "request", what };
                let fields = request.as_object().ok_or_else(|| wrong("is not an object".into()))?;
                let task = task_of(fields).map_err(|why| wrong(format!("is wrong: {why}")))?;
                $(if task == <$task as Task>::NAME {
                    let read: Request<$task> = serde_json::from_value(request.clone())
                        .map_err(|error| wrong(format!("cannot be read: {error}")))?;
                    let known = serde_json::to_value(&read).unwrap_or_default();
                    if let Some(field) = unknown_field(&request, &known) {
                        return Err(wrong(format!("has a field that is not known: {field}")));
                    }
                    return plan(&read).map(Self::$variant);
                })*
                let known = [$(<$task as Task>::NAME),*].join(", ");
                Err(wrong(format!("names the task '{task}', which is not known; accepted: {known}")))
            }

            /// The name of the family.
            pub fn task(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$task as Task>::NAME,)*
                }
            }
        }

        /// A release of any family, as read from a file.
        #[derive(Debug, Clone)]
        pub enum Loaded {
            $($(#[$doc])* $variant(Released<$task>),)*
        }

        /// Calls the visitor on every family that is offered, in order.
        pub fn each_offered(visitor: &mut impl FamilyVisitor) {
            $(families!(@offer visitor $task $(, $offered)?);)*
        }

        impl Loaded {
            pub(crate) fn of(opened: OpenedDocument) -> Result<Self, String> {
                let Value::Object(request) = opened.request() else {
                    return Err("its request is not an object".into());
                };
                let task = task_of(request)?;
                $(if task == <$task as Task>::NAME {
                    return opened.of().map(Self::$variant);
                })*
                let known = [$(<$task as Task>::NAME),*].join(", ");
                Err(format!("its task '{task}' is not known; known are: {known}"))
            }

            /// The name of the family.
            pub fn task(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$task as Task>::NAME,)*
                }
            }

            /// The certificate.
            pub fn certificate(&self) -> &Certificate {
                match self {
                    $(Self::$variant(released) => released.certificate(),)*
                }
            }

            /// The definition of a unit under which the claim holds, as far as the file states it.
            pub fn unit_definition(&self) -> UnitDefinition {
                match self {
                    $(Self::$variant(released) => released.unit_definition(),)*
                }
            }

            /// The cost of the bounds of the schema, if they were estimated privately from records.
            pub fn bounds_cost(&self) -> Option<BoundsCost> {
                match self {
                    $(Self::$variant(released) => BoundsCost::of(&released.request().schema),)*
                }
            }

            /// The report for people and programs.
            pub fn report(&self) -> Report {
                match self {
                    $(Self::$variant(released) => <$task as Family>::report(released),)*
                }
            }

            /// The linear model that it is or contains.
            pub fn model(&self) -> Option<Model> {
                match self {
                    $(Self::$variant(released) => <$task as Family>::model(released),)*
                }
            }

            /// The public facts that it states.
            pub fn facts(&self) -> PublicFacts<'_> {
                match self {
                    $(Self::$variant(released) => PublicFacts::of(released),)*
                }
            }

            /// The quantity that received noise, in words.
            pub fn noise_on(&self) -> &'static str {
                match self {
                    $(Self::$variant(released) => released.request().task.noise_on(),)*
                }
            }

            /// Verifies it ([`verify`]).
            pub fn verify(&self) -> Verdict {
                match self {
                    $(Self::$variant(released) => verify(released),)*
                }
            }
        }
    };
}

/// Sorts by name and removes repetitions: several families may list a finding on all families.
fn in_order(mut all: Vec<Finding>) -> Vec<Finding> {
    all.sort_by_key(|finding| (finding.name.len(), finding.name));
    all.dedup();
    all
}

/// The family whose name requests leave out, as the first format did.
pub(crate) const UNNAMED: &str = <Erm as Task>::NAME;
/// The kind of artefact in files of the first format.
pub(crate) const FORMAT_1: &str = <<Erm as Task>::Artefact as Artefact>::KIND;

families! { $
    /// A linear model.
    Model(Erm);
    /// Counts of declared categories.
    Counts(Count);
    /// The best of several candidates.
    Tuned(Tune);
    /// A description of a table.
    Description(Describe), offered;
    /// An evaluation of a model.
    Evaluation(Evaluate);
    /// The contents of the columns of a table without a schema.
    Outlined(Outline);
    /// A choice of columns.
    Support(Select), offered;
    /// Factors of items learnt from ratings.
    Factors(Complete);
    /// Models of a stream.
    Stream(Online);
    /// Running counts of declared categories.
    Tally(Tally);
    /// Labels of public rows.
    Labels(Vote);
    /// Answers to public questions from the records near them.
    Answers(Nearby);
    /// A trained network.
    Network(Network);
}

#[cfg(test)]
mod tests {
    use crate::LearnError;
    use crate::networks;
    use crate::ratings;
    use crate::release::registry::RegisteredMethod;
    use crate::selection::Selector;
    use crate::streams;
    use crate::votes::Aggregator;
    use std::fmt::Display;
    use std::str::FromStr;

    /// Checks the properties of every registry.
    fn holds<R: RegisteredMethod + Display + FromStr<Err = LearnError> + std::fmt::Debug>() {
        for info in R::ALL {
            let method: R = info.name.parse().unwrap();
            assert_eq!((method.info().name, method.to_string().as_str()), (info.name, info.name));
            let written = serde_json::to_value(&method).unwrap();
            assert_eq!(written["name"], info.name, "the name in a file is the one asked for");
            assert_eq!(serde_json::from_value::<R>(written).unwrap(), method);
            let refused = method.with("no-such-setting", "1").unwrap_err();
            assert!(matches!(refused, LearnError::NotASetting { .. }), "{refused}");
            for setting in info.settings {
                let odd = method.with(setting.name, "\u{1}").unwrap_err();
                assert!(matches!(odd, LearnError::SettingValue { .. }), "{} {odd}", setting.name);
            }
            assert_eq!(R::ALL.iter().filter(|other| other.name == info.name).count(), 1);
        }
        assert!(matches!("no-such-method".parse::<R>(), Err(LearnError::UnknownMethod { .. })));
    }

    #[test]
    fn every_method_is_found_by_its_name_and_knows_its_settings() {
        holds::<crate::Method>();
        holds::<Selector>();
        holds::<streams::Method>();
        holds::<ratings::Method>();
        holds::<networks::Method>();
        holds::<Aggregator>();
    }
}
