//! The flags that `plan` and `train` share beside the head, and the request made from them.
//!
//! Limits are read from the constants that the library checks against.

use crate::failure::Failure;
use crate::head::HeadArguments;
use clap::builder::{
    NonEmptyStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser,
    TypedValueParser,
};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use privet_core::{Range, UnitDefinition};
use privet_data::Schema;
use privet_learn::linear::request::{
    DEFAULT_HUBER_WIDTH, DEFAULT_QUANTILE, LossInfo, REQUESTABLE_LOSSES,
};
use privet_learn::{Calibration, Method, ROWS, Request, RequestOptions};
use privet_optim::loss::{HUBER_WIDTH, QUANTILE};
use std::path::{Path, PathBuf};

/// Limits on the rate at zero.
const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);

/// The path of a table: `-` is standard input.
pub fn table() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new()
        .map(|path| if path == Path::new("-") { PathBuf::from("/dev/stdin") } else { path })
}

/// What a model minimises and the settings of its method, as written by the caller.
#[derive(Args, Debug, Clone)]
pub struct RequestFlags {
    /// What the model minimises [default: logistic for classes, squared for a number]
    #[arg(long, value_name = "LOSS", value_parser = losses())]
    pub loss: Option<String>,

    #[arg(
        long, value_name = "H", value_parser = range_parser(HUBER_WIDTH), allow_hyphen_values = true,
        help = format!("Half width of the rounded corner of huber-svm, huber and quantile, for the \
                        last two in units of half the target's span: {HUBER_WIDTH} \
                        [default: {DEFAULT_HUBER_WIDTH}]"),
    )]
    pub huber_width: Option<f64>,

    #[arg(
        long, value_name = "TAU", value_parser = range_parser(QUANTILE), allow_hyphen_values = true,
        help = format!("Which quantile --loss quantile predicts: {QUANTILE} \
                        [default: {DEFAULT_QUANTILE}]"),
    )]
    pub quantile: Option<f64>,

    #[arg(
        long, value_name = "RATE", value_parser = range_parser(RATE), allow_hyphen_values = true,
        help = "Rate that --loss poisson predicts at a score of 0, which the ridge pulls to, in the \
                target's unit and at most its upper bound [default: 0.135 times that bound]",
    )]
    pub rate_at_zero: Option<f64>,

    /// A setting of the method, by name; may be given several times. `privet methods` lists them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,

    #[command(flatten)]
    former: FormerFlags,
}

/// Settings that had flags of their own before 0.3.0; the flags remain, hidden: the same as
/// `--set NAME=VALUE`.
const FORMER: [&str; 4] = ["ridge", "gamma", "split", "steps"];

/// The settings given by such a flag.
#[derive(Debug, Clone, Default)]
struct FormerFlags(Vec<(String, String)>);

impl Args for FormerFlags {
    fn augment_args(command: Command) -> Command {
        let flag = |name| {
            let flag = Arg::new(name).long(name).value_name("VALUE").hide(true);
            flag.allow_hyphen_values(true).value_parser(NonEmptyStringValueParser::new())
        };
        command.args(FORMER.map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FormerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &str| Some((name.into(), matches.get_one::<String>(name)?.clone()));
        Ok(Self(FORMER.into_iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The names of losses, each with its meaning.
fn losses() -> PossibleValuesParser {
    let named = |info: &LossInfo| PossibleValue::new(info.name).help(info.meaning);
    PossibleValuesParser::new(REQUESTABLE_LOSSES.iter().map(named).collect::<Vec<_>>())
}

/// A parser that accepts exactly the values that the library accepts.
pub fn range_parser(
    range: Range,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text: &str| {
        let value: f64 = text.parse().map_err(|_| format!("accepted is {range}"))?;
        range.check(value).map_err(|error| error.to_string())
    }
}

/// A declared number of rows.
pub fn rows(text: &str) -> Result<u64, String> {
    let count: u64 = text.parse().map_err(|_| format!("accepted is a whole number, {ROWS}"))?;
    ROWS.check(count as f64).map_err(|error| error.to_string())?;
    Ok(count)
}

/// The name of a column of unit identifiers.
pub fn column(text: &str) -> Result<String, String> {
    UnitDefinition::from_column_name(text).map(|_| text.into()).map_err(|error| error.to_string())
}

/// A pair NAME=VALUE.
pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.into(), value.into()))
        }
        _ => Err("accepted is NAME=VALUE, such as ridge=2.5".into()),
    }
}

impl RequestFlags {
    /// The method's own settings, by name.
    pub fn own_settings(&self) -> Vec<(String, String)> {
        self.former.0.iter().chain(&self.set).cloned().collect()
    }

    /// The flags without settings that the method does not have.
    pub fn only_for(&self, method: &Method) -> Self {
        let mut some = self.clone();
        some.former.0.retain(|(name, _)| method.has(name));
        some.set.retain(|(name, _)| method.has(name));
        some
    }

    /// The flags without a method's own settings.
    pub fn of_no_method(&self) -> Self {
        Self { former: FormerFlags::default(), set: Vec::new(), ..self.clone() }
    }

    /// The request. Its δ is 1/rows² unless given.
    pub fn request(
        &self,
        head: &HeadArguments,
        (schema, rows): (&Schema, u64),
        method: &Method,
        calibration: Calibration,
    ) -> Result<Request, Failure> {
        let words = self.request_options(head, method.clone(), calibration);
        Ok(Request::build(schema, rows, &words)?)
    }

    /// The options as words, for a request.
    pub fn request_options(
        &self,
        head: &HeadArguments,
        method: Method,
        calibration: Calibration,
    ) -> RequestOptions {
        RequestOptions {
            epsilon: head.epsilon,
            delta: head.delta,
            neighbours: head.neighbours,
            loss: self.loss.clone(),
            huber_width: self.huber_width,
            quantile: self.quantile,
            rate_at_zero: self.rate_at_zero,
            method,
            settings: self.own_settings(),
            calibration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: RequestFlags,
    }

    /// A former flag means the same as `--set`, and no help shows it.
    #[test]
    fn former_flags_are_settings_and_are_not_shown() {
        for name in FORMER {
            let own = |line: [&str; 3]| Line::parse_from(line).flags.own_settings();
            let former = own(["privet", &format!("--{name}"), "7"]);
            assert_eq!(former, own(["privet", "--set", &format!("{name}=7")]));
            assert_eq!(former, [(name.to_string(), "7".to_string())]);
        }
        let shown = <Line as clap::CommandFactory>::command().render_long_help().to_string();
        assert!(FORMER.iter().all(|name| !shown.contains(&format!("--{name}"))), "{shown}");
    }
}
