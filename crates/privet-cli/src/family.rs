//! One verb for every family that is offered, made of its declaration: its flags are those of the head,
//! `--method` where there are several, the family's own words and those of every release; it is
//! planned, paid for, carried out and written in the one order. A family that `privet_learn` lists as
//! offered has a verb with nothing written here.

use crate::failure::Failure;
use crate::head::{FlagPresence, HeadArguments, Shape, USUAL_HEAD, with_head};
use crate::output::{self, json_number, number};
use crate::progress::Meter;
use crate::releasing::{Releasing, read_table};
use crate::settings::assignment;
use crate::verbs::methods::{Line, of as lines};
use crate::{say, sentences};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use privet_learn::{
    BudgetOptions, FamilyVisitor, OfferedFamily, Plan, RegisteredMethod, Request, SettingInfo,
    each_offered, plan,
};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::atomic::AtomicBool;

/// A verb that was made: how it is written, and what it does.
struct FamilyVerb {
    name: &'static str,
    command: fn() -> Command,
    run: fn(&ArgMatches) -> Result<(), Failure>,
}

/// The verbs of all families that are offered.
fn verbs() -> Vec<FamilyVerb> {
    struct OfferedVerbs(Vec<FamilyVerb>);
    impl FamilyVisitor for OfferedVerbs {
        fn family<F: OfferedFamily>(&mut self) {
            self.0.push(FamilyVerb { name: F::VERB, command: command::<F>, run: run::<F> });
        }
    }
    let mut offered = OfferedVerbs(Vec::new());
    each_offered(&mut offered);
    offered.0
}

/// What they are called.
pub fn names() -> Vec<&'static str> {
    verbs().iter().map(|verb| verb.name).collect()
}

/// The methods of the family of this verb, a line each; `None` where no family that is offered has it.
pub fn methods(verb: &str) -> Option<Vec<Line>> {
    struct MethodLines<'a>(&'a str, Option<Vec<Line>>);
    impl FamilyVisitor for MethodLines<'_> {
        fn family<F: OfferedFamily>(&mut self) {
            if F::VERB == self.0 {
                self.1 = Some(lines(F::Learner::ALL));
            }
        }
    }
    let mut found = MethodLines(verb, None);
    each_offered(&mut found);
    found.1
}

/// A verb that was asked for, with what it was told.
pub struct ParsedCommand {
    run: fn(&ArgMatches) -> Result<(), Failure>,
    told: ArgMatches,
}

impl fmt::Debug for ParsedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.told.fmt(f)
    }
}

impl ParsedCommand {
    /// Does it.
    pub fn run(self) -> Result<(), Failure> {
        (self.run)(&self.told)
    }
}

impl FromArgMatches for ParsedCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, told)| {
            let verb = verbs().into_iter().find(|verb| verb.name == name)?;
            Some(Self { run: verb.run, told: told.clone() })
        });
        found.ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for ParsedCommand {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(verbs().iter().map(|verb| (verb.command)()))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        verbs().iter().any(|verb| verb.name == name)
    }
}

/// A family's head.
fn shape<F: OfferedFamily>() -> Shape {
    Shape { epsilon: (FlagPresence::Always, F::OF_EPSILON), delta: F::OF_DELTA, ..USUAL_HEAD }
}

/// What is asked for without data.
const PLAN: &str = "plan";

/// A family's verb as it is written.
fn command<F: OfferedFamily>() -> Command {
    let verb = with_head(Command::new(F::VERB), &shape::<F>());
    let verb = F::REQUEST_FIELDS.iter().fold(verb, |verb, word| verb.arg(flag(word)));
    let verb = match F::Learner::ALL {
        [] => verb,
        all => verb.arg(method::<F>(all.iter().map(|info| info.name).collect())).arg(
            Arg::new("set")
                .long("set")
                .value_name("NAME=VALUE")
                .value_parser(assignment)
                .action(ArgAction::Append)
                .help("A setting of the method, by name; may be given several times. `privet methods` lists them"),
        ),
    };
    let asked_for = Arg::new(PLAN)
        .long(PLAN)
        .action(ArgAction::SetTrue)
        .requires("rows")
        .help("Show what the budget buys, and release nothing: no data are read");
    let unless_planned = |flag: Arg| flag.required(false).required_unless_present(PLAN);
    Releasing::augment_args(verb.arg(asked_for))
        .mut_arg("data", unless_planned)
        .mut_arg("out", unless_planned)
        .about(F::HELP_LINE)
        .long_about(F::HELP_TEXT)
        .after_help(F::EXAMPLES)
}

