//! Margins within which the support of the LASSO is unique, their change with a record, and the search
//! for them.
//!
//! **Setting.** θ̂ minimises F(θ) = ½Σᵢ(yᵢ − ⟨xᵢ, θ⟩)² + Λ‖θ‖₁ over |θⱼ| ≤ 1, entries scaled record by
//! record to |xᵢⱼ| ≤ 1 and targets to |yᵢ| ≤ s (Thakurta 2013, §6.3.2). Λ, the curvature m and the cap N
//! on the number of records are public numbers, whatever the records are. Γ is the support of θ̂, H its
//! block of XᵀX, g = Xᵀ(Xθ̂ − y). D **passes** if |Γ| = s and, with ρ = 2s^(3/2)/(m − s) and
//! G = 2s + 2s^(3/2)·√(N/(m − s)), m > s,
//!
//! | margin | of | step |
//! |---|---|---|
//! | Λ − G − max outside Γ of ∣gⱼ∣ | other columns stay out | G |
//! | λ_min(H) − m | the fit stays curved | s |
//! | min on Γ of ∣θ̂ⱼ∣ − ρ | no weight vanishes | ρ |
//! | 1 − max on Γ of ∣θ̂ⱼ∣ − ρ | no weight meets its bound | ρ |
//! | N − n | the cap | 1 |
//!
//! are all above 0; d(D) is the least of margin/step, or 0 if D does not pass.
//!
//! **Theorem 1.** Let D pass and let D′ have one record (x, y) more or less. Then θ̂(D′) has the support
//! Γ, and no margin changes by more than its step. So d moves by at most 1, and d > 0 implies the same
//! answer.
//!
//! *Proof.* Let z = θ̂_Γ, σ its signs and z′ the zero of the gradient of the problem of D′ on Γ with
//! Λ⟨σ, z⟩ for its penalty. H′ = H ± xxᵀ has λ_min ≥ m − s, and both gradients being 0,
//! H′(z′ − z) = ±x·(y − ⟨x, z⟩), where |y − ⟨x, z⟩| ≤ 2s and ‖x_Γ‖ ≤ √s. So δ = z′ − z has ‖δ‖ ≤ ρ:
//! signs stay, weights stay below 1, and the margins of weights change by at most ρ; λ_min(H) by
//! ‖x_Γ‖² ≤ s. Outside Γ: let A be the records in both. g′ⱼ − gⱼ = Σ_A xᵢⱼ⟨xᵢ, δ⟩ ± xⱼ(⟨x, ·⟩ − y) at z
//! or z′, the last at most 2s. By Cauchy–Schwarz the sum is at most √N·‖A_Γδ‖, and
//! ‖A_Γδ‖² ≤ δᵀH′δ = |⟨δ, x⟩(y − ⟨x, z⟩)| ≤ ρ√s·2s, since A_ΓᵀA_Γ is H ≤ H′ where a record comes and H′
//! where it goes. Together at most G: |g′ⱼ| < Λ strictly. z′ satisfies the conditions of optimality of
//! D′ with strict signs outside Γ and a curved fit on Γ: it is the only minimiser. ∎
//!
//! **Theorem 2** (the search always ends, and misses no d above 1). If d(D) > 1, the search below ends
//! at Γ. So it returns d(D) where d(D) > 1, and d(D) or 0 elsewhere; in both cases max(0, d(D) − 1) is
//! known for **every** D, and no descent can fail.
//!
//! *Proof.* d > 1 means ∣gⱼ∣ < Λ − 2G outside Γ and ∣gⱼ∣ = Λ on it, gⱼ = −Λσⱼ. For θ in the box,
//! Δ = θ − θ̂ and E = F(θ) − F(θ̂), expanding F at θ̂ leaves on Γ terms Λ(∣θⱼ∣ − σⱼθⱼ) ≥ 0 and outside
//! at least (Λ − ∣gⱼ∣)∣θⱼ∣:
//!
//! E ≥ ½‖XΔ‖² + 2G·‖Δ outside Γ‖₁.  (∗)
//!
//! 1. *Identification of Γ.* At E ≤ η = G²/(8N) every gradient is within √N·‖XΔ‖ ≤ √(2Nη) = G/2 of g,
//!    and rounding adds at most G/4: the columns whose gradient has a size of at least Λ − G are those
//!    of Γ.
//! 2. *Distance to θ̂.* By (∗), and since columns are no longer than √N and λ_min(H) > m,
//!    √m·‖Δ_Γ‖ ≤ ‖XΔ‖ + √N·‖Δ outside‖₁, so that ‖Δ‖ ≤ r(E) = (√(2E) + √N·E/(2G))/√m + E/(2G). From
//!    θ = 0: ‖Δ‖ ≤ √s.
//! 3. *Stages* ([`Steps::stages`]). Accelerated proximal gradients from 0 end at an excess E₀ after a
//!    number of steps that R = √s, E₀ and a Lipschitz constant give ([`privet_optim::lasso`]); from
//!    there, R = r(E₀), at E₀/4, and so on down to η. Each number of steps is fixed before the descent.
//!    Rounding is within the theorem's allowance by a check of public numbers in the plan
//!    ([`Steps::rounded`]). ∎
//!
//! If an earlier set has a solution that satisfies the conditions of optimality with its margins, it is
//! Γ: then the search ends there. The Lipschitz constant is computed from the records (a sum of absolute
//! second moments), at most pN: with it the number of steps is at most [`Steps::most_steps`], a public
//! number.
//!
//! **Accuracy.** Second moments are integers, exact before they are scaled. z solves Hz = c − Λσ by
//! Cholesky, whose condition is at most sN/m ≤ 2s/[`super::lasso::CURVATURE`]'s lower end; margins are
//! within 2⁻¹⁰ of a step (s ≤ 16, N ≤ 2²²), which [`super::lasso`] debits from d.
//!
//! **Departs from print** (Table 6.1, Theorem 6.14; errata LASSO-SIZE and C6). There the margin of other
//! columns is that of the (s + 1)-st largest ∣gⱼ∣, which gives no bound where fewer than s weights are
//! not 0; n moves with the records but is treated as constant; and the steps are larger (12s²/Ψ for G,
//! 4s^(3/2)/Ψ for nρ, with Λ > 16s²/Ψ).

