//! `privet methods`: what can be asked for.

use crate::failure::Failure;
use crate::{output, words};
use clap::Args;
use privet_learn::completion;
use privet_learn::nonconvex;
use privet_learn::select::SELECTORS;
use privet_learn::transfer::{AGGREGATORS, AggregatorInfo, TEACHERS, TeacherInfo};
use privet_learn::{METHODS, SettingInfo};
use serde_json::{Value, json};

/// List the learners, the selectors of columns, the ways to complete ratings or to vote, the trainings of networks
#[derive(Args, Debug)]
#[command(long_about = "Lists the learners: what each does, where it comes from, and in which \
                        arithmetic its guarantee is proved; with --select the same of what \
                        `privet select` takes, with --complete of what `privet complete` takes, with \
                        --vote of what `privet vote` takes, and with --network of what \
                        `privet train --model` takes. More in \
                        docs/learners.md.")]
pub struct Methods {
    /// What `privet select` takes
    #[arg(long)]
    select: bool,
    /// What `privet complete` takes
    #[arg(long, conflicts_with = "select")]
    complete: bool,
    /// What `privet vote` and `privet answer` take: aggregators, then teachers
    #[arg(long, conflicts_with_all = ["select", "complete"])]
    vote: bool,
    /// What `privet train --model` takes
    #[arg(long, conflicts_with_all = ["select", "complete", "vote"])]
    network: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Methods {
    /// Prints the list.
    pub fn run(self) -> Result<(), Failure> {
        let lines: Vec<Line> = match (self.select, self.complete) {
            _ if self.vote => voting(),
            _ if self.network => nonconvex::METHODS.iter().map(training).collect(),
            (_, true) => completion::METHODS.iter().map(completing).collect(),
            (true, _) => SELECTORS
                .iter()
                .map(|info| (info.name, info.summary, info.source, info.guarantee, info.settings))
                .collect(),
            (false, false) => METHODS
                .iter()
                .map(|info| (info.name, info.summary, info.source, info.guarantee, info.settings))
                .collect(),
        };
        if self.json {
            let list: Vec<Value> = lines.iter().map(as_json).collect();
            return output::print_json(&Value::from(list));
        }
        output::print(&lines.iter().map(in_words).collect::<String>())
    }
}

/// Name, summary, source, guarantee and settings.
type Line = (&'static str, &'static str, &'static str, &'static str, &'static [SettingInfo]);

fn completing(info: &completion::MethodInfo) -> Line {
    let guarantee = match info.private {
        true => "proved with rounding, users protected whole",
        false => "none: for comparison",
    };
    (info.name, info.summary, info.source, guarantee, info.settings)
}

fn voting() -> Vec<Line> {
    let aggregator = |info: &AggregatorInfo| {
        let guarantee = "(ε, δ), proved with rounding; no pure ε";
        (info.name, info.summary, info.source, guarantee, info.settings)
    };
    let teacher = |info: &TeacherInfo| {
        let guarantee = "that of the aggregator, for any teacher";
        (info.name, info.summary, "–", guarantee, info.settings)
    };
    AGGREGATORS.iter().map(aggregator).chain(TEACHERS.iter().map(teacher)).collect()
}

fn training(info: &nonconvex::MethodInfo) -> Line {
    (info.name, info.summary, info.source, info.guarantee(), info.settings)
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
            words::wrapped(&line, "      ")
        })
        .collect();
    let named = |name: &str, text: &str| words::wrapped(&format!("{name}: {text}"), "    ");
    format!(
        "{name}\n{}{}{}    settings (--set NAME=VALUE):\n{settings}",
        words::wrapped(summary, "    "),
        named("guarantee", guarantee),
        named("source", source),
    )
}
