//! Reduction of an event tree to its composition: independent parts, each dominated by one loss.
//!
//! **Composition.** If part i satisfies H_e(Pᵢ‖Qᵢ) ≤ E(1−e^{e−Uᵢ})₊ at every real e, whatever came
//! before, then the parts together satisfy H_ε ≤ E(1−e^{ε−ΣUᵢ})₊ for independent Uᵢ. *Proof.*
//! H_ε(P₁P₂‖Q₁Q₂) = E H_{ε−ℒ₁}(P₂‖Q₂) ≤ E E(1−e^{ε−ℒ₁−U₂})₊ = E H_{ε−U₂}(P₁‖Q₁) ≤ E(1−e^{ε−U₁−U₂})₊;
//! induct. ∎  Hence:
//! - Gaussian losses add up to one, N(M/2, M) with M = Σμᵢ²: kept as `squares`;
//! - a part that leaks everything with probability δᵢ contributes 1−∏(1−δᵢ) to `leak`, and the
//!   rest of the mass, (1−leak), composes as if there were no leak;
//! - noise on a grid that replaces a continuous law at total-variation distance q costs (1+e^ε)·q at the
//!   end, kept as `distance`: H_ε(P̃‖Q̃) ≤ H_ε(P‖Q) + TV(P̃,P) + e^εTV(Q̃,Q). Where its probabilities
//!   are within e^±r but for events of probability t, P̃(S) ≤ t + e^rP(S) and Q(S) ≤ t + e^rQ̃(S) give
//!   H_ε(P̃‖Q̃) ≤ e^rH_{ε−2r}(P‖Q) + (1+e^ε)t: better for large ε, kept as `ratio` and `outside`. A law
//!   that is itself only known to within q has q added to both `distance` and `outside`.
//!
//! **Grid.** The distance of a discrete Gaussian on a grid from the continuous one rounded to that grid
//! is [`grid_distance`], with its proof.
//!
//! Equal parts are merged, so that repeating and listing are the same; ρ of zCDP parts adds up.

use super::error::{AccountError, non_negative, positive, probability};
use super::event::{Cost, Event, Grid, ObjectiveCost, ObjectiveNoise, Runs};
use super::minima::{OutputCost, output_cost};
use super::objective::{Objective, Perturbation, perturbation};
use super::sampled::{self, Sampled, Sampler};
use super::selected::Selected;
use crate::noise::{grid_distance, grid_ratio};
use privet_core::{Neighbours, Unit};

/// Largest number of uses of one mechanism.
const LARGEST_USE_COUNT: u64 = 1 << 40;
/// Largest number of different parts.
const DIFFERENT: usize = 4096;
/// Smallest accepted number of grid steps per standard deviation.
const LEAST_STEPS_PER_DEVIATION: f64 = 1024.0;

/// One part that is not Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// Any ε-DP mechanism, by its ε.
    Response(f64),
    /// The continuous Laplace mechanism, by its ε = shift/scale.
    Laplace(f64),
    /// The discrete Laplace mechanism: the shift in steps, and step/scale.
    DiscreteLaplace(f64, f64),
    /// Bounded range, by the range of the loss.
    BoundedRange(f64),
    /// Any zCDP mechanism, by its ρ.
    Concentrated(f64),
    /// A perturbed objective: Theorems 1–4 of [`super::objective`].
    Objective(Objective),
    /// A Gaussian release of sampled records.
    Sampled(Sampled),
}

/// The reduced tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The relation of all leaves.
    pub neighbours: Neighbours,
    /// The unit of all leaves.
    pub unit: Unit,
    /// Σμ² of the Gaussian parts.
    pub squares: f64,
    /// Probability that some part leaks everything.
    pub leak: f64,
    /// Total-variation distance from the ideal laws.
    pub distance: f64,
    /// Ratio r: probabilities are within e^±r of the ideal laws', …
    pub ratio: f64,
    /// … except for events of this probability t.
    pub outside: f64,
    /// All other parts, with multiplicities.
    pub rest: Vec<(Part, u64)>,
    /// Best runs of many, with multiplicities: only their moments are known.
    pub selected: Vec<(Selected, u64)>,
}

