//! Knowledge transfer: what a model says of public inputs, under noise, and a model of few columns learned from that.
//!
//! **Theorem.** Let θ̂ minimise Σℓ + (λ/2)‖θ‖² to a certified tolerance; between neighbours it moves by at most Δ_θ
//! ([`super::output::sensitivity`]). For public inputs X̃, m rows with ‖X̃‖₂ ≤ ν, the answers X̃θ̂ move by at most **ν·Δ_θ** in
//! ℓ2; under Gaussian noise of that sensitivity they have the exact Gaussian curve, and what is learned from X̃ and the
//! answers is post-processing.
//!
//! *Proof.* ‖X̃θ̂ − X̃θ̂′‖ ≤ ‖X̃‖₂·‖θ̂ − θ̂′‖. θ̂ is first brought into the ball of radius `BALL`/R, which moves no two
//! points apart. *In finite arithmetic.* A product of p terms is rounded by at most p·2⁻⁵³ of the sum of their sizes, in all
//! by at most p·2⁻⁵³·‖X̃‖_F·BALL/R, for each of the two: added to the sensitivity, ‖X̃‖_F ≤ √min(m, p)·ν. ∎
//!
//! **Student.** Least squares on X̃ and the answers that keeps s columns (`ight`), whatever the teacher's loss.
//!
//! **Inputs.** Public rows from a file ([`crate::Plan::with_public`]; `--public`), whose number m and norm ν the plan
//! states; they are not protected. Without any, X̃ is the unit matrix: the answers are the weights, and this is `output`
//! followed by a threshold. A file is better only in so far as it knows which directions matter: a well-spread X̃ is
//! an isometry but for its length, and noise on its answers is noise on the weights.
//!
//! - **Departs from print** (Wang 2021, Algorithm 2, Theorem 3.3.3; erratum DPSL-KT). There the teacher is sparse,
//!   and has no small sensitivity; no constants of it are offered.
//! - A private teacher needs none of this: what its file says of public inputs anybody may learn from.
//! - One linear problem. δ = 0 is refused. Tested by `tests/all/sparse.rs`.

use super::Decision;
use super::chosen_amp::COLUMNS;
use super::descent::keep_within;
use super::gd::BALL;
use super::ight::{for_row, thresholded};
use super::minimum::{Ask, solve};
use super::narrow::spread;
use super::output::sensitivity;
use super::{calibrated, reach, ridge as rule};
use crate::allowance::Allowance;
use crate::facts::Facts;
use crate::method::{Method, MethodInfo, RIDGE_SETTING, Scores};
use crate::model::LinearWeights;
use crate::request::{Calibration, RIDGE};
use crate::settings::{SettingInfo, Shown};
use crate::support::Support;
use crate::task::Procedure;
use crate::{Erm, LearnError};
use privet_core::Range;
use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
use privet_dp::account::{self, Event};
use privet_dp::gate::{Arithmetic, GateError, Next, Noised, Private, Session, Walk};
use privet_dp::mechanism::Gaussian;
use privet_optim::solver::{Monitor, Penalty};
use privet_optim::sum::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Limits on m.
pub const PUBLIC_ROWS: Range = Range::from("public_rows", 1.0, 10_000_001.0);
/// Limits on ν.
pub const PUBLIC_NORM: Range = Range::open("public_norm", 0.0, 1e60);

/// A line about it.
pub const INFO: MethodInfo = MethodInfo {
    name: "dpsl-kt",
    summary: "noises what a regularised minimiser says of public inputs, and learns a model of few columns \
              from that; the public rows are not protected",
    source: "Wang 2021, Algorithm 2, with a teacher whose sensitivity is proved",
    guarantee: "(ε, δ) in finite arithmetic; no pure ε",
    settings: &[
        SettingInfo::whole(COLUMNS, "columns kept; chosen from public facts unless given")
            .also("at most the columns of the table"),
        SettingInfo::whole(PUBLIC_ROWS, "rows of the public file; none unless there is one"),
        SettingInfo::number(PUBLIC_NORM, "a bound on the spectral norm of its rows")
            .also("with public_rows"),
        RIDGE_SETTING,
    ],
    scores: Scores::Separate,
    noised: "what the minimiser says of public inputs",
    any_storage: true,
};

/// Its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DpslKt {
    /// s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<u32>,
    /// m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_rows: Option<u32>,
    /// ν.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_norm: Option<f64>,
    /// λ of the sum form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
}

