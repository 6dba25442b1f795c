//! `privet-bench list`: the suites and their content.

use crate::parts;
use crate::suite::{self, BUILT_IN, Filter, Suite};
use clap::Args;
use privet_cli::shared::{self, Failure, number, wrap_after_margin, wrap_lines};
use serde_json::{Value, json};

/// List the suites, or what is in one
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  privet-bench list
  privet-bench list iyengar-logistic
  privet-bench list mine.toml --json")]
pub struct List {
    /// A suite's name, or a TOML file; all that come with privet unless given
    #[arg(value_name = "SUITE")]
    suite: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl List {
    /// Lists.
    pub fn run(self) -> Result<(), Failure> {
        let suites = match &self.suite {
            Some(name) => vec![suite::find(name)?],
            None => BUILT_IN
                .iter()
                .map(|known| suite::find(known.name))
                .collect::<Result<Vec<_>, _>>()?,
        };
        if self.json {
            let list = suites.iter().map(as_json).collect::<Result<Vec<Value>, Failure>>()?;
            return shared::print_json(&Value::from(list));
        }
        let whole = self.suite.is_some();
        let text = suites.iter().map(|suite| in_words(suite, whole));
        let mut text = text.collect::<Result<Vec<_>, _>>()?.concat();
        if !whole {
            for known in parts::PART_SUITES {
                let (title, all) = ((known.title)()?, (known.parts)(&[])?);
                text.push_str(&wrap_lines(&format!("{}: {title}", known.name), ""));
                text.push_str(&wrap_after_margin(
                    &format!("    {}: ", known.kind),
                    &all.join(", "),
                ));
            }
        }
        shared::print(&text)
    }
}

fn names(suite: &Suite) -> (Vec<&str>, Vec<&str>) {
    let datasets = suite.datasets.iter().map(|source| source.name.as_str());
    (datasets.collect(), suite.entries.iter().map(|entry| entry.name.as_str()).collect())
}

fn as_json(suite: &Suite) -> Result<Value, Failure> {
    let forecast = suite::forecast(suite, &Filter::default())?;
    let methods = suite.entries.iter().map(|entry| {
        json!({
            "name": entry.name,
            "label": entry.label,
            "method": entry.learner.name(),
            "peer": entry.learner.peer().is_some(),
            "calibrations": entry.calibrations,
            "published": entry.published,
            "epsilons": entry.epsilons,
            "neighbours": entry.neighbours,
            "points": entry.points.len(),
            "datasets": entry.datasets,
        })
    });
    Ok(json!({
        "name": suite.name,
        "title": suite.title,
        "runs": suite.runs,
        "datasets": names(suite).0,
        "methods": methods.collect::<Vec<_>>(),
        "targets": suite.targets.len(),
        "models": forecast.models(),
        "core_seconds": forecast.seconds,
    }))
}

fn in_words(suite: &Suite, whole: bool) -> Result<String, Failure> {
    let forecast = suite::forecast(suite, &Filter::default())?;
    let cores = crate::head::cores();
    let (datasets, methods) = names(suite);
    let time = suite::duration_words(forecast.seconds / cores as f64);
    let (models, cores) = (forecast.models(), suite::counted(cores as u64, "core"));
    let models = format!("{}, roughly {time} on {cores}", suite::counted(models, "model"));
    let mut text = wrap_lines(&format!("{}: {}", suite.name, suite.title), "");
    text.push_str(&wrap_lines(&models, "    "));
    text.push_str(&wrap_after_margin("    data sets: ", &datasets.join(", ")));
    text.push_str(&wrap_after_margin("    methods: ", &methods.join(", ")));
    if !suite.targets.is_empty() {
        text.push_str(&format!("    targets: {}\n", suite.targets.len()));
    }
    if !whole {
        return Ok(text);
    }
    let mut rows = vec![
        ["name", "method", "points", "constants", "budgets", "published"]
            .map(String::from)
            .to_vec(),
    ];
    for entry in &suite.entries {
        let constants: Vec<String> = entry.calibrations.iter().map(ToString::to_string).collect();
        let epsilons: Vec<String> = entry.epsilons.iter().map(|e| number(*e)).collect();
        let private = entry.learner.is_private();
        rows.push(vec![
            entry.name.clone(),
            entry.learner.name().into(),
            entry.points.len().to_string(),
            match entry.learner.peer() {
                Some(_) => "its own".into(),
                None => constants.join(", "),
            },
            if private { epsilons.join(" ") } else { "–".into() },
            entry.published.clone().unwrap_or_else(|| "–".into()),
        ]);
    }
    text.push('\n');
    text.push_str(&shared::table(&rows));
    Ok(text)
}
