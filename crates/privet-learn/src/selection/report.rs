//! What is said of chosen columns.

use super::{SIZE, Select, Selector};
use crate::LearnError;
use crate::release::family::{BudgetOptions, Family, OfferedFamily};
use crate::release::released::Released;
use crate::release::report::{Part, Report, Section, number, release_json, target};
use crate::release::request::Request;
use crate::release::settings::SettingInfo;
use privet_core::printable;
use privet_data::Schema;
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
            release_json(request, own),
        )
    }
}

impl OfferedFamily for Select {
    const HELP_LINE: &'static str = "Choose columns by how much they say of the target, privately, and write them with their certificate";
    const HELP_TEXT: &'static str = "\
Chooses so many columns of a table, those that say most of the target, and writes them with a
certificate into one file. Columns are those of the encoded table: a number is one, a category is
one for each of its values.

  correlation   the most associated columns, one after the other (the default)
  exponential   a set of columns by how well it fits, among up to 50,000,000 sets
  distance      what most chunks of the records choose, if so many agree that no one matters
  subsample     the same over many random parts of the records; needs many rows
  lasso-stability
                what the LASSO keeps, if a proof says that no one's records matter; needs very
                many rows, and says how many

distance, subsample and lasso-stability may choose nothing: then no answer was stable enough. That is said plainly,
is a release like any other, and spends the budget as well. `privet methods --select` lists the
settings of each.

Everything spent on the same records adds up: columns chosen at ε = 1 and a model of them at ε = 1
reveal as much as ε = 2.";
    const EXAMPLES: &'static str = "\
Examples:
  privet select table.csv --schema s.toml --size 10 --epsilon 1 --out columns.json
  privet select table.csv --schema s.toml --size 2 --method distance --epsilon 2 --delta 1e-6 \\
      --set chunks=200 --out columns.json";
    type Learner = Selector;
    const REQUEST_FIELDS: &'static [SettingInfo] =
        &[SettingInfo::integer(SIZE, "How many columns to choose").required()];

    fn build_request(
        self,
        budget: &BudgetOptions,
        schema: &Schema,
        rows: u64,
    ) -> Result<Request<Self>, LearnError> {
        self.request(schema, rows, budget.neighbours, (budget.epsilon, budget.delta))
    }
}