impl Parts {
    /// Checks a tree and reduces it.
    pub fn new(event: &Event) -> Result<Self, AccountError> {
        let (neighbours, unit) = first_leaf(event).ok_or(AccountError::Empty)?;
        let mut parts = Self {
            neighbours,
            unit,
            squares: 0.0,
            leak: 0.0,
            distance: 0.0,
            ratio: 0.0,
            outside: 0.0,
            rest: Vec::new(),
            selected: Vec::new(),
        };
        parts.add(event, 1)?;
        if parts.rest.len() > DIFFERENT {
            return Err(AccountError::TooManyKinds { most: DIFFERENT });
        }
        parts.squares *= 1.0 + 1e-14;
        parts.distance *= 1.0 + 1e-12;
        parts.ratio *= 1.0 + 1e-12;
        parts.outside *= 1.0 + 1e-12;
        Ok(parts)
    }

    fn add(&mut self, event: &Event, count: u64) -> Result<(), AccountError> {
        match event {
            Event::All(events) if events.is_empty() => Err(AccountError::Empty),
            Event::All(events) => events.iter().try_for_each(|event| self.add(event, count)),
            Event::Repeat { count: 0, .. } | Event::UpTo { count: 0, .. } => {
                Err(AccountError::Empty)
            }
            Event::Repeat { count: more, event } | Event::UpTo { count: more, event } => {
                let count = count
                    .checked_mul(u64::from(*more))
                    .filter(|count| *count <= LARGEST_USE_COUNT)
                    .ok_or(AccountError::TooMany { most: LARGEST_USE_COUNT })?;
                self.add(event, count)
            }
            Event::Selected { law, event } => {
                self.add_best(law, std::slice::from_ref(event.as_ref()), count)
            }
            Event::BestOf { law, candidates } => self.add_best(law, candidates, count),
            // Already too many: comparing further parts with each other would take ever longer.
            Event::Use { .. } if self.rest.len() > DIFFERENT => Ok(()),
            Event::Use { neighbours, unit, cost } => {
                self.same_relation(*neighbours, *unit)?;
                self.add_cost(cost, count)
            }
        }
    }

    /// The best of a random number of runs, each of one of these.
    fn add_best(&mut self, law: &Runs, each: &[Event], count: u64) -> Result<(), AccountError> {
        if each.is_empty() {
            return Err(AccountError::Empty);
        }
        if each.len() > DIFFERENT {
            return Err(AccountError::TooManyKinds { most: DIFFERENT });
        }
        let inner = each.iter().map(Self::new).collect::<Result<Vec<_>, _>>()?;
        for parts in &inner {
            self.same_relation(parts.neighbours, parts.unit)?;
        }
        let runs = Selected::expected(law)?;
        let distance = inner.iter().fold(0.0, |most: f64, parts| most.max(parts.distance));
        self.distance += distance * runs * count as f64 * ROUND_UP;
        self.ratio = f64::INFINITY; // of a random number of runs: only the distance is charged
        self.selected.push((Selected::new(*law, inner)?, count));
        Ok(())
    }

    fn same_relation(&self, neighbours: Neighbours, unit: Unit) -> Result<(), AccountError> {
        if neighbours != self.neighbours {
            let (first, second) = (self.neighbours, neighbours);
            return Err(AccountError::MixedNeighbours { first, second });
        }
        if unit != self.unit {
            return Err(AccountError::MixedUnits { first: self.unit, second: unit });
        }
        Ok(())
    }

