//! The registry of trainings, a line each.

use super::settings::*;
use super::update::Rule;
use crate::LearnError;
use crate::settings::{SettingInfo, given};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A line about a training.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// The word for `--method`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The settings that it accepts.
    pub settings: &'static [SettingInfo],
    /// What gets its noise, in words.
    pub noised: &'static str,
    /// Whether it is private.
    pub private: bool,
    /// What is asked of the records.
    pub(crate) asks: Asks,
    /// What is done with the answers.
    pub(crate) rule: Usual,
    /// Whether answers are smoothed.
    pub(crate) smooths: bool,
}

impl MethodInfo {
    /// What it guarantees, in words.
    pub fn guarantee(&self) -> &'static str {
        let chooses = self.settings.iter().any(|setting| setting.name == SUMS_SETTING.name);
        match (self.private, chooses) {
            (false, _) => "none: for comparison",
            (true, true) => "(ε, δ) in finite arithmetic; in real arithmetic with sums = float",
            (true, false) => "(ε, δ) in finite arithmetic",
        }
    }
}

/// Which records a step sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A secret sample.
    Sample,
    /// One record, expected.
    One,
    /// All.
    All,
    /// The next ones in the order of the table.
    Next,
}

/// A rule with its numbers left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usual {
    /// [`Rule::Momentum`].
    Momentum,
    /// [`Rule::Adam`].
    Adam,
    /// [`Rule::Recursive`].
    Recursive,
    /// None: lengths of steps are searched for ([`super::agd`]).
    Searched,
}

impl Usual {
    /// With numbers, and those written down.
    pub(super) fn with(self, given: &Settings, settled: &mut Settings) -> Result<Rule, LearnError> {
        Ok(match self {
            Self::Searched => Rule::Momentum(0.0),
            Self::Momentum => {
                let momentum = MOMENTUM.check(given.momentum.unwrap_or(0.0))?;
                settled.momentum = Some(momentum);
                Rule::Momentum(momentum)
            }
            Self::Adam => {
                let first = BETA1.check(given.beta1.unwrap_or(0.9))?;
                let second = BETA2.check(given.beta2.unwrap_or(0.999))?;
                (settled.beta1, settled.beta2) = (Some(first), Some(second));
                Rule::Adam([first, second])
            }
            Self::Recursive => {
                let clip = given.clip.unwrap_or(1.0);
                let share = given.usual_clip_difference(clip) / clip;
                let gamma = GAMMA.check(given.gamma.unwrap_or(share.min(0.99)))?;
                settled.gamma = Some(gamma);
                Rule::Recursive(gamma)
            }
        })
    }
}

const SGD: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING,
    RATE_SETTING,
    CLIP_SETTING,
    MOMENTUM_SETTING,
    SAMPLING_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const ADAM: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING,
    RATE_SETTING,
    CLIP_SETTING,
    BETA1_SETTING,
    BETA2_SETTING,
    SAMPLING_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const SMOOTHED_SGD: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING,
    RATE_SETTING,
    CLIP_SETTING,
    MOMENTUM_SETTING,
    SMOOTHING_SETTING,
    SMOOTHED_SETTING,
    SAMPLING_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const SMOOTHED_ADAM: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING,
    RATE_SETTING,
    CLIP_SETTING,
    BETA1_SETTING,
    BETA2_SETTING,
    SMOOTHING_SETTING,
    SMOOTHED_SETTING,
    SAMPLING_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const SRM: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING,
    FIRST_BATCH_SETTING,
    RATE_SETTING,
    CLIP_SETTING,
    CLIP_DIFFERENCE_SETTING,
    GAMMA_SETTING,
    SMOOTHNESS_SETTING,
    N0_SETTING,
    SAMPLING_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const GD: &[SettingInfo] = &[
    STEPS_SETTING.meaning("noised steps, each a pass over the rows; 100 unless given"),
    RATE_SETTING,
    CLIP_SETTING,
    MOMENTUM_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const AGD: &[SettingInfo] = &[
    STEPS_SETTING.meaning(
        "steps that the budget is divided into at first, each a gradient of all rows and a choice of length; 60 unless \
         given",
    ),
    CLIP_SETTING,
    CLIP_LOSS_SETTING,
    LONGEST_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const FTRL: &[SettingInfo] = &[
    STEPS_SETTING,
    BATCH_SETTING.meaning("rows of a step; a fiftieth of the rows, 16 to 4,096, unless given"),
    RATE_SETTING,
    CLIP_SETTING,
    MOMENTUM_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];
const ONE: &[SettingInfo] = &[
    STEPS_SETTING.meaning("noised steps, a record each; 8 passes over the rows, at most 1,000,000 steps, unless given"),
    RATE_SETTING,
    CLIP_SETTING,
    SUMS_SETTING,
    DECAY_SETTING,
    AVERAGED_SETTING,
    WEIGHT_DECAY_SETTING,
    NONCONVEX_SETTING,
];

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $summary:literal, $source:literal, $noised:literal,
       $private:literal, $settings:ident, $asks:ident, $rule:ident, $smooths:literal;)*) => {
        /// A training, with its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Method {
            $($(#[$doc])* $variant(Box<Settings>),)*
        }

        /// Every training that can be asked for.
        pub const METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name, summary: $summary, source: $source, settings: $settings, noised: $noised,
            private: $private, asks: Asks::$asks, rule: Usual::$rule, smooths: $smooths,
        },)*];

        impl Method {
            /// A line about it.
            pub fn info(&self) -> &'static MethodInfo {
                let name = match self { $(Self::$variant(_) => $name,)* };
                METHODS.iter().find(|info| info.name == name).unwrap_or(&METHODS[0])
            }

            /// Its settings.
            pub fn settings(&self) -> &Settings {
                match self { $(Self::$variant(own) => own,)* }
            }

            /// The same with others.
            pub fn having(&self, settings: Settings) -> Self {
                match self { $(Self::$variant(_) => Self::$variant(Box::new(settings)),)* }
            }

            fn named(word: &str) -> Option<Self> {
                match word { $($name => Some(Self::$variant(Box::default())),)* _ => None }
            }
        }
    };
}

