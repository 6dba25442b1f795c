//! What is said of chosen columns.

use super::Select;
use crate::release::family::Family;
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, target, told};
use privet_core::printable;
use serde_json::json;

impl Family for Select {
    const VERB: &'static str = "select";
    const NOUN: &'static str = "support";
    const TELLS_SETTINGS: bool = true;

    fn report(support: &Released<Self>) -> Report {
        let request = support.request();
        let names = support.artefact().names(&request.schema);
        let list = match &names {
            Some(names) => names.iter().map(|name| format!("  {}\n", printable(name))).collect(),
            None => "  nothing: no answer was stable enough to be released; the budget is spent\n"
                .into(),
        };
        let size = number(f64::from(request.task.size));
        let target = target(&request.schema);
        let own = json!({
            "method": request.task.method.name(),
            "size": request.task.size,
            "columns": support.artefact().columns,
            "names": names,
        });
        let method = &request.task.method;
        Report::new(
            format!("{size} columns that say much of {target}, chosen by method {method}."),
            vec![Section::new("Columns", [Part::Lines(list)])],
            told(request, own),
        )
    }
}
