//! ONNX: raw columns in, prediction out, in double precision.
//!
//! Inputs are the model's columns, each of shape (rows, 1): numbers as `double`, where NaN is missing,
//! and all else as `string`. Outputs are `prediction` (the class, or the number), `scores`, and
//! `probabilities` if the loss is logistic. A row that `privet predict` refuses, since a required cell
//! is missing, has NaN for scores and an empty string for a class. Operators are those of ONNX 15 and
//! ONNX-ML 2; the metadata hold the certificate.

mod network;

pub use network::network;

use super::protobuf::{self, Element, Message};
use super::{Factor, Outcome, Probabilities, Scorer, refuse};
use crate::error::LearnError;
use crate::linear::model::Model;
use privet_data::encode::{
    Curve, OwnEntry, PiecewiseLinear, Recipe, RecipeColumn, RecipeMissing, RecipePair, RecipeRule,
};
use privet_dp::gate::Certificate;

/// The model as an ONNX file.
pub fn onnx(model: &Model) -> Result<Vec<u8>, LearnError> {
    let scorer = Scorer::new(model)?;
    names_are_free(&scorer.recipe)?;
    let mut graph = Graph::default();
    let scores = graph.scores(&scorer);
    graph.outcome(&scorer.outcome, scorer.weights.len(), &scores);
    graph.file(model.certificate())
}

/// Refuses columns with the name of an output.
fn names_are_free(recipe: &Recipe) -> Result<(), LearnError> {
    const OUTPUTS: [&str; 3] = ["prediction", "scores", "probabilities"];
    if recipe.columns.iter().any(|column| OUTPUTS.contains(&column.name.as_str())) {
        return refuse(
            "a column is called as an output of the file (prediction, scores, probabilities); rename it in the table and \
             the schema",
        );
    }
    Ok(())
}

/// A graph under construction. Every value is identified by its name.
#[derive(Default)]
struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    /// Masks of rows where a required cell is missing.
    refused: Vec<String>,
    names: usize,
}

/// Encoding of one column.
struct PlacedColumn {
    /// Its encoded columns, concatenated.
    block: String,
    /// A number clamped to its bounds, and the mask of rows where it is missing and encoded as 0.
    number: Option<(String, Option<String>)>,
}

