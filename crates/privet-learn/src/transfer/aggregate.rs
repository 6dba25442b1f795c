//! The registry of aggregators, a line each: what turns votes into labels, and pays for it.
//!
//! A module has a type of settings, `INFO` and `plan`; what it plans is an `Aggregate`, which is handed the votes of all
//! questions of a batch and names a class, or none, for each.

use super::ballots::Ballots;
use super::{estimated, gnmax, sparse_vector};
use crate::LearnError;
use crate::allowance::Allowance;
use crate::facts::Facts;
use crate::note::Note;
use crate::settings::{SettingInfo, Shown, given};
use privet_dp::account::Event;
use privet_dp::gate::{Noised, Session};
use privet_dp::mechanism::Answering;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::{fmt, str::FromStr};

/// All that is known of an aggregator besides how it plans.
#[derive(Debug, Clone, Copy)]
pub struct AggregatorInfo {
    /// The word for `--aggregator`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
    /// What gets its noise, in words.
    pub noised: &'static str,
    /// Whether questions may come in several batches, each after the labels of those before.
    pub streams: bool,
    /// Whether they may be chosen after the labels of those before, in one run.
    pub rounds: bool,
}

/// What an aggregator may read.
pub(crate) struct Wanted<'a> {
    pub facts: &'a Facts,
    pub budget: Allowance<'a>,
    /// m̃.
    pub questions: u64,
    /// How many classes there are.
    pub classes: usize,
    /// b, if it is asked for.
    pub teachers: Option<u32>,
}

/// What an aggregator decides.
pub(crate) struct Decision {
    pub aggregate: Arc<dyn Aggregate>,
    /// Itself, with every choice that a rule made written down.
    pub settled: Aggregator,
    /// b.
    pub teachers: u32,
    /// Conditions and gaps.
    pub notes: Vec<Note>,
}

/// Classes that were named.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Named {
    /// For each question; `None` where there is none.
    pub classes: Vec<Option<u32>>,
    /// T, where it was chosen in the run.
    pub cutoff: Option<u32>,
}

/// With no choice of T.
pub(crate) fn named(classes: Vec<Option<u32>>) -> Named {
    Named { classes, cutoff: None }
}

/// What goes on from one round of a run to the next: the threshold, where there is one.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(pub Option<Answering>);

/// Names classes from votes, at a price that is planned.
pub(crate) trait Aggregate: fmt::Debug + Send + Sync {
    /// What it will cost.
    fn event(&self) -> Result<Event, LearnError>;

    /// The numbers a person wants to see.
    fn settings(&self) -> Shown;

    /// Why these classes, in order of the questions, cannot have been named; `None` if nothing speaks against it.
    fn refuses(&self, _named: &Named) -> Option<&'static str> {
        None
    }

    /// The T of which one is chosen in the run; none where it is planned.
    fn cutoffs(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Names the classes of a batch that comes after so many questions, those of this run under way with it.
    fn name(
        &self,
        votes: Ballots,
        asked: u64,
        under_way: &mut UnderWay,
        session: &mut Session<'_>,
    ) -> Result<Noised<Named>, LearnError>;
}

macro_rules! aggregators {
    ($($(#[$doc:meta])* $variant:ident: $module:ident::$settings:ident, $info:ident, $plan:ident;)*) => {
        /// An aggregator and its own settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Aggregator {
            $($(#[$doc])* $variant($module::$settings),)*
        }

        /// Every aggregator that can be asked for.
        pub const AGGREGATORS: &[AggregatorInfo] = &[$($module::$info),*];

        impl Aggregator {
            /// A line about it.
            pub fn info(&self) -> &'static AggregatorInfo {
                match self {
                    $(Self::$variant(_) => &$module::$info,)*
                }
            }

            pub(super) fn plan(&self, wanted: &Wanted<'_>) -> Result<Decision, LearnError> {
                match self {
                    $(Self::$variant(options) => $module::$plan(wanted, options),)*
                }
            }

            fn named(word: &str) -> Option<Self> {
                $(if word == $module::$info.name {
                    return Some(Self::$variant(Default::default()));
                })*
                None
            }
        }
    };
}

aggregators! {
    /// Stable winners, paid for by those that are not.
    SparseVector: sparse_vector::SparseVector, INFO, plan;
    /// The same, ended by a private estimate.
    EstimatedSparseVector: estimated::Estimated, INFO, plan;
    /// Noisy pluralities.
    Gnmax: gnmax::Gnmax, GNMAX, plan_gnmax;
    /// Noisy pluralities of questions that many agree on.
    ConfidentGnmax: gnmax::ConfidentGnmax, CONFIDENT, plan_confident;
    /// Noisy pluralities, let out if voters agree.
    AgreedGnmax: gnmax::AgreedGnmax, AGREED, plan_agreed;
}

impl Aggregator {
    /// The word for `--aggregator`.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The words accepted by [`FromStr`], separated by commas.
    pub fn accepted() -> String {
        AGGREGATORS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }

    /// Those of them that take questions in batches, separated by commas.
    pub fn streaming() -> String {
        let streams = AGGREGATORS.iter().filter(|info| info.streams);
        streams.map(|info| info.name).collect::<Vec<_>>().join(", ")
    }

    /// With one setting given; a value that reads as a number is one.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        given((self, self.name()), self.info().settings, setting, value)
    }
}

impl Default for Aggregator {
    fn default() -> Self {
        Self::SparseVector(Default::default())
    }
}

impl fmt::Display for Aggregator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Aggregator {
    type Err = LearnError;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::named(word).ok_or_else(|| LearnError::UnknownMethod {
            given: word.into(),
            accepted: Self::accepted(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_aggregator_is_found_by_its_name_and_knows_its_settings() {
        for info in AGGREGATORS {
            let aggregator: Aggregator = info.name.parse().unwrap();
            assert_eq!(aggregator.name(), info.name);
            let written = serde_json::to_value(&aggregator).unwrap();
            assert_eq!(written["name"], info.name, "the name in certificates is the one asked for");
            assert_eq!(serde_json::from_value::<Aggregator>(written).unwrap(), aggregator);
            assert!(matches!(aggregator.with("no-such", "1"), Err(LearnError::NotASetting { .. })));
            for setting in info.settings {
                let odd = aggregator.with(setting.name, "\u{1}").unwrap_err();
                assert!(matches!(odd, LearnError::SettingValue { .. }), "{}", setting.name);
            }
        }
    }
}
