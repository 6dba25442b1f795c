//! Mechanisms with known true ε, to test the auditor.

use crate::AuditError;
use crate::claim::Claim;
use crate::printed::descent::{LastStep, PrivateSgd};
use crate::printed::minima::{Amp, Ending, OneByte};
use crate::printed::sparse_vector::{SparseVector, Variant};
use crate::printed::voting::{self, Votes};
use crate::printed::{Choice, Shift, wang_thesis};
use crate::runs::Target;
use privet_core::Budget;

/// A mechanism, its claim, and whether it must be refuted.
pub struct Case {
    /// Name, for messages.
    pub what: &'static str,
    /// The target of the attack.
    pub target: Box<dyn Target>,
    /// The claim to test.
    pub claim: Claim,
    /// True if the claim is false.
    pub is_false: bool,
    /// Runs per input that the attack needs: a false claim near its bound takes many to refute.
    pub least_runs: u64,
}

/// Runs that suffice for most cases.
const FEW_RUNS: u64 = 6_000;
/// Runs for a Gaussian at twice its ε, and for a record that is drawn in one step of forty.
const MANY_RUNS: u64 = 30_000;

/// All cases: sound mechanisms, the same with half the noise, and printed ones.
pub fn cases() -> Result<Vec<Case>, AuditError> {
    let pure = |epsilon: f64| Budget::new(epsilon, 0.0);
    let mut all = Vec::new();
    let mut add = |what: &'static str, target: Box<dyn Target>, claim, is_false| {
        let slow = ["PRIV-13", "Gaussian", "SVT3"].iter().any(|name| what.starts_with(name));
        let least_runs = if slow { MANY_RUNS } else { FEW_RUNS };
        all.push(Case { what, target, claim, is_false, least_runs });
    };
    for (times, is_false) in [(1.0, false), (0.5, true)] {
        let name = |sound, doubled| if is_false { doubled } else { sound };
        add(
            name("Laplace", "Laplace, half the noise"),
            Box::new(Shift::laplace(vec![1.0], times)?),
            Claim::stated(pure(1.0)?),
            is_false,
        );
        add(
            name("ℓ2-Laplace", "ℓ2-Laplace, half the noise"),
            Box::new(Shift::l2_laplace(vec![0.6, 0.8], times)?),
            Claim::stated(pure(1.0)?),
            is_false,
        );
        // One score up, many down: the loss comes near ε.
        let mut second = vec![-1.0; 16];
        second[0] = 1.0;
        add(
            name("exponential", "exponential, half the noise"),
            Box::new(Choice::new(vec![0.0; 16], second, 2.0 * times)),
            Claim::stated(pure(1.0)?),
            is_false,
        );
        let budget = Budget::new(1.0, 1e-5)?;
        let sigma = 1.0 / privet_dp::account::gaussian::mu(1.0, 1e-5);
        add(
            name("Gaussian", "Gaussian, half the noise"),
            Box::new(Shift::gaussian(vec![1.0], sigma * times)?),
            Claim::stated_gaussian(budget),
            is_false,
        );
    }
    // T = 2: the printed loop ends at T − 1, so that there is one step, and σ is calibrated for two.
    let sgd = PrivateSgd { rows: 2000.0, batch: 50.0, steps: 2.0, epsilon: 2.0, delta: 1e-3 };
    for (times, what, is_false) in [
        (1.0, "PRIV-13, closed-form σ, m = 2000, k = 50, T = 2", true),
        (4.0, "PRIV-13, four times that σ", false),
    ] {
        let claim = Claim::stated(Budget::new(sgd.epsilon, sgd.delta)?);
        add(what, Box::new(LastStep::new(&sgd, times)?), claim, is_false);
    }
    for (ending, what, is_false) in [
        (Ending::Raised(1), "PRIV-4, solver stops early and raises γ", true),
        (Ending::Converged, "PRIV-4, solver goes on until γ is met", false),
    ] {
        let claim = Claim::stated(Budget::new(1.0, 1e-5)?);
        add(what, Box::new(Amp::new(1.0, 1e-5, 6, ending)?), claim, is_false);
    }
    add(
        "PRIV-7, noise from one byte",
        Box::new(OneByte::new(4.0)?),
        Claim::stated(Budget::new(1.0, 1e-5)?),
        true,
    );
    add(
        "MPC-OUT, Laplace per coordinate, d = 16",
        Box::new(Shift::laplace(wang_thesis::diagonal(16), 1.0)?),
        Claim::stated(pure(1.0)?),
        true,
    );
    add(
        "MPC-OUT repaired, ℓ2-Laplace, d = 16",
        Box::new(Shift::l2_laplace(wang_thesis::diagonal(16), 1.0)?),
        Claim::stated(pure(1.0)?),
        false,
    );
    for (variant, what, epsilon, each, is_false) in [
        (Variant::Answers, "SVT3, sparse vector that shows answers", 2.0, 1, true),
        (Variant::NoiseOfOne, "SVT4, sparse vector, noise of one ⊤ for 40", 1.0, 40, true),
        (Variant::NoNoise, "SVT5, sparse vector without noise on questions", 1.0, 1, true),
        (Variant::NoEnd, "SVT6, sparse vector without an end", 1.0, 60, true),
        (Variant::Sound, "sparse vector as proved, 40 ⊤", 1.0, 40, false),
    ] {
        let target = SparseVector::new(variant, epsilon, each)?;
        add(what, Box::new(target), Claim::stated(pure(epsilon)?), is_false);
    }
    for (variant, what, is_false) in [
        (voting::Variant::Lead, "PRIV-18, distance of votes as printed", true),
        (voting::Variant::Position, "PRIV-19, chunks by position", true),
        (voting::Variant::Sound, "votes as corrected", false),
    ] {
        let target = Votes::new(variant, 1.0, 1e-3, 100)?;
        add(what, Box::new(target), Claim::stated(Budget::new(1.0, 1e-3)?), is_false);
    }
    Ok(all)
}
