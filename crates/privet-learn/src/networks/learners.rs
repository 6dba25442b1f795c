//! Registry of trainings (`registry.rs`).

use super::options::*;
use super::update::Rule;
use crate::LearnError;
use crate::release::covers::{Coverage, MethodCoverage, NOT_PRINTED, TableAccess};
use crate::release::registry::{Info, NO_GUARANTEE, registry};
use crate::release::settings::{SettingInfo, select_settings};
use crate::streams::{NO_ADD_REMOVE, NO_USERS};

/// Facts of a training beyond those of every method ([`crate::Info`]).
#[derive(Debug, Clone, Copy)]
pub struct TrainingFacts {
    /// Records that a step uses.
    pub(crate) asks: RowAccess,
    /// Update rule.
    pub(crate) rule: RuleKind,
    /// True if answers are smoothed.
    pub(crate) smooths: bool,
}

/// The guarantee of sums in integers, always or unless requested otherwise.
const EXACT: &str = "(ε, δ) in finite arithmetic";
const FINITE_UNLESS_FLOAT: &str =
    "(ε, δ) in finite arithmetic; in real arithmetic with sums = float";

/// Records that a step uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowAccess {
    /// A secret sample.
    Sample,
    /// One record in expectation.
    One,
    /// All records.
    All,
    /// The next records in the order of the table.
    Next,
}

/// An update rule without its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleKind {
    /// [`Rule::Momentum`].
    Momentum,
    /// [`Rule::Adam`].
    Adam,
    /// [`Rule::Recursive`].
    Recursive,
    /// None: step sizes are searched for ([`super::agd`]).
    Searched,
}

impl RuleKind {
    /// Returns the rule with its parameters, and writes them into `settled`.
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

/// Cases that a training over all rows covers.
const ALL_ROWS: MethodCoverage = MethodCoverage {
    printed: Coverage::unprinted(NOT_PRINTED),
    pure: Coverage::gaussian("give a delta above 0, far below one over the rows"),
    needs: TableAccess::Memory,
    ..MethodCoverage::ALL
};
/// Cases that a training on samples, or on single rows, covers.
const SAMPLES: MethodCoverage = MethodCoverage {
    users: Coverage::No {
        why: "samples records, and amplification by sampling is proved for one record a unit",
        instead: "leave out the unit, or give method dp-gd",
    },
    ..ALL_ROWS
};

/// Cases that a training on rows in their order covers.
const IN_ORDER: MethodCoverage =
    MethodCoverage { private_count: NO_ADD_REMOVE, users: NO_USERS, ..ALL_ROWS };

/// Selected settings of trainings, by name.
const fn of<const N: usize>(names: [&str; N]) -> [SettingInfo; N] {
    select_settings(Settings::SETTINGS, names)
}

/// A single setting, by name.
const fn setting(name: &str) -> SettingInfo {
    of([name])[0]
}

/// Lists of settings one after the other; N is the number of all of them.
const fn joined<const N: usize>(lists: &[&[SettingInfo]]) -> [SettingInfo; N] {
    let mut all = [Settings::SETTINGS[0]; N];
    let (mut list, mut place) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[place] = lists[list][at];
            (at, place) = (at + 1, place + 1);
        }
        list += 1;
    }
    assert!(place == N);
    all
}

const SAMPLE: &[SettingInfo] = &of(["steps", "batch", "rate", "clip"]);
const MOMENTS: &[SettingInfo] = &of(["beta1", "beta2"]);
const SMOOTHING: &[SettingInfo] = &of(["smoothing", "smoothed"]);
const SUMS: &[SettingInfo] = &of(["sampling", "sums"]);
const END: &[SettingInfo] = &of(["decay", "averaged", "weight_decay", "nonconvex"]);

const SGD: &[SettingInfo] = &joined::<11>(&[SAMPLE, &[setting("momentum")], SUMS, END]);
const ADAM: &[SettingInfo] = &joined::<12>(&[SAMPLE, MOMENTS, SUMS, END]);
const SMOOTHED_SGD: &[SettingInfo] =
    &joined::<13>(&[SAMPLE, &[setting("momentum")], SMOOTHING, SUMS, END]);
