//! Narrower intervals of weights, from the noisy curvature of the losses at the released weights.
//!
//! **Theorem.** Let a record's loss have 0 ≤ ℓ″ ≤ c, ‖x‖ ≤ R, and a unit own at most k records. At a
//! given θ the matrix Σℓ″(⟨x, θ⟩)·xxᵀ moves between neighbours by at most **√2·k·cR²** in Frobenius norm
//! under replace-one and **k·cR²** under add/remove. With Gaussian noise on all its p² entries it is a
//! Gaussian mechanism of that sensitivity, and composes with the mechanism that released θ.
//!
//! *Proof.* A unit's records contribute A = Σw·xxᵀ, positive semidefinite with ‖A‖ ≤ k·cR². Under
//! add/remove one such A is added or removed. Under replace-one A is replaced by B, and ⟨A, B⟩ ≥ 0 for
//! positive semidefinite matrices, so that ‖A − B‖² ≤ ‖A‖² + ‖B‖². θ was released before, so that the
//! sum is taken at a public point: adaptive composition as in [`super::gd`]. ∎ If derivatives are
//! clipped to S, ℓ″ counts as 0 beyond: that is the derivative of the clipped ℓ′, and 0 is within
//! [0, c].
//!
//! *In finite arithmetic.* The sum is one of exact integers ([`ExactCurvature`]); it reaches the noise's
//! grid in integers; that rounding and the discrete noise are charged.
//!
//! **Of centred rows** ([`super::centred_gd`]) a record contributes w·zzᵀ, z = x̃ − d·m/2^e
//! ([`privet_data::centre`]), m released before. The sum is taken over (x̃, d), entries truncated to
//! multiples of u ≤ R/512, and m times its last row and column is subtracted in integers, from both
//! sides. The vector in place of z is then off by at most √p·u + u·‖m‖/2^e, so that its norm is at most
//! **R·(1 + (√p + 1)/512)** in place of R.
//!
//! **What follows** is post-processing: from the noisy matrix to intervals, see [`super::response`]. The
//! model keeps the effect of a deviation of 1 on each weight ([`Spread`]). The coverage of such an
//! interval is not proved: H is that at the released weights, and itself noisy. In simulation
//! (`examples/coverage.rs`: 4,000 rows of three generators, 4, 20 and 50 columns, also with all but four
//! of them hardly varying, ε = 2 and 8) 95 to 100 of 100 contain the weight; more than 97 where noise
//! hides a part of the curvature, which then counts as none. Of `centred-gd` single columns were covered
//! in 80 of 100, because of the noise in its mean.
//!
//! **Price.** [`CURVATURE_SHARE`] of μ², which makes all other noise 1/√(1 − share) times as wide, by 2
//! %. One linear problem, δ > 0.
//!
//! - Tested by `neighbours_move_it_by_no_more` and `centred_neighbours_move_it_by_no_more`.

use super::descent::{self, Descent};
use super::response::Response;
use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::model::{LinearWeights, Spread};
use crate::linear::problems;
use crate::release::admit;
use crate::release::settings::SettingInfo;
use privet_core::Neighbours;
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::{GateError, Next, Noisy, Private, Session, Walk};
use privet_dp::mechanism::{ExactCounts, Gaussian};
use privet_optim::sum::{ExactCurvature, ExactGram, Recentring, Sums, Table};
use serde::{Deserialize, Serialize};

/// The source of the intervals of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Intervals {
    /// Public facts alone: bounds, mostly wide ones.
    Bound,
    /// The curvature, estimated privately (paid from ε).
    Bought,
}

/// The setting `intervals`, for every learner that has it.
pub(crate) const INTERVALS_SETTING: SettingInfo = SettingInfo::one_of_words(
    "intervals",
    "bound or bought",
    "how sure weights are: bound, from public facts and mostly wide, unless given; bought: from the curvature, for 4 % \
     of the budget",
);

/// The curvature's share of μ².
pub const CURVATURE_SHARE: f64 = 0.04;

/// Largest number of columns for which the matrix is kept and decomposed.
const MOST_COLUMNS: usize = 1024;

/// Largest number of rows for which 128 bits hold the sum: a row contributes below 2⁴⁶ units, and
/// centring multiplies by 2⁴⁸.
const MOST_ROWS: u64 = 1 << 32;

