//! Plans for completing ratings under a budget, without any data.

use crate::failure::Failure;
use crate::head::HeadArguments;
use crate::output::{self, json_number, number};
use crate::settings::RequestFlags;
use crate::{say, sentences};
use privet_data::Schema;
use privet_learn::ratings::{Complete, METHODS, Method};
use privet_learn::{LearnError, Plan, plan};
use serde_json::{Value, json};

/// One method or all private ones.
#[derive(Debug, Clone)]
pub struct RequestedMethods(Vec<Method>);

/// A name of a method, or `all`.
pub fn parse_method(word: &str) -> Result<RequestedMethods, String> {
    let parse = |name: &str| name.parse::<Method>().map_err(|error| error.to_string());
    if word == "all" {
        let private = METHODS.iter().filter(|method| method.private);
        return Ok(RequestedMethods(
            private.map(|method| parse(method.name)).collect::<Result<_, _>>()?,
        ));
    }
    Ok(RequestedMethods(vec![parse(word).map_err(|error| format!("{error}, all"))?]))
}

/// Plans every requested method, for about so many users.
pub fn show(
    schema: &Schema,
    head: &HeadArguments,
    asked: &RequestedMethods,
    flags: &RequestFlags,
    as_json: bool,
) -> Result<(), Failure> {
    let users = head.rows.unwrap_or_default();
    let budget = head.budget_for(users)?;
    let mut rows: Vec<(&Method, Result<Plan<Complete>, LearnError>)> = Vec::new();
    for method in &asked.0 {
        let own = |name: &str| method.info().settings.iter().any(|known| known.name == name);
        // With `all`, a setting of one method does not rule out the others.
        let mut wanted = flags.set.iter().filter(|(name, _)| asked.0.len() == 1 || own(name));
        let settled =
            wanted.try_fold(method.clone(), |method, (name, value)| method.with(name, value));
        let planned = settled.and_then(|method| {
            let asked = Complete::by(method).request(schema.clone(), users, head.neighbours);
            plan(&asked.with_budget(budget))
        });
        rows.push((method, planned));
    }
    if rows.iter().all(|(_, planned)| planned.is_err()) {
        let first = rows.into_iter().find_map(|(_, planned)| planned.err());
        return Err(first.map_or(Failure::input("nothing to plan"), Failure::from));
    }
    if as_json {
        let plans: Vec<Value> =
            rows.iter().map(|(method, planned)| line(method, planned)).collect();
        return output::print_json(&json!({ "users": users, "plans": plans }));
    }
    say!("about {users} users declared, {} neighbours, unit: {}", head.neighbours, schema.unit());
    say!("asked for {}", sentences::budget(budget.epsilon(), budget.delta()));
    let header = ["method", "noise", "other settings", "proved ε", "at δ"];
    let mut cells = vec![header.map(String::from).to_vec()];
    for (method, planned) in &rows {
        let mut line = vec![method.to_string()];
        match planned {
            Ok(plan) => {
                let (noise, other) = sentences::settings(&plan.settings());
                let proved = plan.guarantee();
                line.extend([noise, other]);
                line.push(proved.map_or("none".into(), |g| number(g.epsilon)));
                line.push(proved.map_or("–".into(), |g| number(g.delta)));
            }
            Err(error) => line.push(format!("refused: {error}")),
        }
        cells.push(line);
    }
    output::print(&output::table(&cells))
}

fn line(method: &Method, planned: &Result<Plan<Complete>, LearnError>) -> Value {
    match planned {
        Err(error) => json!({ "method": method.to_string(), "refused": error.to_string() }),
        Ok(plan) => {
            let mut value = json!({
                "method": method.to_string(),
                "chosen": plan.request().task.method,
                "epsilon": plan.guarantee().map(|guarantee| json_number(guarantee.epsilon)),
                "delta": plan.guarantee().map(|guarantee| guarantee.delta),
                "arithmetic": plan.arithmetic(),
                "events": plan.events(),
                "notes": plan.notes(),
            });
            for (name, number) in plan.settings().iter() {
                value[name] = json!(number);
            }
            value
        }
    }
}
