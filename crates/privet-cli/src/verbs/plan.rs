//! `privet plan`: the plan for a budget, without any data.

use super::plan_ratings;
use crate::failure::Failure;
use crate::head::{FlagPresence, Head, head};
use crate::output::{self, json_number, number};
use crate::progress::Meter;
use crate::settings::{self, RequestFlags};
use crate::{say, sentences};
use clap::Args;
use privet_dp::mechanism::shares::{NoiseMode, Participants};
use privet_learn::linear::forecast::{BASE_RATE, Forecast};
use privet_learn::ratings::Method as Completion;
use privet_learn::{self as learn, Calibration, LearnError, METHODS, Method};
use serde_json::{Value, json};

/// Show noise, settings and predicted cost of a budget, before any data is read
#[derive(Args, Debug)]
#[command(
    long_about = "\
Makes the plan that `privet train` would execute: regularisation, noise scales and the ε that is
proved for them. A plan depends on public facts alone (the schema, the declared number of rows, the
budget and the settings), so no data is read.

Predicted is what privacy costs: of what the same model without privacy gains over always saying
the commonest class (of its R², for a number), the share that is lost, on a table like most. It is no
bound, and leaves settings out of account. A note says where the model will hardly beat the commonest class, and what to change; how
common that class is, if you know it from elsewhere, is given with --base-rate.

`sound` uses constants that are proved; `printed` those of the papers, and shows what the accountant
can prove for them, which may be more or less than the paper says.",
    after_help = "\
Examples:
  privet plan --schema s.toml --rows 20000 --epsilon 1
  privet plan --schema s.toml --rows 20000 --epsilon 1 --base-rate 0.9
  privet plan --schema s.toml --rows 20000 --epsilon 0.5 --delta 0 --method all
  privet plan --schema s.toml --rows 20000 --epsilon 1 --neighbours add-remove --json
  privet plan --schema ratings.toml --rows 6000 --epsilon 1 --complete all"
)]
pub struct ShowPlan {
    #[command(flatten)]
    head: Head<OfPlans>,
    #[arg(
        long, value_name = "M", default_value = "auto", value_parser = parse_method,
        help = format!("Which learner: {}, or all", Method::accepted()),
    )]
    method: RequestedMethods,
    #[arg(
        long, value_name = "M", value_parser = plan_ratings::parse_method, conflicts_with = "method",
        help = format!("Of `privet complete`, for a schema of ratings and N users: {}, or all", Completion::accepted()),
    )]
    complete: Option<plan_ratings::RequestedMethods>,
    /// Share of the commonest class, from public knowledge: predictions are then for it, not for classes
    /// of equal size
    #[arg(
        long, value_name = "SHARE", value_parser = settings::range_parser(BASE_RATE), allow_hyphen_values = true,
        conflicts_with = "complete",
    )]
    base_rate: Option<f64>,
    #[command(flatten)]
    settings: RequestFlags,
    /// Among so many parties who show their rows to nobody, N all together; see `privet party`
    #[arg(long, value_name = "M", requires = "servers", conflicts_with = "complete")]
    parties: Option<u32>,
    /// Servers that add up what the parties send in shares, each with noise of its own
    #[arg(long, value_name = "K", requires = "parties")]
    servers: Option<u32>,
    /// How many of the servers are trusted to keep what they know to themselves
    #[arg(long, value_name = "T", requires = "servers", default_value_t = 1)]
    honest: u32,
    #[arg(
        long, value_name = "MODE", requires = "servers", default_value_t = NoiseMode::Shares,
        help = format!(
            "Who draws the noise of the servers: {} (each its own, or all one together)", NoiseMode::ACCEPTED
        ),
    )]
    noise: NoiseMode,
    #[arg(
        long, value_name = "C",
        help = format!("Whose constants: {} [default: both are shown]", Calibration::ACCEPTED),
    )]
    calibration: Option<Calibration>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

head! {
    OfPlans {
        data: (FlagPresence::Never, ""),
        epsilon: (FlagPresence::Perhaps, ""),
        rows: (FlagPresence::Always, "rows", "Number of rows you declare"),
    }
}

/// One method or all private ones.
#[derive(Debug, Clone)]
struct RequestedMethods(Vec<Method>);

