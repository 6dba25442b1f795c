//! The flags that `plan` and `train` share, and the request that they make.
//!
//! Limits are read from the constants that the library itself checks against.

use crate::failure::Failure;
use clap::Args;
use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use privet_core::{DELTA, EPSILON, Neighbours, Range, Relation, Whose};
use privet_data::Schema;
use privet_learn::linear::request::{DEFAULT_HUBER_WIDTH, DEFAULT_QUANTILE, LOSSES, LossInfo};
use privet_learn::{
    Calibration, GAMMA, METHODS, Method, RIDGE, ROWS, Request, SPLIT, STEPS, Words,
};
use privet_optim::loss::{HUBER_WIDTH, QUANTILE};
use std::path::{Path, PathBuf};

/// Limits on that rate.
const RATE: Range = Range::open("rate", 0.0, f64::INFINITY);

/// Where rows are read from: `-` is standard input.
pub fn table() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new()
        .map(|path| if path == Path::new("-") { PathBuf::from("/dev/stdin") } else { path })
}

/// What decides the guarantee, as written by the caller.
#[derive(Args, Debug, Clone)]
pub struct RequestFlags {
    /// Privacy budget ε; privet picks none for you
    #[arg(
        long, value_name = "E", value_parser = within(EPSILON), allow_hyphen_values = true,
        help = format!("Privacy budget ε: {EPSILON}. Smaller is more private; privet picks none \
                        for you"),
    )]
    pub epsilon: Option<f64>,

    #[arg(
        long, value_name = "D", value_parser = within(DELTA), allow_hyphen_values = true,
        help = format!("What probabilities may differ by beyond e^ε, δ: {DELTA}; 0 asks for pure ε \
                        [default: 1/N², N the number of rows]"),
    )]
    pub delta: Option<f64>,

    /// What the model minimises [default: logistic for classes, squared for a number]
    #[arg(long, value_name = "LOSS", value_parser = losses())]
    pub loss: Option<String>,

    #[arg(
        long, value_name = "H", value_parser = within(HUBER_WIDTH), allow_hyphen_values = true,
        help = format!("Half width of the rounded corner of huber-svm, huber and quantile, for the \
                        last two in units of half the target's span: {HUBER_WIDTH} \
                        [default: {DEFAULT_HUBER_WIDTH}]"),
    )]
    pub huber_width: Option<f64>,

    #[arg(
        long, value_name = "TAU", value_parser = within(QUANTILE), allow_hyphen_values = true,
        help = format!("Which quantile --loss quantile predicts: {QUANTILE} \
                        [default: {DEFAULT_QUANTILE}]"),
    )]
    pub quantile: Option<f64>,

    #[arg(
        long, value_name = "RATE", value_parser = within(RATE), allow_hyphen_values = true,
        help = "Rate that --loss poisson predicts at a score of 0, which the ridge pulls to, in the \
                target's unit and at most its upper bound [default: 0.135 times that bound]",
    )]
    pub rate_at_zero: Option<f64>,

    /// Whose difference must not show: one record (or user) exchanged for another, or one added
    /// or removed (then the number of rows is private too)
    #[arg(long, value_name = "RELATION", default_value_t = Neighbours::ReplaceOne)]
    pub neighbours: Neighbours,

    #[arg(
        long, value_name = "λ", value_parser = within(RIDGE), allow_hyphen_values = true,
        help = format!("Strength of the ridge λ/2·‖θ‖² beside the sum of losses: {RIDGE} \
                        [default: chosen from public facts]"),
    )]
    pub ridge: Option<f64>,

    #[arg(
        long, value_name = "γ", value_parser = within(GAMMA), allow_hyphen_values = true,
        help = format!("Gradient norm of the mean objective at which {} stop: {GAMMA} \
                        [default: the method's own]", learners_with("gamma")),
    )]
    pub gamma: Option<f64>,

    #[arg(
        long, value_name = "F", value_parser = within(SPLIT), allow_hyphen_values = true,
        help = format!("Share of the noise budget for the noise on the result of {}: {SPLIT} \
                        [default: the method's own]", learners_with("split")),
    )]
    pub split: Option<f64>,

    #[arg(
        long, value_name = "T", value_parser = steps, allow_hyphen_values = true,
        help = format!("Noised steps of {}, {} [default: the method's own]",
                       learners_with("steps"), STEPS.whole()),
    )]
    pub steps: Option<u32>,

    /// Any other setting of the method, by name; may be given several times. `privet methods` lists
    /// them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