impl Graph {
    /// The bytes of a file with this graph and the model's certificate.
    fn file(&self, certificate: &Certificate) -> Result<Vec<u8>, LearnError> {
        let mut written = Message::default();
        for node in &self.nodes {
            written = written.message(1, node);
        }
        written = written.text(2, "privet");
        for tensor in &self.constants {
            written = written.message(5, tensor);
        }
        for input in &self.inputs {
            written = written.message(11, input);
        }
        for output in &self.outputs {
            written = written.message(12, output);
        }
        let certificate = serde_json::to_string(certificate)
            .map_err(|error| LearnError::Export(error.to_string()))?;
        let noted = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
        let file = Message::default()
            .number(1, 8)
            .text(2, "privet")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &written)
            .message(8, &Message::default().text(1, "").number(2, 15))
            .message(8, &Message::default().text(1, "ai.onnx.ml").number(2, 2))
            .message(14, &noted("privet.certificate", &certificate));
        Ok(file.into_bytes())
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        // A leading blank: no column of a file that is read with blanks trimmed has such a name.
        format!(" {kind} {}", self.names)
    }

    fn doubles(&mut self, shape: &[usize], values: &[f64]) -> String {
        let name = self.name("constant");
        self.constants.push(protobuf::doubles(&name, shape, values));
        name
    }

    fn number(&mut self, value: f64) -> String {
        self.doubles(&[1, 1], &[value])
    }

    fn integers(&mut self, values: &[i64]) -> String {
        let name = self.name("constant");
        self.constants.push(protobuf::integers(&name, &[values.len()], values));
        name
    }

    fn node(&mut self, operator: &str, inputs: &[&str]) -> String {
        self.node_with(operator, inputs, &[])
    }

    fn node_with(&mut self, operator: &str, inputs: &[&str], attributes: &[Message]) -> String {
        let output = self.name(operator);
        self.nodes.push(protobuf::node(operator, "", inputs, &output, attributes));
        output
    }

    fn times(&mut self, value: &str, by: f64) -> String {
        let by = self.number(by);
        self.node("Mul", &[value, &by])
    }

    fn plus(&mut self, value: &str, more: f64) -> String {
        let more = self.number(more);
        self.node("Add", &[value, &more])
    }

    fn concat(&mut self, parts: &[String]) -> String {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.node_with("Concat", &parts, &[protobuf::attribute("axis", 1)])
    }

    /// Sets 0 where the mask holds.
    fn zero_where(&mut self, mask: &str, value: &str) -> String {
        let zero = self.number(0.0);
        self.node("Where", &[mask, &zero, value])
    }

    /// Position t of a number between its bounds.
    fn share(&mut self, number: &str, curve: Curve) -> String {
        let top = match curve.log_from {
            None => number.to_string(),
            Some(from) => {
                let inner = self.plus(number, 1.0 - from);
                self.node("Log", &[&inner])
            }
        };
        let shifted = self.plus(&top, -curve.bottom);
        self.times(&shifted, 1.0 / curve.span)
    }

    /// Piecewise linear functions, by initial values and changes of slope: h(0) + Σ c·max(t − point, 0).
    fn piecewise(&mut self, number: &str, piecewise: &PiecewiseLinear) -> String {
        let t = self.share(number, piecewise.curve);
        let (points, count) = (&piecewise.points, piecewise.heights[0].len());
        let segments = points.len() - 1;
        let slope = |segment: usize, hat: usize| {
            let rise = piecewise.heights[segment + 1][hat] - piecewise.heights[segment][hat];
            rise / (points[segment + 1] - points[segment])
        };
        let mut changes = Vec::with_capacity(segments * count);
        for segment in 0..segments {
            changes.extend((0..count).map(|hat| match segment {
                0 => slope(0, hat),
                _ => slope(segment, hat) - slope(segment - 1, hat),
            }));
        }
        let starts = self.doubles(&[1, segments], &points[..segments]);
        let changes = self.doubles(&[segments, count], &changes);
        let first = self.doubles(&[1, count], &piecewise.heights[0]);
        let gone = self.node("Sub", &[&t, &starts]);
        let gone = self.node("Relu", &[&gone]);
        let risen = self.node("MatMul", &[&gone, &changes]);
        self.node("Add", &[&risen, &first])
    }

    fn column(&mut self, column: &RecipeColumn, missing_texts: &[String]) -> PlacedColumn {
        match &column.rule {
            RecipeRule::Category { texts, other } => {
                self.category(column, texts, *other, missing_texts)
            }
            RecipeRule::Number { low, high, own, piecewise } => {
                self.inputs.push(protobuf::value(&column.name, Element::Double, Some(1)));
                let gone = self.node("IsNaN", &[&column.name]);
                let stand_in = match column.missing {
                    RecipeMissing::Number(value) => value,
                    _ => *low,
                };
                let stand_in = self.number(stand_in);
                let there = self.node("Where", &[&gone, &stand_in, &column.name]);
                let (bottom, top) = (self.number(*low), self.number(*high));
                let clamped = self.node("Max", &[&there, &bottom]);
                let clamped = self.node("Min", &[&clamped, &top]);
                let mut parts = Vec::new();
                if let Some(own) = own {
                    parts.push(match own {
                        OwnEntry::AsItIs => clamped.clone(),
                        OwnEntry::Log => {
                            let inner = self.plus(&clamped, 1.0 - low);
                            self.node("Log", &[&inner])
                        }
                        OwnEntry::Share(curve, slope, offset) => {
                            let t = self.share(&clamped, *curve);
                            let risen = self.times(&t, *slope);
                            self.plus(&risen, *offset)
                        }
                    });
                }
                parts.extend(piecewise.iter().map(|piecewise| self.piecewise(&clamped, piecewise)));
                let mut mask = None;
                match column.missing {
                    RecipeMissing::Refused => self.refused.push(gone),
                    RecipeMissing::Number(_) => {}
                    RecipeMissing::Place(_) | RecipeMissing::Nothing => {
                        parts = parts.iter().map(|part| self.zero_where(&gone, part)).collect();
                        if let RecipeMissing::Place(_) = column.missing {
                            let cast = [protobuf::attribute("to", Element::Double as i64)];
                            parts.push(self.node_with("Cast", &[&gone], &cast));
                        }
                        mask = Some(gone);
                    }
                }
                let block = if parts.len() == 1 { parts.remove(0) } else { self.concat(&parts) };
                PlacedColumn { block, number: Some((clamped, mask)) }
            }
        }
    }

    fn category(
        &mut self,
        column: &RecipeColumn,
        texts: &[(String, Option<u32>)],
        other: Option<u32>,
        missing_texts: &[String],
    ) -> PlacedColumn {
        self.inputs.push(protobuf::value(&column.name, Element::Text, Some(1)));
        // A row of the table for each index, and one of zeros for no index.
        let gone = match column.missing {
            RecipeMissing::Place(place) => Some(place),
            _ => None,
        };
        let places = texts.iter().filter_map(|(_, place)| *place).chain(other).chain(gone);
        let width = places.max().map_or(1, |last| last as usize + 1);
        let code = |place: Option<u32>| place.map_or(width as i64, i64::from);
        let mut keys: Vec<String> = texts.iter().map(|(text, _)| text.clone()).collect();
        let mut codes: Vec<i64> = texts.iter().map(|(_, place)| code(*place)).collect();
        keys.extend(missing_texts.iter().cloned());
        codes.extend(missing_texts.iter().map(|_| code(gone)));
        let attributes = [
            protobuf::attribute_texts("keys_strings", &keys),
            protobuf::attribute_integers("values_int64s", &codes),
            protobuf::attribute("default_int64", code(other)),
        ];
        let found = self.name("LabelEncoder");
        let inputs = [column.name.as_str()];
        self.nodes.push(protobuf::node("LabelEncoder", "ai.onnx.ml", &inputs, &found, &attributes));
        let mut table = vec![0.0; (width + 1) * width];
        (0..width).for_each(|place| table[place * width + place] = 1.0);
        let table = self.doubles(&[width + 1, width], &table);
        let rows = self.node("Gather", &[&table, &found]);
        let axis = self.integers(&[1]);
        PlacedColumn { block: self.node("Squeeze", &[&rows, &axis]), number: None }
    }

    fn pair(&mut self, pair: &RecipePair, placed: &[PlacedColumn]) -> Option<String> {
        let number = |at: usize| placed.get(at)?.number.clone();
        match pair {
            RecipePair::PiecewiseLinear { columns: [a, b], piecewise } => {
                let (left, right) = (number(*a)?, number(*b)?);
                let mut sides = Vec::new();
                for ((value, mask), piecewise) in [left, right].iter().zip(piecewise.iter()) {
                    let heights = self.piecewise(value, piecewise);
                    sides.push(match mask {
                        Some(mask) => self.zero_where(mask, &heights),
                        None => heights,
                    });
                }
                let count = piecewise[0].heights[0].len() * piecewise[1].heights[0].len();
                let (last, middle) = (self.integers(&[2]), self.integers(&[1]));
                let left = self.node("Unsqueeze", &[&sides[0], &last]);
                let right = self.node("Unsqueeze", &[&sides[1], &middle]);
                let products = self.node("Mul", &[&left, &right]);
                let shape = self.integers(&[-1, count as i64]);
                Some(self.node("Reshape", &[&products, &shape]))
            }
            RecipePair::Slopes { columns: [a, b], curve, weight, .. } => {
                let (value, mask) = number(*b)?;
                let t = self.share(&value, *curve);
                let risen = self.times(&t, 2.0 * weight);
                let mut slope = self.plus(&risen, -weight);
                if let Some(mask) = mask {
                    slope = self.zero_where(&mask, &slope);
                }
                Some(self.node("Mul", &[&placed.get(*a)?.block, &slope]))
            }
        }
    }

    /// The encoded columns of a row but the constant one, before clipping.
    fn row(&mut self, recipe: &Recipe) -> String {
        let placed: Vec<PlacedColumn> = recipe
            .columns
            .iter()
            .map(|column| self.column(column, &recipe.missing_texts))
            .collect();
        let mut blocks: Vec<String> = placed.iter().map(|placed| placed.block.clone()).collect();
        blocks.extend(recipe.pairs.iter().filter_map(|pair| self.pair(pair, &placed)));
        self.concat(&blocks)
    }

    /// Squared norm ‖e‖² of a row of `width` columns and a constant.
    fn squares(&mut self, row: &str, width: usize, constant: f64) -> String {
        let squares = self.node("Mul", &[row, row]);
        let ones = self.doubles(&[width, 1], &vec![1.0; width]);
        let squares = self.node("MatMul", &[&squares, &ones]);
        self.plus(&squares, constant * constant)
    }

    /// Factor f of a squared norm ‖e‖².
    fn factor(&mut self, factor: Factor, squares: &str) -> String {
        let (radius, least) = match factor {
            Factor::Always(factor) => return self.number(factor),
            Factor::AtMost(radius) => (radius, radius * radius),
            Factor::To(radius) => (radius, f64::MIN_POSITIVE),
        };
        let least = self.number(least);
        let length = self.node("Max", &[squares, &least]);
        let length = self.node("Sqrt", &[&length]);
        let radius = self.number(radius);
        self.node("Div", &[&radius, &length])
    }

    /// A score for each problem, of shape (rows, problems).
    fn scores(&mut self, scorer: &Scorer) -> String {
        let recipe = &scorer.recipe;
        let row = self.row(recipe);
        let (constant_at, constant) = recipe.constant.unwrap_or((recipe.width as u32, 0.0));
        let width = constant_at as usize;
        let vectors: Vec<&Vec<f64>> = scorer.vectors().collect();
        let columns: Vec<f64> =
            (0..width).flat_map(|at| vectors.iter().map(move |vector| vector[at])).collect();
        let always: Vec<f64> = vectors
            .iter()
            .map(|vector| constant * vector.get(width).copied().unwrap_or(0.0))
            .collect();
        let columns = self.doubles(&[width, vectors.len()], &columns);
        let always = self.doubles(&[1, vectors.len()], &always);
        let products = self.node("MatMul", &[&row, &columns]);
        let products = self.node("Add", &[&products, &always]);
        let squares = self.squares(&row, width, constant);
        let factor = self.factor(scorer.factor, &squares);
        let products = self.node("Mul", &[&products, &factor]);
        let problems = scorer.weights.len();
        let mut scores = products.clone();
        if let Some(centre) = &scorer.centre {
            let mine: Vec<i64> = (0..problems as i64).collect();
            let (mine, last) = (self.integers(&mine), self.integers(&[problems as i64]));
            let axis = [protobuf::attribute("axis", 1)];
            let own = self.node_with("Gather", &[&products, &mine], &axis);
            let along = self.node_with("Gather", &[&products, &last], &axis);
            let square = self.node("Mul", &[&factor, &factor]);
            let length = self.node("Mul", &[&squares, &square]);
            let twice = self.times(&along, 2.0);
            let length = self.node("Sub", &[&length, &twice]);
            let length = self.plus(&length, centre.squares);
            let least = self.number(centre.shortest * centre.shortest);
            let length = self.node("Max", &[&length, &least]);
            let length = self.node("Sqrt", &[&length]);
            let radius = self.number(centre.radius);
            let stretch = self.node("Div", &[&radius, &length]);
            let taken = self.doubles(&[1, problems], &centre.along);
            let own = self.node("Sub", &[&own, &taken]);
            let own = self.node("Mul", &[&own, &stretch]);
            let zero = self.number(0.0);
            let empty = self.node("Equal", &[&squares, &zero]);
            scores = self.zero_where(&empty, &own);
        }
        self.or_nothing(&scores)
    }

    /// Sets NaN where a required cell is missing.
    fn or_nothing(&mut self, value: &str) -> String {
        let Some(refused) = self.any_refused() else { return value.to_string() };
        let nothing = self.number(f64::NAN);
        self.node("Where", &[&refused, &nothing, value])
    }

    /// Mask of rows where a required cell is missing, of shape (rows, 1).
    fn any_refused(&mut self) -> Option<String> {
        let mut refused = self.refused.clone().into_iter();
        let first = refused.next()?;
        Some(refused.fold(first, |a, b| self.node("Or", &[&a, &b])))
    }

    fn output(&mut self, value: &str, name: &str, element: Element, columns: Option<usize>) {
        self.nodes.push(protobuf::node("Identity", "", &[value], name, &[]));
        self.outputs.push(protobuf::value(name, element, columns));
    }

    fn outcome(&mut self, outcome: &Outcome, problems: usize, scores: &str) {
        match outcome {
            Outcome::Number { low, high, poisson } => {
                let mut z = scores.to_string();
                if let Some((least, shift)) = poisson {
                    let shifted = self.plus(&z, -shift);
                    let zero = self.number(0.0);
                    let shifted = self.node("Min", &[&shifted, &zero]);
                    let share = self.node("Exp", &[&shifted]);
                    let above = self.plus(&share, -least);
                    let risen = self.times(&above, 2.0 / (1.0 - least));
                    z = self.plus(&risen, -1.0);
                }
                let (bottom, top) = (self.number(-1.0), self.number(1.0));
                let clamped = self.node("Max", &[&z, &bottom]);
                let clamped = self.node("Min", &[&clamped, &top]);
                let half = (high - low) / 2.0;
                let risen = self.times(&clamped, half);
                let number = self.plus(&risen, low + half);
                let number = self.or_nothing(&number);
                self.output(&number, "prediction", Element::Double, Some(1));
            }
            Outcome::Classes { names, chances } => {
                let ranked = match problems {
                    1 => {
                        let zero = self.node("Sub", &[scores, scores]);
                        self.concat(&[zero, scores.to_string()])
                    }
                    _ => scores.to_string(),
                };
                let first = [protobuf::attribute("axis", 1), protobuf::attribute("keepdims", 0)];
                let best = self.node_with("ArgMax", &[&ranked], &first);
                let listed = self.name("constant");
                self.constants.push(protobuf::texts(&listed, names));
                let mut class = self.node("Gather", &[&listed, &best]);
                if let Some(refused) = self.any_refused() {
                    let axis = self.integers(&[1]);
                    let refused = self.node("Squeeze", &[&refused, &axis]);
                    let nothing = self.name("constant");
                    self.constants.push(protobuf::texts(&nothing, &[String::new()]));
                    class = self.node("Where", &[&refused, &nothing, &class]);
                }
                self.output(&class, "prediction", Element::Text, None);
                if let Some(chances) = chances {
                    let shares = self.shares(*chances, scores, problems);
                    self.output(&shares, "probabilities", Element::Double, Some(names.len()));
                }
            }
        }
        self.output(scores, "scores", Element::Double, Some(problems));
    }

    /// Probabilities of all classes.
    fn shares(&mut self, chances: Probabilities, scores: &str, problems: usize) -> String {
        let raw = match chances {
            Probabilities::Softmax => {
                let attributes = [
                    protobuf::attribute_integers("axes", &[1]),
                    protobuf::attribute("keepdims", 1),
                ];
                let largest = self.node_with("ReduceMax", &[scores], &attributes);
                let below = self.node("Sub", &[scores, &largest]);
                self.node("Exp", &[&below])
            }
            Probabilities::Sigmoid => {
                let away = self.times(scores, -1.0);
                let odds = self.node("Exp", &[&away]);
                let whole = self.plus(&odds, 1.0);
                self.node("Reciprocal", &[&whole])
            }
            Probabilities::Clipped(slope) => {
                let size = self.node("Abs", &[scores]);
                let odds = self.node("Exp", &[&size]);
                let odds = self.plus(&odds, 1.0);
                let odds = self.times(&odds, slope);
                let whole = self.plus(&odds, 1.0);
                let wrong = self.node("Reciprocal", &[&whole]);
                let even = self.number(0.5 - f64::EPSILON);
                let wrong = self.node("Min", &[&wrong, &even]);
                let away = self.times(&wrong, -1.0);
                let right = self.plus(&away, 1.0);
                let zero = self.number(0.0);
                let above = self.node("Greater", &[scores, &zero]);
                let chance = self.node("Where", &[&above, &right, &wrong]);
                // A score of 0 gives probability ½.
                let half = self.number(0.5);
                let none = self.node("Equal", &[scores, &zero]);
                self.node("Where", &[&none, &half, &chance])
            }
        };
        if problems == 1 {
            let away = self.times(&raw, -1.0);
            let other = self.plus(&away, 1.0);
            return self.concat(&[other, raw]);
        }
        let ones = self.doubles(&[problems, 1], &vec![1.0; problems]);
        let total = self.node("MatMul", &[&raw, &ones]);
        let least = self.number(f64::MIN_POSITIVE);
        let total = self.node("Max", &[&total, &least]);
        self.node("Div", &[&raw, &total])
    }
}
