//! Objective perturbation: the cost of releasing argmin Σℓ + (λ/2)‖θ‖² + ⟨b,θ⟩.
//!
//! **Setting.** b ~ N(0,σ²I). ‖x‖ ≤ R; ℓ convex and C^{1,1} in u = ⟨x,θ⟩, |ℓ′| ≤ L, 0 ≤ ℓ″ ≤ c;
//! λ > 0 on every coordinate that meets a record. None of L, R, c, λ, σ depends on the data.
//! β = cR², C = ln(1+β/λ), m = LR/σ, μ = 2m. *Fixed sign*: ℓ′(·;y) never changes sign for a given y.
//!
//! **Lemma 0.** b_D(θ) = −∇(J_D−⟨b,·⟩)(θ) is a bi-Lipschitz bijection, so θ* has density
//! N(b_D(θ);0,σ²I)·det H_D(θ) for almost every θ, H_D = λI+Σℓ″xxᵀ (area formula; C² is not needed).
//! With D = D₀∪{x}, D′ = D₀∪{x′}, H₀ the Hessian of D₀ with λI, a = ℓ′ and k = ℓ″ at x (a′, k′ at
//! x′), g = a′x′−ax, the log-ratio of the two densities under D, where b is exactly N(0,σ²I), is
//!
//!   ℒ = ln(1+k·xᵀH₀⁻¹x) − ln(1+k′·x′ᵀH₀⁻¹x′) + (‖g‖²−2⟨b,g⟩)/2σ².  (★)
//!
//! The first term lies in [0, C], the second in [−C, 0], as H₀ ⪰ λI. δ(ε) = E(1−e^{ε−ℒ})₊ grows with
//! ℒ pointwise, so a majorant ℒ ≤ U(b) bounds it, although g depends on b. For add/remove drop one
//! of the two records.
//!
//! **Lemma M.** b ↦ θ* is antitone: with the part of b orthogonal to x fixed, ⟨x,θ*⟩ and hence a
//! are non-increasing in ⟨b,x⟩.
//!
//! **Theorem 1 (add/remove).** With → without: δ ≤ δ₊(ε−C;m), any sign. Without → with: no
//! determinant; δ ≤ δ₊(ε;m) for fixed, δ_abs(ε;m) for any sign.
//! *Proof.* Let s = a‖x‖/σ ∈ [−m, m], z the standardised ⟨b,x⟩. Without → with: ℒ ≤ s²/2−sz, convex
//! in s, so it is largest at an end: m²/2+m|z|, or max(0,m²/2±mz) when s keeps its sign. With →
//! without: ℒ ≤ C+s²/2+sz with s non-increasing in z (Lemma M); let s change sign at t. If t ≥ 0:
//! left of t s ≥ 0 and s²/2+sz ≤ max(0,m²/2+mz); right of it z > 0 ≥ s, where
//! s²/2+sz ≤ max(0,m²/2−mz) ≤ max(0,m²/2+mz). If t ≤ 0, mirror. Average over z. ∎
//!
//! **Theorem 2 (replace-one, any sign).** δ ≤ δ_abs(ε−C;μ) at every real ε.
//! **Theorem 3 (replace-one, fixed sign).** δ ≤ δ₊(ε−C;μ) at every real ε.
//! *Proof.* The noise part of (★) is convex in (a,a′): only the corners matter. With ξ, η the
//! standardised ⟨b,x⟩, ⟨b,x′⟩ of correlation ρ and F the positive part of 1−e^{ε−C−max}, Plackett's
//! identity dE F/dρ = E[∂_ρF+∂_ξ∂_ηF] cancels inside each cell of the maximum (∂_ρ adds ±rr′e^{e−A},
//! ∂_ξ∂_η takes it away); what remains lives on the cells' boundaries with the sign of n_ξn_η of
//! their normal. *Any sign*: for ρ ≥ 0 the negative segments (zero set against (+−), (−+)) are mapped
//! by a shift into the positive ones, (++) and (−−), without loss of density, so E F is even in ρ and
//! grows on [0, 1]; at ρ = 1 the maximum is (r+r′)²/2+(r+r′)|ξ|, r+r′ ≤ μ. *Fixed sign*: corners are
//! 0, A₁, A₂, A₁+A₂+ρm²; the boundary A₁|A₂ (negative) exists iff ρ ≤ −e₊/m², 0|A₃ (positive) iff
//! ρ ≥ −e₊/m²: E F falls, then rises; its ends are δ_abs(e;m) at −1 and δ₊(e;2m) at +1, and the
//! former is at most the latter. ∎
//!
//! **Theorem 4 (logistic)** is in [`super::logistic`].
//!
//! **Theorem 5 (Gaussian regime).** If |ℓ′| = Lp, ℓ″ ≤ 4cp(1−p), fixed sign, and λ ≥ 8βσ²/(LR)²
//! (logistic: λ ≥ 2σ²), the release is exactly m-GDP (add/remove), μ-GDP (replace-one).
//! *Proof.* ln(1+k·xᵀH₀⁻¹x) ≤ (4c‖x‖²/λ)p(1−p), and −4c‖x‖²/λ·p² + p²L²‖x‖²/2σ² is convex under the
//! condition: the majorant is convex in p (and in p′), so corners suffice, where the determinant
//! vanishes. Theorems 1 and 3 with C = 0 give δ_G for ε ≥ 0 in both directions;
//! H_ε(P‖Q) = 1−e^ε+e^εH_{−ε}(Q‖P) gives it for ε < 0. ∎
//!
//! **Lemma H (lines).** A mechanism that is (e₂, δ₂)-DP in both directions has, for 0 ≤ e ≤ e₂,
//! δ(e) ≤ (δ₂+e^{e₂})(1+e^e)/(1+e^{e₂}) − e^e. *Proof.* As a function of x = e^e its curve H is convex; it
//! is at most δ₂ at x₂ = e^{e₂} and, by H_{−e}(P‖Q) = 1−e^{−e}+e^{−e}H_e(Q‖P), at most 1−(1−δ₂)/x₂ at
//! 1/x₂. Both points lie on this line (the one through (−1, 1) and (x₂, δ₂)), and H below the chord. ∎
//! Add/remove, with → without: the chord from the mirrored bound of the other direction, which has no
//! determinant, at some −e₁ ≤ 0 to (x₂, δ₂). The majorants above give δ ≥ 1−e^{e−C} for e < C however
//! small μ is; the lines to e₂ ≥ C do not. Replace-one, fixed sign: the best e₂ is C itself.
//!
//! **Units of k records.** g lies in the span of the 2k (add/remove: k) vectors that change, a
//! subspace fixed before the noise, ‖g‖ ≤ 2kLR (kLR); k rank-one updates of the determinant cost at
//! most C each, those of the other data set have the good sign. Hence ℒ ≤ kC+μ²/2+μχ_d, with μ =
//! 2kLR/σ, d = 2k (kLR/σ, k), χ_d the norm of the d-dimensional part of b/σ. Not improved by the
//! fixed-sign theorems, whose proofs are for one record. In the Gaussian regime k records cost kμ
//! (see [`super::gaussian`]). A record that a unit does not fill is x = 0, which changes nothing.
//!
//! **ℓ2-Laplace b** of scale s: the noise part of ℒ is at most ‖g‖/s, so the release is ε-DP with
//! ε = C+2LR/s (add/remove C+LR/s); logistic: i·t+max_p[ln(1+κp(1−p))+pt], t = LR/s, κ = 4β/λ, i = 1
//! for replace-one, else 0: the bracket is concave in p and equals t once κ ≤ t. k records cost k
//! times that (group privacy).
//!
//! L `lipschitz`, c `curvature`, R `radius`, λ `ridge`, σ and s `noise_scale`, C `determinant`,
//! m `ratio`, κ `kappa`. *Departs from print*: one determinant instead of two, no tail bound, and the
//! exact curves instead of √ln(1/δ) formulas.