use super::squares::{Moments, smallest_eigenvalue, solve_ridge};
use privet_data::matrix::Matrix;
use privet_optim::lasso::{LeastSquares, least_squares, rounding_allowed, steps};
use privet_optim::vertex::FeatureGrid;

/// Public parameters of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steps {
    /// Size of the support, s.
    pub size: usize,
    /// Penalty, Λ.
    pub lambda: f64,
    /// Curvature, m.
    pub curvature: f64,
    /// Cap on the number of records, N.
    pub cap: f64,
}

/// A stage of the descent: a bound on its initial distance from the minimiser, and its target excess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stage {
    distance: f64,
    target: f64,
}

impl Steps {
    /// Step ρ of the margins of the weights.
    pub fn weight(&self) -> f64 {
        2.0 * (self.size as f64).powf(1.5) / (self.curvature - self.size as f64)
    }

    /// Step G of the margin of the columns outside Γ.
    pub fn outside(&self) -> f64 {
        let size = self.size as f64;
        2.0 * size + 2.0 * size.powf(1.5) * (self.cap / (self.curvature - size)).sqrt()
    }

    /// Bound r(E) on the distance from the minimiser at excess E.
    fn minimiser_distance(&self, excess: f64) -> f64 {
        let outside = excess / (2.0 * self.outside());
        ((2.0 * excess).sqrt() + self.cap.sqrt() * outside) / self.curvature.sqrt() + outside
    }

    /// Stages of the descent, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let last = self.outside().powi(2) / (8.0 * self.cap);
        let size = self.size as f64;
        // Approximately the excess at which both bounds on the distance are equal.
        let first = 2.0 * self.outside() * (size * self.curvature / self.cap).sqrt();
        let mut all = vec![Stage { distance: size.sqrt(), target: first.max(last) }];
        while let Some(before) = all.last().filter(|before| before.target > last).copied() {
            let target = (before.target / 4.0).max(last);
            all.push(Stage { distance: self.minimiser_distance(before.target), target });
        }
        all
    }

    /// True if rounding is within the theorems' allowance for `columns` columns.
    pub fn rounded(&self, columns: usize) -> bool {
        let label = self.size as f64;
        let (each, descent) = least_squares::rounding(columns, self.cap, label, self.lambda);
        let within = |stage: &Stage| descent <= rounding_allowed(stage.distance, stage.target);
        each <= 0.25 * self.outside() && self.stages().iter().all(within)
    }

    /// Upper bound on the number of descent steps over `columns` columns.
    pub fn most_steps(&self, columns: usize) -> f64 {
        let smoothness = (columns as f64 * self.cap).max(1.0) * (1.0 + 1e-6);
        self.stages().iter().map(|stage| stage.steps(smoothness) as f64).sum()
    }
}