    fn add_cost(&mut self, cost: &Cost, count: u64) -> Result<(), AccountError> {
        match cost {
            Cost::Gaussian { sensitivity, noise_scale, grid } => {
                let scale = positive("noise_scale", *noise_scale)?;
                self.add_gaussian(non_negative("sensitivity", *sensitivity)? / scale, count);
                self.add_grid(*grid, scale, count)?;
            }
            Cost::JointGaussian { sensitivity, noise_scale, grid, distance } => {
                let scale = positive("noise_scale", *noise_scale)?;
                self.add_gaussian(non_negative("sensitivity", *sensitivity)? / scale, count);
                self.add_grid(Some(*grid), scale, count)?;
                // The law's own distance is added to either charge of the grid: P̃(S) ≤ q + P̂(S) on
                // both sides.
                let off = probability("distance", *distance)? * count as f64 * ROUND_UP;
                self.distance = (self.distance + off) * ROUND_UP;
                self.outside = (self.outside + off) * ROUND_UP;
            }
            Cost::ContinualGaussian { sensitivity, noise_scale, grid, .. }
            | Cost::IndividualGaussian { sensitivity, noise_scale, grid, .. } => {
                let scale = positive("noise_scale", *noise_scale)?;
                self.add_gaussian(non_negative("sensitivity", *sensitivity)? / scale, count);
                self.add_grid(Some(*grid), scale, count)?;
            }
            Cost::PoissonGaussian { rate, sensitivity, noise_scale, grid } => {
                let (sampler, moves) = sampled::poisson(self.neighbours.of_records(), self.unit)?;
                let rate = sampled::checked_rate(*rate)?;
                self.add_sampled(sampler, rate, moves, *sensitivity, *noise_scale, count)?;
                self.add_grid(*grid, *noise_scale, count)?;
            }
            Cost::WithoutReplacementGaussian {
                population,
                batch,
                sensitivity,
                noise_scale,
                grid,
            } => {
                let (neighbours, unit) = (self.neighbours.of_records(), self.unit);
                let rate = sampled::without_replacement(*population, *batch, neighbours, unit)?;
                let sampler = Sampler::WithoutReplacement;
                self.add_sampled(sampler, rate, 1.0, *sensitivity, *noise_scale, count)?;
                self.add_grid(*grid, *noise_scale, count)?;
            }
            Cost::Laplace { sensitivity, noise_scale, step } => {
                let scale = positive("noise_scale", *noise_scale)?;
                let sensitivity = non_negative("sensitivity", *sensitivity)?;
                let part = match *step {
                    None => Part::Laplace(ratio(sensitivity, scale)),
                    Some(step) => {
                        let step = positive("step", step)?;
                        let shift = libm::floor(sensitivity / step * (1.0 + 1e-12));
                        if shift < 1.0 {
                            Part::Response(0.0) // nothing on the grid changes
                        } else {
                            Part::DiscreteLaplace(shift, ratio(step, scale))
                        }
                    }
                };
                self.push(part, count);
            }
            Cost::L2Laplace { sensitivity, noise_scale } => {
                let scale = positive("noise_scale", *noise_scale)?;
                let sensitivity = non_negative("sensitivity", *sensitivity)?;
                self.push(Part::Response(ratio(sensitivity, scale)), count);
            }
            Cost::Pure { epsilon } => {
                self.push(Part::Response(non_negative("epsilon", *epsilon)?), count);
            }
            Cost::BoundedRange { range } => {
                self.push(Part::BoundedRange(non_negative("range", *range)?), count);
            }
            Cost::AboveThreshold { sensitivity, noise_scale, query_noise_scale, .. } => {
                let sensitivity = non_negative("sensitivity", *sensitivity)?;
                let threshold = ratio(sensitivity, positive("noise_scale", *noise_scale)?);
                let each = positive("query_noise_scale", *query_noise_scale)?;
                let epsilon = (threshold + 2.0 * ratio(sensitivity, each)) * ROUND_UP;
                self.push(Part::Response(epsilon), count);
            }
            Cost::ZeroConcentrated { rho } => {
                self.push(Part::Concentrated(non_negative("rho", *rho)?), count);
            }
            Cost::Approximate { epsilon, delta } => {
                let delta = probability("delta", *delta)?;
                self.push(Part::Response(non_negative("epsilon", *epsilon)?), count);
                self.leak = if self.leak == 0.0 && count == 1 {
                    delta // as stated, so that at this δ the stated ε holds
                } else {
                    let ln_kept = libm::log1p(-self.leak) + count as f64 * libm::log1p(-delta);
                    (-libm::expm1(ln_kept) * (1.0 + 1e-14)).min(1.0)
                };
            }
            Cost::Objective(objective) => self.add_objective(objective, count)?,
            Cost::ApproximateMinima { objective, output_sensitivity, output } => {
                self.add_objective(objective, count)?;
                match output_cost(*output_sensitivity, output)? {
                    OutputCost::Gaussian(nu, grid, scale) => {
                        self.add_gaussian(nu, count);
                        self.add_grid(grid, scale, count)?;
                    }
                    OutputCost::Pure(epsilon) => {
                        self.push(Part::Response(epsilon * ROUND_UP), count)
                    }
                }
            }
        }
        Ok(())
    }

