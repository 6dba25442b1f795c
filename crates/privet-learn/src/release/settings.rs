//! The settings of a method, with the accepted values written once; and the numbers of a plan, for
//! people.

use crate::LearnError;
use privet_core::Range;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde_json::Value;

/// A setting of a method: its name, meaning and accepted values. Help and errors are made from it.
#[derive(Debug, Clone, Copy)]
pub struct SettingInfo {
    /// Its name.
    pub name: &'static str,
    /// Its effect, and the default.
    pub meaning: &'static str,
    accepts: AcceptedValues,
    also: &'static str,
    needed: bool,
}

#[derive(Debug, Clone, Copy)]
enum AcceptedValues {
    Number(Range),
    Whole(Range),
    Words(&'static str),
    Text,
    Texts,
    YesOrNo,
}

impl SettingInfo {
    /// A number in a range, named as the range is.
    pub const fn number(range: Range, meaning: &'static str) -> Self {
        Self {
            name: range.name(),
            meaning,
            accepts: AcceptedValues::Number(range),
            also: "",
            needed: false,
        }
    }

    /// An integer in a range, named as the range is.
    pub const fn integer(range: Range, meaning: &'static str) -> Self {
        Self {
            name: range.name(),
            meaning,
            accepts: AcceptedValues::Whole(range),
            also: "",
            needed: false,
        }
    }

    /// One of a few words.
    pub const fn one_of_words(
        name: &'static str,
        words: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, meaning, accepts: AcceptedValues::Words(words), also: "", needed: false }
    }

    /// A text, such as the name of a column.
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, accepts: AcceptedValues::Text, also: "", needed: false }
    }

    /// Texts, separated by commas.
    pub const fn texts(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, accepts: AcceptedValues::Texts, also: "", needed: false }
    }

    /// Yes or no.
    pub const fn yes_or_no(name: &'static str, meaning: &'static str) -> Self {
        Self { name, meaning, accepts: AcceptedValues::YesOrNo, also: "", needed: false }
    }

    /// The same setting, but required.
    pub const fn required(self) -> Self {
        Self { needed: true, ..self }
    }

    /// True if it is required.
    pub const fn is_needed(&self) -> bool {
        self.needed
    }

    /// With a limit that depends on other facts, in words.
    pub const fn with_limit(self, also: &'static str) -> Self {
        Self { also, ..self }
    }

    /// With another meaning.
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// With another name.
    pub const fn with_name(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The accepted values, in words.
    pub fn accepted(&self) -> String {
        let own = match self.accepts {
            AcceptedValues::Number(range) => range.to_string(),
            AcceptedValues::Whole(range) => range.whole(),
            AcceptedValues::Words(words) => words.into(),
            AcceptedValues::Text => "a text".into(),
            AcceptedValues::Texts => "texts, separated by commas".into(),
            AcceptedValues::YesOrNo => "yes, no".into(),
        };
        if self.also.is_empty() { own } else { format!("{own}, {}", self.also) }
    }
}

impl SettingInfo {
    /// The limits of a number, in words; `None` of anything else.
    pub fn limits(&self) -> Option<String> {
        matches!(self.accepts, AcceptedValues::Number(_) | AcceptedValues::Whole(_))
            .then(|| self.accepted())
    }

    /// A value that is accepted, for whoever tries a family out; `None` where no usual one is.
    pub fn example(&self) -> Option<Value> {
        if let AcceptedValues::Words(words) = self.accepts {
            return words.split([',', ' ']).next().map(Value::from);
        }
        ["1", "0.5", "10", "yes"].iter().find_map(|text| self.read(text).ok())
    }

    /// A placeholder for its values in help.
    pub fn value_name(&self) -> &'static str {
        match self.accepts {
            AcceptedValues::Number(_) => "X",
            AcceptedValues::Whole(_) => "N",
            AcceptedValues::Words(_) => "WORD",
            AcceptedValues::Text => "TEXT",
            AcceptedValues::Texts => "A,B,…",
            AcceptedValues::YesOrNo => "YES|NO",
        }
    }

    /// Parses a value; refuses a number outside its range and a bad yes or no. Words are checked by the
    /// method.
    pub fn read(&self, text: &str) -> Result<Value, LearnError> {
        let refused = || LearnError::SettingValue {
            setting: self.name,
            given: text.into(),
            accepted: self.accepted(),
        };
        match self.accepts {
            AcceptedValues::Number(range) => {
                let value = text.parse::<f64>().map_err(|_| refused())?;
                Ok(range.check(value)?.into())
            }
            AcceptedValues::Whole(range) => {
                let value = text.parse::<u64>().map_err(|_| refused())?;
                range.check(value as f64)?;
                Ok(value.into())
            }
            AcceptedValues::Words(_) | AcceptedValues::Text => Ok(text.into()),
            AcceptedValues::Texts => Ok(text.split(',').collect::<Vec<_>>().into()),
            AcceptedValues::YesOrNo => match text {
                "yes" | "true" => Ok(true.into()),
                "no" | "false" => Ok(false.into()),
                _ => Err(refused()),
            },
        }
    }
}