use super::error::{AccountError, positive};
use super::event::{ObjectiveCost, ObjectiveNoise, Sign};
use super::gaussian::{self, delta_abs, delta_plus};
use super::{logistic, renyi, spherical};
use privet_core::{Neighbours, Unit};

/// Relative margin put on every derived parameter.
const MARGIN: f64 = 4e-15;

/// The data set that the output comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The data set with the record (add/remove).
    Forward,
    /// The data set without it.
    Backward,
}

/// The privacy guarantee of a perturbed objective.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Perturbation {
    /// Gaussian differential privacy with this μ (Theorem 5).
    Gaussian(f64),
    /// ε-differential privacy.
    Pure(f64),
    /// Theorems 1–4, or the bound for units.
    Objective(Objective),
}

/// The parameters of Theorems 1–4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    neighbours: Neighbours,
    /// Records k of a unit.
    records: u32,
    /// The ratio m = LR/σ, of one record.
    ratio: f64,
    /// The determinant's bound C, of one record.
    determinant: f64,
    sign: Sign,
    /// The bound κ if Theorem 4 applies.
    kappa: Option<f64>,
}

/// Checks the parameters and selects the applicable theorem.
pub fn perturbation(
    cost: &ObjectiveCost,
    neighbours: Neighbours,
    unit: Unit,
) -> Result<Perturbation, AccountError> {
    let lipschitz = positive("lipschitz", cost.loss.lipschitz)?;
    let curvature = positive("curvature", cost.loss.curvature)?;
    let radius = positive("radius", cost.radius)?;
    let ridge = positive("ridge", cost.ridge)?;
    let records = unit.records();
    if records == 0 {
        return Err(AccountError::NotPositive { what: "max_records", value: 0.0 });
    }
    let smoothness = curvature * radius * radius * (1.0 + MARGIN);
    let slope = lipschitz * radius * (1.0 + MARGIN);
    let determinant = libm::log1p(smoothness / ridge * (1.0 + MARGIN)) * (1.0 + MARGIN);
    let kappa = (cost.loss.logistic && cost.loss.sign == Sign::Fixed)
        .then_some(4.0 * smoothness / ridge * (1.0 + MARGIN));
    let touched = neighbours.sides();
    Ok(match cost.noise {
        ObjectiveNoise::L2Laplace { noise_scale } => {
            let t = slope / positive("noise_scale", noise_scale)? * (1.0 + MARGIN);
            let plain = determinant + touched * t;
            let one =
                kappa.map_or(plain, |kappa| plain.min((touched - 1.0) * t + bracket(kappa, t)));
            Perturbation::Pure(one * f64::from(records) * (1.0 + MARGIN))
        }
        ObjectiveNoise::Gaussian { noise_scale, .. } => {
            let sigma = positive("noise_scale", noise_scale)?;
            let ratio = slope / sigma * (1.0 + MARGIN);
            let exact = lipschitz * radius / sigma * (1.0 - MARGIN);
            if kappa.is_some_and(|kappa| exact * exact >= 2.0 * kappa * (1.0 + 4.0 * MARGIN)) {
                let mu = touched * ratio * f64::from(records) * (1.0 + MARGIN);
                return Ok(Perturbation::Gaussian(mu));
            }
            let sign = cost.loss.sign;
            Perturbation::Objective(Objective {
                neighbours,
                records,
                ratio,
                determinant,
                sign,
                kappa,
            })
        }
    })
}

