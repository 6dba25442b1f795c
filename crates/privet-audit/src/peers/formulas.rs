//! The printed formulas other than private SGD's and the plain Gaussian ones, over their papers' own
//! settings: each line states the true ε of the noise, by the accountant or an exact sum.

use super::{number, number_in_claim};
use crate::AuditError;
use crate::printed::choosing::{choice_epsilon, choices_lower};
use crate::printed::descent::{permutation_worst, printed_noise_scale};
use crate::printed::{minima, online, wang_thesis};
use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, Cost, Event, gaussian};
use privet_optim::loss::Loss;
use std::fmt::Write as _;

/// Claimed (ε, δ) and true ε; an unknown bound is `None`.
struct Line {
    formula: &'static str,
    settings: String,
    claimed: (f64, f64),
    least: Option<f64>,
    most: Option<f64>,
}

impl Line {
    fn verdict(&self) -> &'static str {
        let (least, most) = (self.least.unwrap_or(0.0), self.most.unwrap_or(f64::INFINITY));
        bracket_verdict(self.claimed.0, least, most)
    }

    fn write(&self, page: &mut String) {
        let bound = |bound: Option<f64>| bound.map_or("–".into(), number);
        let _ = writeln!(
            page,
            "| {} | {} | ({}, {}) | {} | {} | {} |",
            self.formula,
            self.settings,
            number_in_claim(self.claimed.0),
            number_in_claim(self.claimed.1),
            bound(self.least),
            bound(self.most),
            self.verdict()
        );
    }
}

/// Judges a claim by the bracket alone, with a tolerance for rounding both ways.
pub(super) fn bracket_verdict(claimed: f64, least: f64, most: f64) -> &'static str {
    let slack = claimed * (1.0 + 1e-9);
    match (least > slack, most <= slack) {
        (true, _) => "**false**",
        (_, true) => "survives",
        _ => "open",
    }
}

