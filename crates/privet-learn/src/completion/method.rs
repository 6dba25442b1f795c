//! The registry of ways to complete ratings, a line each.

use super::als::{self, PlainAls};
use super::asking::{Asked, Asking};
use super::choice::{self, Choosing};
use super::moments::plain as non_private;
use super::moments::{self, Moments, NonPrivate};
use super::plain::{Decided, Mean, mean};
use super::rivals::{Als, CleansedSvd, als as private_als, cleansed_svd};
use super::spectral::{
    FrankWolfe, Oja, Pgd, PlainFrankWolfe, PlainPgd, Svd, frank_wolfe, oja, pgd, plain_frank_wolfe,
    plain_pgd, svd,
};
use super::{Complete, Shape};
use crate::LearnError;
use crate::allowance::Allowance;
use crate::request::Calibration;
use crate::settings::SettingInfo;
use crate::task::Procedure;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::GateError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A line about a way to complete ratings.
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
    /// Whether it is private at all.
    pub private: bool,
}

/// What a method decides.
pub(super) struct Decision {
    /// What to do.
    pub procedure: Arc<dyn Procedure<Complete>>,
    /// With every choice made.
    pub settled: Method,
}

impl Decision {
    pub(super) fn new(sizes: impl Asking, settling: &Settling<'_>, settled: Method) -> Self {
        let procedure = Arc::new(Asked { sizes, choosing: settling.choosing });
        Self { procedure, settled }
    }
}

/// What a method may spend.
pub(super) struct Settling<'a> {
    pub allowance: Allowance<'a>,
    pub calibration: Calibration,
    /// What is chosen before, and paid for.
    pub choosing: Option<Choosing>,
}

impl<'a> Settling<'a> {
    /// μ of what the method itself may spend.
    pub(super) fn multiplier(&self) -> Result<f64, LearnError> {
        let allowance = self.gaussian()?;
        let left = if self.choosing.is_some() { 1.0 - choice::SHARE } else { 1.0 };
        Ok(gaussian::mu(allowance.epsilon(), allowance.delta()) * left.sqrt())
    }

    /// The least noise with which the method, and what is chosen before it, keep the budget.
    pub(super) fn least(
        &self,
        floor: f64,
        event_for: impl Fn(f64) -> Result<Event, GateError>,
    ) -> Result<f64, LearnError> {
        let Some(choosing) = &self.choosing else {
            return self.gaussian()?.least(floor, event_for);
        };
        let before = choosing.mechanism().event()?;
        self.gaussian()?
            .after(1)
            .least(floor, |noise| Ok(Event::All(vec![before.clone(), event_for(noise)?])))
    }