/// Columns that the rule keeps at most.
const MOST: f64 = 500.0;

/// Entries of public rows, at most: the student's half of a session is written down whole.
const MOST_ENTRIES: u64 = 10_000_000;

/// What every such certificate says.
const UNPROTECTED: &str =
    "the rows of the public file were taken for public: nothing is promised to those in it";

/// Decides everything from public facts.
pub(crate) fn plan(
    facts: &Facts,
    budget: &Allowance<'_>,
    calibration: Calibration,
    options: &DpslKt,
) -> Result<Decision, LearnError> {
    let refused = |what: String, instead| Err(LearnError::NotCovered { what, instead });
    if calibration == Calibration::Printed {
        return refused(
            "the theorem that is printed for knowledge transfer is false".into(),
            "leave out the calibration, or give sound; `docs/errata.md` says more",
        );
    }
    if budget.is_pure() {
        return refused(
            "method dpsl-kt adds Gaussian noise, which has no finite epsilon at delta = 0".into(),
            "give a delta above 0, or method two-stage, frank-wolfe or amp",
        );
    }
    if facts.problems > 1 {
        return refused(
            "method dpsl-kt is made for one linear problem".into(),
            "give a number or two classes as target, or method gd or dp-ight",
        );
    }
    options.public_rows.map(|rows| PUBLIC_ROWS.check(rows.into())).transpose()?;
    options.public_norm.map(|norm| PUBLIC_NORM.check(norm)).transpose()?;
    if options.public_rows.is_some() != options.public_norm.is_some() {
        return refused(
            "of a public file both the rows and the norm are stated".into(),
            "give public_rows and public_norm, or neither; --public states both",
        );
    }
    let open = facts.columns - usize::from(facts.bias);
    let usual = (0.25 * (facts.rows as f64 * budget.epsilon()).sqrt()).clamp(1.0, MOST).round();
    let count = options.columns.unwrap_or((usual as u32).min(open as u32));
    COLUMNS.check(f64::from(count))?;
    if count as usize > open {
        return refused(
            format!("{count} columns are to be kept of {open}"),
            "give at most as many as there are",
        );
    }
    let given = options.public_rows.zip(options.public_norm);
    let (rows, norm) = match given {
        Some((rows, norm)) => (PUBLIC_ROWS.check(rows.into())? as usize, PUBLIC_NORM.check(norm)?),
        None => (facts.columns, 1.0),
    };
    let mu = account::gaussian::mu(budget.epsilon(), budget.delta());
    let unit_noise = facts.gradient_shift() / mu;
    let ridge =
        RIDGE.check(options.ridge.unwrap_or_else(|| rule::for_output(facts, unit_noise)))?;
    let tolerance = facts.default_tolerance();
    let rounding = {
        let columns = facts.columns as f64;
        let length = norm * (rows as f64).min(columns).sqrt() * BALL / facts.radius;
        2.0 * (columns + 2.0) * f64::EPSILON * length
    };
    let shift = (norm * sensitivity(facts, ridge, tolerance) + rounding) * (1.0 + 1e-12);
    let at = |noise_scale: f64| Transfer {
        gaussian: Gaussian {
            neighbours: facts.neighbours,
            unit: facts.unit,
            sensitivity: shift,
            noise_scale,
            coordinates: rows,
        },
        ridge,
        tolerance,
        size: count as usize,
        ball: BALL / facts.radius,
        bias: facts.bias,
        norm,
        rows: facts.rows,
        given: given.map(|_| Given::Awaited),
    };
    let scale = calibrated(facts, budget, shift / mu, |scale| at(scale).gaussian.event())?;
    Ok(Decision {
        procedure: Arc::new(at(scale)),
        settled: Method::DpslKt(DpslKt {
            columns: Some(count),
            public_rows: options.public_rows,
            public_norm: options.public_norm,
            ridge: Some(ridge),
        }),
        arithmetic: Arithmetic::Finite,
        notes: given.map(|_| UNPROTECTED.into()).into_iter().collect(),
    })
}

/// Public inputs of a plan that states some.
#[derive(Debug, Clone)]
enum Given {
    /// Not handed over yet.
    Awaited,
    /// Their rows.
    There(Arc<Matrix>),
}

/// A teacher, its answers, and a student.
#[derive(Debug, Clone)]
struct Transfer {
    gaussian: Gaussian,
    ridge: f64,
    tolerance: f64,
    size: usize,
    ball: f64,
    bias: bool,
    norm: f64,
    rows: u64,
    given: Option<Given>,
}