/// The learners that have a setting of this name.
fn learners_with(setting: &str) -> String {
    let having = METHODS.iter().filter(|info| info.settings.iter().any(|one| one.name == setting));
    let names: Vec<&str> = having.map(|info| info.name).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The names of losses, each with what it is.
fn losses() -> PossibleValuesParser {
    let named = |info: &LossInfo| PossibleValue::new(info.name).help(info.meaning);
    PossibleValuesParser::new(LOSSES.iter().map(named).collect::<Vec<_>>())
}

/// A parser that accepts exactly what the library accepts.
pub fn within(
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

/// A number of noised steps.
fn steps(text: &str) -> Result<u32, String> {
    let count: u32 = text.parse().map_err(|_| format!("accepted is a whole number, {STEPS}"))?;
    STEPS.check(f64::from(count)).map_err(|error| error.to_string())?;
    Ok(count)
}

/// The name of a column that says whose a record is.
pub fn column(text: &str) -> Result<String, String> {
    Whose::named(text).map(|_| text.into()).map_err(|error| error.to_string())
}

/// NAME=VALUE.
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
    pub fn own(&self) -> Vec<(String, String)> {
        let numbers = [("ridge", self.ridge), ("gamma", self.gamma), ("split", self.split)];
        let numbers = numbers.map(|(name, value)| (name, value.map(|value| value.to_string())));
        let steps = ("steps", self.steps.map(|steps| steps.to_string()));
        let given = numbers.into_iter().chain([steps]);
        let given = given.filter_map(|(name, value)| Some((name.to_string(), value?)));
        given.chain(self.set.iter().cloned()).collect()
    }

    /// The same without what the method does not have.
    pub fn only_for(&self, method: &Method) -> Self {
        let mut some = self.clone();
        let keep = |name: &str| method.has(name);
        some.ridge = some.ridge.filter(|_| keep("ridge"));
        some.gamma = some.gamma.filter(|_| keep("gamma"));
        some.split = some.split.filter(|_| keep("split"));
        some.steps = some.steps.filter(|_| keep("steps"));
        some.set.retain(|(name, _)| keep(name));
        some
    }

    /// The same with no setting of a method's own.
    pub fn of_no_method(&self) -> Self {
        let mut some = self.clone();
        (some.ridge, some.gamma, some.split, some.steps) = (None, None, None, None);
        some.set.clear();
        some
    }

    /// Everything a plan depends on. The guarantee's δ is 1/rows² unless given.
    pub fn request(
        &self,
        schema: &Schema,
        rows: u64,
        method: &Method,
        calibration: Calibration,
    ) -> Result<Request, Failure> {
        let words = self.words(method.clone(), calibration);
        Ok(Request::build(schema, rows, &words)?)
    }

    /// What was asked for, in words.
    pub fn words(&self, method: Method, calibration: Calibration) -> Words {
        Words {
            epsilon: self.epsilon,
            delta: self.delta,
            neighbours: self.neighbours,
            loss: self.loss.clone(),
            huber_width: self.huber_width,
            quantile: self.quantile,
            rate_at_zero: self.rate_at_zero,
            method,
            settings: self.own(),
            calibration,
        }
    }

    /// Which tables are neighbours, counted in which unit.
    pub fn relation(&self, schema: &Schema) -> Relation {
        Relation::new(self.neighbours, schema.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use std::collections::BTreeSet;

    /// The help of a flag for a method's setting names the learners that have it and no other.
    #[test]
    fn flags_of_settings_name_the_learners_that_have_them() {
        let shape = Cli::shape();
        let mut seen = 0;
        for verb in ["train", "plan"].map(|name| shape.find_subcommand(name).unwrap()) {
            for setting in ["gamma", "split", "steps"] {
                let flag = verb.get_arguments().find(|flag| flag.get_id() == setting).unwrap();
                let help = flag.get_help().unwrap().to_string();
                let is_name = |c: char| c.is_alphanumeric() || c == '-';
                let words: BTreeSet<&str> = help.split(|c| !is_name(c)).collect();
                for info in METHODS {
                    let has = info.settings.iter().any(|one| one.name == setting);
                    assert_eq!(words.contains(info.name), has, "{setting}, {}: {help}", info.name);
                    seen += usize::from(has);
                }
            }
        }
        assert!(seen > 20, "{seen}");
    }
}
