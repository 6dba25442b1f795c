//! SQL: one query that SQLite and DuckDB understand alike.
//!
//! The query reads a table whose columns have the schema's names and adds the prediction, in a few steps that follow
//! one another (`WITH …`): cells, places of numbers within their bounds, three sums, lengths, scores. Identifiers are
//! quoted, texts escaped. Numbers are written with an exponent, so that no database takes them for decimals, and
//! sums as trees, so that none is too deep. A row that `privet predict` refuses, since a cell is missing that may not
//! be, has NULL for its prediction. Needs SQRT, LN and EXP, which SQLite has from 3.35 on where it was built with them.

use super::{Chances, Factor, Outcome, Scorer, refuse};
use crate::error::LearnError;
use crate::model::Model;
use privet_data::encode::{Bends, Curve, Own, RecipeColumn, RecipeMissing, RecipePair, RecipeRule};

/// The most characters of a query: databases take no longer ones.
pub const LARGEST_QUERY: usize = 1_000_000;

/// The model as a query on `table`; with `id`, that column of the table stands beside each prediction, else those
/// that the model reads.
pub fn sql(model: &Model, table: &str, id: Option<&str>) -> Result<String, LearnError> {
    let scorer = Scorer::new(model)?;
    let (mut names, mut texts) = (vec![table], Vec::new());
    for column in &scorer.recipe.columns {
        names.push(&column.name);
        if let RecipeRule::Category { texts: listed, .. } = &column.rule {
            texts.extend(listed.iter().map(|(text, _)| text.as_str()));
        }
    }
    if names.iter().chain(&texts).any(|text| text.contains('\0')) {
        return refuse("a name or a category holds a NUL character, which SQL cannot write");
    }
    let query = Query { scorer: &scorer, curves: curves(&scorer) }.write(model, table, id);
    match query.len() > LARGEST_QUERY {
        true => {
            refuse("its query would have more than a million characters: too many weights for SQL")
        }
        false => Ok(query),
    }
}

/// A name.
fn ident(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A number in double precision.
fn number(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{:e}", value + 0.0) }
}

/// A sum as a balanced tree.
fn sum(terms: &[String]) -> String {
    match terms {
        [] => number(0.0),
        [one] => one.clone(),
        terms => {
            let (left, right) = terms.split_at(terms.len() / 2);
            format!("({} + {})", sum(left), sum(right))
        }
    }
}

/// Which t of which column is needed, each once.
fn curves(scorer: &Scorer) -> Vec<(usize, Curve)> {
    let mut found: Vec<(usize, Curve)> = Vec::new();
    let mut need = |column: usize, curve: Curve| {
        if !found.contains(&(column, curve)) {
            found.push((column, curve));
        }
    };
    for (place, column) in scorer.recipe.columns.iter().enumerate() {
        if let RecipeRule::Number { own, bends, .. } = &column.rule {
            if let Some(Own::Share(curve, ..)) = own {
                need(place, *curve);
            }
            bends.iter().for_each(|bends| need(place, bends.curve));
        }
    }
    for pair in &scorer.recipe.pairs {
        match pair {
            RecipePair::Bends { columns, bends } => {
                (0..2).for_each(|side| need(columns[side], bends[side].curve));
            }
            RecipePair::Slopes { columns, curve, .. } => need(columns[1], *curve),
        }
    }
    found
}

/// What is asked of each column: its product with a vector, or its squares.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Product(&'a [f64]),
    Squares,
}

struct Query<'a> {
    scorer: &'a Scorer,
    curves: Vec<(usize, Curve)>,
}