methods! {
    /// Noisy descent on samples.
    DpSgd: "dp-sgd", "descent on clipped gradients of a fresh secret sample, under Gaussian noise",
        "Abadi et al. 2016", "the sum of the clipped gradients of a sample, at each step",
        true, SGD, Sample, Momentum, false;
    /// The same with moments.
    DpAdam: "dp-adam", "the same with Adam's moments of the noised gradients",
        "Abadi et al. 2016; Kingma and Ba 2015", "the sum of the clipped gradients of a sample, at each step",
        true, ADAM, Sample, Adam, false;
    /// The same with smoothing.
    DpLssgd: "dp-lssgd", "dp-sgd whose noised gradients are smoothed along the weights",
        "Wang 2021, Algorithm 5", "the sum of the clipped gradients of a sample, at each step",
        true, SMOOTHED_SGD, Sample, Momentum, true;
    /// The same with both.
    DpLsadam: "dp-lsadam", "dp-adam whose noised gradients are smoothed along the weights",
        "Wang 2021, section 5.4.2", "the sum of the clipped gradients of a sample, at each step",
        true, SMOOTHED_ADAM, Sample, Adam, true;
    /// Recursive momentum.
    DpSrm: "dp-srm", "stochastic recursive momentum: clipped differences of gradients at two points, added to the noised past",
        "Wang 2021, Algorithm 4, clipped as in section 4.7",
        "a sum of clipped gradients and of clipped differences over a sample, at each step",
        true, SRM, Sample, Recursive, false;
    /// Noisy descent on all records.
    DpGd: "dp-gd", "descent on the clipped gradients of all records, under Gaussian noise",
        "Wang, Ye and Xu 2017", "the sum of all clipped gradients, at each step",
        true, GD, All, Momentum, false;
    /// Noisy descent whose steps are decided as it goes.
    DpAgd: "dp-agd", "descent on all records whose step lengths, and what each step spends, are decided as it goes",
        "Lee and Kifer 2018", "the sum of all clipped gradients, and the choice of a step's length by clipped losses",
        true, AGD, All, Searched, false;
    /// Correlated noise.
    DpFtrl: "dp-ftrl", "descent on clipped gradients in the order of the table, under noise that is correlated over the steps",
        "Kairouz et al. 2021; Choquette-Choo et al. 2023", "the running sum of clipped gradients, at each step",
        true, FTRL, Next, Momentum, false;
    /// Single records.
    Rrpsgd: "rrpsgd", "descent on one record a step, expected, under Gaussian noise",
        "Zhang, Zheng, Mou and Wang 2017", "the clipped gradient of a record or two, at each step",
        true, ONE, One, Momentum, false;
    /// Recursive momentum without noise.
    Storm: "storm", "dp-srm with nothing clipped or noised, for comparison",
        "Cutkosky and Orabona 2019", "nothing", false, SRM, Sample, Recursive, false;
    /// No noise at all.
    NonPrivate: "non-private", "dp-sgd with nothing clipped or noised, for comparison", "–", "nothing",
        false, SGD, Sample, Momentum, false;
}

impl Default for Method {
    fn default() -> Self {
        Self::DpSgd(Box::default())
    }
}

impl Method {
    /// The words accepted by [`FromStr`], separated by commas.
    pub fn accepted() -> String {
        METHODS.iter().map(|method| method.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is private at all.
    pub fn is_private(&self) -> bool {
        self.info().private
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
