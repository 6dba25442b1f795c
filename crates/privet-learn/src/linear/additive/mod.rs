//! Shape functions: the additive effect of each column on the scores of a released model.
//!
//! A linear model of encoded columns is an additive model of the columns themselves: its score is an
//! intercept plus a function of each column, plus for each declared pair an interaction beyond its two
//! columns. [`Shapes`] are these functions, at the points that determine them (knots, bounds,
//! categories), computed from the released weights and the public schema alone: post-processing, at no
//! cost.
//!
//! - **The sum holds** for every row where [`Shapes::exact`]; elsewhere for rows that are not clipped,
//!   and a clipped row's score is the sum scaled down with the row
//!   ([`privet_data::encode::Encoding::is_additive`]). Of a centred model the score is the sum divided
//!   by the row's own norm ([`Shapes::divided`]): with the same prediction as the sum.
//! - **Centred.** Each function is 0 on average evenly over its bounds or listed categories, each pair
//!   over each of its columns alone; the averages removed are in the intercept and in the columns of the
//!   pair. Averages over the records would be a query of them. So a pair contains only the interaction
//!   beyond its two columns.
//! - **Several classes fitted jointly** (`gd` and `sgd` with the logistic loss) are distinguished by
//!   differences of their scores alone. Their common part changes no prediction and no probability, has
//!   no curvature, and is noise: it is left out, so that at each point the classes add up to 0
//!   ([`Shapes::relative`]).
//! - **Bands.** A point of a function is a weighted sum of weights, with known coefficients. If the
//!   noise of a released weight has a known bound ([`crate::Plan::weight_noise`]) the standard deviation
//!   of the privacy noise in the point is at most that times the norm of the coefficients: for `gd` and
//!   `sgd` a bound to first order ([`crate::linear`], `gain`), for `output` and `psgd` with Gaussian
//!   noise the exact value. For other learners none is known, and none is given. It covers the noise of
//!   privacy alone: not sampling error, nor the effect of clipping, early stopping and a ridge.
//!
//! **Not smoothed.** Shrinking neighbouring hats together by the same bound would be free as well, but
//! loses ranking on Adult and Bank Marketing (`docs/tuning-log.md`).

mod functional;

use crate::Request;
use crate::linear::Erm;
use crate::linear::learners::Scores;
use crate::linear::model::{LinearWeights, Model};
use functional::Functional;
use privet_data::encode::{Axis, Encoding, Level, Part};
use privet_data::schema::TargetKind;
use privet_optim::loss::Loss;

/// Upper bound on the functions made of a sparse file, whose columns have no names: those with the
/// largest weights in absolute value, and those that tie with the last.
pub const MOST_FEATURES: usize = 1000;

/// Half width of a band, in standard deviations.
pub const BAND: f64 = 2.0;

/// The functions of a model, with the scale that they are on.
#[derive(Debug, Clone, PartialEq)]
pub struct Shapes {
    /// The unit of the numbers.
    pub scale: Scale,
    /// The class that each problem's score is for, of several classes; the second of two; empty for a
    /// number.
    pub classes: Vec<String>,
    /// True if the sum holds for every row, not only for those that are not clipped.
    pub exact: bool,
    /// True if the common part of all classes is left out of their scores.
    pub relative: bool,
    /// The constant part of the score, one per problem.
    pub intercept: Vec<f64>,
    /// Bound on the standard deviation of the privacy noise in each intercept.
    pub intercept_noise: Option<f64>,
    /// Columns in the order of the schema, then pairs.
    pub shapes: Vec<Shape>,
    /// The number of features of a sparse file left out.
    pub left_out: usize,
    /// True if the score has parts that belong to no column: waves, features of images, a centre taken
    /// from rows that are clipped or filled first. Then the functions add up to it for no row.
    pub unexplained: bool,
    /// True if the score is the sum divided by the norm of the row's own features less a centre
    /// ([`crate::linear::centred_gd`]): of the same sign, and the same class is the largest, but other
    /// rows have other norms. (A row without any nonzero entry has the score 0.)
    pub divided: bool,
}

/// The unit of the numbers of shape functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Scores of classes: positive favours the class. Of the logistic loss they are log-odds, but for
    /// the effect of clipped derivatives and scaled rows.
    Score,
    /// The target's unit.
    Target,
    /// The logarithm of a rate, up to a constant.
    LogRate,
}

/// The effect of one column or pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// One or two columns, with their levels.
    pub axes: Vec<Axis>,
    /// The amount added at each level, a row per problem; of a pair the second axis varies fastest.
    pub effects: Vec<Vec<f64>>,
    /// Bound on the standard deviation of the privacy noise in each of those; `None` if unknown.
    pub noise: Option<Vec<f64>>,
}