/// Declares a method's settings, each once: the struct, every field of it optional, and `SETTINGS`, from
/// which help, checks and errors are made.
///
/// ```text
/// columns: u32 [COLUMNS] "columns kept; by a public rule unless given", also "at most those of the table";
/// choice: Choice ["peeled or gradient"] "how columns are chosen; peeled unless given";
/// ridge: f64 = RIDGE_SETTING;
/// ```
///
/// After the type stand the accepted values, a range or words, and the meaning; or a setting that
/// several methods share. Fields in `also { … }` behind it are not settings: a plan writes them.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ident
                $([$($accepted:tt)+] $meaning:literal $(, also $also:literal)?)?
                $(= $info:expr)?;)*
        }
        $(also { $($more:tt)* })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $Name {
            $(
                $(#[$doc])*
                $(#[doc = $meaning])?
                $(#[doc = concat!("As `", stringify!($info), "`.")])?
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
            $($($more)*)?
        }

        impl $Name {
            /// The settings, in order.
            pub const SETTINGS: &'static [$crate::release::settings::SettingInfo] = &[$(
                $(settings!(@info $type [$($accepted)+] $meaning)$(.with_limit($also))?)?
                $($info)?
                .with_name(stringify!($field)),
            )*];
        }
    };
    (@info $type:ident [$words:literal] $meaning:literal) => {
        $crate::release::settings::SettingInfo::one_of_words("", $words, $meaning)
    };
    (@info f64 [$range:expr] $meaning:literal) => {
        $crate::release::settings::SettingInfo::number($range, $meaning)
    };
    (@info $whole:ident [$range:expr] $meaning:literal) => {
        $crate::release::settings::SettingInfo::integer($range, $meaning)
    };
}
pub(crate) use settings;

/// The settings of these names, for a method that has some of a list: an unknown name does not compile.
pub(crate) const fn select_settings<const N: usize>(
    known: &'static [SettingInfo],
    names: [&str; N],
) -> [SettingInfo; N] {
    let mut found = [known[0]; N];
    let mut place = 0;
    while place < N {
        let mut at = 0;
        while !same_text(known[at].name, names[place]) {
            at += 1;
        }
        found[place] = known[at];
        place += 1;
    }
    found
}

const fn same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Checks every given setting against its range.
pub(crate) fn check<S: Serialize>(own: &S, known: &[SettingInfo]) -> Result<(), LearnError> {
    let written = serde_json::to_value(own).unwrap_or_default();
    for setting in known {
        if let (Some(given), AcceptedValues::Number(range) | AcceptedValues::Whole(range)) =
            (written[setting.name].as_f64(), setting.accepts)
        {
            range.check(given)?;
        }
    }
    Ok(())
}

/// A method with one of its settings given; a value that parses as a number is taken as one.
pub(crate) fn with_text_setting<M: Serialize + DeserializeOwned>(
    (method, name): (&M, &'static str),
    known: &'static [SettingInfo],
    setting: &str,
    value: &str,
) -> Result<M, LearnError> {
    let known = known.iter().find(|known| known.name == setting);
    let known =
        known.ok_or_else(|| LearnError::NotASetting { setting: setting.into(), method: name })?;
    let refused = || LearnError::SettingValue {
        setting: known.name,
        given: value.into(),
        accepted: known.accepted(),
    };
    let parsed = match (value.parse::<u64>(), value.parse::<f64>()) {
        (Ok(whole), _) => Value::from(whole),
        (_, Ok(number)) if number.is_finite() => Value::from(number),
        (_, Ok(_)) => return Err(refused()),
        _ => Value::from(value),
    };
    let mut written = serde_json::to_value(method).map_err(|_| refused())?;
    written[known.name] = parsed;
    serde_json::from_value(written).map_err(|_| refused())
}

/// The main numbers of a plan, by name.
///
/// Names end in `_noise` where the number is a noise scale.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNumbers(Vec<(&'static str, f64)>);

impl PlanNumbers {
    /// With these numbers, in the order in which they are shown.
    pub fn of(numbers: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        Self(numbers.into_iter().collect())
    }

    /// With one more at the end.
    pub(crate) fn and(mut self, name: &'static str, value: Option<f64>) -> Self {
        self.0.extend(value.map(|value| (name, value)));
        self
    }

    /// A number by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for PlanNumbers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