fn method<F: OfferedFamily>(names: Vec<&'static str>) -> Arg {
    let usual = F::Learner::default().info().name;
    Arg::new("method")
        .long("method")
        .value_name("METHOD")
        .help(format!("How: {} [default: {usual}]; see `privet methods`", names.join(", ")))
        .value_parser(|word: &str| match F::Learner::by_name(word) {
            Some(method) => Ok(method.info().name),
            None => Err(format!("accepted: {}", F::Learner::accepted())),
        })
}

/// One of a family's own words.
fn flag(word: &'static SettingInfo) -> Arg {
    let name: &'static str = word.name;
    let help = match word.limits() {
        Some(limits) => format!("{}: {limits}", word.meaning),
        None => word.meaning.into(),
    };
    let read = |text: &str| word.read(text).map_err(|error| error.to_string());
    let flag = Arg::new(name).long(name).value_name(word.value_name()).help(help);
    flag.required(word.is_needed()).allow_hyphen_values(true).value_parser(read)
}

/// What a family was asked for.
struct FamilyRequest<F: OfferedFamily> {
    words: Map<String, Value>,
    method: Option<F::Learner>,
    budget: BudgetOptions,
}

impl<F: OfferedFamily> FamilyRequest<F> {
    fn of(matches: &ArgMatches, head: &HeadArguments) -> Result<Self, Failure> {
        let given = |word: &SettingInfo| {
            let value = matches.get_one::<Value>(word.name)?;
            Some((word.name.to_string(), value.clone()))
        };
        let (epsilon, delta) = head.budget()?;
        let method = match F::Learner::ALL {
            [] => None,
            _ => Some(Self::method(matches)?),
        };
        Ok(Self {
            words: F::REQUEST_FIELDS.iter().filter_map(given).collect(),
            method,
            budget: BudgetOptions { epsilon, delta, neighbours: head.neighbours },
        })
    }

    fn method(matches: &ArgMatches) -> Result<F::Learner, Failure> {
        let named =
            matches.get_one::<&'static str>("method").and_then(|name| F::Learner::by_name(name));
        let set = matches.get_many::<(String, String)>("set").into_iter().flatten();
        let mut method = named.unwrap_or_default();
        for (name, value) in set {
            method = method.with(name, value)?;
        }
        Ok(method)
    }

    /// What is done, in a word or two.
    fn doing(&self) -> String {
        match &self.method {
            Some(method) => format!("{} {}", F::VERB, method.info().name),
            None => F::VERB.into(),
        }
    }

    fn plan(&self, schema: &privet_data::Schema, rows: u64) -> Result<Plan<F>, Failure> {
        let (words, method) = (self.words.clone(), self.method.clone());
        let request: Request<F> = F::of_words(words, method, &self.budget, (schema, rows))?;
        let _meter = Meter::spinner("planning");
        Ok(plan(&request)?)
    }
}

/// Refuses before a record is read whatever can be refused then.
fn run<F: OfferedFamily>(matches: &ArgMatches) -> Result<(), Failure> {
    let head = HeadArguments::of(matches, &shape::<F>());
    let wanted = FamilyRequest::<F>::of(matches, &head)?;
    let schema = head.schema()?;
    if matches.get_flag(PLAN) {
        let plan = wanted.plan(&schema, head.rows.unwrap_or_default())?;
        return show_plan(&plan, matches.get_flag("json"));
    }
    let releasing =
        Releasing::from_arg_matches(matches).map_err(|usage| Failure::input(usage.to_string()))?;
    let (table, inputs) = (head.table(&schema)?, head.inputs(&[]));
    let plan = |rows| wanted.plan(&schema, rows);
    let (place, reserved) = releasing.reserve(table, &inputs, &wanted.doing(), plan)?;
    let read = |plan: &Plan<F>| read_table(head.data(), plan.schema(), head.relation(&schema));
    let (ready, data) = reserved.read(read)?;
    let mut source = releasing.source()?;
    let made = ready.draw(&data, source.as_mut(), &AtomicBool::new(false))?;
    releasing.keep(place, made)
}