    fn add_objective(&mut self, cost: &ObjectiveCost, count: u64) -> Result<(), AccountError> {
        match perturbation(cost, self.neighbours.of_records(), self.unit)? {
            Perturbation::Gaussian(mu) => self.add_gaussian(mu, count),
            Perturbation::Pure(epsilon) => self.push(Part::Response(epsilon), count),
            Perturbation::Objective(objective) => self.push(Part::Objective(objective), count),
        }
        match cost.noise {
            ObjectiveNoise::Gaussian { noise_scale, grid } => {
                self.add_grid(grid, noise_scale, count)
            }
            ObjectiveNoise::L2Laplace { .. } => Ok(()),
        }
    }

    /// The sensitivity of the whole sum is `moves` times `sensitivity`.
    fn add_sampled(
        &mut self,
        sampler: Sampler,
        rate: f64,
        moves: f64,
        sensitivity: f64,
        noise_scale: f64,
        count: u64,
    ) -> Result<(), AccountError> {
        let scale = positive("noise_scale", noise_scale)?;
        let shift = ratio(non_negative("sensitivity", sensitivity)?, scale);
        if rate == 1.0 {
            self.add_gaussian(moves * shift, count);
        } else if shift == f64::INFINITY {
            self.leak = 1.0; // overflow: no protection at all
        } else if sensitivity > 0.0 {
            // A quotient that underflows must not count as no release.
            let shift = shift.max(f64::MIN_POSITIVE);
            self.push(Part::Sampled(Sampled { sampler, rate, shift }), count);
        }
        Ok(())
    }

    fn add_gaussian(&mut self, mu: f64, count: u64) {
        // A square that underflows must not count as no release.
        let least = if mu > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
        self.squares = (self.squares + (mu * mu).max(least) * count as f64 * ROUND_UP) * ROUND_UP;
    }

    fn add_grid(&mut self, grid: Option<Grid>, scale: f64, count: u64) -> Result<(), AccountError> {
        let Some(grid) = grid else { return Ok(()) };
        let ratio = scale / positive("step", grid.step)?;
        if ratio.is_nan() || ratio < LEAST_STEPS_PER_DEVIATION {
            return Err(AccountError::CoarseGrid { ratio, least: LEAST_STEPS_PER_DEVIATION });
        }
        // Every addition rounds, so every one is rounded up: there may be very many.
        let more = |total: f64, each: f64| (total + each * count as f64 * ROUND_UP) * ROUND_UP;
        self.distance = more(self.distance, grid_distance(scale, grid.step, grid.coordinates));
        let (ratio, outside) = grid_ratio(scale, grid.step, grid.coordinates);
        self.ratio = more(self.ratio, ratio);
        self.outside = more(self.outside, outside);
        Ok(())
    }

