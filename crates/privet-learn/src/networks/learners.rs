//! The list of trainings (`registry.rs`).

use super::options::*;
use super::update::Rule;
use crate::LearnError;
use crate::release::covers::{Cover, Covers, NOT_PRINTED, Needs};
use crate::release::registry::{Info, NONE, registry};
use crate::release::settings::{SettingInfo, some};
use crate::streams::{ADDED, SINGLE};

/// What is asked of a training beyond what is of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct TrainingFacts {
    /// What is asked of the records.
    pub(crate) asks: Asks,
    /// What is done with the answers.
    pub(crate) rule: Usual,
    /// Whether answers are smoothed.
    pub(crate) smooths: bool,
}

/// The guarantee where sums are in whole numbers, always or unless asked otherwise.
const EXACT: &str = "(ε, δ) in finite arithmetic";
const EITHER: &str = "(ε, δ) in finite arithmetic; in real arithmetic with sums = float";

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

/// What a training over all rows covers.
const ALL_ROWS: Covers = Covers {
    printed: Cover::unprinted(NOT_PRINTED),
    pure: Cover::gaussian("give a delta above 0, far below one over the rows"),
    needs: Needs::Memory,
    ..Covers::ALL
};
/// What one over samples, or single rows in an order, covers.
const SAMPLES: Covers = Covers {
    users: Cover::No {
        why: "samples records, and amplification by sampling is proved for one record a unit",
        instead: "leave out the unit, or give method dp-gd",
    },
    ..ALL_ROWS
};

/// What one over rows in their order covers.
const IN_ORDER: Covers = Covers { private_count: ADDED, users: SINGLE, ..ALL_ROWS };

/// Some of the settings of trainings, by their names.
const fn of<const N: usize>(names: [&str; N]) -> [SettingInfo; N] {
    some(Settings::SETTINGS, names)
}

/// One of them.
const fn setting(name: &str) -> SettingInfo {
    of([name])[0]
}

const SGD: &[SettingInfo] = &of([
    "steps",
    "batch",
    "rate",
    "clip",
    "momentum",
    "sampling",
    "sums",
    "decay",
    "averaged",
    "weight_decay",
    "nonconvex",
]);
const ADAM: &[SettingInfo] = &of([
    "steps",
    "batch",
    "rate",
    "clip",
    "beta1",
    "beta2",
    "sampling",
    "sums",
    "decay",
    "averaged",
    "weight_decay",
    "nonconvex",
]);
const SMOOTHED_SGD: &[SettingInfo] = &of([
    "steps",
    "batch",
    "rate",
    "clip",
    "momentum",
    "smoothing",
    "smoothed",
    "sampling",
    "sums",
    "decay",
    "averaged",
    "weight_decay",
    "nonconvex",
]);
const SMOOTHED_ADAM: &[SettingInfo] = &of([
    "steps",
    "batch",
    "rate",
    "clip",
    "beta1",
    "beta2",
    "smoothing",
    "smoothed",
    "sampling",
    "sums",
    "decay",
    "averaged",
    "weight_decay",
    "nonconvex",
]);
const SRM: &[SettingInfo] = &of([
    "steps",
    "batch",
    "first_batch",
    "rate",
    "clip",
    "clip_difference",
    "gamma",
    "smoothness",
    "n0",
    "sampling",
    "sums",
    "decay",
    "averaged",
    "weight_decay",
    "nonconvex",
]);
const GD: &[SettingInfo] = &[
    setting("steps").meaning("noised steps, each a pass over the rows; 100 unless given"),
    setting("rate"),
    setting("clip"),
    setting("momentum"),
    setting("sums"),
    setting("decay"),
    setting("averaged"),
    setting("weight_decay"),
    setting("nonconvex"),
];
const AGD: &[SettingInfo] = &[
    setting("steps").meaning("steps that the budget is divided into at first, each a gradient of all rows and a choice of length; 60 unless given"),
    setting("clip"),
    setting("clip_loss"),
    setting("longest"),
    setting("weight_decay"),
    setting("nonconvex"),
];
const FTRL: &[SettingInfo] = &[
    setting("steps"),
    setting("batch").meaning("rows of a step; a fiftieth of the rows, 16 to 4,096, unless given"),
    setting("rate"),
    setting("clip"),
    setting("momentum"),
    setting("decay"),
    setting("averaged"),
    setting("weight_decay"),
    setting("nonconvex"),
];
const ONE: &[SettingInfo] = &[
    setting("steps").meaning("noised steps, a record each; 8 passes over the rows, at most 1,000,000 steps, unless given"),
    setting("rate"),
    setting("clip"),
    setting("sums"),
    setting("decay"),
    setting("averaged"),
    setting("weight_decay"),
    setting("nonconvex"),
];

