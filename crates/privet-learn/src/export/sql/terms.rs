//! Terms of each column, pair and the constant in a sum, as SQL expressions.

use super::literals::{literal, number, of_table, sum};
use super::{Query, Summand};
use privet_data::encode::{
    Curve, OwnEntry, PiecewiseLinear, RecipeColumn, RecipeMissing, RecipePair, RecipeRule,
};

impl Query<'_> {
    /// Name of the position t of a column along a curve.
    fn t(&self, column: usize, curve: Curve) -> String {
        let place = self.curves.iter().position(|known| *known == (column, curve));
        format!("privet_t{}", place.unwrap_or_default())
    }

    /// Expression that is true if a cell is missing.
    fn is_missing(&self, name: &str) -> String {
        let recipe = &self.scorer.recipe;
        let column = of_table(name);
        if recipe.missing_texts.is_empty() {
            return format!("{column} IS NULL");
        }
        let texts: Vec<String> = recipe.missing_texts.iter().map(|text| literal(text)).collect();
        format!("{column} IS NULL OR {} IN ({})", self.text_of(name), texts.join(", "))
    }

    fn text_of(&self, name: &str) -> String {
        let text = format!("CAST({} AS VARCHAR)", of_table(name));
        if self.scorer.recipe.trim { format!("TRIM({text})") } else { text }
    }

    /// A number clamped to its bounds, NULL if missing; or the index of a category, −1 for no index.
    pub(super) fn cell(&self, place: usize, column: &RecipeColumn) -> String {
        let missing = self.is_missing(&column.name);
        match &column.rule {
            RecipeRule::Number { low, high, .. } => {
                let stand_in = match column.missing {
                    RecipeMissing::Number(value) => number(value),
                    _ => "NULL".into(),
                };
                let value = format!("CAST({} AS DOUBLE)", of_table(&column.name));
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

    /// Position t = (g(v) − g(low))/(g(high) − g(low)).
    pub(super) fn place(&self, at: usize, column: usize, curve: Curve) -> String {
        let value = format!("privet_v{column}");
        let top = match curve.log_from {
            None => value,
            Some(from) => format!("LN({} + {value})", number(1.0 - from)),
        };
        format!("({top} - {}) / {} AS privet_t{at}", number(curve.bottom), number(curve.span))
    }

    /// Piecewise linear function, by its values at points.
    fn lines(t: &str, points: &[f64], values: &[f64]) -> String {
        let line = |segment: usize| {
            let (from, start) = (points[segment], values[segment]);
            let slope = (values[segment + 1] - start) / (points[segment + 1] - from);
            format!("{} + {} * ({t} - {})", number(start), number(slope), number(from))
        };
        Self::pieces(t, points, line)
    }

    /// Sum of squares of piecewise linear functions: a(1 − s)² + 2c·s(1 − s) + d·s² on each piece.
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

    /// Term of piecewise linear functions.
    fn piecewise(
        &self,
        column: usize,
        piecewise: &PiecewiseLinear,
        summand: Summand<'_>,
    ) -> String {
        let t = self.t(column, piecewise.curve);
        match summand {
            Summand::Squares => Self::squared_lines(&t, &piecewise.points, &piecewise.heights),
            Summand::Product(vector) => {
                let weights = &vector[piecewise.start as usize..];
                let dot =
                    |heights: &Vec<f64>| heights.iter().zip(weights).map(|(h, w)| h * w).sum();
                let values: Vec<f64> = piecewise.heights.iter().map(dot).collect();
                Self::lines(&t, &piecewise.points, &values)
            }
        }
    }

    fn column(&self, place: usize, column: &RecipeColumn, summand: Summand<'_>) -> String {
        let start = column.start as usize;
        let at = |place: u32| match summand {
            Summand::Product(vector) => vector[start + place as usize],
            Summand::Squares => 1.0,
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
            RecipeRule::Number { low, own, piecewise, .. } => {
                let mut terms = Vec::new();
                if let Some(own) = own {
                    let x = match own {
                        OwnEntry::AsItIs => format!("privet_v{place}"),
                        OwnEntry::Log => format!("LN({} + privet_v{place})", number(1.0 - low)),
                        OwnEntry::Share(curve, slope, offset) => {
                            let t = self.t(place, *curve);
                            format!("({} * {t} + {})", number(*slope), number(*offset))
                        }
                    };
                    terms.push(match summand {
                        Summand::Product(vector) => format!("{} * {x}", number(vector[start])),
                        Summand::Squares => format!("{x} * {x}"),
                    });
                }
                terms.extend(
                    piecewise.iter().map(|piecewise| self.piecewise(place, piecewise, summand)),
                );
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

    fn pair(&self, pair: &RecipePair, summand: Summand<'_>) -> String {
        let text = match pair {
            RecipePair::PiecewiseLinear { columns: [a, b], piecewise } => {
                let (left, right) = (&piecewise[0], &piecewise[1]);
                match summand {
                    Summand::Squares => {
                        let (x, y) =
                            (self.piecewise(*a, left, summand), self.piecewise(*b, right, summand));
                        format!("({x}) * ({y})")
                    }
                    Summand::Product(vector) => {
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
                match summand {
                    Summand::Squares => {
                        format!(
                            "CASE WHEN privet_c{a} >= 0 THEN {slope} * {slope} ELSE {} END",
                            number(0.0)
                        )
                    }
                    Summand::Product(vector) => {
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
        // If one of the two is missing and encoded as 0, so is the pair.
        let (RecipePair::PiecewiseLinear { columns, .. } | RecipePair::Slopes { columns, .. }) =
            pair;
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

    /// Number of encoded columns of a category.
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
    pub(super) fn all(&self, summand: Summand<'_>) -> String {
        let recipe = &self.scorer.recipe;
        let columns = recipe.columns.iter().enumerate();
        let mut terms: Vec<String> =
            columns.map(|(place, column)| self.column(place, column, summand)).collect();
        terms.extend(recipe.pairs.iter().map(|pair| self.pair(pair, summand)));
        terms.extend(recipe.constant.map(|(at, value)| match summand {
            Summand::Product(vector) => number(value * vector[at as usize]),
            Summand::Squares => number(value * value),
        }));
        sum(&terms)
    }
}