/// The sensitivity of the theorem, for rows of at most this norm.
pub fn sensitivity(facts: &Facts, longest: f64) -> f64 {
    let one = facts.shape.curvature * longest * longest;
    let sides = match facts.neighbours {
        Neighbours::ReplaceOne | Neighbours::ReplaceLabel => std::f64::consts::SQRT_2,
        Neighbours::AddRemove => 1.0,
    };
    // The factor covers the rounding of these few operations.
    f64::from(facts.unit.records()) * sides * one * (1.0 + 16.0 * f64::EPSILON)
}

/// Bound on the norm of the vectors that stand for centred rows.
pub fn centred_length(facts: &Facts) -> f64 {
    facts.radius * (1.0 + ((facts.columns as f64).sqrt() + 1.0) / 512.0)
}

/// The private estimate of the curvature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CurvatureEstimate {
    gaussian: Gaussian,
    /// The bound to which |ℓ′| is clipped.
    slope: f64,
    columns: usize,
}

impl CurvatureEstimate {
    /// The estimate for this plan, within its share of a budget; |ℓ′| is clipped to `slope`, rows have
    /// norm at most `longest`.
    pub fn plan_estimate(
        facts: &Facts,
        (epsilon, delta): (f64, f64),
        slope: f64,
        longest: f64,
    ) -> Result<Self, LearnError> {
        let refused = |what: &str, instead| {
            Err(LearnError::NotCovered { what: format!("intervals = bought: {what}"), instead })
        };
        if delta == 0.0 {
            return refused(
                "the curvature is bought under Gaussian noise, which has no finite epsilon at delta = 0",
                "give a delta above 0, or leave out the intervals",
            );
        }
        if facts.problems > 1 {
            return refused(
                "it is offered for one linear problem, two classes or a number",
                "leave out the intervals: bounds cost nothing",
            );
        }
        if facts.columns > MOST_COLUMNS {
            return refused(
                "the curvature is a matrix of as many rows as there are encoded columns",
                "give at most 1024 encoded columns, or leave out the intervals",
            );
        }
        if facts.rows > MOST_ROWS {
            return refused(
                "with so many rows whole numbers may not hold the sum",
                "declare at most 2^32 rows, or leave out the intervals: bounds cost nothing",
            );
        }
        if facts.shared {
            return refused(
                "it is not offered among parties",
                "leave out the intervals: bounds cost nothing",
            );
        }
        let sensitivity = sensitivity(facts, longest);
        let noise_scale = sensitivity / (CURVATURE_SHARE.sqrt() * gaussian::mu(epsilon, delta));
        let coordinates = facts.columns * facts.columns;
        let (neighbours, unit) = (facts.neighbours, facts.unit);
        let gaussian = Gaussian { neighbours, unit, sensitivity, noise_scale, coordinates };
        Ok(Self { gaussian, slope, columns: facts.columns })
    }

    pub fn event(&self) -> Result<Event, GateError> {
        self.gaussian.event()
    }

    pub fn noise_scale(&self) -> f64 {
        self.gaussian.noise_scale
    }

    /// The public numbers that its walk starts from.
    pub fn start(&self, response: Response) -> Option<serde_json::Value> {
        let (columns, noise_scale) = (self.columns, self.gaussian.noise_scale);
        serde_json::to_value(Start { columns, response, noise_scale }).ok()
    }

    /// The noisy curvature at θ; of centred rows, `recentring` is the mean to subtract from those that stand
    /// for them.
    pub fn ask(
        &self,
        facts: &Facts,
        table: &dyn Table,
        (theta, recentring): (&[f64], Option<&Recentring>),
        session: &mut Session<'_>,
    ) -> Result<Noisy<Vec<f64>>, LearnError> {
        let sums =
            sums(facts, table, (theta, recentring), self.slope).ok_or(GateError::Unanswered)?;
        Ok(self.gaussian.run_units(Private::new(sums), session)?)
    }
}

/// The whole matrix, exactly.
fn sums(
    facts: &Facts,
    table: &dyn Table,
    (theta, recentring): (&[f64], Option<&Recentring>),
    slope: f64,
) -> Option<ExactCounts> {
    let (loss, radius, columns) = (facts.loss, facts.radius, theta.len());
    let statistic = ExactCurvature { loss, theta: theta.to_vec(), radius, slope };
    let records = admit::records(table, &problems::problem(facts, 0)).ok()?;
    let mut counts = records.sum(&statistic).ok()?.into_units()?;
    ExactGram::mirror(&mut counts, columns);
    let Some(recentring) = recentring else {
        return Some(ExactCounts { counts, unit: statistic.unit() });
    };
    // From the columns, then from the rows.
    let left = recentring.taken_from(&counts)?;
    let kept = columns.checked_sub(1)?;
    let turned: Vec<i128> =
        (0..kept * columns).map(|place| left[place % columns * kept + place / columns]).collect();
    let unit = statistic.unit() / 2_f64.powi(2 * recentring.bits as i32);
    Some(ExactCounts { counts: recentring.taken_from(&turned)?, unit })
}