    fn push(&mut self, part: Part, count: u64) {
        if part.bound().is_some_and(|bound| bound.is_nan() || bound == f64::INFINITY) {
            self.leak = 1.0; // overflow: no protection at all
            return;
        }
        if let Part::Concentrated(rho) = part {
            return self.push_concentrated(rho * count as f64 * ROUND_UP);
        }
        match self.rest.iter_mut().find(|(known, _)| *known == part) {
            Some((_, known)) => *known = known.saturating_add(count),
            None => self.rest.push((part, count)),
        }
    }

    /// Adds to the total ρ, which is better than composing the consequences of each.
    fn push_concentrated(&mut self, more: f64) {
        let place = self.rest.iter().position(|(part, _)| matches!(part, Part::Concentrated(_)));
        match place.map(|place| &mut self.rest[place].0) {
            Some(Part::Concentrated(rho)) => *rho = (*rho + more) * ROUND_UP,
            _ => self.rest.push((Part::Concentrated(more), 1)),
        }
        if self.rest.iter().any(|(part, _)| *part == Part::Concentrated(f64::INFINITY)) {
            self.leak = 1.0; // overflow: no protection at all
        }
    }

    /// True if δ is a smooth function of the parameters; otherwise loss distributions are composed, on
    /// grids that change from case to case, and δ has relative steps of about 10⁻⁴.
    pub fn smooth(&self) -> bool {
        if !self.selected.is_empty() {
            return false;
        }
        match self.rest[..] {
            [] => true,
            [(Part::Objective(objective), count)] => {
                count == 1 && self.mu() <= 0.5 * objective.shift()
            }
            [(Part::Response(_) | Part::Concentrated(_), _)] => true,
            [(_, count)] => count == 1 && self.squares == 0.0,
            _ => false,
        }
    }

    /// The parameter μ of all Gaussian parts together.
    pub fn mu(&self) -> f64 {
        libm::sqrt(self.squares) * ROUND_UP
    }

    /// The total Σε if every loss is bounded and nothing is approximate.
    pub fn pure(&self) -> Option<f64> {
        if self.squares > 0.0 || self.distance > 0.0 || !self.selected.is_empty() {
            return None;
        }
        let total = self.rest.iter().try_fold(0.0, |sum, (part, count)| {
            part.bound().map(|epsilon| sum + epsilon * *count as f64 * ROUND_UP)
        })?;
        Some(total * (1.0 + f64::EPSILON * self.rest.len() as f64))
    }
}

impl Part {
    /// True if its two directions have different bounds.
    pub fn has_directions(&self) -> bool {
        match self {
            Self::Objective(objective) => objective.has_directions(),
            Self::Sampled(sampled) => sampled.has_directions(),
            _ => false,
        }
    }

    /// The largest value of the loss; `None` if it is unbounded.
    pub fn bound(&self) -> Option<f64> {
        match *self {
            Self::Response(epsilon) | Self::Laplace(epsilon) | Self::BoundedRange(epsilon) => {
                Some(epsilon)
            }
            Self::DiscreteLaplace(shift, unit) => Some(shift * unit * ROUND_UP),
            Self::Concentrated(0.0) => Some(0.0),
            Self::Concentrated(_) | Self::Objective(_) | Self::Sampled(_) => None,
        }
    }
}

/// Factor that rounds up by one step.
const ROUND_UP: f64 = 1.0 + f64::EPSILON;

/// The quotient sensitivity/scale, rounded up; an exact quotient is kept, so that ε = Δ/s reads back
/// unchanged.
fn ratio(sensitivity: f64, scale: f64) -> f64 {
    let quotient = sensitivity / scale;
    if libm::fma(quotient, scale, -sensitivity) >= 0.0 { quotient } else { quotient.next_up() }
}

fn first_leaf(event: &Event) -> Option<(Neighbours, Unit)> {
    match event {
        Event::Use { neighbours, unit, .. } => Some((*neighbours, *unit)),
        Event::All(events) | Event::BestOf { candidates: events, .. } => {
            events.iter().find_map(first_leaf)
        }
        Event::Repeat { event, .. } | Event::UpTo { event, .. } | Event::Selected { event, .. } => {
            first_leaf(event)
        }
    }
}