impl Transfer {
    fn ask(&self) -> Ask {
        Ask { ridge: self.ridge, tolerance: self.tolerance, linear_norm: 0.0 }
    }
}

impl Procedure<Erm> for Transfer {
    fn event(&self) -> Result<Event, LearnError> {
        Ok(self.gaussian.event()?)
    }

    fn settings(&self) -> Shown {
        Shown::of([
            ("columns", self.size as f64),
            ("ridge", self.ridge),
            ("gamma", self.tolerance / self.rows as f64),
            ("answer_noise", self.gaussian.noise_scale),
            ("public_norm", self.norm),
        ])
    }

    fn refuses(&self, found: &LinearWeights) -> Option<&'static str> {
        let used = |row: &Vec<f64>| row.iter().filter(|weight| **weight != 0.0).count();
        let most = self.size + usize::from(self.bias);
        if found.weights.iter().any(|row| used(row) > most) {
            return Some("more weights are not 0 than columns were kept");
        }
        // Without public rows the noised answers are the weights.
        match self.given {
            None => Support::gaussian(self.gaussian.noise_scale).refuses(&found.weights),
            Some(_) => None,
        }
    }

    fn check(&self, facts: &Facts) -> Result<(), LearnError> {
        reach::check(facts, self.ask(), &Penalty::None)
    }

    fn walk(&self) -> Option<serde_json::Value> {
        let inputs = match &self.given {
            Some(Given::There(rows)) => Some(Inputs::of(rows)),
            _ => None,
        };
        let Self { size, bias, norm, .. } = *self;
        serde_json::to_value(Student { inputs, size, bias, norm }).ok()
    }

    fn with_public(&self, rows: &Matrix) -> Option<Result<Arc<dyn Procedure<Erm>>, LearnError>> {
        self.given.as_ref()?;
        if rows.rows() != self.gaussian.coordinates {
            return Some(Err(LearnError::DataShape("the public rows are not as many as planned")));
        }
        let entries = (0..rows.rows()).map(|row| {
            let mut count = 0;
            for_row(rows, row, |_, x| count += u64::from(x != 0.0));
            count
        });
        if entries.sum::<u64>() > MOST_ENTRIES {
            return Some(Err(LearnError::NotCovered {
                what: "more than 10,000,000 entries of public rows".into(),
                instead: "give fewer public rows",
            }));
        }
        if norm_bound(rows) > self.norm {
            return Some(Err(LearnError::DataShape("the public rows are longer than planned")));
        }
        let given = Some(Given::There(Arc::new(rows.clone())));
        Some(Ok(Arc::new(Self { given, ..self.clone() })))
    }

    fn run(
        &self,
        facts: &Facts,
        table: &dyn Table,
        session: &mut Session<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Noised<LinearWeights>, LearnError> {
        let inputs = match &self.given {
            None => None,
            Some(Given::There(rows)) if rows.columns() == facts.columns => Some(rows.clone()),
            Some(_) => {
                return Err(LearnError::DataShape("the public rows of the plan are not there"));
            }
        };
        let solved = solve(facts, table, 0, self.ask(), &Penalty::None, None, monitor)?;
        if solved.distance_bound() > self.tolerance / self.ridge {
            return Err(GateError::NotCertified.into());
        }
        let mut theta = solved.into_theta();
        keep_within(&mut theta, self.ball);
        let answers = match &inputs {
            None => theta,
            Some(rows) => (0..rows.rows()).map(|row| margin(rows, row, &theta)).collect(),
        };
        let mut answers = Some(answers);
        let mut walk = session.begin::<Student>()?;
        let found = session.walk(&mut walk, |(), session| {
            let answers = answers.take().ok_or(GateError::NotAsPlanned)?;
            Ok::<_, LearnError>(self.gaussian.run(Private::new(answers), session)?)
        })?;
        Ok(found.ok_or(GateError::NotAsPlanned)?)
    }
}

/// The learner's half: public inputs and noised answers alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Student {
    inputs: Option<Inputs>,
    size: usize,
    bias: bool,
    norm: f64,
}

/// Public rows, written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inputs {
    columns: usize,
    /// Where each row begins, and where the last one ends.
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f32>,
}