impl Stage {
    fn steps(&self, smoothness: f64) -> u64 {
        steps(smoothness, self.distance, self.target)
    }
}

/// Second moments in the units of the theorems.
pub(super) struct ScaledMoments {
    moments: LeastSquares,
    rows: usize,
}

impl ScaledMoments {
    /// Moments of the first `columns` columns; targets in [−1, 1] are multiplied by s. `None` for 2³²
    /// rows or more.
    pub fn new(
        features: &Matrix,
        labels: &[f64],
        columns: usize,
        grid: FeatureGrid,
        size: usize,
    ) -> Option<Self> {
        let moments = Moments::new(features, labels, columns, grid)?;
        // Entries are scaled so that their bound is 1.
        let (gram, linear) = moments.scaled_moments(1.0 / grid.bound(), size as f64);
        Some(Self { moments: LeastSquares::new(gram, linear)?, rows: labels.len() })
    }

    /// Returns Γ and d, or `None` if d is at most 1; `Err` if `go_on` stopped the search.
    pub fn search_stable_set(
        &self,
        steps: &Steps,
        mut go_on: impl FnMut() -> bool,
    ) -> Result<Option<(Vec<u32>, f64)>, Stopped> {
        // With more records than the cap, D does not pass, and no theorem covers its rounding.
        if self.rows as f64 >= steps.cap {
            return Ok(None);
        }
        let smoothness = self.moments.smoothness();
        let mut theta = vec![0.0; self.moments.columns()];
        let (mut found, mut told) = (None, false);
        for stage in steps.stages() {
            let count = stage.steps(smoothness);
            let mut seen = |step: u64, here: &[f64]| {
                let look = step.is_power_of_two() || step == count;
                if look {
                    found = self.margins(steps, &self.moments.gradient(here));
                }
                told |= (look || step.is_multiple_of(1024)) && !go_on();
                found.is_none() && !told
            };
            theta = self.moments.descend((smoothness, steps.lambda), theta, count, &mut seen);
            if told {
                return Err(Stopped);
            }
            if found.is_some() {
                break;
            }
        }
        Ok(found)
    }

    /// Γ and d if the columns with gradients of at least Λ − G satisfy the conditions of optimality with
    /// their margins.
    fn margins(&self, steps: &Steps, near: &[f64]) -> Option<(Vec<u32>, f64)> {
        let columns = self.moments.columns();
        let seen = |j: &usize| near[*j].abs() >= steps.lambda - steps.outside();
        let set: Vec<usize> = (0..columns).filter(seen).collect();
        if set.len() != steps.size {
            return None;
        }
        let part = |row: usize| set.iter().map(move |column| self.moments.row(row)[*column]);
        let block: Vec<f64> = set.iter().flat_map(|row| part(*row)).collect();
        let signs: Vec<f64> = set.iter().map(|j| -near[*j].signum()).collect();
        let linear = self.moments.linear();
        let right: Vec<f64> =
            set.iter().zip(&signs).map(|(j, sign)| linear[*j] - steps.lambda * sign).collect();
        let weights = solve_ridge(&block, &right, 0.0)?;
        let sizes: Vec<f64> = weights.iter().zip(&signs).map(|(w, sign)| w * sign).collect();
        let mut theta = vec![0.0; columns];
        set.iter().zip(&weights).for_each(|(j, weight)| theta[*j] = *weight);
        let gradient = self.moments.gradient(&theta);
        let outside = (0..columns).filter(|j| set.binary_search(j).is_err());
        let largest = outside.map(|j| gradient[j].abs()).fold(0.0, f64::max);
        let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = sizes.iter().copied().fold(0.0, f64::max);
        let quotients = [
            (steps.lambda - largest) / steps.outside() - 1.0,
            (smallest_eigenvalue(&block, steps.size) - steps.curvature) / steps.size as f64,
            least / steps.weight() - 1.0,
            (1.0 - most) / steps.weight() - 1.0,
            steps.cap - self.rows as f64,
        ];
        let distance = quotients.into_iter().fold(f64::INFINITY, f64::min);
        let set = set.into_iter().map(|j| j as u32).collect();
        (distance > 0.0).then_some((set, distance))
    }
}

/// The search was stopped by its `go_on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stopped;

#[cfg(test)]
mod tests;