/// Writes all tables of formulas.
pub(super) fn tables(page: &mut String) -> Result<(), AuditError> {
    for (title, lines) in [
        (
            "## Private Frank–Wolfe (Thakkar 2019, Algorithm 5; PRIV-14)\n\n\
             Laplace noise of scale √32·ΔC√(T ln(1/δ))/(mε) on every score; ε and T of Table 4.2, δ = 1/m². \
             *Half* is the scale of the released code, taken with all records in every score (it draws \
             1,000, which nothing here covers). Above: composition of choices that are ε₀-DP. Below: one \
             column with linear losses (`privet_audit::printed::choosing`).",
            frank_wolfe()?,
        ),
        (
            "## Approximate Minima Perturbation, hyper-parameter-free (Thakkar 2019, Algorithm 1)\n\n\
             The printed constants (β = L² for both losses, PRIV-2, PRIV-3, PRIV-5) at the settings of \
             §4.4.1, γ = 1/m², δ = 1/m², replace-one; the account uses the losses' true curvature and twice \
             the printed output sensitivity.",
            minima_lines()?,
        ),
        (
            "## Permutation SGD with a constant rate (Thakkar 2019, Algorithm 2; PRIV-9)\n\n\
             Huber hinge, h = 0.1, Δ = 1: rates of Table 4.2 on both sides of 2/β = 0.4. One batch, k = m = \
             300 (a batch of Table 4.2), so that order does not matter; below by running it on pairs, above \
             by its sensitivity 2TΔη/k where the theorem covers the rate.",
            permutation_lines(),
        ),
        (
            "## Online learning and its offline use (Thakurta 2013, chapter 5; C1, C2, C9)\n\n\
             The thesis has no experiments and no grid: the settings are ours. POCP is the wrapper, PIGD and \
             PGIGA its two instances, follow-the-leader the remark; their claim is (3ε, 2δ) for a noise made with \
             (ε, δ), and all outputs together are one Gaussian release. POffL: L = 1, ‖θ*‖ = 10; *repaired* is \
             divided by Ψ.",
            online_lines(),
        ),
        (
            "## Objective and output perturbation (Thakurta 2013, chapter 3; Jain & Thakurta 2014, §4)\n\n\
             No grid of ε is printed. δ = 10⁻³, and ε = 5 and 10, are those of the second paper's \
             experiments; the other points are ours. LR = 1. For objective perturbation, below: the Huber hinge with \
             its records in the linear part; Algorithm 3.1 with λ = 2β/ε, Huber hinge of h = 0.5 (c = 1), add/remove.",
            perturbation_lines()?,
        ),
        (
            "## Hard thresholding, secure aggregation, smoothed SGD (Wang 2021)\n\n\
             DP-IGHT at the ε and δ of its experiments (§2.6) and at a smaller δ: exact for linear losses. \
             Corollary 2.5.8 is read with K as the Lipschitz constant. MPC: ε = 0.5, δ = 10⁻³ of §6.4, \
             data sets' d; Laplace noise in every coordinate against an ℓ2 sensitivity. DP-LSSGD: MNIST, n = \
             60,000, b = 128, 50 passes, δ = 10⁻⁵ (§5.4), Theorem 5.3.2 with its μ = ½, batches without \
             replacement, replace-one, gradients clipped one by one; *script* is the noise of the public script, \
             ν/√5 (which clips means of batches instead: nothing is claimed for that).",
            wang_lines()?,
        ),
    ] {
        let _ = writeln!(
            page,
            "{title}\n\n| formula | settings | claimed (ε, δ) | true ε, at least | at most | claim |\n\
             |---|---|---|---|---|---|"
        );
        lines.iter().for_each(|line| line.write(page));
        page.push('\n');
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    Ok(())
}

fn used(neighbours: Neighbours, cost: Cost) -> Event {
    Event::Use { neighbours, unit: Unit::Record, cost }
}

fn repeated(count: u32, event: Event) -> Event {
    Event::Repeat { count, event: Box::new(event) }
}

/// A line about a Gaussian release of parameter μ: exact.
fn exact(formula: &'static str, settings: String, claimed: (f64, f64), mu: f64) -> Line {
    let truth = Some(gaussian::epsilon(claimed.1, mu));
    Line { formula, settings, claimed, least: truth, most: truth }
}

fn frank_wolfe() -> Result<Vec<Line>, AuditError> {
    let mut all = Vec::new();
    for (formula, times) in [("as printed", 1.0), ("half", 2.0)] {
        for (name, rows) in [("Gisette", 4_800.0_f64), ("RCV1", 40_000.0), ("Covertype", 464_809.0)]
        {
            for steps in [5_u32, 100, 1000] {
                for epsilon in [0.1, 1.0, 10.0] {
                    let delta = rows.powi(-2);
                    let choice = times * choice_epsilon(steps, epsilon, delta);
                    let cost = Cost::Pure { epsilon: choice };
                    let event = repeated(steps - 1, used(Neighbours::ReplaceOne, cost));
                    all.push(Line {
                        formula,
                        settings: format!("{name}, m = {rows}, T = {steps}"),
                        claimed: (epsilon, delta),
                        least: Some(choices_lower(steps - 1, choice, delta)),
                        most: Some(account::epsilon(&event, delta)?),
                    });
                }
            }
        }
    }
    Ok(all)
}

fn minima_lines() -> Result<Vec<Line>, AuditError> {
    let mut all = Vec::new();
    for (formula, loss) in
        [("logistic", Loss::Logistic), ("Huber hinge, h = 0.1", Loss::HuberSvm { h: 0.1 })]
    {
        for rows in [8_000.0_f64, 36_176.0, 464_809.0] {
            for epsilon in [0.1, 1.0, 10.0] {
                let delta = rows.powi(-2);
                let event = minima::printed_event(rows, epsilon, loss);
                let most = account::epsilon(&event, delta)?;
                all.push(Line {
                    formula,
                    settings: format!("m = {rows}"),
                    claimed: (epsilon, delta),
                    least: Some(super::bracket_lower(&event, 0.0, most, delta)?),
                    most: Some(most),
                });
            }
        }
    }
    Ok(all)
}

fn permutation_lines() -> Vec<Line> {
    let mut all = Vec::new();
    for (rate, passes) in [(0.1, 5), (0.1, 10), (1.0, 5), (1.0, 10), (1.0, 100)] {
        let (batch, epsilon) = (300_u64, 1.0);
        let delta = (batch as f64).powi(-2);
        let formula = 2.0 * passes as f64 * rate / batch as f64;
        let noise = formula * printed_noise_scale(epsilon, delta);
        let moved = permutation_worst(batch, passes, rate, 0.1);
        let truth = |moved: f64| gaussian::epsilon(delta, moved / noise);
        all.push(Line {
            formula: "P-PSGD",
            settings: format!("η = {rate}, T = {passes}"),
            claimed: (epsilon, delta),
            least: Some(truth(moved)),
            most: (rate <= 0.4).then(|| truth(formula)),
        });
    }
    all
}

fn online_lines() -> Vec<Line> {
    let mut all = Vec::new();
    for (formula, times) in [
        ("POCP, λ_A as given", 1.0),
        ("PIGD, λ_A = 2L/Ψ", 1.0),
        ("PGIGA, printed 2G/Ψ, true 4G/Ψ", 2.0),
        ("follow the leader, λ_A = 2L/Ψ", 1.0),
    ] {
        for (steps, epsilon, delta) in
            [(1e2, 0.5, 1e-3), (1e3, 0.1, 1e-6), (1e3, 1.0, 1e-6), (1e5, 1.0, 1e-5)]
        {
            let mu = times * libm::sqrt(steps - 1.0) / online::online_noise(steps, epsilon, delta);
            let claimed = (3.0 * epsilon, 2.0 * delta);
            let most = Some(gaussian::epsilon(claimed.1, mu));
            let settings = format!("T = {steps:e}");
            all.push(Line { formula, settings, claimed, least: None, most });
        }
    }
    for (formula, repaired) in [("POffL (C1)", false), ("POffL, repaired", true)] {
        for (steps, strength) in [(5000_u32, 0.01), (5000, 0.1), (5000, 1.0)] {
            let (bound, epsilon, delta) = (10.0, 1.0, 1e-6);
            let printed = online::offline_noise(steps, strength, bound, epsilon, delta);
            let noise = if repaired { printed / strength } else { printed };
            let t = f64::from(steps);
            // Lemma 5.9, summed: 2L′·ln T/(ΨT), L′ = L + Ψ‖θ*‖.
            let allowed = 2.0 * (1.0 + strength * bound) * libm::log(t) / (strength * t);
            let truth = |moved: f64| Some(gaussian::epsilon(delta, moved / noise));
            all.push(Line {
                formula,
                settings: format!("T = {steps}, Ψ = {strength}"),
                claimed: (epsilon, delta),
                least: truth(online::offline_worst(steps, strength, bound)),
                most: truth(allowed),
            });
        }
    }
    all
}

fn perturbation_lines() -> Result<Vec<Line>, AuditError> {
    let mut all = Vec::new();
    let points = [(0.1, 1e-3), (1.0, 1e-3), (5.0, 1e-3), (10.0, 1e-3), (1.0, 1e-6), (10.0, 1e-6)];
    for (epsilon, delta) in points {
        let mu = 2.0 / minima::objective_gauss(epsilon, delta);
        all.push(Line {
            formula: "Objective-Gauss, σ² = 4(ln(1/δ) + ε)/ε²",
            settings: "λ large".into(),
            claimed: (epsilon, delta),
            least: Some(gaussian::epsilon(delta, mu)),
            most: None,
        });
    }
    for (epsilon, delta) in points {
        // Sensitivity 2/λ under noise 4√(ln(1/δ) + ε)/(λε): half of the multiplier above.
        let mu = 1.0 / minima::objective_gauss(epsilon, delta);
        all.push(exact(
            "Output-Gauss, σ² = 16(ln(1/δ) + ε)/(λε)²",
            "any λ".into(),
            (epsilon, delta),
            mu,
        ));
    }
    for (epsilon, delta) in points {
        let event = minima::thesis_objective(epsilon, delta);
        let most = account::epsilon(&event, delta)?;
        all.push(Line {
            formula: "Algorithm 3.1, σ² = ζ²(8 ln(2/δ) + 4ε)/ε²",
            settings: "λ = 2β/ε".into(),
            claimed: (epsilon, delta),
            least: Some(super::bracket_lower(&event, 0.0, most, delta)?),
            most: Some(most),
        });
    }
    for epsilon in [0.1, 1.0, 10.0] {
        // §3.2.2: density ∝ exp(−ε‖N‖/(2·GS)), GS = 2ζ/Δ, where ζ/Δ is the sensitivity under add/remove.
        let cost = Cost::L2Laplace { sensitivity: 1.0, noise_scale: 4.0 / epsilon };
        let truth = account::epsilon(&used(Neighbours::AddRemove, cost), 0.0)?;
        all.push(Line {
            formula: "Thakurta 2013, §3.2.2, output perturbation (C8)",
            settings: "add/remove".into(),
            claimed: (epsilon, 0.0),
            least: Some(truth * (1.0 - 1e-9)),
            most: Some(truth),
        });
    }
    Ok(all)
}

fn wang_lines() -> Result<Vec<Line>, AuditError> {
    let mut all = Vec::new();
    for delta in [1e-2, 1e-6] {
        for epsilon in [2.0, 4.0, 6.0, 8.0, 10.0] {
            let mu = wang_thesis::hard_thresholding_mu(epsilon, delta);
            let settings = "σ² = TG²/(n²ρ)".into();
            all.push(exact("DP-IGHT, Remark 2.5.3", settings, (epsilon, delta), mu));
        }
    }
    for epsilon in [2.0, 10.0] {
        // T steps of sensitivity 2K/n under σ² = TK² ln(1/δ)/(n²ε²)
        let mu = 2.0 * epsilon / libm::sqrt(libm::log(100.0));
        let settings = "σ² = TK²·ln(1/δ)/(n²ε²)".into();
        all.push(exact("DP-IGHT, Corollary 2.5.8", settings, (epsilon, 1e-2), mu));
    }
    for (name, dimensions) in [("KDDCup98", 95), ("Adult", 104), ("KDDCup99", 122)] {
        let moved: f64 = wang_thesis::diagonal(dimensions).iter().sum();
        let cost = Cost::Laplace { sensitivity: moved, noise_scale: 2.0, step: None };
        let truth = account::epsilon(&used(Neighbours::ReplaceOne, cost), 0.0)?;
        all.push(Line {
            formula: "MPC Out P, Laplace per coordinate",
            settings: format!("{name}, d = {dimensions}"),
            claimed: (0.5, 0.0),
            least: Some(truth * (1.0 - 1e-9)),
            most: Some(truth),
        });
    }
    let (epsilon, delta) = (0.5, 1e-3);
    for (formula, mu) in [
        // T steps of sensitivity 2G/(mn): √T·2G/(mn)/σ.
        ("MPC Grad P, (6.3.1), σ² = 8G²T·ln(1/δ)/(mnε)²", wang_thesis::gradient_mu(epsilon, delta)),
        (
            "MPC Grad P, public code, by ρ",
            libm::sqrt(2.0 * wang_thesis::printed_rho(epsilon, delta)),
        ),
        ("MPC Grad P, Table 6.1, σ = √(2T)·G/(mnε)", wang_thesis::tabled_gradient_mu(epsilon)),
    ] {
        all.push(exact(formula, "any m, n, T".into(), (epsilon, delta), mu));
    }
    for (formula, times) in [("DP-LSSGD, Theorem 5.3.2", 20.0), ("DP-LSSGD, script", 4.0)] {
        for epsilon in [0.1, 0.2, 0.3] {
            let noise = wang_thesis::smoothed_noise(times, epsilon);
            let cost = Cost::WithoutReplacementGaussian {
                population: wang_thesis::SMOOTHED_ROWS,
                batch: wang_thesis::SMOOTHED_BATCH,
                sensitivity: 2.0 / wang_thesis::SMOOTHED_BATCH as f64,
                noise_scale: noise,
                grid: None,
            };
            let event = repeated(wang_thesis::SMOOTHED_STEPS, used(Neighbours::ReplaceOne, cost));
            let most = account::epsilon(&event, wang_thesis::SMOOTHED_DELTA)?;
            all.push(Line {
                formula,
                settings: format!("ν = {}", number(noise)),
                claimed: (epsilon, wang_thesis::SMOOTHED_DELTA),
                least: Some(super::bracket_lower(&event, 0.0, most, wang_thesis::SMOOTHED_DELTA)?),
                most: Some(most),
            });
        }
    }
    Ok(all)
}
