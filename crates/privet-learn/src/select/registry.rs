//! The registry of selectors, one line each: a module with a type of settings, `INFO` and `plan`, as a learner
//! is ([`crate::METHODS`]).

use super::{Decision, Wanted, correlation, distance, exponential, lasso, subsample};
use crate::LearnError;
use crate::settings::{SettingInfo, given};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// All that is known of a selector besides how it plans.
#[derive(Debug, Clone, Copy)]
pub struct SelectorInfo {
    /// The word for `--method`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// In which arithmetic its guarantee is proved.
    pub guarantee: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
    /// What gets its noise, in words.
    pub noised: &'static str,
}

macro_rules! selectors {
    ($($(#[$doc:meta])* $variant:ident: $module:ident;)*) => {
        /// A selector and its own settings.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum Selector {
            $($(#[$doc])* $variant($module::$variant),)*
        }

        /// Every selector that can be asked for.
        pub const SELECTORS: &[SelectorInfo] = &[$($module::INFO),*];

        impl Selector {
            /// A line about it.
            pub fn info(&self) -> &'static SelectorInfo {
                match self {
                    $(Self::$variant(_) => &$module::INFO,)*
                }
            }

            /// Hands the request to it.
            pub(crate) fn plan(&self, wanted: &Wanted<'_>) -> Result<Decision, LearnError> {
                match self {
                    $(Self::$variant(options) => $module::plan(wanted, options),)*
                }
            }

            fn named(word: &str) -> Option<Self> {
                $(if word == $module::INFO.name {
                    return Some(Self::$variant(Default::default()));
                })*
                None
            }
        }
    };
}

selectors! {
    /// By association with the target.
    Correlation: correlation;
    /// By how well a set of columns fits.
    Exponential: exponential;
    /// An answer far from another one.
    Distance: distance;
    /// The same over random parts of the records.
    Subsample: subsample;
    /// What the LASSO keeps, far from anything else.
    LassoStability: lasso;
}

impl Selector {
    /// The word for `--method`.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The words accepted by [`FromStr`], separated by commas.
    pub fn accepted() -> String {
        SELECTORS.iter().map(|selector| selector.name).collect::<Vec<_>>().join(", ")
    }

    /// With one setting given; a value that reads as a number is one.
    pub fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        given((self, self.name()), self.info().settings, setting, value)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Selector {
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
    fn every_selector_is_found_by_its_name_and_knows_its_settings() {
        for info in SELECTORS {
            let selector: Selector = info.name.parse().unwrap();
            assert_eq!(selector.name(), info.name);
            let written = serde_json::to_value(selector).unwrap();
            assert_eq!(written["name"], info.name, "the name in certificates is the one asked for");
            assert_eq!(serde_json::from_value::<Selector>(written).unwrap(), selector);
            let refused = selector.with("no-such-setting", "1").unwrap_err();
            assert!(matches!(refused, LearnError::NotASetting { .. }));
            for setting in info.settings {
                let odd = selector.with(setting.name, "\u{1}").unwrap_err();
                assert!(matches!(odd, LearnError::SettingValue { .. }), "{}", setting.name);
            }
        }
        assert!(matches!("corelation".parse::<Selector>(), Err(LearnError::UnknownMethod { .. })));
    }
}