/// max over p in [0, 1] of ln(1+κp(1−p)) + pt.
fn bracket(kappa: f64, t: f64) -> f64 {
    if kappa <= t {
        return t;
    }
    // Root of t(1+κp(1−p)) + κ(1−2p) = 0 in (0,1).
    let low = (t - 2.0) * kappa;
    let root = libm::sqrt(low * low + 4.0 * t * kappa * (t + kappa));
    let p = ((low + root) / (2.0 * t * kappa)).clamp(0.0, 1.0);
    let slope = kappa * (1.0 - 2.0 * p) / (1.0 + kappa * p * (1.0 - p)) + t;
    // Concave in p: the tangent bounds the error of a rounded p.
    libm::log1p(kappa * p * (1.0 - p)) * (1.0 + MARGIN) + p * t + slope.abs()
}

impl Objective {
    /// An upper bound on δ(e) in one direction, at every real e, of this release together with
    /// (adaptively) a Gaussian release of parameter ν ≥ 0.
    pub fn delta(&self, direction: Direction, e: f64, nu: f64) -> f64 {
        if self.records > 1 {
            return self.unit_delta(direction, e, nu);
        }
        let replace = self.neighbours == Neighbours::ReplaceOne;
        let ratio = if replace { 2.0 * self.ratio } else { self.ratio };
        let forward = replace || direction == Direction::Forward;
        let shifted = if forward { e - self.determinant } else { e };
        let two_sided = self.sign == Sign::Any && (replace || !forward);
        let plain =
            if two_sided { any_sign(shifted, ratio, nu) } else { fixed_sign(shifted, ratio, nu) };
        match self.kappa {
            Some(kappa) if forward => plain.min(logistic::delta(kappa, self.ratio, replace, e, nu)),
            _ => plain,
        }
    }

    fn unit_delta(&self, direction: Direction, e: f64, nu: f64) -> f64 {
        let (shift, mu, dimensions) = self.unit_law(direction);
        spherical::delta(e - shift, mu, dimensions, nu)
    }

