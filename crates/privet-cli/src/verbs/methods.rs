//! `privet methods`: lists all methods.

use crate::failure::Failure;
use crate::{family, output, sentences};
use clap::Args;
use clap::builder::PossibleValuesParser;
use privet_learn::networks;
use privet_learn::ratings;
use privet_learn::selection::SELECTORS;
use privet_learn::streams;
use privet_learn::votes::{AGGREGATORS, TEACHERS, TeacherInfo};
use privet_learn::{Info, METHODS, SettingInfo};
use serde_json::{Value, json};

/// List the methods of every family: learners, selectors, completions, votes, networks, streams
#[derive(Args, Debug)]
#[command(long_about = "\
Lists the learners that `privet train` and `privet tune` take: what each does, where it comes from, and in
which arithmetic its guarantee is proved; with a flag the same of what another verb takes. More in
docs/learners.md.")]
pub struct Methods {
    /// What this verb takes, of those that are made of their families' declarations
    #[arg(value_name = "VERB", value_parser = PossibleValuesParser::new(family::names()), conflicts_with = "Family")]
    verb: Option<String>,
    #[command(flatten)]
    family: Family,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Whose methods; learners unless something else is asked for.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct Family {
    /// What `privet select` takes
    #[arg(long)]
    select: bool,
    /// What `privet complete` takes
    #[arg(long)]
    complete: bool,
    /// What `privet vote` and `privet answer` take: aggregators, then teachers
    #[arg(long)]
    vote: bool,
    /// What `privet train --model` takes
    #[arg(long)]
    network: bool,
    /// What `privet online train` takes
    #[arg(long)]
    online: bool,
}

impl Methods {
    /// Prints the list.
    pub fn run(self) -> Result<(), Failure> {
        let own = self.verb.as_deref().and_then(family::methods);
        let lines = own.unwrap_or_else(|| self.family.lines());
        if self.json {
            let list: Vec<Value> = lines.iter().map(as_json).collect();
            return output::print_json(&Value::from(list));
        }
        output::print(&lines.iter().map(in_words).collect::<String>())
    }
}

impl Family {
    fn lines(&self) -> Vec<Line> {
        match self {
            Self { select: true, .. } => of(SELECTORS),
            Self { complete: true, .. } => of(ratings::METHODS),
            Self { vote: true, .. } => {
                let teachers = TEACHERS.iter().map(teacher);
                of(AGGREGATORS).into_iter().chain(teachers).collect()
            }
            Self { network: true, .. } => of(networks::METHODS),
            Self { online: true, .. } => of(streams::METHODS),
            _ => of(METHODS),
        }
    }
}

/// Name, summary, source, guarantee and settings.
pub type Line = (&'static str, &'static str, &'static str, &'static str, &'static [SettingInfo]);

pub fn of<M>(methods: &'static [Info<M>]) -> Vec<Line> {
    let line =
        |info: &Info<M>| (info.name, info.summary, info.source, info.guarantee, info.settings);
    methods.iter().map(line).collect()
}

fn teacher(info: &TeacherInfo) -> Line {
    let guarantee = "that of the aggregator, for any teacher";
    (info.name, info.summary, "–", guarantee, info.settings)
}

fn as_json((name, summary, source, guarantee, settings): &Line) -> Value {
    json!({
        "name": name,
        "summary": summary,
        "source": source,
        "guarantee": guarantee,
        "settings": settings.iter().map(|setting| json!({
            "name": setting.name,
            "meaning": setting.meaning,
            "accepted": setting.accepted(),
        })).collect::<Vec<_>>(),
    })
}

fn in_words((name, summary, source, guarantee, settings): &Line) -> String {
    let settings: String = settings
        .iter()
        .map(|setting| {
            let line = format!("{}: {}; {}", setting.name, setting.meaning, setting.accepted());
            sentences::wrap_lines(&line, "      ")
        })
        .collect();
    let named = |name: &str, text: &str| sentences::wrap_lines(&format!("{name}: {text}"), "    ");
    format!(
        "{name}\n{}{}{}    settings (--set NAME=VALUE):\n{settings}",
        sentences::wrap_lines(summary, "    "),
        named("guarantee", guarantee),
        named("source", source),
    )
}