fn parse_method(word: &str) -> Result<RequestedMethods, String> {
    let parse = |name: &str| name.parse::<Method>().map_err(|error| error.to_string());
    if word == "all" {
        let private = METHODS.iter().filter(|method| method.name != "non-private");
        return Ok(RequestedMethods(
            private.map(|method| parse(method.name)).collect::<Result<_, _>>()?,
        ));
    }
    Ok(RequestedMethods(vec![parse(word).map_err(|error| format!("{error}, all"))?]))
}

/// A plan, or the reason why there is none.
struct Row {
    method: Method,
    calibration: Calibration,
    outcome: Result<learn::Plan, LearnError>,
    /// The prediction for the declared base rate, or for classes of equal size.
    forecast: Option<Forecast>,
    /// The notes of the plan, with those on classes of equal size replaced by those on the base rate.
    notes: Vec<String>,
}

impl Row {
    fn new(
        method: Method,
        calibration: Calibration,
        outcome: Result<learn::Plan, LearnError>,
        base_rate: Option<f64>,
    ) -> Result<Self, LearnError> {
        let (forecast, notes) = match &outcome {
            Ok(plan) => plan.forecast_and_notes(base_rate)?,
            Err(_) => (None, Vec::new()),
        };
        Ok(Self { method, calibration, outcome, forecast, notes })
    }
}

impl ShowPlan {
    /// Plans every requested method under every requested calibration.
    pub fn run(self) -> Result<(), Failure> {
        let schema = self.head.schema()?;
        let rows_declared = self.head.rows.unwrap_or_default();
        if let Some(asked) = &self.complete {
            return plan_ratings::show(&schema, &self.head, asked, &self.settings, self.json);
        }
        let calibrations = match self.calibration {
            Some(one) => vec![one],
            None => vec![Calibration::Sound, Calibration::Printed],
        };
        let mut rows = Vec::new();
        let meter = Meter::spinner("planning");
        for method in &self.method.0 {
            for &calibration in &calibrations {
                if !method.is_private() && !rows.is_empty() {
                    continue;
                }
                // With `all`, a setting of one method does not rule out the others.
                let settings = match self.method.0.len() {
                    1 => self.settings.clone(),
                    _ => self.settings.only_for(method),
                };
                let request =
                    settings.request(&self.head, (&schema, rows_declared), method, calibration)?;
                let among = self.parties.zip(self.servers);
                let among = among.map(|(parties, servers)| Participants {
                    parties,
                    servers,
                    honest: self.honest,
                    noise: self.noise,
                });
                let outcome = learn::plan(&learn::Request { among, ..request });
                // Unrequested printed constants that no paper prints are not reported.
                let unasked = self.calibration.is_none() && calibration == Calibration::Printed;
                if unasked && outcome.is_err() {
                    continue;
                }
                rows.push(Row::new(method.clone(), calibration, outcome, self.base_rate)?);
            }
        }
        drop(meter);
        if rows.iter().all(|row| row.outcome.is_err()) {
            let first = rows.into_iter().find_map(|row| row.outcome.err());
            return Err(first.map_or(Failure::input("nothing to plan"), Failure::from));
        }
        if self.json { output::print_json(&as_json(&rows)) } else { in_words(&rows) }
    }
}

fn as_json(rows: &[Row]) -> Value {
    let plans: Vec<Value> = rows.iter().map(row_json).collect();
    let mut value = json!({ "plans": plans });
    if let Some(plan) = rows.iter().find_map(|row| row.outcome.as_ref().ok()) {
        let facts = plan.facts();
        let budget = plan.request().budget;
        value["rows"] = json!(facts.rows);
        value["columns"] = json!(facts.columns);
        value["problems"] = json!(facts.problems);
        value["radius"] = json!(facts.radius);
        value["neighbours"] = json!(facts.neighbours);
        value["unit"] = json!(facts.unit);
        value["loss"] = json!(facts.loss);
        value["epsilon"] = json!(budget.map(|budget| budget.epsilon()));
        value["delta"] = json!(budget.map(|budget| budget.delta()));
    }
    value
}

