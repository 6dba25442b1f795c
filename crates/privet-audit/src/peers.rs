//! The true ε of published settings, computed by the accountant: `docs/peers.md`.
//!
//! **Private SGD** (the settings of the AMP paper's released code). A step at rate q = k/m, noise
//! multiplier z and shift μ = 1/z (add/remove) has the loss ln(1 − q + q·e^{μx − μ²/2}) at x. The upper
//! bound is the accountant's. The lower bound: with K of T steps hit, each hit's loss is at least ln q +
//! μx − μ²/2 and every other's at least ln(1 − q), so the loss is at least N(K(ln q + μ²/2) +
//! (T − K)·ln(1 − q), Kμ²), and E(1 − e^{ε−L})₊ summed over K ~ Binomial(T, q) is a lower bound on δ(ε),
//! sharp for large ε; elsewhere the accountant's own bracket is. All bounds are for Poisson samples, in
//! place of the paper's draws with replacement.

mod formulas;
mod votes;

use crate::printed::descent::{PrivateSgd, printed_noise_scale};
use crate::printed::minima;
use crate::printed::passes::{Counter, StronglyConvex};
use crate::{AuditError, normal};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event, gaussian};
use std::fmt::Write as _;

/// Public data sets of the AMP paper: name and training rows.
const SETS: [(&str, f64); 9] = [
    ("Synthetic-L", 8_000.0),
    ("Adult", 36_176.0),
    ("KDDCup99", 56_000.0),
    ("Covertype", 464_809.0),
    ("MNIST", 52_000.0),
    ("Synthetic-H", 4_000.0),
    ("Gisette", 4_800.0),
    ("Real-sim", 57_847.0),
    ("RCV1", 40_000.0),
];

/// Largest ε for which the accountant computes an upper bound.
const LARGEST_EPSILON: f64 = 300.0;

/// Lower bound on the ε of T sampled Gaussian steps at δ.
pub fn sampled_lower(rate: f64, shift: f64, steps: u32, delta: f64) -> f64 {
    let exceeds = |e: f64| sampled_delta(rate, shift, steps, e) > delta;
    if !exceeds(0.0) {
        return 0.0;
    }
    let mut high = 1.0;
    while exceeds(high) && high < 1e9 {
        high *= 2.0;
    }
    let mut low = 0.5 * high;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if exceeds(middle) { low = middle } else { high = middle }
    }
    low
}