impl Inputs {
    fn of(rows: &Matrix) -> Self {
        let (mut starts, mut places, mut values) = (vec![0], vec![], vec![]);
        for row in 0..rows.rows() {
            for_row(rows, row, |column, x| {
                if x != 0.0 {
                    places.push(column as u32);
                    values.push(x as f32);
                }
            });
            starts.push(places.len());
        }
        Self { columns: rows.columns(), starts, places, values }
    }

    fn rows(self) -> Matrix {
        Matrix::Csr(CsrMatrix::new(self.starts, self.places, self.values, self.columns))
    }
}

impl Walk for Student {
    type Start = Self;
    type Question = ();
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Self) -> Self {
        start
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<(), LinearWeights> {
        let Some(answers) = answer else { return Next::Ask(()) };
        let weights = match self.inputs.take() {
            None => largest(answers, self.size, self.bias),
            Some(inputs) => student(&inputs.rows(), &answers, self.size, self.bias, self.norm),
        };
        Next::Release(LinearWeights::of(vec![weights]))
    }
}

fn margin(rows: &Matrix, row: usize, theta: &[f64]) -> f64 {
    let mut margin = 0.0;
    for_row(rows, row, |column, x| margin += x * theta[column]);
    margin
}

/// The largest weights by size, and the constant column's.
fn largest(weights: Vec<f64>, size: usize, bias: bool) -> Vec<f64> {
    let open = weights.len() - usize::from(bias);
    let mut order: Vec<usize> = (0..open).collect();
    order.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()));
    let mut kept = weights;
    order.into_iter().skip(size).for_each(|column| kept[column] = 0.0);
    kept
}

/// Least squares of few columns.
fn student(rows: &Matrix, answers: &[f64], size: usize, bias: bool, norm: f64) -> Vec<f64> {
    let half = |margin: f64, label: f64| (0.5 * (margin - label).powi(2), margin - label);
    let columns = thresholded((rows, answers), half, bias, size, 4.0 / (norm * norm));
    let part = rows.only(&columns);
    // Conjugate gradients of the normal equations.
    let transposed = |residual: &[f64]| {
        let mut sums = vec![0.0; part.columns()];
        for (row, value) in residual.iter().enumerate() {
            for_row(&part, row, |column, x| sums[column] += x * value);
        }
        sums
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut theta = vec![0.0; part.columns()];
    let mut residual = answers.to_vec();
    let mut slope = transposed(&residual);
    let mut along = slope.clone();
    let first = dot(&slope, &slope);
    let mut square = first;
    for _ in 0..2 * part.columns() {
        if square <= 1e-24 * first || square == 0.0 {
            break;
        }
        let moved: Vec<f64> = (0..part.rows()).map(|row| margin(&part, row, &along)).collect();
        let step = square / dot(&moved, &moved).max(f64::MIN_POSITIVE);
        theta.iter_mut().zip(&along).for_each(|(t, d)| *t += step * d);
        residual.iter_mut().zip(&moved).for_each(|(r, m)| *r -= step * m);
        slope = transposed(&residual);
        let next = dot(&slope, &slope);
        along.iter_mut().zip(&slope).for_each(|(d, s)| *d = s + next / square * *d);
        square = next;
    }
    let finite = theta.iter().all(|weight| weight.is_finite());
    let theta = if finite { theta } else { vec![0.0; columns.len()] };
    spread(vec![theta], &columns, rows.columns()).remove(0)
}

/// A number that ‖X‖₂ does not pass, of public rows: the smallest of three bounds, the last a factorisation of
/// c²I − K for the smaller Gram matrix K, where that has at most `FACTORISED` rows.
pub fn norm_bound(rows: &Matrix) -> f64 {
    let (mut square, mut longest) = (0.0, 0.0_f64);
    let mut sums = vec![0.0; rows.columns()];
    for row in 0..rows.rows() {
        let mut own = 0.0;
        for_row(rows, row, |column, x| {
            square += x * x;
            own += x.abs();
            sums[column] += x.abs();
        });
        longest = longest.max(own);
    }
    let widest = sums.iter().copied().fold(0.0, f64::max);
    let simple = square.sqrt().min((longest * widest).sqrt()) * (1.0 + 1e-9);
    let least = rows.rows().min(rows.columns());
    if least > FACTORISED || square == 0.0 {
        return simple.max(f64::MIN_POSITIVE);
    }
    let dense = dense(rows);
    let gram = gram(&dense, rows.rows(), rows.columns());
    // At first about what a few powers give from below.
    let mut vector = vec![1.0; least];
    let mut value = 0.0;
    for _ in 0..60 {
        let next: Vec<f64> = gram
            .chunks(least)
            .map(|row| row.iter().zip(&vector).map(|(a, v)| a * v).sum::<f64>())
            .collect();
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        let before = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        value = if before > 0.0 { length / before } else { 0.0 };
        vector = next.into_iter().map(|x| x / length.max(f64::MIN_POSITIVE)).collect();
    }
    // An entry of the diagonal is a bound from below, and above 0.
    let largest = (0..least).map(|at| gram[at * least + at]).fold(0.0, f64::max);
    let mut bound = (value * 1.01).max(largest);
    while bound.sqrt() < simple {
        if is_above(&gram, least, bound) {
            return bound.sqrt() * (1.0 + 1e-9);
        }
        bound *= 1.02;
    }
    simple
}

/// Rows of the Gram matrix that is factorised, at most.
const FACTORISED: usize = 2_000;

fn dense(rows: &Matrix) -> DenseMatrix {
    let values = (0..rows.rows()).flat_map(|row| rows.dense_row(row)).collect();
    DenseMatrix::new(values, rows.rows(), rows.columns())
}

/// XXᵀ or XᵀX, whichever is smaller.
fn gram(rows: &DenseMatrix, count: usize, columns: usize) -> Vec<f64> {
    let wide = count <= columns;
    let size = count.min(columns);
    let mut gram = vec![0.0; size * size];
    if wide {
        for a in 0..size {
            for b in 0..=a {
                let products = rows.row(a).iter().zip(rows.row(b));
                let sum: f64 = products.map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
                (gram[a * size + b], gram[b * size + a]) = (sum, sum);
            }
        }
    } else {
        for row in 0..count {
            let entries: Vec<f64> = rows.row(row).iter().map(|x| f64::from(*x)).collect();
            for (a, x) in entries.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let line = &mut gram[a * size..(a + 1) * size];
                line.iter_mut().zip(&entries).for_each(|(sum, y)| *sum += x * y);
            }
        }
    }
    gram
}