impl Shape {
    /// The names of its columns.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.axes.iter().map(|axis| axis.column.as_str()).collect();
        names.join(" × ")
    }

    /// The largest excess of an effect's size over its band; below 0 if all effects stay within.
    pub fn beyond(&self) -> f64 {
        let beyond = |(place, effect): (usize, &f64)| {
            effect.abs() - self.noise.as_ref().map_or(0.0, |noise| BAND * noise[place])
        };
        let all = self.effects.iter().flat_map(|effects| effects.iter().enumerate().map(beyond));
        all.fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Model {
    /// Computes the shape functions.
    pub fn shapes(&self) -> Shapes {
        let columns = Encoding::new(&self.request().schema).width();
        let plan = crate::plan(self.request()).ok();
        let each = plan.as_ref().and_then(|plan| plan.weight_noises(self.weights(), columns));
        let shared = plan.as_ref().and_then(|plan| plan.sum_noise(self.weights()));
        Shapes::under(self.request(), self.weights(), &|sum| match &shared {
            Some(shared) => Some(shared(&sum.entries())),
            None => Some(sum.length(each.as_deref()?)),
        })
    }
}

impl Shapes {
    /// The shape functions of a settled request and the weights released for it; `noise` bounds the
    /// standard deviation of the noise in the weights of each column, as [`crate::Plan::weight_noises`]
    /// does.
    pub fn of(request: &Request<Erm>, weights: &LinearWeights, noise: Option<&[f64]>) -> Self {
        Self::under(request, weights, &|sum| Some(sum.length(noise?)))
    }

    /// The same with a bound on the noise in any weighted sum of the weights of a problem.
    fn under(
        request: &Request<Erm>,
        weights: &LinearWeights,
        noise: &dyn Fn(&Functional) -> Option<f64>,
    ) -> Self {
        let encoding = Encoding::new(&request.schema);
        let classes = match request.schema.classes() {
            Some([_, second]) => vec![second.clone()],
            Some(classes) => classes.to_vec(),
            None => Vec::new(),
        };
        let (scale, unit, shift) = match (&request.schema.target().kind, request.task.loss) {
            (TargetKind::Classes(_), _) => (Scale::Score, 1.0, 0.0),
            (TargetKind::Number { .. }, Loss::Poisson { .. }) => (Scale::LogRate, 1.0, 0.0),
            (TargetKind::Number { low, high }, _) => {
                (Scale::Target, (high - low) / 2.0, (high + low) / 2.0)
            }
        };
        let features = encoding.features() as usize;
        let least = least_shown(weights, features);
        let parts = encoding.parts(|feature| largest(weights, feature as usize) >= least);
        let left_out = features.saturating_sub(parts.len());
        let centre = weights.centre.as_ref();
        // For rows clipped or filled before they are centred, and for numbers, not even the sign of the
        // sum is that of the score.
        let divided = centre.is_some() && encoding.is_whole() && !classes.is_empty();
        let unexplained = encoding.of_no_column() > 0 || (centre.is_some() && !divided);
        let (mut constant, functionals) = centred(&encoding, &parts);
        if let Some(centre) = centre {
            constant.add(-1.0, &Functional::of((0..).zip(centre.iter().copied())));
        }
        let joint = request.task.loss == Loss::Logistic && request.scores() == Scores::ClippedJoint;
        let relative = joint && weights.weights.len() > 1;
        let own = if relative { without_common(weights) } else { weights.clone() }.weights;
        // A difference from the mean of K has 1 − 1/K of the variance.
        let apart = if relative { (1.0 - 1.0 / own.len() as f64).sqrt() } else { 1.0 };
        let values = |of: &Functional| own.iter().map(|row| unit * of.at(row)).collect();
        let noise_of = |of: &Functional| Some(apart * unit * noise(of)?);
        let shape = |(part, all): (Part, Vec<Functional>)| {
            let effect = |row: &Vec<f64>| all.iter().map(|of| unit * of.at(row)).collect();
            Shape {
                axes: part.axes,
                effects: own.iter().map(effect).collect(),
                noise: all.iter().map(noise_of).collect(),
            }
        };
        let intercept: Vec<f64> = values(&constant);
        Self {
            scale,
            classes,
            exact: encoding.is_additive() && left_out == 0 && centre.is_none(),
            relative,
            intercept: intercept.into_iter().map(|value| value + shift).collect(),
            intercept_noise: noise_of(&constant),
            shapes: parts.into_iter().zip(functionals).map(shape).collect(),
            left_out,
            unexplained,
            divided,
        }
    }
}

/// The weights of each class less their mean over the classes.
fn without_common(weights: &LinearWeights) -> LinearWeights {
    let (rows, count) = (&weights.weights, weights.weights.len() as f64);
    let mean = |at: usize| rows.iter().map(|row| row[at]).sum::<f64>() / count;
    let means: Vec<f64> = (0..rows[0].len()).map(mean).collect();
    let recentring =
        |row: &Vec<f64>| row.iter().zip(&means).map(|(weight, mean)| weight - mean).collect();
    LinearWeights::of(rows.iter().map(recentring).collect())
}

/// The largest absolute weight of an encoded column, over the problems.
fn largest(weights: &LinearWeights, column: usize) -> f64 {
    weights.weights.iter().map(|row| row[column].abs()).fold(0.0, f64::max)
}

/// The least absolute weight of a feature of a sparse file that is shown.
fn least_shown(weights: &LinearWeights, features: usize) -> f64 {
    if features <= MOST_FEATURES {
        return 0.0;
    }
    let mut all: Vec<f64> = (0..features).map(|feature| largest(weights, feature)).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    all[MOST_FEATURES - 1].max(f64::MIN_POSITIVE)
}

/// The levels of a part, in the order of its effects.
fn grid(axes: &[Axis]) -> Vec<(Vec<&Level>, f64)> {
    let mut all = vec![(Vec::new(), 1.0)];
    for axis in axes {
        let each = |(levels, weight): &(Vec<_>, f64)| {
            let (levels, weight) = (levels.clone(), *weight);
            let own = axis.levels.iter().zip(&axis.weights);
            own.map(move |(level, own)| ([&levels[..], &[level]].concat(), weight * own))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(each).collect();
    }
    all
}

/// The constant, and each part at each of its levels, centred so that the averages of the module header
/// are 0.
///
/// f(a, b) of a pair is f̃(a, b) + (f₁(a) − c) + (f₂(b) − c) + c, with f₁ and f₂ its averages over the
/// other column and c over both: the middle terms go to the columns, c to the constant, at every level,
/// missing ones included.
fn centred(encoding: &Encoding, parts: &[Part]) -> (Functional, Vec<Vec<Functional>>) {
    let at = |part: &Part, levels: &[&Level]| Functional::of(encoding.part_entries(part, levels));
    let average = |all: &mut dyn Iterator<Item = (Functional, f64)>| {
        all.fold(Functional::default(), |sum, (value, weight)| sum.plus(weight, &value))
    };
    let mut constant = Functional::of(encoding.constant_entry());
    let mut found: Vec<Vec<Functional>> = parts
        .iter()
        .map(|part| grid(&part.axes).iter().map(|(levels, _)| at(part, levels)).collect())
        .collect();
    for (place, part) in parts.iter().enumerate() {
        let [first, second] = &part.axes[..] else { continue };
        // Averages over the other column.
        let over_second = |level: &Level| {
            let other = second.levels.iter().zip(&second.weights);
            average(&mut other.map(|(other, weight)| (at(part, &[level, other]), *weight)))
        };
        let over_first = |level: &Level| {
            let other = first.levels.iter().zip(&first.weights);
            average(&mut other.map(|(other, weight)| (at(part, &[other, level]), *weight)))
        };
        let rows: Vec<Functional> = first.levels.iter().map(over_second).collect();
        let columns: Vec<Functional> = second.levels.iter().map(over_first).collect();
        let both = average(&mut rows.iter().cloned().zip(first.weights.iter().copied()));
        constant.add(1.0, &both);
        let width = second.levels.len();
        for (at, value) in found[place].iter_mut().enumerate() {
            value.add(-1.0, &rows[at / width]);
            value.add(-1.0, &columns[at % width]);
            value.add(1.0, &both);
        }
        let mut give = |axis: &Axis, average_at: &dyn Fn(&Level) -> Functional| {
            let own = |other: &&Part| other.axes.len() == 1 && other.axes[0].column == axis.column;
            let Some(own) = parts.iter().position(|other| own(&other)) else { return };
            for (level, value) in parts[own].axes[0].levels.iter().zip(&mut found[own]) {
                value.add(1.0, &average_at(level));
                value.add(-1.0, &both);
            }
        };
        give(first, &over_second);
        give(second, &over_first);
    }
    for (part, values) in parts.iter().zip(&mut found) {
        let [axis] = &part.axes[..] else { continue };
        let mean = average(&mut values.iter().cloned().zip(axis.weights.iter().copied()));
        constant.add(1.0, &mean);
        values.iter_mut().for_each(|value| value.add(-1.0, &mean));
    }
    (constant, found)
}