    /// For Gaussian noise under constants that are proved.
    pub(super) fn gaussian(&self) -> Result<Allowance<'a>, LearnError> {
        if self.calibration == Calibration::Printed {
            return Err(LearnError::NotCovered {
                what: "printed constants are not carried for completing ratings".into(),
                instead: "leave out the calibration, or give sound (docs/errata.md says what was wrong)",
            });
        }
        if self.allowance.is_pure() {
            return Err(LearnError::NotCovered {
                what: "Gaussian noise has no finite epsilon at delta = 0".into(),
                instead: "give a delta above 0, far below one over the number of users",
            });
        }
        Ok(self.allowance)
    }
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident($settings:ty): $module:ident,
       $name:literal, $summary:literal, $source:literal, $noised:literal;)*
     @ without privacy:
     $($(#[$plain_doc:meta])* $plain:ident($plain_settings:ty): $plain_module:ident,
       $plain_name:literal, $plain_summary:literal, $plain_source:literal;)*) => {
        /// A way to complete ratings, with its own settings. The name in files is the one that is asked for; an alias is
        /// what 0.2.0 wrote in its place.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name")]
        pub enum Method {
            $($(#[$doc])* #[serde(rename = $name)] $variant($settings),)*
            $($(#[$plain_doc])* #[serde(rename = $plain_name)] $plain($plain_settings),)*
        }

        /// Every way that can be asked for.
        pub const METHODS: &[MethodInfo] = &[$(MethodInfo {
            name: $name, summary: $summary, source: $source, settings: $module::SETTINGS, noised: $noised,
            private: true,
        },)* $(MethodInfo {
            name: $plain_name, summary: $plain_summary, source: $plain_source,
            settings: $plain_module::SETTINGS, noised: "nothing", private: false,
        },)*];

        impl Method {
            /// A line about it.
            pub fn info(&self) -> &'static MethodInfo {
                let name = match self {
                    $(Self::$variant(_) => $name,)*
                    $(Self::$plain(_) => $plain_name,)*
                };
                METHODS.iter().find(|info| info.name == name).unwrap_or(&METHODS[0])
            }

            pub(super) fn plan(&self, shape: &Shape, settling: &Settling<'_>) -> Result<Decision, LearnError> {
                match self {
                    $(Self::$variant(own) => $module::plan(shape, settling, own),)*
                    $(Self::$plain(own) => $plain_module::plan(shape, settling, own),)*
                }
            }

            /// What is done without a budget, of a method that is not private.
            pub(super) fn baseline(&self, shape: &Shape) -> Option<Result<Decided, LearnError>> {
                match self {
                    $(Self::$variant(_) => None,)*
                    $(Self::$plain(own) => Some($plain_module::baseline(shape, own)),)*
                }
            }

            fn named(word: &str) -> Option<Self> {
                match word {
                    $($name => Some(Self::$variant(Default::default())),)*
                    $($plain_name => Some(Self::$plain(Default::default())),)*
                    _ => None,
                }
            }
        }
    };
}

methods! {
    /// Offsets and factors of items from a few noised sums.
    Moments(Moments): moments, "moments",
        "offsets and factors of items from a few noised sums, shrunk by their noise",
        "this project", "sums over users of residuals, and products of them";
    /// Frank–Wolfe by noised covariances.
    FrankWolfe(FrankWolfe): frank_wolfe, "frank-wolfe",
        "Frank–Wolfe over the nuclear-norm ball, each direction from a noised covariance of the items",
        "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 13), constants put right",
        "the covariance of residuals over the items";
    /// Frank–Wolfe by Oja's rule.
    Oja(Oja): oja, "oja",
        "the same, each direction by noised steps of Oja's rule: no matrix of items by items",
        "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 14), constants put right",
        "products of the covariance with a vector";
    /// Projected gradient descent.
    Pgd(Pgd): pgd, "pgd",
        "gradient steps of whole rows, projected to the nuclear-norm ball by a noised covariance",
        "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 16), constants and sign put right",
        "the covariance of rows over the items";
    /// One singular subspace.
    Svd(Svd): svd, "svd",
        "rows projected to the leading subspace of one noised covariance of the items",
        "Jain, Thakkar and Thakurta 2018 (Thakkar's thesis, Algorithm 15), constants put right",
        "the covariance of rows over the items";
    /// Alternating least squares.
    Als(Als): private_als, "als",
        "alternating least squares from noised Gram matrices and right sides of all items",
        "the form of Chien, Jain, Krichene, Rendle, Song, Thakurta and Zhang 2021, all of a user charged",
        "Gram matrices and right sides of the items";
    /// A subspace after cleansing.
    CleansedSvd(CleansedSvd): cleansed_svd, "cleansed-svd",
        "the leading directions of a noised and smoothed covariance of cleansed ratings",
        "after McSherry and Mironov 2009; all of a user charged, some choices ours",
        "the covariance and the weights of cleansed ratings";
    @ without privacy:
    /// The questions of `moments` with nothing noised.
    NonPrivate(NonPrivate): non_private, "non-private",
        "the questions of moments with nothing noised, for comparison",
        "this project";
    /// Frank–Wolfe with nothing noised.
    #[serde(alias = "plain-frank-wolfe")]
    PlainFrankWolfe(PlainFrankWolfe): plain_frank_wolfe, "non-private-frank-wolfe",
        "Frank–Wolfe over the nuclear-norm ball without noise, offsets of items taken off first, for comparison",
        "Jaggi and Sulovský 2010 (Thakkar's thesis, Algorithm 12), steps 2/(t + 1)";
    /// Projected descent with nothing noised.
    #[serde(alias = "plain-pgd")]
    PlainPgd(PlainPgd): plain_pgd, "non-private-pgd",
        "projected gradient descent without noise, offsets of items taken off first, for comparison",
        "Cai, Candès and Shen 2010 (Thakkar's thesis, Algorithm 16)";
    /// Alternating least squares with nothing noised.
    #[serde(alias = "plain-als")]
    PlainAls(PlainAls): als, "non-private-als",
        "alternating least squares without noise, for comparison",
        "Koren, Bell and Volinsky 2009";
    /// Each user's own mean.
    Mean(Mean): mean, "mean",
        "each user's own mean: nothing is learnt of anybody, for comparison",
        "this project";
}

impl Default for Method {
    fn default() -> Self {
        Self::Moments(Moments::default())
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

    /// Whether it makes something of public features of items.
    pub(super) fn uses_features(&self) -> bool {
        matches!(self, Self::Moments(_) | Self::NonPrivate(_) | Self::PlainAls(_))
    }

    /// With one setting given.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = self.info();
        let known = info.settings.iter().find(|known| known.name == setting);
        let known = known.ok_or_else(|| LearnError::NotASetting {
            setting: setting.into(),
            method: info.name,
        })?;
        let refused = || LearnError::SettingValue {
            setting: known.name,
            given: value.into(),
            accepted: known.accepted(),
        };
        let parsed = match (value.parse::<u64>(), value.parse::<f64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(number)) if number.is_finite() => Value::from(number),
            _ => return Err(refused()),
        };
        let mut written = serde_json::to_value(self).map_err(|_| refused())?;
        written[known.name] = parsed;
        serde_json::from_value(written).map_err(|_| refused())
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