impl Query<'_> {
    /// The name of t of a column along a curve.
    fn t(&self, column: usize, curve: Curve) -> String {
        let place = self.curves.iter().position(|known| *known == (column, curve));
        format!("privet_t{}", place.unwrap_or_default())
    }

    /// Whether a cell is missing.
    fn is_missing(&self, name: &str) -> String {
        let recipe = &self.scorer.recipe;
        let column = ident(name);
        if recipe.missing_texts.is_empty() {
            return format!("{column} IS NULL");
        }
        let texts: Vec<String> = recipe.missing_texts.iter().map(|text| literal(text)).collect();
        format!("{column} IS NULL OR {} IN ({})", self.text_of(name), texts.join(", "))
    }

    fn text_of(&self, name: &str) -> String {
        let text = format!("CAST({} AS VARCHAR)", ident(name));
        if self.scorer.recipe.trim { format!("TRIM({text})") } else { text }
    }

    /// A number within its bounds, NULL where there is none; or the place of a category, −1 for no place.
    fn cell(&self, place: usize, column: &RecipeColumn) -> String {
        let missing = self.is_missing(&column.name);
        match &column.rule {
            RecipeRule::Number { low, high, .. } => {
                let stand_in = match column.missing {
                    RecipeMissing::Number(value) => number(value),
                    _ => "NULL".into(),
                };
                let value = format!("CAST({} AS DOUBLE)", ident(&column.name));
                let (low, high) = (number(*low), number(*high));
                format!(
                    "CASE WHEN {missing} THEN {stand_in} WHEN {value} < {low} THEN {low} \
                     WHEN {value} > {high} THEN {high} ELSE {value} END AS privet_v{place}"
                )
            }
            RecipeRule::Category { texts, other } => {
                let code =
                    |place: Option<u32>| place.map_or("-1".into(), |place| place.to_string());
                let stand_in = match column.missing {
                    RecipeMissing::Refused => "NULL".into(),
                    RecipeMissing::Place(place) => place.to_string(),
                    RecipeMissing::Number(_) | RecipeMissing::Nothing => code(None),
                };
                let mut text = format!("CASE WHEN {missing} THEN {stand_in}");
                let cell = self.text_of(&column.name);
                for (listed, place) in texts {
                    text += &format!(" WHEN {cell} = {} THEN {}", literal(listed), code(*place));
                }
                text + &format!(" ELSE {} END AS privet_c{place}", code(*other))
            }
        }
    }

    /// t = (g(v) − g(low))/(g(high) − g(low)).
    fn place(&self, at: usize, column: usize, curve: Curve) -> String {
        let value = format!("privet_v{column}");
        let top = match curve.log_from {
            None => value,
            Some(from) => format!("LN({} + {value})", number(1.0 - from)),
        };
        format!("({top} - {}) / {} AS privet_t{at}", number(curve.bottom), number(curve.span))
    }

    /// Lines between points, given their values there.
    fn lines(t: &str, points: &[f64], values: &[f64]) -> String {
        let line = |segment: usize| {
            let (from, start) = (points[segment], values[segment]);
            let slope = (values[segment + 1] - start) / (points[segment + 1] - from);
            format!("{} + {} * ({t} - {})", number(start), number(slope), number(from))
        };
        Self::pieces(t, points, line)
    }

    /// The squares of lines between points: a(1 − s)² + 2c·s(1 − s) + d·s² on each piece.
    fn squared_lines(t: &str, points: &[f64], heights: &[Vec<f64>]) -> String {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let piece = |segment: usize| {
            let (left, right) = (&heights[segment], &heights[segment + 1]);
            let (a, c, d) = (dot(left, left), dot(left, right), dot(right, right));
            let (from, width) = (points[segment], points[segment + 1] - points[segment]);
            let (first, second) = (2.0 * (c - a) / width, (a - 2.0 * c + d) / (width * width));
            let gone = format!("({t} - {})", number(from));
            format!(
                "{} + {} * {gone} + {} * {gone} * {gone}",
                number(a),
                number(first),
                number(second)
            )
        };
        Self::pieces(t, points, piece)
    }

    fn pieces(t: &str, points: &[f64], piece: impl Fn(usize) -> String) -> String {
        let last = points.len() - 2;
        let mut text = String::from("CASE");
        for segment in 0..last {
            text += &format!(" WHEN {t} < {} THEN {}", number(points[segment + 1]), piece(segment));
        }
        // NULL stays NULL.
        text + &format!(" WHEN {t} IS NOT NULL THEN {} END", piece(last))
    }

    /// What bends give.
    fn bends(&self, column: usize, bends: &Bends, asked: Asked<'_>) -> String {
        let t = self.t(column, bends.curve);
        match asked {
            Asked::Squares => Self::squared_lines(&t, &bends.points, &bends.heights),
            Asked::Product(vector) => {
                let weights = &vector[bends.start as usize..];
                let dot =
                    |heights: &Vec<f64>| heights.iter().zip(weights).map(|(h, w)| h * w).sum();
                let values: Vec<f64> = bends.heights.iter().map(dot).collect();
                Self::lines(&t, &bends.points, &values)
            }
        }
    }

    fn column(&self, place: usize, column: &RecipeColumn, asked: Asked<'_>) -> String {
        let start = column.start as usize;
        let at = |place: u32| match asked {
            Asked::Product(vector) => vector[start + place as usize],
            Asked::Squares => 1.0,
        };
        match &column.rule {
            RecipeRule::Category { texts, other } => {
                let gone = match column.missing {
                    RecipeMissing::Place(place) => Some(place),
                    _ => None,
                };
                let mut places: Vec<u32> = texts
                    .iter()
                    .filter_map(|(_, place)| *place)
                    .chain(*other)
                    .chain(gone)
                    .collect();
                places.sort_unstable();
                places.dedup();
                let code = format!("privet_c{place}");
                let listed: String = places
                    .iter()
                    .map(|place| format!(" WHEN {place} THEN {}", number(at(*place))))
                    .collect();
                // NULL stays NULL, where a row is refused.
                format!("CASE {code}{listed} WHEN -1 THEN {} END", number(0.0))
            }
            RecipeRule::Number { low, own, bends, .. } => {
                let mut terms = Vec::new();
                if let Some(own) = own {
                    let x = match own {
                        Own::AsItIs => format!("privet_v{place}"),
                        Own::Log => format!("LN({} + privet_v{place})", number(1.0 - low)),
                        Own::Share(curve, slope, offset) => {
                            let t = self.t(place, *curve);
                            format!("({} * {t} + {})", number(*slope), number(*offset))
                        }
                    };
                    terms.push(match asked {
                        Asked::Product(vector) => format!("{} * {x}", number(vector[start])),
                        Asked::Squares => format!("{x} * {x}"),
                    });
                }
                terms.extend(bends.iter().map(|bends| self.bends(place, bends, asked)));
                let instead = match column.missing {
                    RecipeMissing::Place(place) => Some(number(at(place))),
                    RecipeMissing::Nothing => Some(number(0.0)),
                    RecipeMissing::Refused | RecipeMissing::Number(_) => None,
                };
                match instead {
                    None => sum(&terms),
                    Some(instead) => {
                        format!(
                            "CASE WHEN privet_v{place} IS NULL THEN {instead} ELSE {} END",
                            sum(&terms)
                        )
                    }
                }
            }
        }
    }

    fn pair(&self, pair: &RecipePair, asked: Asked<'_>) -> String {
        let text = match pair {
            RecipePair::Bends { columns: [a, b], bends } => {
                let (left, right) = (&bends[0], &bends[1]);
                match asked {
                    Asked::Squares => {
                        let (x, y) = (self.bends(*a, left, asked), self.bends(*b, right, asked));
                        format!("({x}) * ({y})")
                    }
                    Asked::Product(vector) => {
                        let (t, u) = (self.t(*a, left.curve), self.t(*b, right.curve));
                        let (rows, columns) = (left.heights[0].len(), right.heights[0].len());
                        let row = |i: usize| {
                            let hat: Vec<f64> = left.heights.iter().map(|h| h[i]).collect();
                            let weights = &vector[left.start as usize + i * columns..][..columns];
                            let dot = |heights: &Vec<f64>| {
                                heights.iter().zip(weights).map(|(h, w)| h * w).sum()
                            };
                            let values: Vec<f64> = right.heights.iter().map(dot).collect();
                            let x = Self::lines(&t, &left.points, &hat);
                            format!("({x}) * ({})", Self::lines(&u, &right.points, &values))
                        };
                        sum(&(0..rows).map(row).collect::<Vec<_>>())
                    }
                }
            }
            RecipePair::Slopes { columns: [a, b], curve, weight, start } => {
                let slope = format!(
                    "({} * {} + {})",
                    number(2.0 * weight),
                    self.t(*b, *curve),
                    number(-weight)
                );
                match asked {
                    Asked::Squares => {
                        format!(
                            "CASE WHEN privet_c{a} >= 0 THEN {slope} * {slope} ELSE {} END",
                            number(0.0)
                        )
                    }
                    Asked::Product(vector) => {
                        let weights = self.places(*a);
                        let listed: String = (0..weights)
                            .map(|k| {
                                let weight = number(vector[*start as usize + k]);
                                format!(" WHEN {k} THEN {weight}")
                            })
                            .collect();
                        format!("(CASE privet_c{a}{listed} ELSE {} END) * {slope}", number(0.0))
                    }
                }
            }
        };
        // Where one of the two is missing so that it says nothing, so does the pair.
        let (RecipePair::Bends { columns, .. } | RecipePair::Slopes { columns, .. }) = pair;
        let silent = |at: &&usize| {
            let column = &self.scorer.recipe.columns[**at];
            matches!(column.rule, RecipeRule::Number { .. })
                && matches!(column.missing, RecipeMissing::Place(_) | RecipeMissing::Nothing)
        };
        let gone: Vec<String> =
            columns.iter().filter(silent).map(|at| format!("privet_v{at} IS NULL")).collect();
        match gone.is_empty() {
            true => text,
            false => {
                format!("CASE WHEN {} THEN {} ELSE {text} END", gone.join(" OR "), number(0.0))
            }
        }
    }

    /// How many encoded columns a category has.
    fn places(&self, column: usize) -> usize {
        let column = &self.scorer.recipe.columns[column];
        let RecipeRule::Category { texts, other } = &column.rule else { return 0 };
        let gone = match column.missing {
            RecipeMissing::Place(place) => Some(place),
            _ => None,
        };
        let places = texts.iter().filter_map(|(_, place)| *place).chain(*other).chain(gone);
        places.max().map_or(0, |last| last as usize + 1)
    }

    /// A sum over all columns, pairs and the constant.
    fn all(&self, asked: Asked<'_>) -> String {
        let recipe = &self.scorer.recipe;
        let columns = recipe.columns.iter().enumerate();
        let mut terms: Vec<String> =
            columns.map(|(place, column)| self.column(place, column, asked)).collect();
        terms.extend(recipe.pairs.iter().map(|pair| self.pair(pair, asked)));
        terms.extend(recipe.constant.map(|(at, value)| match asked {
            Asked::Product(vector) => number(value * vector[at as usize]),
            Asked::Squares => number(value * value),
        }));
        sum(&terms)
    }

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
                format!("{} AS privet_s{problem}", self.all(Asked::Product(weights)))
            })
            .collect();
        sums.push(format!("{} AS privet_q", self.all(Asked::Squares)));
        let mut numbers: Vec<String> =
            (0..scorer.weights.len()).map(|problem| format!("privet_s{problem}")).collect();
        numbers.push("privet_q".into());
        if let Some(centre) = &scorer.centre {
            sums.push(format!("{} AS privet_a", self.all(Asked::Product(&centre.mean))));
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
        let mut step = |name: &str, from: &str, more: Vec<String>| {
            let opening = if name == "privet_cells" { "WITH " } else { "" };
            text += &format!(
                "{opening}{name} AS (\n  SELECT\n    {}\n  FROM {from}\n),\n",
                carry(more)
            );
        };
        step("privet_cells", &ident(table), cells);
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
                    Some(Chances::Sigmoid) => Some(format!("1e0 / (1e0 + EXP(-{s}))")),
                    Some(Chances::Clipped(slope)) => {
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

/// What a reader of the query should know.
fn heading(model: &Model) -> String {
    let guarantee = model.certificate().guarantee.as_ref();
    let mut text = String::from(
        "-- A model by privet, for SQLite and DuckDB. Its certificate is in the model file.\n",
    );
    if let Some(guarantee) = guarantee {
        text += &format!(
            "-- Learnt with differential privacy: epsilon = {}, delta = {}.\n",
            guarantee.epsilon, guarantee.delta
        );
    }
    text
}