const SMOOTHED_ADAM: &[SettingInfo] = &joined::<14>(&[SAMPLE, MOMENTS, SMOOTHING, SUMS, END]);
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
    guarantee: FINITE_UNLESS_FLOAT,
    settings: SGD,
    noisy: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Momentum, smooths: false },
};
const DP_ADAM: Info<TrainingFacts> = Info {
    name: "dp-adam",
    summary: "the same with Adam's moments of the noised gradients",
    source: "Abadi et al. 2016; Kingma and Ba 2015",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: ADAM,
    noisy: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Adam, smooths: false },
};
const DP_LSSGD: Info<TrainingFacts> = Info {
    name: "dp-lssgd",
    summary: "dp-sgd whose noised gradients are smoothed along the weights",
    source: "Wang 2021, Algorithm 5",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: SMOOTHED_SGD,
    noisy: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Momentum, smooths: true },
};
const DP_LSADAM: Info<TrainingFacts> = Info {
    name: "dp-lsadam",
    summary: "dp-adam whose noised gradients are smoothed along the weights",
    source: "Wang 2021, section 5.4.2",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: SMOOTHED_ADAM,
    noisy: "the sum of the clipped gradients of a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Adam, smooths: true },
};
const DP_SRM: Info<TrainingFacts> = Info {
    name: "dp-srm",
    summary: "stochastic recursive momentum: clipped differences of gradients at two points, added to the noised past",
    source: "Wang 2021, Algorithm 4, clipped as in section 4.7",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: SRM,
    noisy: "a sum of clipped gradients and of clipped differences over a sample, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Recursive, smooths: false },
};
const DP_GD: Info<TrainingFacts> = Info {
    name: "dp-gd",
    summary: "descent on the clipped gradients of all records, under Gaussian noise",
    source: "Wang, Ye and Xu 2017",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: GD,
    noisy: "the sum of all clipped gradients, at each step",
    private: true,
    covers: ALL_ROWS,
    more: TrainingFacts { asks: RowAccess::All, rule: RuleKind::Momentum, smooths: false },
};
const DP_AGD: Info<TrainingFacts> = Info {
    name: "dp-agd",
    summary: "descent on all records whose step lengths, and what each step spends, are decided as it goes",
    source: "Lee and Kifer 2018",
    guarantee: EXACT,
    settings: AGD,
    noisy: "the sum of all clipped gradients, and the choice of a step's length by clipped losses",
    private: true,
    covers: ALL_ROWS,
    more: TrainingFacts { asks: RowAccess::All, rule: RuleKind::Searched, smooths: false },
};
const DP_FTRL: Info<TrainingFacts> = Info {
    name: "dp-ftrl",
    summary: "descent on clipped gradients in the order of the table, under noise that is correlated over the steps",
    source: "Kairouz et al. 2021; Choquette-Choo et al. 2023",
    guarantee: EXACT,
    settings: FTRL,
    noisy: "the running sum of clipped gradients, at each step",
    private: true,
    covers: IN_ORDER,
    more: TrainingFacts { asks: RowAccess::Next, rule: RuleKind::Momentum, smooths: false },
};
const RRPSGD: Info<TrainingFacts> = Info {
    name: "rrpsgd",
    summary: "descent on one record a step, expected, under Gaussian noise",
    source: "Zhang, Zheng, Mou and Wang 2017",
    guarantee: FINITE_UNLESS_FLOAT,
    settings: ONE,
    noisy: "the clipped gradient of a record or two, at each step",
    private: true,
    covers: SAMPLES,
    more: TrainingFacts { asks: RowAccess::One, rule: RuleKind::Momentum, smooths: false },
};
const STORM: Info<TrainingFacts> = Info {
    name: "storm",
    summary: "dp-srm with nothing clipped or noised, for comparison",
    source: "Cutkosky and Orabona 2019",
    guarantee: NO_GUARANTEE,
    settings: SRM,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage::ALL,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Recursive, smooths: false },
};
const NON_PRIVATE: Info<TrainingFacts> = Info {
    name: "non-private",
    summary: "dp-sgd with nothing clipped or noised, for comparison",
    source: "–",
    guarantee: NO_GUARANTEE,
    settings: SGD,
    noisy: "nothing",
    private: false,
    covers: MethodCoverage::ALL,
    more: TrainingFacts { asks: RowAccess::Sample, rule: RuleKind::Momentum, smooths: false },
};

registry! {
    /// A training, with its settings.
    pub enum Method: Info<TrainingFacts>, all METHODS, default DpSgd, each with Settings;
    /// Noisy descent on samples (DP-SGD).
    DpSgd = DP_SGD;
    /// Noisy descent on samples with Adam's moments.
    DpAdam = DP_ADAM;
    /// Noisy descent on samples with Laplacian smoothing.
    DpLssgd = DP_LSSGD;
    /// Noisy descent on samples with both.
    DpLsadam = DP_LSADAM;
    /// Recursive momentum.
    DpSrm = DP_SRM;
    /// Noisy descent on all records.
    DpGd = DP_GD;
    /// Noisy descent with adaptive step sizes.
    DpAgd = DP_AGD;
    /// Descent under correlated noise.
    DpFtrl = DP_FTRL;
    /// Descent on single records.
    Rrpsgd = RRPSGD;
    /// Recursive momentum without noise.
    Storm = STORM;
    /// Descent without noise.
    NonPrivate = NON_PRIVATE;
}
