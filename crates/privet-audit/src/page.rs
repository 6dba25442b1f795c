//! The long audit: `docs/audit.md`.

use crate::attack::{self, Options};
use crate::bits::{self, FloatingPoint, Scalar};
use crate::claim::Claim;
use crate::learner::{self, Subject};
use crate::peers::short;
use crate::printed::descent::{LastStep, PrivateSgd};
use crate::printed::minima::{Amp, Ending, OneByte};
use crate::printed::{self, Choice, Shift, Verdict, sparse};
use crate::runs::Target;
use crate::{AuditError, accounting, one_run, samplers};
use privet_core::{Budget, Neighbours};
use privet_learn::{METHODS, Method};
use std::fmt::Write as _;

/// The page, and what on it should not be there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// In Markdown.
    pub text: String,
    /// Sound claims that were refuted, false ones that were not, laws that do not fit.
    pub surprises: Vec<String>,
}

impl Page {
    fn expect(&mut self, as_expected: bool, what: impl FnOnce() -> String) {
        if !as_expected {
            self.surprises.push(what());
        }
    }
}

/// Everything, with `runs` runs a world; a line of progress a row goes to `tell`.
pub fn page(head: &str, runs: u64, seed: u64, tell: &dyn Fn(&str)) -> Result<Page, AuditError> {
    let options = Options { runs, confidence: 0.999, seed };
    let mut page = Page { text: "# What the auditor saw\n\n".into(), ..Page::default() };
    let _ = writeln!(
        page.text,
        "Made by `make audit`; do not edit. {head} {runs} runs a world, confidence 0.999, seed \
         {seed}.\n\n\
         *ε at least* is the distribution-free lower bound at the claimed δ; *by μ* is the sharper one \
         for Gaussian releases, given only where every event is Gaussian. A claim that is not refuted \
         was not refuted by these attacks; the proofs are elsewhere.\n"
    );
    learners(&mut page, &options, tell)?;
    single_runs(&mut page, seed, tell)?;
    mechanisms(&mut page, &options, tell)?;
    errata(&mut page)?;
    sampler_tables(&mut page, &options, tell)?;
    accounting_table(&mut page, seed, tell)?;
    Ok(page)
}

/// The budgets that every method is asked for, under both relations.
const BUDGETS: [(f64, f64); 3] = [(1.0, 1e-5), (4.0, 1e-5), (1.0, 0.0)];

fn learners(page: &mut Page, options: &Options, tell: &dyn Fn(&str)) -> Result<(), AuditError> {
    page.text.push_str(
        "## Learners\n\n| method | neighbours | loss | pair | claimed (ε, δ) | ε at least | by μ | \
         statistic | refuted |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for info in METHODS {
        let method: Method = info.name.parse()?;
        if !method.is_private() {
            continue;
        }
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            for (epsilon, delta) in BUDGETS {
                let budget = Budget::new(epsilon, delta)?;
                let subject = Subject::new(method.clone(), budget, neighbours);
                let claimed = format!("({}, {})", short(epsilon), short(delta));
                tell(&format!("{} {neighbours} {claimed}", info.name));
                let row = match learner::audit(&subject, options, &()) {
                    Ok(report) => {
                        let found = &report.finding;
                        page.expect(!found.refuted, || {
                            format!("{} {neighbours} {claimed} is refuted", info.name)
                        });
                        let statistic = serde_word(found.statistic);
                        format!(
                            "{} | {} | {claimed} | {:.3} | {} | {statistic} | {}",
                            report.loss,
                            report.pair,
                            found.epsilon_lower,
                            by_mu(found),
                            answer(found.refuted)
                        )
                    }
                    // A combination that the method refuses before any data: nothing to audit.
                    Err(AuditError::NoTable { .. }) => {
                        format!("– | – | {claimed} | – | – | – | not offered")
                    }
                    Err(error) => return Err(error),
                };
                let _ = writeln!(page.text, "| {} | {neighbours} | {row} |", info.name);
            }
        }
    }
    page.text.push('\n');
    Ok(())
}

