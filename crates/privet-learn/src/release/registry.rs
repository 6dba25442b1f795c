//! A registry: every method of a family that can be asked for, a line each.
//!
//! A method is a module with three names: a type of its own settings, each of them optional (whatever is left out is
//! chosen by a rule that reads public facts alone); `INFO`, all that is known of it besides; and `plan`, from public
//! facts and settings to a decision. `registry!` makes the family's enum of them, by whose names requests, files, the
//! command and Python know them.

use crate::LearnError;
use crate::release::covers::Covers;
use crate::release::settings::SettingInfo;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// All that is known of a method besides how it plans; `more` is what its family alone asks.
#[derive(Debug, Clone, Copy)]
pub struct Info<M: 'static = ()> {
    /// The word for it: in requests, files and `--method`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What it guarantees, and in which arithmetic that is proved.
    pub guarantee: &'static str,
    /// The settings of its own that it accepts.
    pub settings: &'static [SettingInfo],
    /// What gets its noise, in words.
    pub noised: &'static str,
    /// False of baselines, which add no noise.
    pub private: bool,
    /// What it covers of what any request may ask.
    pub covers: Covers,
    /// What its family alone asks.
    pub more: M,
}

/// The guarantee of Gaussian noise, proved for the program as executed.
pub const FINITE: &str = "(ε, δ) in finite arithmetic; no pure ε";

/// The guarantee of a baseline.
pub const NONE: &str = "none: for comparison";

/// A method of a family, with its own settings.
pub trait Registered: Clone + PartialEq + Serialize + DeserializeOwned + 'static {
    /// What the family alone asks of a method.
    type More: 'static;

    /// Every method that can be asked for.
    const ALL: &'static [Info<Self::More>];

    /// A line about it.
    fn info(&self) -> &'static Info<Self::More>;

    /// The method of that name, its settings left to its rules; `None` if there is none.
    fn named(word: &str) -> Option<Self>;

    /// With one setting given; a value that reads as a number is one.
    fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = self.info();
        crate::release::settings::given((self, info.name), info.settings, setting, value)
    }

    /// The words accepted by `FromStr`, separated by commas.
    fn accepted() -> String {
        Self::ALL.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }
}

/// Of a family that does what it does in one way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct NoLearner {}

impl Registered for NoLearner {
    type More = ();
    const ALL: &'static [Info] = &[];

    fn info(&self) -> &'static Info {
        const ONLY: Info = Info {
            name: "",
            summary: "",
            source: "",
            guarantee: "",
            settings: &[],
            noised: "",
            private: true,
            covers: Covers::ALL,
            more: (),
        };
        &ONLY
    }

    fn named(_word: &str) -> Option<Self> {
        None
    }
}

/// Makes the enum of a family's methods, its list and [`Registered`] of lines `Variant(Settings) = INFO, plan;`.
///
/// A variant's word in files is its name in kebab case unless the line says `#[serde(rename = "…")]`; the test below
/// holds it against the name in `INFO`.
macro_rules! registry {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident: Info<$More:ty>, all $ALL:ident, default $Default:ident;
        $(#[$plan_meta:meta])*
        $visible:vis $plan_name:ident($self:ident $(, $argument:ident: $kind:ty)*) -> $Planned:ty;
        $($(#[$doc:meta])* $Variant:ident($Settings:ty) = $info:path, $plan:path;)*
    ) => {
        registry! {
            $(#[$meta])*
            pub enum $Name: Info<$More>, all $ALL, default $Default;
            $($(#[$doc])* $Variant($Settings) = $info;)*
        }

        impl $Name {
            $(#[$plan_meta])*
            $visible fn $plan_name(&$self $(, $argument: $kind)*) -> $Planned {
                $crate::release::settings::check($self, $self.info().settings)?;
                registry!(@plan $self ($($argument),*) $($Variant $plan;)*)
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $Name:ident: Info<$More:ty>, all $ALL:ident, default $Default:ident;
        $($(#[$doc:meta])* $Variant:ident($Settings:ty) = $info:path;)*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "name", rename_all = "kebab-case")]
        pub enum $Name {
            $($(#[$doc])* $Variant($Settings),)*
        }

        /// Every method that can be asked for.
        pub const $ALL: &[$crate::release::registry::Info<$More>] = &[$($info),*];

        impl $crate::release::registry::Registered for $Name {
            type More = $More;
            const ALL: &'static [$crate::release::registry::Info<$More>] = $ALL;

            fn info(&self) -> &'static $crate::release::registry::Info<$More> {
                match self {
                    $(Self::$Variant(_) => &$info,)*
                }
            }

            fn named(word: &str) -> Option<Self> {
                $(if word == $info.name {
                    return Some(Self::$Variant(Default::default()));
                })*
                None
            }
        }

        impl $Name {
            /// A line about it.
            pub fn info(&self) -> &'static $crate::release::registry::Info<$More> {
                $crate::release::registry::Registered::info(self)
            }

            /// The word for it.
            pub fn name(&self) -> &'static str {
                self.info().name
            }

            /// True unless it is a baseline.
            pub fn is_private(&self) -> bool {
                self.info().private
            }

            /// With one setting given; a value that reads as a number is one.
            pub fn with(&self, setting: &str, value: &str) -> Result<Self, $crate::LearnError> {
                $crate::release::registry::Registered::with(self, setting, value)
            }

            /// True if it has a setting of that name.
            pub fn has(&self, setting: &str) -> bool {
                self.info().settings.iter().any(|known| known.name == setting)
            }

            /// The words accepted by `FromStr`, separated by commas.
            pub fn accepted() -> String {
                <Self as $crate::release::registry::Registered>::accepted()
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                Self::$Default(Default::default())
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = $crate::LearnError;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                use $crate::release::registry::Registered;
                Self::named(word).ok_or_else(|| $crate::LearnError::UnknownMethod {
                    given: word.into(),
                    accepted: <Self as $crate::release::registry::Registered>::accepted(),
                })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $Name:ident: Info<$More:ty>, all $ALL:ident, default $Default:ident, each with $Settings:ty;
        $($(#[$doc:meta])* $Variant:ident = $info:path;)*
    ) => {
        registry! {
            $(#[$meta])*
            pub enum $Name: Info<$More>, all $ALL, default $Default;
            $($(#[$doc])* $Variant(Box<$Settings>) = $info;)*
        }

        impl $Name {
            /// Its settings.
            pub fn settings(&self) -> &$Settings {
                match self {
                    $(Self::$Variant(own) => own,)*
                }
            }

            /// The same method with other settings.
            pub fn having(&self, settings: $Settings) -> Self {
                match self {
                    $(Self::$Variant(_) => Self::$Variant(Box::new(settings)),)*
                }
            }
        }
    };
    (@plan $self:ident $arguments:tt $($Variant:ident $plan:path;)*) => {
        match $self {
            $(Self::$Variant(own) => registry!(@call $plan, own, $arguments),)*
        }
    };
    (@call $plan:path, $own:ident, ($($argument:ident),*)) => {
        $plan($($argument,)* $own)
    };
}
pub(crate) use registry;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks;
    use crate::ratings;
    use crate::selection::Selector;
    use crate::streams;
    use crate::votes::Aggregator;
    use std::fmt::Display;
    use std::str::FromStr;

    /// What must hold of every registry.
    fn holds<R: Registered + Display + FromStr<Err = LearnError> + std::fmt::Debug>() {
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
