//! SQL: one query in the common dialect of SQLite and DuckDB.
//!
//! The query reads a table whose columns have the schema's names and adds the prediction, in a few
//! successive steps (`WITH …`): cells, positions of numbers between their bounds, three sums, norms,
//! scores. Identifiers are quoted, strings escaped. Numbers are written with an exponent, so that no
//! database reads them as decimals, and sums as trees, to limit their depth. A row that `privet predict`
//! refuses, since a required cell is missing, has NULL for its prediction. Cells are read as columns of
//! the table by its name, so that a table without one of them is refused: SQLite reads an unqualified
//! quoted name that is no column as a string. A non-numeric string in a column of numbers is an error in
//! DuckDB and 0 in SQLite, where `privet predict` refuses it: check such columns beforehand. Needs SQRT,
//! LN and EXP, which SQLite has from 3.35 on if it was built with them.

mod literals;
mod terms;

use self::literals::{ident, literal, number, of_table};
use super::{Factor, Outcome, Probabilities, Scorer, refuse};
use crate::error::LearnError;
use crate::linear::model::Model;
use privet_data::encode::{Curve, OwnEntry, RecipePair, RecipeRule};

/// Upper limit on the characters of a query: databases accept no longer ones.
pub const LARGEST_QUERY: usize = 1_000_000;

/// The model as a query on `table`; with `id`, each prediction is beside that column of the table,
/// otherwise beside the columns that the model reads.
pub fn sql(model: &Model, table: &str, id: Option<&str>) -> Result<String, LearnError> {
    let scorer = Scorer::new(model)?;
    let (mut names, mut texts) = (vec![table], Vec::new());
    for column in &scorer.recipe.columns {
        names.push(&column.name);
        if let RecipeRule::Category { texts: listed, .. } = &column.rule {
            texts.extend(listed.iter().map(|(text, _)| text.as_str()));
        }
    }
    texts.extend(scorer.recipe.missing_texts.iter().map(String::as_str));
    if let Outcome::Classes { names: classes, .. } = &scorer.outcome {
        texts.extend(classes.iter().map(String::as_str));
    }
    if names.iter().copied().chain(id).chain(texts).any(|text| text.contains('\0')) {
        return refuse(
            "a name, a category or a class holds a NUL character, which SQL cannot write",
        );
    }
    // SQL ignores case in names, and the names that the query itself uses are reserved.
    let mut known = std::collections::BTreeMap::new();
    let kept = match id {
        Some(id) => vec![id],
        None => names[1..].to_vec(),
    };
    for name in names[1..].iter().copied().chain(id) {
        let small = name.to_lowercase();
        if kept.contains(&name) && (small == "prediction" || small.starts_with("probability ")) {
            return refuse(
                "a column is called as what the query adds (prediction, probability …); rename it in the table and the \
                 schema, or name another column with --id",
            );
        }
        if small.starts_with("privet_") {
            return refuse(
                "a column is called privet_…, as the query's own ones are; rename it in the table and the schema",
            );
        }
    }
    for name in &names[1..] {
        if *known.entry(name.to_lowercase()).or_insert(*name) != *name {
            return refuse(
                "two columns differ in upper and lower case alone, which SQL does not tell apart; rename one",
            );
        }
    }
    let query = Query { scorer: &scorer, curves: curves(&scorer) }.write(model, table, id);
    match query.len() > LARGEST_QUERY {
        true => {
            refuse("its query would have more than a million characters: too many weights for SQL")
        }
        false => Ok(query),
    }
}

/// All positions t that the query needs, as pairs of a column and a curve, each once.
fn curves(scorer: &Scorer) -> Vec<(usize, Curve)> {
    let mut found: Vec<(usize, Curve)> = Vec::new();
    let mut need = |column: usize, curve: Curve| {
        if !found.contains(&(column, curve)) {
            found.push((column, curve));
        }
    };
    for (place, column) in scorer.recipe.columns.iter().enumerate() {
        if let RecipeRule::Number { own, piecewise, .. } = &column.rule {
            if let Some(OwnEntry::Share(curve, ..)) = own {
                need(place, *curve);
            }
            piecewise.iter().for_each(|piecewise| need(place, piecewise.curve));
        }
    }
    for pair in &scorer.recipe.pairs {
        match pair {
            RecipePair::PiecewiseLinear { columns, piecewise } => {
                (0..2).for_each(|side| need(columns[side], piecewise[side].curve));
            }
            RecipePair::Slopes { columns, curve, .. } => need(columns[1], *curve),
        }
    }
    found
}