fn serde_word(kind: crate::statistic::Kind) -> &'static str {
    use crate::statistic::Kind;
    match kind {
        Kind::LikelihoodRatio => "likelihood ratio",
        Kind::Projection => "projection",
        Kind::Classifier => "classifier",
    }
}

fn by_mu(found: &attack::Finding) -> String {
    found.epsilon_lower_gaussian.map_or("–".into(), |epsilon| format!("{epsilon:.3}"))
}

fn answer(refuted: bool) -> &'static str {
    if refuted { "**yes**" } else { "no" }
}

fn single_runs(page: &mut Page, seed: u64, tell: &dyn Fn(&str)) -> Result<(), AuditError> {
    page.text.push_str(
        "## One run each\n\nSteinke, Nasr & Jagielski 2023; 400 canaries.\n\n\
         | method | neighbours | claimed (ε, δ) | right of guessed | ε at least | refuted |\n\
         |---|---|---|---|---|---|\n",
    );
    for info in METHODS {
        let method: Method = info.name.parse()?;
        if !method.is_private() {
            continue;
        }
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            tell(&format!("one run of {}, {neighbours}", info.name));
            let subject = Subject::new(method.clone(), Budget::new(4.0, 1e-5)?, neighbours);
            let row = match one_run::audit(&subject, 400, 0.999, seed) {
                Ok(found) => {
                    page.expect(!found.refuted, || format!("one run refutes {}", info.name));
                    format!(
                        "{} of {} | {:.3} | {}",
                        found.right,
                        found.guesses,
                        found.epsilon_lower,
                        answer(found.refuted)
                    )
                }
                Err(AuditError::NoTable { .. }) => "– | – | not offered".into(),
                Err(error) => return Err(error),
            };
            let _ = writeln!(page.text, "| {} | {neighbours} | (4, 1e-5) | {row} |", info.name);
        }
    }
    page.text.push('\n');
    Ok(())
}

/// A mechanism, its claim, and whether it must be refuted.
pub struct Case {
    /// In words.
    pub what: &'static str,
    /// What is attacked.
    pub target: Box<dyn Target>,
    /// What is claimed.
    pub claim: Claim,
    /// Whether the claim is false.
    pub is_false: bool,
}