fn row_json(row: &Row) -> Value {
    let chosen = row.outcome.as_ref().ok().map(|plan| &plan.request().task.method);
    let head = json!({
        "method": row.method.name(),
        "calibration": row.calibration.to_string(),
        "chosen": chosen,
    });
    let rest = match &row.outcome {
        Err(error) => json!({ "refused": error.to_string() }),
        Ok(plan) => {
            let mut value = json!({
                "epsilon": plan.guarantee().map(|guarantee| json_number(guarantee.epsilon)),
                "delta": plan.guarantee().map(|guarantee| guarantee.delta),
                "predicted_cost": row.forecast.as_ref().map(|forecast| forecast.cost),
                "predicted_gain": row.forecast.as_ref().map(|forecast| forecast.gain),
                "base_rate": row.forecast.as_ref().and_then(|forecast| forecast.base_rate),
                "arithmetic": plan.arithmetic(),
                "events": plan.events(),
                "notes": row.notes,
            });
            for (name, number) in plan.settings().iter() {
                value[name] = json!(number);
            }
            value
        }
    };
    let (Value::Object(mut all), Value::Object(rest)) = (head, rest) else { return Value::Null };
    all.extend(rest);
    Value::Object(all)
}

/// The predicted cost as a share of what can be learnt, in whole per cent: it is no better known.
fn share(forecast: &Forecast) -> String {
    match 100.0 * forecast.cost {
        cost if cost < 1.0 => "< 1 %".into(),
        cost => format!("{cost:.0} %"),
    }
}

fn in_words(rows: &[Row]) -> Result<(), Failure> {
    if let Some(plan) = rows.iter().find_map(|row| row.outcome.as_ref().ok()) {
        let facts = plan.facts();
        let declared = format!(
            "{} rows declared, {} encoded columns of norm at most {}, {} linear problem{}, {} \
             neighbours, unit: {}",
            facts.rows,
            facts.columns,
            number(facts.radius),
            facts.problems,
            if facts.problems == 1 { "" } else { "s" },
            facts.neighbours,
            facts.unit,
        );
        say!("{}", sentences::wrap_lines(&declared, "").trim_end());
        if let Some(budget) = plan.request().budget {
            say!("asked for {}", sentences::budget(budget.epsilon(), budget.delta()));
        }
    }
    let header = ["method", "constants", "predicted cost", "ε", "δ", "proved"];
    let mut cells = vec![header.map(String::from).to_vec()];
    // Noise and settings go below each line: beside it they are wider than a terminal.
    let mut below: Vec<String> = Vec::new();
    let mut remarks: Vec<(String, Vec<String>)> = Vec::new();
    let mut remark = |words: String, row: &Row| {
        let who = format!("{} {}", row.method, row.calibration);
        match remarks.iter_mut().find(|(said, _)| *said == words) {
            Some((_, rows)) => rows.push(who),
            None => remarks.push((words, vec![who])),
        }
    };
    for row in rows {
        let mut line = vec![row.method.name().to_string(), row.calibration.to_string()];
        if let Ok(plan) = &row.outcome
            && plan.request().task.method.name() != row.method.name()
        {
            line[0] = format!("{}: {}", row.method, plan.request().task.method);
        }
        match &row.outcome {
            Ok(plan) => {
                let (noise, other) = sentences::settings(&plan.settings());
                let told = [("noise", noise), ("settings", other)];
                let told = told.iter().filter(|(_, words)| words != "–");
                let told: Vec<String> =
                    told.map(|(name, words)| format!("{name}: {words}")).collect();
                below.push(sentences::wrap_lines(&told.join("; "), "    "));
                line.extend([
                    row.forecast.as_ref().map_or("–".into(), share),
                    plan.guarantee().map_or("none".into(), |g| number(g.epsilon)),
                    plan.guarantee().map_or("–".into(), |g| number(g.delta)),
                    sentences::arithmetic_words(plan.arithmetic()).into(),
                ]);
                row.notes.iter().for_each(|note| remark(note.clone(), row));
                if let Some(features) = sentences::features(plan.schema()) {
                    remark(format!("{features}; {} encoded columns", plan.facts().columns), row);
                }
            }
            Err(error) => {
                line.push("refused".into());
                below.push(String::new());
                remark(format!("refused: {error}"), row);
            }
        }
        cells.push(line);
    }
    let table = output::table(&cells);
    let (head, lines) =
        table.split_at(table.match_indices('\n').nth(1).map_or(0, |(at, _)| at + 1));
    let mut text = head.to_string();
    for (line, below) in lines.lines().zip(&below) {
        let below = if below.trim().is_empty() { "" } else { below.as_str() };
        text.push_str(&format!("{line}\n{below}"));
    }
    if !remarks.is_empty() {
        text.push('\n');
    }
    for (said, rows) in remarks {
        text.push_str(&sentences::wrap_lines(&format!("{}: {said}", rows.join(", ")), ""));
    }
    output::print(&text)
}
