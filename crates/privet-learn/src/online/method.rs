//! The registry of online learners, a line each, and what all of them do with rows.

use super::experts::{self, Experts};
use super::ftrl::{self, Ftrl};
use super::giga::{self, Giga};
use super::implicit::{self, Implicit};
use super::leader::{self, Leader};
use super::plain::{self, NonPrivate};
use super::rows::Slots;
use super::walk::Following;
use super::{Horizon, Online, Stream};
use crate::allowance::Allowance;
use crate::erm::watch::StepWatch;
use crate::note::Note;
use crate::request::Calibration;
use crate::settings::{SettingInfo, given};
use crate::task::Procedure;
use crate::{LearnError, admit};
use privet_dp::continual::Heard;
use privet_dp::gate::{GateError, Noised, Session};
use privet_dp::mechanism::Stream as Steps;
use privet_optim::solver::Monitor;
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// A line about an online learner.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// The word for `--method`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
    /// What gets its noise, in words.
    pub noised: &'static str,
}

impl MethodInfo {
    /// What it guarantees, in words.
    pub fn guarantee(&self) -> &'static str {
        match self.name.parse() {
            Ok(Method::NonPrivate(_)) => "none: for comparison",
            Ok(Method::Experts(_)) => {
                "(ε, δ) and pure ε in finite arithmetic; replace-one neighbours only"
            }
            _ => "(ε, δ) in finite arithmetic; no pure ε; replace-one neighbours only",
        }
    }
}

/// The un-noised half of a stream: what answers a walk from records.
pub trait Hidden {
    /// One step, from these rows and the model that is out.
    fn step(
        &mut self,
        slots: &Slots<'_>,
        rows: Range<usize>,
        theta: &[f64],
        session: &mut Session<'_>,
    ) -> Result<Noised<Heard>, LearnError>;

    /// The steps under correlated noise, where it has such: only those can be put aside.
    fn steps(&mut self) -> Option<&mut Option<Steps>> {
        None
    }
}

/// A learner that can be run on a table or be handed rows as they come.
pub(crate) trait Learner: Procedure<Online> {
    /// What a live walk begins from, and the half that stays secret.
    fn live(&self) -> Result<(serde_json::Value, Box<dyn Hidden>), LearnError>;
}

/// What a method decides.
pub(crate) struct Decision {
    /// What to do.
    pub learner: Arc<dyn Learner>,
    /// With every choice made.
    pub settled: Method,
    /// Conditions.
    pub notes: Vec<Note>,
}

impl Decision {
    pub(super) fn new(learner: impl Learner + 'static, settled: Method) -> Self {
        Self { learner: Arc::new(learner), settled, notes: vec![] }
    }
}

/// All rows of a table in their order, `batch` of them a step.
pub(super) fn over_table(
    horizon: &Horizon,
    table: &dyn Table,
    session: &mut Session<'_>,
    monitor: &dyn Monitor,
    hidden: &mut dyn Hidden,
) -> Result<Noised<Stream>, LearnError> {
    let data = admit::in_memory(table, "online", "rows in their order")?;
    let slots = Slots::of(horizon, data)?;
    over_slots(&slots, horizon.batch, session, &StepWatch::new(monitor), hidden)
}

/// The same of slots.
pub(super) fn over_slots(
    slots: &Slots<'_>,
    batch: u32,
    session: &mut Session<'_>,
    watch: &StepWatch<'_>,
    hidden: &mut dyn Hidden,
) -> Result<Noised<Stream>, LearnError> {
    let mut walk = session.begin::<Following>()?;
    let mut row = 0;
    let released = session.walk(&mut walk, |theta, session| {
        if !watch.step() {
            return Err(LearnError::Gate(GateError::Unanswered));
        }
        // A table of users may have fewer rows than are declared: the rest of the slots are empty.
        let rows = row.min(slots.len())..(row + batch as usize).min(slots.len());
        row += batch as usize;
        hidden.step(slots, rows, theta, session)
    });
    watch.went_on()?;
    Ok(released?.ok_or(GateError::NotAsPlanned)?)
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($settings:ty): $module:ident,
       $name:literal, $summary:literal, $source:literal, $noised:literal;)*) => {
        /// An online learner, with its own settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Method {
            $($(#[$doc])* $variant($settings),)*
        }

        /// Every learner that can be asked for.
        pub const METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name, summary: $summary, source: $source, settings: $module::SETTINGS, noised: $noised,
        },)*];

        impl Method {
            /// A line about it.
            pub fn info(&self) -> &'static MethodInfo {
                let name = match self { $(Self::$variant(_) => $name,)* };
                METHODS.iter().find(|info| info.name == name).unwrap_or(&METHODS[0])
            }

            pub(crate) fn plan(
                &self, horizon: &Horizon, allowance: &Allowance<'_>, calibration: Calibration,
            ) -> Result<Decision, LearnError> {
                match self { $(Self::$variant(own) => $module::plan(horizon, allowance, calibration, own),)* }
            }

            fn named(word: &str) -> Option<Self> {
                match word { $($name => Some(Self::$variant(Default::default())),)* _ => None }
            }
        }
    };
}

methods! {
    /// Follow the leader of noised gradients.
    Ftrl(Ftrl): ftrl, "ftrl",
        "follows the leader of all gradients so far, whose running sum is under correlated noise",
        "Kairouz et al. 2021; factorisations of Denisov et al. 2022 and Dvijotham et al. 2024",
        "the running sum of gradients, at each step";
    /// Implicit gradient descent.
    Implicit(Implicit): implicit, "implicit",
        "implicit gradient descent over a ball, every point under noise that falls as 1/t",
        "Thakurta 2013, Algorithm 5.2 (Jain, Kothari and Thakurta 2012)",
        "every point of the descent";
    /// Projected gradient descent.
    Giga(Giga): giga, "giga",
        "projected gradient descent over a ball, every point under noise that falls as 1/t",
        "Thakurta 2013, Algorithm 5.3, with twice its sensitivity (erratum C2)",
        "every point of the descent";
    /// The leader of all costs so far.
    Leader(Leader): leader, "leader",
        "follows the leader of all costs so far over a ball, every minimum under noise that falls as 1/t",
        "Thakurta 2013, §5 (a remark there), with a proof of its own",
        "every minimum";
    /// One column a step.
    Experts(Experts): experts, "experts",
        "draws one column a step by exponential weights, and follows it",
        "Jain & Thakurta 2014, §5.2, constants re-derived",
        "the choice of a column by what it has cost so far";
    /// No noise at all, for comparison.
    NonPrivate(NonPrivate): plain, "non-private",
        "ftrl with nothing noised, for comparison", "–", "nothing";
}

impl Default for Method {
    fn default() -> Self {
        Self::Ftrl(Ftrl::default())
    }
}

impl Method {
    /// The words accepted by [`FromStr`], separated by commas.
    pub fn accepted() -> String {
        METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is private at all.
    pub fn is_private(&self) -> bool {
        !matches!(self, Self::NonPrivate(_))
    }

    /// With one setting given.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = self.info();
        given((self, info.name), info.settings, setting, value)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

impl FromStr for Method {
    type Err = LearnError;
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::named(word).ok_or_else(|| LearnError::UnknownMethod {
            given: word.into(),
            accepted: Self::accepted(),
        })
    }
}