/// Mechanisms whose truth is known: sound ones, ones with twice the stated ε, and printed ones.
pub fn cases() -> Result<Vec<Case>, AuditError> {
    let pure = |epsilon: f64| Budget::new(epsilon, 0.0);
    let mut all = Vec::new();
    let mut add = |what, target: Box<dyn Target>, claim, is_false| {
        all.push(Case { what, target, claim, is_false });
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
    let sgd = PrivateSgd { rows: 1000.0, batch: 50.0, steps: 1.0, epsilon: 2.0, delta: 1e-3 };
    for (times, what, is_false) in [
        (1.0, "PRIV-13, closed-form σ, m = 1000, k = 50, T = 1", true),
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
        Box::new(Shift::laplace(sparse::diagonal(16), 1.0)?),
        Claim::stated(pure(1.0)?),
        true,
    );
    add(
        "MPC-OUT repaired, ℓ2-Laplace, d = 16",
        Box::new(Shift::l2_laplace(sparse::diagonal(16), 1.0)?),
        Claim::stated(pure(1.0)?),
        false,
    );
    Ok(all)
}

fn mechanisms(page: &mut Page, options: &Options, tell: &dyn Fn(&str)) -> Result<(), AuditError> {
    page.text.push_str(
        "## Mechanisms whose truth is known\n\nThe auditor must refute the false claims and no other.\n\n\
         | mechanism | claimed (ε, δ) | claim is | ε at least | by μ | refuted |\n\
         |---|---|---|---|---|---|\n",
    );
    for case in cases()? {
        tell(case.what);
        let found = attack::audit(case.target.as_ref(), &case.claim, options, &())?;
        page.expect(found.refuted == case.is_false, || {
            format!("{}: refuted is {}", case.what, found.refuted)
        });
        let _ = writeln!(
            page.text,
            "| {} | ({}, {}) | {} | {:.3} | {} | {} |",
            case.what,
            short(found.epsilon_claimed),
            short(found.delta),
            if case.is_false { "false" } else { "true" },
            found.epsilon_lower,
            by_mu(&found),
            answer(found.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}

fn errata(page: &mut Page) -> Result<(), AuditError> {
    for (verdict, title) in [
        (Verdict::ClaimFalse, "## Printed claims that are false, by direct computation"),
        (Verdict::LemmaFalse, "## Printed lemmas that are false, where the claim survives"),
    ] {
        let _ = writeln!(
            page.text,
            "{title}\n\n| id | what | printed (ε, δ) | ε recomputed |\n|---|---|---|---|"
        );
        for erratum in printed::errata()?.iter().filter(|erratum| erratum.verdict == verdict) {
            let _ = writeln!(
                page.text,
                "| {} | {} | ({}, {}) | {} |",
                erratum.id,
                erratum.what,
                short(erratum.epsilon),
                short(erratum.delta),
                if erratum.recomputed.is_finite() {
                    short(erratum.recomputed)
                } else {
                    "∞".into()
                }
            );
        }
        page.text.push('\n');
    }
    Ok(())
}

fn sampler_tables(
    page: &mut Page,
    options: &Options,
    tell: &dyn Fn(&str),
) -> Result<(), AuditError> {
    tell("samplers");
    page.text.push_str(
        "## Samplers\n\n| law | scale | largest gap | allowed | fits |\n|---|---|---|---|---|\n",
    );
    for fit in samplers::audit(1_000_000, options.seed)? {
        page.expect(fit.passes(), || format!("{} at {} does not fit", fit.law, fit.scale));
        let verdict = if fit.passes() { "yes" } else { "**no**" };
        let _ = writeln!(
            page.text,
            "| {} | {} | {:.6} | {:.6} | {verdict} |",
            fit.law, fit.scale, fit.gap, fit.allowed
        );
    }
    page.text.push_str(
        "\n## Low bits\n\nNeighbours 0 and 1, ε = 0.5: can the last bits of a release tell them apart?\n\n\
         | mechanism | ε at least | refuted |\n|---|---|---|\n",
    );
    for (kind, what) in [
        (Scalar::PlainLaplace, "plain f64 Laplace (fixture, broken)"),
        (Scalar::GridLaplace, "ours: Laplace on a grid"),
        (Scalar::GridGaussian, "ours: Gaussian on a grid"),
        (Scalar::L2Laplace, "ours: ℓ2-Laplace, rounded after the sum"),
    ] {
        tell(what);
        let target = FloatingPoint { kind, epsilon: 0.5 };
        let found = bits::audit(&target, &target.claim()?, options, &())?;
        let expected = found.refuted == (kind == Scalar::PlainLaplace);
        page.expect(expected, || format!("{what}: refuted is {}", found.refuted));
        let _ = writeln!(
            page.text,
            "| {what} | {:.3} | {} |",
            found.epsilon_lower,
            answer(found.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}

fn accounting_table(page: &mut Page, seed: u64, tell: &dyn Fn(&str)) -> Result<(), AuditError> {
    tell("accounting");
    let all = accounting::audit(200, 200_000, seed)?;
    let faults: Vec<&accounting::Comparison> =
        all.iter().filter(|comparison| !comparison.faults().is_empty()).collect();
    let _ = writeln!(
        page.text,
        "## Accounting\n\n{} comparisons on 200 random event trees, 200,000 simulated losses a \
         direction: {} faults.",
        all.len(),
        faults.len()
    );
    page.expect(faults.is_empty(), || format!("{} faults of accounting", faults.len()));
    for fault in faults {
        let _ = writeln!(
            page.text,
            "- ε = {}: {}: {:?}",
            fault.epsilon,
            fault.faults().join("; "),
            fault.event
        );
    }
    Ok(())
}
