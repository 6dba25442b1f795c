//! A registry: every method of a family, one line each.
//!
//! A method is a module with three names: a type of its own settings, each of them optional (a setting
//! that is left out is chosen by a rule that reads public facts alone); `INFO`, its description; and
//! `plan`, from public facts and settings to a decision. `registry!` makes the family's enum of them, by
//! whose names requests, files, the command and Python know them.

use crate::LearnError;
use crate::release::covers::MethodCoverage;
use crate::release::settings::SettingInfo;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The description of a method; `more` holds the facts that only its family needs.
#[derive(Debug, Clone, Copy)]
pub struct Info<M: 'static = ()> {
    /// Its name: in requests, files and `--method`.
    pub name: &'static str,
    /// A sentence on what it does.
    pub summary: &'static str,
    /// The publication that it follows.
    pub source: &'static str,
    /// The guarantee, and the arithmetic for which it is proved.
    pub guarantee: &'static str,
    /// Its own settings.
    pub settings: &'static [SettingInfo],
    /// The quantity that receives noise, in words.
    pub noisy: &'static str,
    /// False of baselines, which add no noise.
    pub private: bool,
    /// The requests that it covers.
    pub covers: MethodCoverage,
    /// Facts that only its family needs.
    pub more: M,
}

/// The guarantee of Gaussian noise, proved for the program as executed.
pub const FINITE_ARITHMETIC: &str = "(ε, δ) in finite arithmetic; no pure ε";

/// The guarantee of a baseline.
pub const NO_GUARANTEE: &str = "none: for comparison";

/// A method of a family, with its own settings.
pub trait RegisteredMethod: Clone + PartialEq + Serialize + DeserializeOwned + 'static {
    /// Facts about a method that only this family needs.
    type More: 'static;

    /// Every method of the family.
    const ALL: &'static [Info<Self::More>];

    /// The description of this method.
    fn info(&self) -> &'static Info<Self::More>;

    /// The method of that name, its settings left to its rules; `None` if there is none.
    fn by_name(word: &str) -> Option<Self>;

    /// The method with one setting given; a value that parses as a number is taken as one.
    fn with(&self, setting: &str, value: &str) -> Result<Self, LearnError> {
        let info = self.info();
        crate::release::settings::with_text_setting(
            (self, info.name),
            info.settings,
            setting,
            value,
        )
    }

    /// The words accepted by `FromStr`, separated by commas.
    fn accepted() -> String {
        Self::ALL.iter().map(|info| info.name).collect::<Vec<_>>().join(", ")
    }
}

/// The methods of a family that has only one: none to choose from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct NoLearner {}

impl RegisteredMethod for NoLearner {
    type More = ();
    const ALL: &'static [Info] = &[];

    fn info(&self) -> &'static Info {
        const ONLY: Info = Info {
            name: "",
            summary: "",
            source: "",
            guarantee: "",
            settings: &[],
            noisy: "",
            private: true,
            covers: MethodCoverage::ALL,
            more: (),
        };
        &ONLY
    }

    fn by_name(_word: &str) -> Option<Self> {
        None
    }
}

/// Makes the enum of a family's methods, its list and [`RegisteredMethod`], from lines
/// `Variant(Settings) = INFO, plan;`.
///
/// A variant's word in files is its name in kebab case unless the line says `#[serde(rename = "…")]`; a
/// test in `families.rs` holds it against the name in `INFO`.
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

        /// Every method of the family.
        pub const $ALL: &[$crate::release::registry::Info<$More>] = &[$($info),*];

        impl $crate::release::registry::RegisteredMethod for $Name {
            type More = $More;
            const ALL: &'static [$crate::release::registry::Info<$More>] = $ALL;

            fn info(&self) -> &'static $crate::release::registry::Info<$More> {
                match self {
                    $(Self::$Variant(_) => &$info,)*
                }
            }

            fn by_name(word: &str) -> Option<Self> {
                $(if word == $info.name {
                    return Some(Self::$Variant(Default::default()));
                })*
                None
            }
        }

        impl $Name {
            /// The description of this method.
            pub fn info(&self) -> &'static $crate::release::registry::Info<$More> {
                $crate::release::registry::RegisteredMethod::info(self)
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                self.info().name
            }

            /// True unless it is a baseline.
            pub fn is_private(&self) -> bool {
                self.info().private
            }

            /// The method with one setting given; a value that parses as a number is taken as one.
            pub fn with(&self, setting: &str, value: &str) -> Result<Self, $crate::LearnError> {
                $crate::release::registry::RegisteredMethod::with(self, setting, value)
            }

            /// True if it has a setting of that name.
            pub fn has(&self, setting: &str) -> bool {
                self.info().settings.iter().any(|known| known.name == setting)
            }

            /// The words accepted by `FromStr`, separated by commas.
            pub fn accepted() -> String {
                <Self as $crate::release::registry::RegisteredMethod>::accepted()
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
                use $crate::release::registry::RegisteredMethod;
                Self::by_name(word).ok_or_else(|| $crate::LearnError::UnknownMethod {
                    given: word.into(),
                    accepted: <Self as $crate::release::registry::RegisteredMethod>::accepted(),
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