    /// (kC, μ, d) of the law kC + μ²/2 + μχ_d for units of k records.
    fn unit_law(&self, direction: Direction) -> (f64, f64, f64) {
        let k = f64::from(self.records);
        let (touched, forward) = match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => (2.0, true),
            Neighbours::AddRemove => (1.0, direction == Direction::Forward),
        };
        let shift = if forward { k * self.determinant * (1.0 + MARGIN) } else { 0.0 };
        (shift, touched * k * self.ratio * (1.0 + MARGIN), touched * k)
    }

    /// The larger of both directions, e ≥ 0, together with a Gaussian release of parameter ν. Around C
    /// and below it the theorems' majorants are poor, and Lemma H is better.
    pub fn larger_delta(&self, e: f64, nu: f64) -> f64 {
        let plain = self.by_theorems(e, nu);
        let (determinant, mu, _) = self.unit_law(Direction::Forward);
        let wide = libm::hypot(mu, nu);
        // Beyond this nothing is gained; and for units a search would take many integrals.
        if e >= determinant + mu * mu + 8.0 * wide || self.records > 1 {
            return plain;
        }
        // Theorem 4's curves are integrals, too: Theorems 1 to 3 alone suffice for the lines.
        let cheap = Self { kappa: None, ..*self };
        let farthest = determinant + mu * mu + 16.0 * wide;
        let lines = match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                least_value(e, farthest, |ahead| {
                    let far = cheap.by_theorems(ahead, nu);
                    // Nothing cancels: (δ₂(1+x)+x₂−x)/(1+x₂).
                    let (x, between) = (libm::exp(e), libm::expm1(ahead - e));
                    (far * (1.0 + x) + x * between) / (1.0 + libm::exp(ahead))
                })
            }
            Neighbours::AddRemove => {
                let behind = [0.0, 0.5, 1.0, 2.0].map(|part| part * wide);
                let forward = behind.into_iter().fold(1.0, |found: f64, behind| {
                    let reverse = cheap.delta(Direction::Backward, behind, nu);
                    let near = -libm::expm1(-behind) + libm::exp(-behind) * reverse;
                    found.min(least_value(e, farthest, |ahead| {
                        let far = cheap.delta(Direction::Forward, ahead, nu);
                        let whole = libm::expm1(ahead + behind);
                        let left = libm::exp(e + behind) * libm::expm1(ahead - e) / whole;
                        near * left + far * (libm::expm1(e + behind) / whole)
                    }))
                });
                forward.max(cheap.delta(Direction::Backward, e, nu))
            }
        };
        plain.min(lines * (1.0 + 8.0 * MARGIN))
    }

    /// The larger of both directions, e ≥ 0. At e = 0 both are the total-variation distance, so the
    /// smaller bound there limits either direction from there on (it matters at large δ only).
    fn by_theorems(&self, e: f64, nu: f64) -> f64 {
        let forward = self.delta(Direction::Forward, e, nu);
        match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => forward,
            Neighbours::AddRemove => {
                let distance = self.delta(Direction::Backward, 0.0, nu);
                forward.min(distance).max(self.delta(Direction::Backward, e, nu))
            }
        }
    }

    /// Sensitivity of the gradient between neighbours, in units of σ: μ or m, times the records of a
    /// unit. *Tight*: with every record in the linear part of ℓ, at opposite ends, the release is
    /// exactly this Gaussian mechanism.
    pub fn shift(&self) -> f64 {
        self.neighbours.sides() * f64::from(self.records) * self.ratio * (1.0 - 8.0 * MARGIN)
    }

    /// (C, μ) of the law C + max(G, 0), G ~ N(μ²/2, μ²), that dominates both directions; only for
    /// one record and fixed sign.
    pub fn fixed_sign(&self) -> Option<(f64, f64)> {
        (self.records == 1 && self.sign == Sign::Fixed).then_some(match self.neighbours {
            Neighbours::ReplaceOne | Neighbours::ReplaceLabel => {
                (self.determinant, 2.0 * self.ratio)
            }
            Neighbours::AddRemove => (self.determinant, self.ratio),
        })
    }

    /// True if the two directions have different bounds.
    pub fn has_directions(&self) -> bool {
        self.neighbours == Neighbours::AddRemove
    }

    /// The Rényi curve ε(α) in one direction, see [`super::renyi`].
    pub(super) fn divergence(&self, order: f64, direction: Direction) -> f64 {
        let replace = self.neighbours == Neighbours::ReplaceOne;
        let forward = replace || direction == Direction::Forward;
        let touched = if replace { 2.0 } else { 1.0 };
        let k = f64::from(self.records);
        let mu = touched * k * self.ratio * (1.0 + MARGIN);
        let determinant = if forward { k * self.determinant * (1.0 + MARGIN) } else { 0.0 };
        if self.records > 1 {
            let spread = libm::sqrt(touched * k);
            return (determinant + mu * (order * mu / 2.0 + spread)) * (1.0 + MARGIN);
        }
        match (self.sign, replace) {
            (Sign::Fixed, true) => renyi::fixed_sign(order, determinant, determinant, mu),
            (Sign::Fixed, false) if forward => renyi::fixed_sign(order, determinant, 0.0, mu),
            (Sign::Fixed, false) => renyi::fixed_sign(order, 0.0, self.determinant, mu),
            (Sign::Any, false) if forward => renyi::fixed_sign_crude(order, determinant, mu),
            (Sign::Any, _) => renyi::any_sign(order, determinant, mu),
        }
    }

    /// An e from which on δ(e) ≤ `tail` in both directions.
    pub(super) fn tail_start(&self, tail: f64) -> f64 {
        if self.records > 1 {
            let (shift, mu, dimensions) = self.unit_law(Direction::Forward);
            return spherical::tail_start(shift, mu, dimensions, tail);
        }
        let plain = Self { kappa: None, ..*self };
        let mut high = 1e-3;
        while plain.by_theorems(high, 0.0) > tail && high < 1e4 {
            high *= 1.25;
        }
        high
    }

    /// Bounds at 0, h, …, dots·h in the forward direction, and in the backward one.
    pub(super) fn values(&self, step: f64, dots: usize) -> (Vec<f64>, Vec<f64>) {
        let forward = self.half(Direction::Forward, step, dots);
        let backward = if self.has_directions() {
            self.half(Direction::Backward, step, dots)
        } else {
            forward.clone()
        };
        (forward, backward)
    }

    fn half(&self, direction: Direction, step: f64, dots: usize) -> Vec<f64> {
        if self.records > 1 {
            let (shift, mu, dimensions) = self.unit_law(direction);
            return spherical::values(shift, mu, dimensions, step, dots);
        }
        let plain = Self { kappa: None, ..*self };
        let mut values: Vec<f64> =
            (0..=dots).map(|k| plain.delta(direction, k as f64 * step, 0.0)).collect();
        let replace = self.neighbours == Neighbours::ReplaceOne;
        if let Some(kappa) = self.kappa
            && (replace || direction == Direction::Forward)
        {
            let better = logistic::values(kappa, self.ratio, replace, step, dots);
            values.iter_mut().zip(better).for_each(|(value, better)| *value = value.min(better));
        }
        values
    }
}