/// The lower bound on δ(e) of the module's header.
fn sampled_delta(rate: f64, shift: f64, steps: u32, e: f64) -> f64 {
    let total = f64::from(steps);
    let ln_binomial = |k: f64| {
        libm::lgamma(total + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(total - k + 1.0)
            + k * libm::log(rate)
            + (total - k) * libm::log1p(-rate)
    };
    (1..=steps.min(60))
        .map(|hits| {
            let k = f64::from(hits);
            let mean =
                k * (libm::log(rate) + 0.5 * shift * shift) + (total - k) * libm::log1p(-rate);
            let spread = shift * libm::sqrt(k);
            libm::exp(ln_binomial(k)) * normal_excess(mean, spread, e)
        })
        .sum()
}

/// E(1 − e^{e−L})₊ for L ~ N(mean, spread²): Φ(a) − e^{e−mean+s²/2}·Φ(a − s), a = (mean − e)/s; the
/// second term is at most φ(a)/(s − a) where a < s, written so that nothing overflows.
fn normal_excess(mean: f64, spread: f64, e: f64) -> f64 {
    let a = (mean - e) / spread;
    let exponent = e - mean + 0.5 * spread * spread;
    (normal::cdf(a) - libm::exp(exponent + normal::ln_cdf(a - spread))).max(0.0)
}

/// The events of T Poisson steps, add/remove.
fn poisson_steps(rate: f64, shift: f64, steps: u32) -> Event {
    let step = Event::Use {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        cost: Cost::PoissonGaussian { rate, sensitivity: shift, noise_scale: 1.0, grid: None },
    };
    Event::Repeat { count: steps, event: Box::new(step) }
}

/// The largest ε, from `low` to `high`, at which the accountant proves that δ is exceeded.
fn bracket_lower(event: &Event, low: f64, high: f64, delta: f64) -> Result<f64, AuditError> {
    let (mut low, mut high) = (low, high);
    while high - low > 2e-3 * high {
        let middle = 0.5 * (low + high);
        if account::bracket(event, middle)?.0 > delta { low = middle } else { high = middle }
    }
    Ok(low)
}

/// Three significant digits, or "not computed" for infinity.
fn number(value: f64) -> String {
    match value {
        value if value.is_infinite() => "not computed".into(),
        0.0 => "0".into(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 0.01 => format!("{value:.3}"),
        value => format!("{value:.1e}"),
    }
}

/// A number as written in a claim.
pub(crate) fn number_in_claim(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        value if value < 1e-2 => {
            let text = format!("{value:.1e}");
            text.replace(".0e", "e")
        }
        value => format!("{}", (value * 1e3).round() / 1e3),
    }
}

/// One row of the private-SGD table: noise multiplier, and lower and upper bound on the true ε.
pub fn private_sgd(
    rows: f64,
    batch: f64,
    steps: u32,
    epsilon: f64,
) -> Result<(f64, f64, f64), AuditError> {
    let delta = rows.powi(-2);
    let settings = PrivateSgd { rows, batch, steps: f64::from(steps), epsilon, delta };
    let z = settings.noise() * batch;
    let rate = batch / rows;
    let lower = sampled_lower(rate, 1.0 / z, steps, delta);
    if lower > LARGEST_EPSILON {
        return Ok((z, lower, f64::INFINITY));
    }
    let event = poisson_steps(rate, 1.0 / z, steps);
    let upper = account::epsilon(&event, delta)?;
    if upper.is_infinite() || upper < 1.01 * lower {
        return Ok((z, lower, upper));
    }
    Ok((z, bracket_lower(&event, lower, upper, delta)?, upper))
}

/// Writes the whole page.
pub fn page(head: &str) -> Result<String, AuditError> {
    let mut page = String::from("# The true ε of published settings\n\n");
    let _ = writeln!(
        page,
        "*Claimed* is what the formula promises. *At least* and *at most* bracket the smallest ε that \
         the noise really gives at the same δ, for the pair of neighbours that is worst: a claim below \
         the first is false, one that is not below the second survives, and one between them is open. \
         These are statements about formulas and settings, not about any published accuracy: see \
         [errata.md](errata.md) for what is wrong, and where. A data set's δ is 1/m² where the paper \
         says so.\n"
    );
    private_sgd_table(&mut page)?;
    gaussian_tables(&mut page);
    formulas::tables(&mut page)?;
    votes::table(&mut page)?;
    let _ = writeln!(
        page,
        "\n## How this page came about\n\nMade by `make peers` with privet's accountant; do not edit. {head}"
    );
    Ok(page)
}

fn private_sgd_table(page: &mut String) -> Result<(), AuditError> {
    page.push_str(
        "## Private SGD with the closed-form σ (Thakkar 2019, Algorithm 4; PRIV-13)\n\n\
         σ² = 16Δ²T·ln(1/δ)/(m²ε²), batch k = 50, δ = 1/m²: the settings of the released code, ε as for \
         two classes (several classes divide it, which makes each of them worse). Add/remove neighbours, \
         Poisson samples of rate k/m. z is the noise multiplier. Upper bounds are not computed beyond 300.\n\n\
         | data set | m | T | claimed ε | z | true ε, at least | at most |\n|---|---|---|---|---|---|---|\n",
    );
    for (name, rows) in SETS {
        for steps in [100, 1000] {
            for epsilon in [0.1, 1.0] {
                let (z, lower, upper) = private_sgd(rows, 50.0, steps, epsilon)?;
                let _ = writeln!(
                    page,
                    "| {name} | {rows} | {steps} | {epsilon} | {} | {} | {} |",
                    number(z),
                    number(lower),
                    number(upper)
                );
            }
        }
    }
    page.push('\n');
    Ok(())
}

fn gaussian_tables(page: &mut String) {
    page.push_str(
        "## Gaussian noise by a closed form\n\n\
         Exact. (a) σ = Δ√(2·ln(2/δ))/ε of permutation SGD (Algorithms 2 and 3, PRIV-11); \
         (b) σ = Δ(1 + √(2·ln(1/δ)))/ε (Lemma 2.1.9); (c) Objective-Gauss of Jain & Thakurta 2014, §4.2, \
         as read, for its worst pair (OBJ). δ = 1/m².\n\n\
         | m | claimed ε | (a) | (b) | (c) |\n|---|---|---|---|---|\n",
    );
    for rows in [1_600.0_f64, 8_000.0, 464_809.0] {
        for epsilon in [0.1, 1.0, 3.162, 10.0, 20.0, 30.0] {
            let delta = rows.powi(-2);
            let a = 1.0 / printed_noise_scale(epsilon, delta);
            let b = epsilon / (1.0 + libm::sqrt(2.0 * libm::log(1.0 / delta)));
            let c = 2.0 / minima::objective_gauss(epsilon, delta);
            let exact = |mu: f64| number(gaussian::epsilon(delta, mu));
            let _ = writeln!(
                page,
                "| {rows} | {epsilon} | {} | {} | {} |",
                exact(a),
                exact(b),
                exact(c)
            );
        }
    }
    page.push_str(
        "\n## Strongly convex permutation SGD, t counting passes (Algorithm 3; PRIV-12)\n\n\
         k = 50, δ = 1/m², claimed ε = 1, T passes made. A movement above the formula makes the lemma \
         false. The claim is another matter, since the order of the records is random and not \
         released: *at least* is exact for a pair of neighbours (the output is a mixture over the \
         place of the record), *at most* holds for every pair (the mean over that place). *Order known* \
         is what it would be for whoever saw the order. The released code counts updates and is not \
         affected.\n\n\
         | m | T | ξ | movement over formula | true ε, at least | at most | claim | order known |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (rows, passes) in [
        (8_000_u64, 10),
        (8_000, 100),
        (36_150, 10),
        (36_150, 20),
        (36_150, 100),
        (464_800, 10),
        (464_800, 100),
    ] {
        for strength in [1e-3, 1e-2] {
            let delta = (rows as f64).powi(-2);
            let settings = StronglyConvex { rows, batch: 50, passes, strength };
            let release = settings.released(Counter::Passes, 1.0, delta);
            let (lower, upper) = (release.at_least(delta), release.at_most(delta));
            let excess = settings.excess(Counter::Passes);
            let _ = writeln!(
                page,
                "| {rows} | {passes} | {strength} | {} | {} | {} | {} | {} |",
                number(excess),
                number(lower),
                number(upper),
                formulas::bracket_verdict(1.0, lower, upper),
                number(gaussian::epsilon(delta, excess / printed_noise_scale(1.0, delta)))
            );
        }
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two quoted numbers, and the order of the bounds where both are known.
    #[test]
    fn the_quoted_settings() {
        let (_, lower, upper) = private_sgd(36_176.0, 50.0, 100, 1.0).unwrap();
        assert!(lower > 34.0 && upper < 37.0 && lower <= upper, "Adult: {lower} to {upper}");
        let (_, lower, _) = private_sgd(464_809.0, 50.0, 100, 1.0).unwrap();
        assert!((lower - 4326.0).abs() < 15.0, "Covertype: {lower}");
    }

    #[test]
    fn the_mean_excess_agrees_with_the_gaussian_curve() {
        for (mu, e) in [(1.0, 0.5), (2.0, 3.0), (0.5, 1.0)] {
            let direct = normal_excess(0.5 * mu * mu, mu, e);
            assert!((direct / gaussian::delta(e, mu) - 1.0).abs() < 1e-9, "{mu}, {e}");
        }
    }
}
