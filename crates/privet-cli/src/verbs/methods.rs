//! `privet methods`: what can be asked for.

use crate::failure::Failure;
use crate::{output, words};
use clap::Args;
use privet_learn::{METHODS, MethodInfo};
use serde_json::{Value, json};

/// List the learners
#[derive(Args, Debug)]
#[command(long_about = "Lists the learners: what each does, where it comes from, and in which \
                        arithmetic its guarantee is proved. More in docs/learners.md.")]
pub struct Methods {
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Methods {
    /// Prints the list.
    pub fn run(self) -> Result<(), Failure> {
        if self.json {
            let list: Vec<Value> = METHODS.iter().map(as_json).collect();
            return output::print_json(&Value::from(list));
        }
        output::print(&METHODS.iter().map(in_words).collect::<String>())
    }
}

fn as_json(method: &MethodInfo) -> Value {
    json!({
        "name": method.name,
        "summary": method.summary,
        "source": method.source,
        "guarantee": method.guarantee,
        "settings": method.settings.iter().map(|setting| json!({
            "name": setting.name,
            "meaning": setting.meaning,
            "accepted": setting.accepted(),
        })).collect::<Vec<_>>(),
    })
}

fn in_words(method: &MethodInfo) -> String {
    let settings: String = method
        .settings
        .iter()
        .map(|setting| {
            let line = format!("{}: {}; {}", setting.name, setting.meaning, setting.accepted());
            words::wrapped(&line, "      ")
        })
        .collect();
    format!(
        "{}\n{}    guarantee: {}\n    source:    {}\n    settings (--set NAME=VALUE):\n{}",
        method.name,
        words::wrapped(method.summary, "    "),
        method.guarantee,
        method.source,
        settings,
    )
}