/// Whether cI − K is positive, by Cholesky, with room for its rounding.
fn is_above(gram: &[f64], size: usize, bound: f64) -> bool {
    let mut lower = vec![0.0; size * size];
    for row in 0..size {
        let (before, rest) = lower.split_at_mut(row * size);
        let own = &mut rest[..size];
        for column in 0..row {
            let other = &before[column * size..column * size + column];
            let sum: f64 = own[..column].iter().zip(other).map(|(a, b)| a * b).sum();
            own[column] = (-gram[row * size + column] - sum) / before[column * size + column];
        }
        let sum: f64 = own[..row].iter().map(|a| a * a).sum();
        let left = bound - gram[row * size + row] - sum;
        if left.is_nan() || left <= 1e-6 * bound {
            return false;
        }
        own[row] = left.sqrt();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_are_bounded_and_nearly_so() {
        // Orthogonal rows: of length 2, √5 and 1.
        let values = vec![2.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.4, -0.2];
        let rows = Matrix::Dense(DenseMatrix::new(values, 3, 3));
        let bound = norm_bound(&rows);
        assert!((5_f64.sqrt()..=1.02 * 5_f64.sqrt()).contains(&bound), "{bound}");
        let tall = Matrix::Dense(DenseMatrix::new(vec![1.0; 12], 6, 2));
        let bound = norm_bound(&tall);
        assert!((12_f64.sqrt()..=1.02 * 12_f64.sqrt()).contains(&bound), "{bound}");
    }

    #[test]
    fn a_student_of_clear_answers_finds_the_columns() {
        let mut source = privet_dp::noise::FixedSeed::new(4);
        let draw = |_| privet_dp::noise::Source::below(&mut source, 2001) as f32 / 1000.0 - 1.0;
        let rows = Matrix::Dense(DenseMatrix::new((0..60 * 8).map(draw).collect(), 60, 8));
        let truth = [0.0, 0.5, 0.0, 0.0, -0.7, 0.0, 0.0, 0.2];
        let answers: Vec<f64> = (0..60).map(|row| margin(&rows, row, &truth)).collect();
        let found = student(&rows, &answers, 2, true, norm_bound(&rows));
        let gap = found.iter().zip(truth).map(|(f, t)| (f - t).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-6, "{found:?}");
        assert_eq!(largest(vec![1.0, -3.0, 2.0, 0.1], 1, true), [0.0, -3.0, 0.0, 0.1]);
    }
}
