//! What a file of any family holds: the registry of families, a line each.
//!
//! To add one: a file (or folder) beside the others with its [`Task`], and [`Family`], which says what is reported of a
//! release; and a line below. Released in one piece of one table, it is [`crate::Offered`] too, and its line says so: its verb
//! is then made of what it declares, and nothing more is written. `tests/toys/mean.rs` is one, and `make toy` adds it.

use crate::linear::Erm;
use crate::linear::model::Model;
use crate::neighbours::Nearby;
use crate::networks::Network;
use crate::ratings::Complete;
use crate::release::bought::Bought;
use crate::release::family::{Family, PublicFacts, Visit};
use crate::release::file::Opened;
use crate::release::released::Released;
use crate::release::report::Report;
use crate::release::request::task_of;
use crate::release::task::Task;
use crate::release::verify::{Verdict, verify};
use crate::selection::Select;
use crate::statistics::count::Count;
use crate::statistics::describe::Describe;
use crate::statistics::evaluate::Evaluate;
use crate::statistics::outline::Outline;
use crate::streams::Online;
use crate::streams::tally::Tally;
use crate::tuning::Tune;
use crate::votes::Vote;
use privet_core::Whose;
use privet_dp::gate::Certificate;
use serde_json::Value;

macro_rules! families {
    ($($(#[$doc:meta])* $variant:ident($task:ty) $(, $offered:ident)?;)*) => {
        /// What a file holds.
        #[derive(Debug, Clone)]
        pub enum Loaded {
            $($(#[$doc])* $variant(Released<$task>),)*
        }

        /// Shows a visitor every family that is offered, in order.
        pub fn each_offered(visitor: &mut impl Visit) {
            $(families!(@offer visitor $task $(, $offered)?);)*
        }

        impl Loaded {
            pub(crate) fn of(opened: Opened) -> Result<Self, String> {
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

            /// What it can reveal.
            pub fn certificate(&self) -> &Certificate {
                match self {
                    $(Self::$variant(released) => released.certificate(),)*
                }
            }

            /// Who a unit is of whom its claim speaks, as far as its file says.
            pub fn whose(&self) -> Whose {
                match self {
                    $(Self::$variant(released) => released.whose(),)*
                }
            }

            /// What the bounds of its schema cost, where they were bought from records.
            pub fn bought(&self) -> Option<Bought> {
                match self {
                    $(Self::$variant(released) => Bought::of(&released.request().schema),)*
                }
            }

            /// What is said of it.
            pub fn report(&self) -> Report {
                match self {
                    $(Self::$variant(released) => <$task as Family>::report(released),)*
                }
            }

            /// The linear model that it is or holds.
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

            /// What got its noise, in words.
            pub fn noised(&self) -> &'static str {
                match self {
                    $(Self::$variant(released) => released.request().task.noised(),)*
                }
            }

            /// Checks it ([`verify`]).
            pub fn verify(&self) -> Verdict {
                match self {
                    $(Self::$variant(released) => verify(released),)*
                }
            }
        }
    };
    (@offer $visitor:ident $task:ty) => {};
    (@offer $visitor:ident $task:ty, offered) => {
        $visitor.family::<$task>()
    };
}

families! {
    /// A linear model.
    Model(Erm);
    /// Counts of declared categories.
    Counts(Count);
    /// The best of several candidates.
    Tuned(Tune);
    /// A description of a table.
    Description(Describe), offered;
    /// What a model is worth.
    Evaluation(Evaluate);
    /// What stands in the columns of a table without a schema.
    Outlined(Outline);
    /// Columns chosen.
    Support(Select), offered;
    /// What was learnt of items from ratings.
    Factors(Complete);
    /// Models of a stream.
    Stream(Online);
    /// Running counts of declared categories.
    Tally(Tally);
    /// Labels of public rows.
    Labels(Vote);
    /// Answers to public questions by the records near them.
    Answers(Nearby);
    /// A trained network.
    Network(Network);
}
