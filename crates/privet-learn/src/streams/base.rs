//! Steps of points over a ball, and how far one record moves them.
//!
//! Costs are fₜ(θ) = ℓ(⟨xₜ, θ⟩) + (Ψ/2)‖θ‖² with slopes |ℓ′| ≤ S and ‖x‖ ≤ R, over the ball of radius D. The points stay
//! secret: each is released once, under noise (`wrapper`).
//!
//! | step | η | between neighbours, after t steps |
//! |---|---|---|
//! | implicit: argmin ½‖θ − θₜ‖² + ηfₜ(θ) over the ball | 1/(Ψt) | **2SR/(Ψ(t + 1))** |
//! | gradient: θₜ − η∇fₜ(θₜ), brought into the ball | 2/(Ψt), from t ≥ 2L²/Ψ² on | **4SR/(Ψt)** |
//!
//! *Implicit.* The map θ ↦ argmin is 1/(1 + ηΨ) = t/(t + 1)-Lipschitz, a projection of the inverse of a strongly monotone map.
//! For two records at one step, adding both optimality conditions gives (1 + ηΨ)‖d‖ ≤ η·2SR: the ridge is the
//! same in both and cancels, so that S R stands where the thesis has L = SR + ΨD. So d ≤ 2SR/(Ψ(t + 1)) there, and later
//! steps multiply by t/(t + 1) each, which telescopes. ∎ (Lemma 5.9.) ℓ need not be smooth.
//!
//! *Gradient.* With L = cR² + Ψ the smoothness, ‖θ − η∇f(θ) − θ′ + η∇f(θ′)‖² ≤ (1 − 2ηΨ + η²L²)‖θ − θ′‖², at η = 2/(Ψt) at most
//! (1 − 1/t)² once t ≥ 2L²/Ψ². One step with two records moves by **η·2SR = 4SR/(Ψt)**; later steps multiply by
//! (t − 1)/t, which telescopes. ∎ Lemma 5.12 prints 2G/(Ψt): half of it, which a stream of one coordinate refutes
//! (erratum C2, `tests/all/online.rs`).
//!
//! *Not smooth.* An implicit step asks for no second derivative: its root in g is found by halving, and where slopes jump it lies
//! in the jump, which is what a subgradient is. A margin that is rounded by δ moves that root by at most κδ/(ηq), since
//! g ↦ g − ℓ′((a − ηgq)/κ) grows at least as fast as g and a larger g means a smaller margin; the point by δ/‖x‖. A
//! margin's rounding is proportional to ‖x‖, so that what the point is off by does not depend on c: it stands for 0 in Λ.
//!
//! *In finite arithmetic* a step is off by at most eₜ = u·(p + 64)·(D + 2Λ/t + Λ²/(Dt²)), Λ = (SR + ΨD + cR²D)/Ψ and u = 2⁻⁵²:
//! the roundings of its few operations a coordinate, of a norm, and of a slope whose margin is rounded. Both
//! streams are off, and errors fade as the distance does: (t + 1) times the distance grows by Σ 2(s + 1)eₛ
//! ([`slack`]).

/// What decides how far points move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// D.
    pub radius: f64,
    /// Ψ.
    pub ridge: f64,
    /// S.
    pub slope: f64,
}

/// Brings a point into the ball.
pub fn into_ball(theta: &mut [f64], radius: f64) {
    let norm = theta.iter().map(|t| t * t).sum::<f64>().sqrt();
    if norm > radius {
        let by = radius / norm;
        theta.iter_mut().for_each(|t| *t *= by);
    }
}

/// A record as a step sees it: its entries, by column.
pub type Entries<'a> = &'a [(usize, f64)];

fn margin(x: Entries<'_>, theta: &[f64]) -> f64 {
    x.iter().fold(0.0, |sum, (column, x)| sum + x * theta[*column])
}

/// The root of a function that grows, between two numbers, to the last bit or nearly.
fn root((mut low, mut high): (f64, f64), grows: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..1100 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if grows(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// The implicit step: θ ← argmin over the ball of ½‖· − θ‖² + η(ℓ(⟨x, ·⟩) + (Ψ/2)‖·‖²), ℓ by its slope, which grows.
///
/// θ = (θₜ − ηg·x)/κ with g = ℓ′(⟨x, θ⟩) and κ = 1 + ηΨ, or more where the ball binds: a root in g, which is unique because
/// g ↦ g − ℓ′((a − ηgq)/κ) grows, inside one in κ, because the norm falls.
pub fn implicit(
    ball: &Ball,
    theta: &mut [f64],
    x: Entries<'_>,
    eta: f64,
    slope: impl Fn(f64) -> f64,
) {
    let (a, q) = (margin(x, theta), x.iter().map(|(_, x)| x * x).sum::<f64>());
    let clipped = |u: f64| slope(u).clamp(-ball.slope, ball.slope);
    let at = |kappa: f64| {
        if q == 0.0 {
            return 0.0;
        }
        root((-ball.slope, ball.slope), |g| g - clipped((a - eta * g * q) / kappa))
    };
    let least = 1.0 + eta * ball.ridge;
    let norm = |kappa: f64, g: f64| {
        let square = theta.iter().map(|t| t * t).sum::<f64>();
        (square - 2.0 * eta * g * a + eta * eta * g * g * q).max(0.0).sqrt() / kappa
    };
    let (mut kappa, mut g) = (least, at(least));
    if norm(kappa, g) > ball.radius {
        let mut high = 2.0 * least;
        while norm(high, at(high)) > ball.radius && high < 1e300 {
            high *= 2.0;
        }
        kappa = root((least, high), |kappa| ball.radius - norm(kappa, at(kappa)));
        g = at(kappa);
    }
    x.iter().for_each(|(column, x)| theta[*column] -= eta * g * x);
    theta.iter_mut().for_each(|t| *t /= kappa);
    into_ball(theta, ball.radius);
}

/// The gradient step: θ ← θ − η(ℓ′(⟨x, θ⟩)·x + Ψθ), brought into the ball.
pub fn gradient(
    ball: &Ball,
    theta: &mut [f64],
    x: Entries<'_>,
    eta: f64,
    slope: impl Fn(f64) -> f64,
) {
    let g = slope(margin(x, theta)).clamp(-ball.slope, ball.slope);
    let shrink = 1.0 - eta * ball.ridge;
    theta.iter_mut().for_each(|t| *t *= shrink);
    x.iter().for_each(|(column, x)| theta[*column] -= eta * g * x);
    into_ball(theta, ball.radius);
}

/// The first step at which gradients are taken: ⌈2L²/Ψ²⌉.
pub fn first_gradient(ball: &Ball, curvature: f64, radius: f64) -> f64 {
    let smooth = curvature * radius * radius / ball.ridge + 1.0;
    (2.0 * smooth * smooth * (1.0 + 1e-12)).ceil().max(2.0)
}

/// What rounding adds to (t + 1) times the distance of two streams, at most, within `steps` steps.
pub fn slack(ball: &Ball, curvature: f64, radius: f64, columns: usize, steps: u32) -> f64 {
    let Ball { radius: d, ridge, slope } = *ball;
    let reach = (slope * radius + ridge * d + curvature * radius * radius * d) / ridge;
    let t = f64::from(steps);
    let unit = f64::EPSILON * (columns as f64 + 64.0);
    let sum =
        d * (t + 2.0) * (t + 2.0) + 8.0 * reach * t + reach * reach / d * (4.0 * t.ln() + 8.0);
    unit * sum
}