const DP_SGD: Info<TrainingFacts> = Info {
    name: "dp-sgd",
    summary: "descent on clipped gradients of a fresh secret sample, under Gaussian noise",
    source: "Abadi et al. 2016",
    guarantee: EITHER,
    settings: SGD,
    noised: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Momentum, smooths: false },
};
const DP_ADAM: Info<TrainingFacts> = Info {
    name: "dp-adam",
    summary: "the same with Adam's moments of the noised gradients",
    source: "Abadi et al. 2016; Kingma and Ba 2015",
    guarantee: EITHER,
    settings: ADAM,
    noised: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Adam, smooths: false },
};
const DP_LSSGD: Info<TrainingFacts> = Info {
    name: "dp-lssgd",
    summary: "dp-sgd whose noised gradients are smoothed along the weights",
    source: "Wang 2021, Algorithm 5",
    guarantee: EITHER,
    settings: SMOOTHED_SGD,
    noised: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Momentum, smooths: true },
};
const DP_LSADAM: Info<TrainingFacts> = Info {
    name: "dp-lsadam",
    summary: "dp-adam whose noised gradients are smoothed along the weights",
    source: "Wang 2021, section 5.4.2",
    guarantee: EITHER,
    settings: SMOOTHED_ADAM,
    noised: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Adam, smooths: true },
};
const DP_SRM: Info<TrainingFacts> = Info {
    name: "dp-srm",
    summary: "stochastic recursive momentum: clipped differences of gradients at two points, added to the noised past",
    source: "Wang 2021, Algorithm 4, clipped as in section 4.7",
    guarantee: EITHER,
    settings: SRM,
    noised: "a sum of clipped gradients and of clipped differences over a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Recursive, smooths: false },
};
const DP_GD: Info<TrainingFacts> = Info {
    name: "dp-gd",
    summary: "descent on the clipped gradients of all records, under Gaussian noise",
    source: "Wang, Ye and Xu 2017",
    guarantee: EITHER,
    settings: GD,
    noised: "the sum of all clipped gradients, at each step",
    private: true,
    covers: ALL_ROWS,
    more: TrainingFacts { asks: Asks::All, rule: Usual::Momentum, smooths: false },
};
const DP_AGD: Info<TrainingFacts> = Info {
    name: "dp-agd",
    summary: "descent on all records whose step lengths, and what each step spends, are decided as it goes",
    source: "Lee and Kifer 2018",
    guarantee: EXACT,
    settings: AGD,
    noised: "the sum of all clipped gradients, and the choice of a step's length by clipped losses",
    private: true,
    covers: ALL_ROWS,
    more: TrainingFacts { asks: Asks::All, rule: Usual::Searched, smooths: false },
};
const DP_FTRL: Info<TrainingFacts> = Info {
    name: "dp-ftrl",
    summary: "descent on clipped gradients in the order of the table, under noise that is correlated over the steps",
    source: "Kairouz et al. 2021; Choquette-Choo et al. 2023",
    guarantee: EXACT,
    settings: FTRL,
    noised: "the running sum of clipped gradients, at each step",
    private: true,
    covers: IN_ORDER,
    more: TrainingFacts { asks: Asks::Next, rule: Usual::Momentum, smooths: false },
};
const RRPSGD: Info<TrainingFacts> = Info {
    name: "rrpsgd",
    summary: "descent on one record a step, expected, under Gaussian noise",
    source: "Zhang, Zheng, Mou and Wang 2017",
    guarantee: EITHER,
    settings: ONE,
    noised: "the clipped gradient of a record or two, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: Asks::One, rule: Usual::Momentum, smooths: false },
};
const STORM: Info<TrainingFacts> = Info {
    name: "storm",
    summary: "dp-srm with nothing clipped or noised, for comparison",
    source: "Cutkosky and Orabona 2019",
    guarantee: NONE,
    settings: SRM,
    noised: "nothing",
    private: false,
    covers: Covers::ALL,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Recursive, smooths: false },
};
const NON_PRIVATE: Info<TrainingFacts> = Info {
    name: "non-private",
    summary: "dp-sgd with nothing clipped or noised, for comparison",
    source: "–",
    guarantee: NONE,
    settings: SGD,
    noised: "nothing",
    private: false,
    covers: Covers::ALL,
    more: TrainingFacts { asks: Asks::Sample, rule: Usual::Momentum, smooths: false },
};

registry! {
    /// A training, with its settings.
    pub enum Method: Info<TrainingFacts>, all METHODS, default DpSgd, each with Settings;
    /// Noisy descent on samples.
    DpSgd = DP_SGD;
    /// The same with moments.
    DpAdam = DP_ADAM;
    /// The same with smoothing.
    DpLssgd = DP_LSSGD;
    /// The same with both.
    DpLsadam = DP_LSADAM;
    /// Recursive momentum.
    DpSrm = DP_SRM;
    /// Noisy descent on all records.
    DpGd = DP_GD;
    /// Noisy descent whose steps are decided as it goes.
    DpAgd = DP_AGD;
    /// Correlated noise.
    DpFtrl = DP_FTRL;
    /// Single records.
    Rrpsgd = RRPSGD;
    /// Recursive momentum without noise.
    Storm = STORM;
    /// No noise at all.
    NonPrivate = NON_PRIVATE;
}