/// A plan, for people or for a program.
fn show_plan<F: OfferedFamily>(plan: &Plan<F>, as_json: bool) -> Result<(), Failure> {
    let (request, claim) = (plan.request(), plan.guarantee());
    if as_json {
        return output::print_json(&json!({
            "task": F::NAME,
            "request": request,
            "epsilon": claim.map(|claim| json_number(claim.epsilon)),
            "delta": claim.map(|claim| claim.delta),
            "arithmetic": plan.arithmetic(),
            "events": plan.events(),
            "settings": plan.settings(),
            "notes": plan.notes(),
        }));
    }
    let schema = plan.schema();
    say!(
        "{} rows declared, {} neighbours, unit: {}",
        request.rows,
        request.neighbours,
        schema.unit()
    );
    let (noise, other) = sentences::settings(&plan.settings());
    let mut text = format!("{}\n", request.task.summary());
    text.push_str(&sentences::wrap_lines(&format!("noise: {noise}; settings: {other}"), "    "));
    let proved = match claim {
        Some(claim) => format!(
            "proved: ε = {}, δ = {}, {}",
            number(claim.epsilon),
            number(claim.delta),
            sentences::arithmetic_words(plan.arithmetic())
        ),
        None => "no guarantee: no noise is added".into(),
    };
    text.push_str(&sentences::wrap_lines(&proved, "    "));
    for note in plan.notes() {
        text.push_str(&sentences::wrap_lines(&format!("note: {note}"), "    "));
    }
    output::print(&text)
}

#[cfg(test)]
#[path = "../../privet-learn/tests/toys/mean.rs"]
mod toy;

#[cfg(test)]
mod tests {
    use super::toy::Mean;
    use super::*;
    use privet_learn::{Family, Task};

    /// A family that is declared, and no more, has flags, help and a plan.
    #[test]
    fn a_declared_family_has_a_verb() {
        let shape = command::<Mean>();
        let help = shape.clone().render_long_help().to_string();
        assert_eq!(shape.get_about().unwrap().to_string(), Mean::HELP_LINE);
        assert_eq!(shape.get_long_about().unwrap().to_string(), Mean::HELP_TEXT);
        for words in ["--epsilon", "--plan", "--out", "--ledger", "[default: 0]"] {
            assert!(help.contains(words), "{words}: {help}");
        }
        assert!(!help.contains("--method") && !help.contains("--set"), "{help}");
        let told = |line: &str| shape.clone().try_get_matches_from(line.split(' '));
        assert!(told("mean t.csv --schema s.toml --epsilon 1").is_err(), "--out is missing");
        assert!(told("mean --schema s.toml --epsilon 1 --plan").is_err(), "--rows is missing");
        assert!(told("mean --schema s.toml --epsilon -1 --rows 9 --plan").is_err(), "no budget");
        let told =
            told("mean --schema s.toml --epsilon 1 --rows 1000 --neighbours add-remove --plan");
        let told = told.unwrap();
        let head = HeadArguments::of(&told, &super::shape::<Mean>());
        let schema = privet_data::Schema::from_toml(
            "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
             [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n",
        );
        let wanted = FamilyRequest::<Mean>::of(&told, &head).unwrap();
        let plan = wanted.plan(&schema.unwrap(), 1000).unwrap();
        assert_eq!(plan.guarantee().unwrap().epsilon, 1.0);
        assert_eq!((Mean::VERB, Mean::NAME, wanted.doing()), ("mean", "mean", "mean".into()));
        assert!(show_plan(&plan, true).is_ok());
    }

    /// Every family that is offered is a verb of the command, by a name that no other verb has.
    #[test]
    fn every_family_that_is_offered_is_a_verb() {
        let shape = crate::cli::Cli::shape();
        for name in names() {
            let found = shape.get_subcommands().filter(|verb| verb.get_name() == name).count();
            assert_eq!(found, 1, "{name}");
            assert!(methods(name).is_some());
        }
        assert!(names().len() >= 2);
        shape.debug_assert();
    }
}