/// The public numbers that a walk with an estimate of the curvature starts from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    pub columns: usize,
    pub response: Response,
    /// The noise scale of the curvature.
    pub noise_scale: f64,
}

/// The walk's queries.
#[derive(Debug, Clone, Serialize)]
pub(crate) enum Query {
    /// Weights, from a mechanism of their own.
    Fit,
    /// The gradient at θ.
    Gradient(Vec<f64>),
    /// The curvature at θ.
    Curvature(Vec<f64>),
}

/// A fit of weights, then the curvature there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FitThenCurvature {
    start: Start,
    descent: Option<Descent>,
    weights: Option<Vec<f64>>,
    over: bool,
}

impl Walk for FitThenCurvature {
    type Start = Start;
    type Query = Query;
    type Answer = Vec<f64>;
    type Artefact = LinearWeights;

    fn begin(start: Start) -> Self {
        let descent = match start.response {
            Response::Minimum { .. } => None,
            Response::Descent { schedule } => {
                Some(Descent::begin(descent::Start { schedule, coordinates: start.columns }))
            }
        };
        Self { start, descent, weights: None, over: false }
    }

    fn next(&mut self, answer: Option<Vec<f64>>) -> Next<Query, LinearWeights> {
        if self.over {
            return Next::End;
        }
        let Some(weights) = &self.weights else {
            let found = match (&mut self.descent, answer) {
                (None, None) => return Next::Ask(Query::Fit),
                (None, Some(found)) => found,
                (Some(descent), answer) => match descent.next(answer) {
                    Next::Ask(theta) => return Next::Ask(Query::Gradient(theta)),
                    Next::Release(found) => found,
                    Next::End => return Next::End,
                },
            };
            self.weights = Some(found.clone());
            return Next::Ask(Query::Curvature(found));
        };
        let Some(noisy) = answer else {
            return Next::Ask(Query::Curvature(weights.clone()));
        };
        let Start { columns, noise_scale, .. } = self.start;
        let length = self.start.response.lengths(&noisy, columns, noise_scale, &[]);
        let spread = Some(Spread { along: Vec::new(), length });
        self.over = true;
        Next::Release(LinearWeights { spread, ..LinearWeights::of(vec![weights.clone()]) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{COLUMNS, request, table};
    use super::*;
    use crate::Method;
    use privet_data::centre::Centre;
    use privet_data::matrix::Matrix;
    use proptest::prelude::*;

    /// The whole matrix of a table.
    fn matrix(facts: &Facts, data: &privet_data::Dataset, theta: &[f64]) -> Vec<f64> {
        let ExactCounts { counts, unit } = sums(facts, data, (theta, None), 1.0).unwrap();
        counts.iter().map(|count| *count as f64 * unit).collect()
    }

    /// The same of rows less a mean.
    fn centred_matrix(
        facts: &Facts,
        data: &privet_data::Dataset,
        theta: &[f64],
        mean: &[f64],
    ) -> Vec<f64> {
        let centre = Centre::new(mean, facts.radius);
        let reaching = Facts { radius: Centre::norm_bound(facts.radius), ..facts.clone() };
        let moved = Table::recentred(data, &centre).unwrap();
        let recentring = Recentring { units: centre.units(), bits: Centre::BITS };
        let at = (&centre.point(theta)[..], Some(&recentring));
        let ExactCounts { counts, unit } = sums(&reaching, moved.as_ref(), at, 1.0).unwrap();
        counts.iter().map(|count| *count as f64 * unit).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// For random and extreme records, at any θ.
        #[test]
        fn neighbours_move_it_by_no_more(
            seed in 0..1000_u64,
            size in prop_oneof![Just(0.0), 0.1..30.0_f64],
            one in prop::collection::vec(prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64], COLUMNS),
            other in prop::collection::vec(prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64], COLUMNS),
            units in any::<bool>(),
        ) {
            let most = if units { 3 } else { 1 };
            let line = |row: &[f64], label: &str| {
                let cells: Vec<String> = row.iter().map(f64::to_string).collect();
                let who = if units { ",own" } else { "" };
                format!("{},{label}{who}\n", cells.join(",")).repeat(most)
            };
            let theta: Vec<f64> =
                (0..=COLUMNS).map(|j| size * ((j * 7 + seed as usize) % 5) as f64 / 4.0 - size / 2.0).collect();
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                let request = request(
                    "classes = [\"a\", \"b\"]",
                    Method::Gd(Default::default()),
                    (50 + most, units.then_some(most as u32)),
                    neighbours,
                );
                let facts = Facts::of(&request).unwrap();
                let with = matrix(&facts, &table(&request, 0..50, seed, &line(&one, "a")), &theta);
                let against = match neighbours {
                    Neighbours::AddRemove => table(&request, 0..50, seed, ""),
                    _ => table(&request, 0..50, seed, &line(&other, "b")),
                };
                let without = matrix(&facts, &against, &theta);
                let moved: f64 = with.iter().zip(&without).map(|(a, b)| (a - b).powi(2)).sum();
                let bound = sensitivity(&facts, facts.radius);
                prop_assert!(moved.sqrt() <= bound, "{} > {bound}", moved.sqrt());
                // Attained at θ = 0 by an axis, up to what is truncated.
                if size == 0.0 && neighbours == Neighbours::AddRemove {
                    let length: f64 = one.iter().map(|x| x * x).sum::<f64>() + 1.0;
                    let least = 0.25 * most as f64 * length.min(2.25) * 0.99;
                    prop_assert!(moved.sqrt() >= least, "{} < {least}", moved.sqrt());
                }
            }
        }

        /// The same for centred rows; and the sum is that of the rows that a model scores.
        #[test]
        fn centred_neighbours_move_it_by_no_more(
            seed in 0..1000_u64,
            size in prop_oneof![Just(0.0), 0.1..30.0_f64],
            one in prop::collection::vec(prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64], COLUMNS),
            other in prop::collection::vec(prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64], COLUMNS),
            mean in prop::collection::vec(prop_oneof![Just(-1.0), Just(0.0), Just(1.0), -1.0..1.0_f64], COLUMNS),
        ) {
            let line = |row: &[f64], label: &str| {
                let cells: Vec<String> = row.iter().map(f64::to_string).collect();
                format!("{},{label}\n", cells.join(","))
            };
            let theta: Vec<f64> =
                (0..=COLUMNS).map(|j| size * ((j * 7 + seed as usize) % 5) as f64 / 4.0 - size / 2.0).collect();
            let mean: Vec<f64> = mean.iter().copied().chain([0.0]).collect();
            for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
                let method = Method::CentredGd(Default::default());
                let request =
                    request("classes = [\"a\", \"b\"]", method, (51, None), neighbours);
                let facts = Facts::of(&request).unwrap();
                let of = |more: &str| {
                    centred_matrix(&facts, &table(&request, 0..50, seed, more), &theta, &mean)
                };
                let with = of(&line(&one, "a"));
                let without = match neighbours {
                    Neighbours::AddRemove => of(""),
                    _ => of(&line(&other, "b")),
                };
                let moved: f64 = with.iter().zip(&without).map(|(a, b)| (a - b).powi(2)).sum();
                let bound = sensitivity(&facts, centred_length(&facts));
                prop_assert!(moved.sqrt() <= bound, "{} > {bound}", moved.sqrt());
                if size == 0.0 && neighbours == Neighbours::AddRemove {
                    // ℓ″(0) = ¼ for every record: Σ ¼·zzᵀ.
                    let data = table(&request, 0..50, seed, &line(&one, "a"));
                    let centre = Centre::new(&mean, facts.radius);
                    let Matrix::Dense(rows) = &data.features else { panic!("dense rows") };
                    let mut sum = vec![0.0; with.len()];
                    for row in 0..51 {
                        let z = centre.row(rows.row(row));
                        for (place, sum) in sum.iter_mut().enumerate() {
                            *sum += z[place / z.len()] * z[place % z.len()] / 4.0;
                        }
                    }
                    let far = with.iter().zip(&sum).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    prop_assert!(far <= 0.01 * 51.0 * facts.radius * facts.radius, "{far}");
                }
            }
        }
    }
}