/// The least value of a function on [low, high] that falls, then rises, by golden section; the value at
/// any point is a valid bound, so the minimum need not be exact.
fn least_value(low: f64, high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut found = f64::INFINITY;
    let inner = |low: f64, high: f64| (low + 0.382 * (high - low), low + 0.618 * (high - low));
    for _ in 0..40 {
        let (left, right) = inner(low, high);
        let (at_left, at_right) = (value(left), value(right));
        found = found.min(at_left).min(at_right);
        if at_left < at_right { high = right } else { low = left }
    }
    found
}

/// E(1−e^{e−max(G,0)−L₂})₊, G ~ N(μ²/2,μ²), L₂ ~ N(ν²/2,ν²), or a bound on it: split on G ≥ 0.
fn fixed_sign(e: f64, mu: f64, nu: f64) -> f64 {
    if nu == 0.0 {
        return delta_plus(e, mu);
    }
    let both = gaussian::delta(e, libm::hypot(mu, nu) * (1.0 + MARGIN));
    let rest = super::normal::cdf(-mu / 2.0) * gaussian::delta(e, nu);
    ((both + rest) * (1.0 + MARGIN)).min(1.0)
}

/// E(1−e^{e−μ²/2−μ|Z|−L₂})₊, or a bound on it: split on the sign of Z.
fn any_sign(e: f64, mu: f64, nu: f64) -> f64 {
    if nu == 0.0 {
        return delta_abs(e, mu);
    }
    (2.0 * gaussian::delta(e, libm::hypot(mu, nu) * (1.0 + MARGIN))).min(1.0)
}