/// Term of a column in a sum: its product with a vector, or its squares.
#[derive(Clone, Copy)]
enum Summand<'a> {
    Product(&'a [f64]),
    Squares,
}

struct Query<'a> {
    scorer: &'a Scorer,
    curves: Vec<(usize, Curve)>,
}

impl Query<'_> {
    fn write(&self, model: &Model, table: &str, id: Option<&str>) -> String {
        let scorer = self.scorer;
        let columns = &scorer.recipe.columns;
        let kept: Vec<String> = match id {
            Some(id) => vec![ident(id)],
            None => columns.iter().map(|column| ident(&column.name)).collect(),
        };
        let carry = |more: Vec<String>| -> String {
            kept.iter().cloned().chain(more).collect::<Vec<_>>().join(",\n    ")
        };
        let cells: Vec<String> =
            columns.iter().enumerate().map(|(place, column)| self.cell(place, column)).collect();
        let held: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| match column.rule {
                RecipeRule::Number { .. } => format!("privet_v{place}"),
                RecipeRule::Category { .. } => format!("privet_c{place}"),
            })
            .collect();
        let curves = self.curves.iter().enumerate();
        let places = curves.map(|(at, (column, curve))| self.place(at, *column, *curve));
        let places: Vec<String> = held.into_iter().chain(places).collect();
        let mut sums: Vec<String> = scorer
            .weights
            .iter()
            .enumerate()
            .map(|(problem, weights)| {
                format!("{} AS privet_s{problem}", self.all(Summand::Product(weights)))
            })
            .collect();
        sums.push(format!("{} AS privet_q", self.all(Summand::Squares)));
        let mut numbers: Vec<String> =
            (0..scorer.weights.len()).map(|problem| format!("privet_s{problem}")).collect();
        numbers.push("privet_q".into());
        if let Some(centre) = &scorer.centre {
            sums.push(format!("{} AS privet_a", self.all(Summand::Product(&centre.mean))));
            numbers.push("privet_a".into());
        }
        let factor = match scorer.factor {
            Factor::Always(factor) => number(factor),
            Factor::AtMost(radius) => format!(
                "CASE WHEN privet_q > {} THEN {} / SQRT(privet_q) ELSE {} END",
                number(radius * radius),
                number(radius),
                number(1.0)
            ),
            Factor::To(radius) => format!(
                "CASE WHEN privet_q > {0} THEN {1} / SQRT(privet_q) ELSE {0} END",
                number(0.0),
                number(radius)
            ),
        };
        numbers.push(format!("{factor} AS privet_f"));
        let mut text = heading(model);
        let own = match id {
            Some(id) => vec![of_table(id)],
            None => columns.iter().map(|column| of_table(&column.name)).collect(),
        };
        text += &format!(
            "WITH privet_cells AS (\n  SELECT\n    {}\n  FROM {} AS privet_in\n),\n",
            own.into_iter().chain(cells).collect::<Vec<_>>().join(",\n    "),
            ident(table)
        );
        let mut step = |name: &str, from: &str, more: Vec<String>| {
            text += &format!("{name} AS (\n  SELECT\n    {}\n  FROM {from}\n),\n", carry(more));
        };
        step("privet_places", "privet_cells", places);
        step("privet_sums", "privet_places", sums);
        step("privet_lengths", "privet_sums", numbers);
        let scores: Vec<String> = self.scores();
        text += &format!(
            "privet_scores AS (\n  SELECT\n    {}\n  FROM privet_lengths\n)\nSELECT\n    {}\nFROM privet_scores;\n",
            carry(scores),
            carry(self.outcome())
        );
        text
    }

    fn scores(&self) -> Vec<String> {
        let scorer = self.scorer;
        let score = |problem: usize| match &scorer.centre {
            None => format!("privet_f * privet_s{problem} AS privet_score{problem}"),
            Some(centre) => {
                let square = format!(
                    "(privet_f * privet_f * privet_q - 2e0 * privet_f * privet_a + {})",
                    number(centre.squares)
                );
                let own =
                    format!("(privet_f * privet_s{problem} - {})", number(centre.along[problem]));
                format!(
                    "CASE WHEN privet_q = {} THEN {} WHEN {square} > {} THEN {own} * {} / SQRT({square}) \
                     WHEN privet_q IS NOT NULL THEN {own} * {} END AS privet_score{problem}",
                    number(0.0),
                    number(0.0),
                    number(centre.shortest * centre.shortest),
                    number(centre.radius),
                    number(centre.radius / centre.shortest)
                )
            }
        };
        (0..scorer.weights.len()).map(score).collect()
    }

    fn outcome(&self) -> Vec<String> {
        match &self.scorer.outcome {
            Outcome::Number { low, high, poisson } => {
                let z = match poisson {
                    None => "privet_score0".to_string(),
                    Some((least, shift)) => format!(
                        "({} * (EXP(CASE WHEN privet_score0 < {} THEN privet_score0 - {} ELSE {} END) - {}) - {})",
                        number(2.0 / (1.0 - least)),
                        number(*shift),
                        number(*shift),
                        number(0.0),
                        number(*least),
                        number(1.0)
                    ),
                };
                let half = (high - low) / 2.0;
                vec![format!(
                    "CASE WHEN {z} <= {} THEN {} WHEN {z} >= {} THEN {} ELSE {} + {} * {z} END AS prediction",
                    number(-1.0),
                    number(*low),
                    number(1.0),
                    number(*high),
                    number(low + half),
                    number(half)
                )]
            }
            Outcome::Classes { names, chances } if self.scorer.weights.len() == 1 => {
                let s = "privet_score0";
                let zero = number(0.0);
                let mut found = vec![format!(
                    "CASE WHEN {s} > {zero} THEN {} WHEN {s} <= {zero} THEN {} END AS prediction",
                    literal(&names[1]),
                    literal(&names[0])
                )];
                let chance = match chances {
                    Some(Probabilities::Sigmoid) => Some(format!("1e0 / (1e0 + EXP(-{s}))")),
                    Some(Probabilities::Clipped(slope)) => {
                        let wrong =
                            format!("1e0 / (1e0 + {} * (1e0 + EXP(ABS({s}))))", number(*slope));
                        let even = number(0.5 - f64::EPSILON);
                        let wrong =
                            format!("CASE WHEN {wrong} > {even} THEN {even} ELSE {wrong} END");
                        Some(format!(
                            "CASE WHEN {s} > {zero} THEN 1e0 - ({wrong}) WHEN {s} < {zero} THEN {wrong} \
                             WHEN {s} IS NOT NULL THEN 5e-1 END"
                        ))
                    }
                    _ => None,
                };
                found.extend(chance.map(|chance| {
                    format!("{chance} AS {}", ident(&format!("probability {}", names[1])))
                }));
                found
            }
            Outcome::Classes { names, .. } => {
                let scores: Vec<String> =
                    (0..names.len()).map(|k| format!("privet_score{k}")).collect();
                let mut text = String::from("CASE");
                for (place, name) in names.iter().enumerate() {
                    let mine = &scores[place];
                    let best = scores.iter().filter(|other| *other != mine);
                    let best: Vec<String> =
                        best.map(|other| format!("{mine} >= {other}")).collect();
                    text += &format!(" WHEN {} THEN {}", best.join(" AND "), literal(name));
                }
                vec![format!("{text} END AS prediction")]
            }
        }
    }
}

/// Comment at the head of the query.
fn heading(model: &Model) -> String {
    let guarantee = model.certificate().guarantee.as_ref();
    let mut text = String::from(
        "-- A model by privet, for SQLite and DuckDB. Its certificate is in the model file.\n",
    );
    // The claim is not verified here.
    if let Some(guarantee) = guarantee.filter(|guarantee| guarantee.epsilon.is_finite()) {
        text += &format!(
            "-- Which claims differential privacy with epsilon = {}, delta = {}: see privet verify.\n",
            guarantee.epsilon, guarantee.delta
        );
    }
    text
}
