//! The page of the long audit: `docs/audit.md`.

mod answers;
mod counts;
mod declared;
mod descriptions;
mod evaluations;
mod networks;
mod parties;
mod phases;
mod private_bounds;
mod progress;
mod ratings;
mod selections;
mod settings;
mod streams;
mod votes;

use self::progress::{LEARNER_WEIGHT, OTHER_WEIGHT, Progress, SINGLE_RUN_WEIGHT};
use crate::attack::{self, AttackOptions};
use crate::bits::{self, FloatingPoint, Scalar};
use crate::cases::cases;
use crate::learner::{self, Setting};
use crate::pairs::Pair;
use crate::peers::number_in_claim;
use crate::printed::{self, Verdict};
use crate::{AuditError, accounting, one_run, samplers};
use privet_core::{Budget, Neighbours};
use privet_learn::{METHODS, Method};
use std::fmt::Write as _;

/// The page, and the unexpected results on it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Text in Markdown.
    pub text: String,
    /// Sound claims that were refuted, false ones that were not, samplers that do not fit their law.
    pub surprises: Vec<String>,
    /// For learners at twice the stated ε, the numbers refuted and tested.
    doubled: (u32, u32),
}

const TITLE: &str = "# What the auditor saw\n\n";

impl Page {
    /// A page without tests.
    pub fn of(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// The result of the whole page, in a sentence.
    fn verdict(&self) -> String {
        match self.surprises.as_slice() {
            [] => format!(
                "**No sound claim was refuted**, and of learners judged by half of the ε that they were asked for {} of {} \
                 were: attacks with power. Samplers fit their laws.\n\n",
                self.doubled.0, self.doubled.1
            ),
            some => format!("**Not as it should be: {}.**\n\n", some.join("; ")),
        }
    }

    fn expect(&mut self, as_expected: bool, what: impl FnOnce() -> String) {
        if !as_expected {
            self.surprises.push(what());
        }
    }
}

/// Runs the whole audit with `runs` runs per input; passes a line of progress per row to `tell`.
pub fn page(head: &str, runs: u64, seed: u64, tell: &dyn Fn(&str)) -> Result<Page, AuditError> {
    let options = AttackOptions { runs, confidence: 0.999, seed };
    let mut page = Page { text: TITLE.into(), ..Page::default() };
    let _ = writeln!(
        page.text,
        "*ε at least* is the distribution-free lower bound at the claimed δ; *by μ* is the sharper one \
         for Gaussian releases, given only where every event is Gaussian. A claim that is not refuted \
         was not refuted by these attacks; the proofs are elsewhere.\n"
    );
    let progress = Progress::new(tell)?;
    write_learners_table(&mut page, &options, &progress)?;
    write_doubled_epsilon_table(&mut page, &options, &progress)?;
    counts::write_counts_table(&mut page, &options, &progress)?;
    answers::write_answers_table(&mut page, &options, &progress)?;
    descriptions::write_descriptions_table(&mut page, &options, &progress)?;
    evaluations::write_evaluations_table(&mut page, &options, &progress)?;
    private_bounds::write_private_bounds_tables(&mut page, &options, &progress)?;
    declared::write_declared_table(&mut page, &options, &progress)?;
    selections::write_selections_table(&mut page, &options, &progress)?;
    votes::write_votes_table(&mut page, &options, &progress)?;
    ratings::write_ratings_table(&mut page, &options, &progress)?;
    streams::write_streams_table(&mut page, &options, &progress)?;
    networks::write_networks_table(&mut page, &options, &progress)?;
    parties::write_parties_table(&mut page, &options, &progress)?;
    write_single_runs_table(&mut page, seed, &progress)?;
    write_mechanisms_table(&mut page, &options, &progress)?;
    write_errata_tables(&mut page)?;
    write_samplers_table(&mut page, seed, &progress)?;
    write_low_bits_table(&mut page, &options, &progress)?;
    phases::write_phases_section(&mut page, &options, &progress)?;
    write_accounting_section(&mut page, seed, &progress)?;
    let _ = writeln!(
        page.text,
        "\n## How this page came about\n\nMade by `make audit`; do not edit. {head} {runs} runs a world, confidence 0.999, \
         seed {seed}."
    );
    page.text.insert_str(TITLE.len(), &page.verdict());
    Ok(page)
}

/// The budgets of every method's audits, under both relations.
const BUDGETS: [(f64, f64); 3] = [(1.0, 1e-5), (4.0, 1e-5), (1.0, 0.0)];

fn write_learners_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Learners\n\nOn the pair of tables (`privet_audit::pairs`), and with the settings of those that any user \
         may choose, that tell most.\n\n| method | neighbours | loss | pair | claimed (ε, δ) | ε at least | by μ | \
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
                let setting = Setting::new(method.clone(), budget, neighbours);
                let claimed = format!("({}, {})", number_in_claim(epsilon), number_in_claim(delta));
                progress.step(LEARNER_WEIGHT, &format!("{} {neighbours} {claimed}", info.name));
                let row = match learner::audit(&setting, options, &()) {
                    Ok(report) => {
                        let finding = &report.finding;
                        page.expect(!finding.refuted, || {
                            format!("{} {neighbours} {claimed} is refuted", info.name)
                        });
                        let statistic = serde_word(finding.statistic);
                        format!(
                            "{} | {} | {claimed} | {:.3} | {} | {statistic} | {}",
                            report.loss,
                            report.pair,
                            finding.epsilon_lower,
                            by_mu(finding),
                            yes_or_no(finding.refuted)
                        )
                    }
                    // The method refuses this combination before any data: nothing to audit.
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
        Kind::Frequencies => "frequencies",
    }
}

fn by_mu(found: &attack::Finding) -> String {
    found.epsilon_lower_gaussian.map_or("–".into(), |epsilon| format!("{epsilon:.3}"))
}

fn yes_or_no(refuted: bool) -> &'static str {
    if refuted { "**yes**" } else { "no" }
}

/// Audits learners at twice the ε they state: the table above would show such a mistake.
fn write_doubled_epsilon_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Learners at twice the stated ε\n\nEach is asked for (8, 1e-5) and judged by its certificate for (4, \
         1e-5): an audit with power refutes it. `linear-rotated` states (ε, δ) without a curve, of which \
         Gaussian noise shows little at a factor of 2; `auto` plans one of the others, with more steps.\n\n\
         | method | neighbours | pair | ε at least | by μ | refuted |\n|---|---|---|---|---|---|\n",
    );
    let (stated, asked) = (Budget::new(4.0, 1e-5)?, Budget::new(8.0, 1e-5)?);
    for info in METHODS {
        let method: Method = info.name.parse()?;
        if !method.is_private() {
            continue;
        }
        for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
            progress.step(LEARNER_WEIGHT, &format!("{} {neighbours} at twice its ε", info.name));
            let setting = Setting::new(method.clone(), asked, neighbours);
            let row = match learner::audit_against(&setting, stated, options, &()) {
                Ok(report) => {
                    page.doubled.0 += u32::from(report.finding.refuted);
                    page.doubled.1 += 1;
                    format!(
                        "{} | {:.3} | {} | {}",
                        report.pair,
                        report.finding.epsilon_lower,
                        by_mu(&report.finding),
                        yes_or_no(report.finding.refuted)
                    )
                }
                Err(AuditError::NoTable { .. }) => "– | – | – | not offered".into(),
                Err(error) => return Err(error),
            };
            let _ = writeln!(page.text, "| {} | {neighbours} | {row} |", info.name);
        }
    }
    page.text.push('\n');
    Ok(())
}

fn write_single_runs_table(
    page: &mut Page,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
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
            progress.step(SINGLE_RUN_WEIGHT, &format!("one run of {}, {neighbours}", info.name));
            let setting = Setting::new(method.clone(), Budget::new(4.0, 1e-5)?, neighbours);
            let row = match one_run::audit(&setting, 400, 0.999, seed) {
                Ok(found) => {
                    page.expect(!found.refuted, || format!("one run refutes {}", info.name));
                    format!(
                        "{} of {} | {:.3} | {}",
                        found.right,
                        found.guesses,
                        found.epsilon_lower,
                        yes_or_no(found.refuted)
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

fn write_mechanisms_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Mechanisms whose truth is known\n\nThe auditor must refute the false claims and no other. \
         Runs: as many as above, or as the attack needs.\n\n\
         | mechanism | claimed (ε, δ) | claim is | runs | ε at least | by μ | refuted |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for case in cases()? {
        progress.step(OTHER_WEIGHT, case.what);
        let options = AttackOptions { runs: options.runs.max(case.least_runs), ..*options };
        let finding = attack::audit(case.target.as_ref(), &case.claim, &options, &())?;
        page.expect(finding.refuted == case.is_false, || {
            format!("{}: refuted is {}", case.what, finding.refuted)
        });
        let _ = writeln!(
            page.text,
            "| {} | ({}, {}) | {} | {} | {:.3} | {} | {} |",
            case.what,
            number_in_claim(finding.epsilon_claimed),
            number_in_claim(finding.delta),
            if case.is_false { "false" } else { "true" },
            finding.runs,
            finding.epsilon_lower,
            by_mu(&finding),
            yes_or_no(finding.refuted)
        );
    }
    page.text.push('\n');
    Ok(())
}

fn write_errata_tables(page: &mut Page) -> Result<(), AuditError> {
    for (verdict, title) in [
        (Verdict::ClaimFalse, "## Printed claims that are false, by direct computation"),
        (Verdict::LemmaFalse, "## Printed lemmas that are false, where the claim survives"),
        (Verdict::Open, "## Printed lemmas that are false, where the claim is open"),
    ] {
        let recomputed =
            if verdict == Verdict::ClaimFalse { "ε, at least" } else { "ε that is proved" };
        let _ = writeln!(
            page.text,
            "{title}\n\n| id | what | printed (ε, δ) | {recomputed} |\n|---|---|---|---|"
        );
        for erratum in printed::errata()?.iter().filter(|erratum| erratum.verdict == verdict) {
            let _ = writeln!(
                page.text,
                "| {} | {} | ({}, {}) | {} |",
                erratum.id,
                erratum.what,
                number_in_claim(erratum.epsilon),
                number_in_claim(erratum.delta),
                if erratum.recomputed.is_finite() {
                    number_in_claim(erratum.recomputed)
                } else {
                    "∞".into()
                }
            );
        }
        page.text.push('\n');
    }
    Ok(())
}

fn write_samplers_table(
    page: &mut Page,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    progress.step(OTHER_WEIGHT, "samplers");
    page.text.push_str(
        "## Samplers\n\n| law | scale | largest gap | allowed | fits |\n|---|---|---|---|---|\n",
    );
    let finding = samplers::audit(1_000_000, seed)?;
    let verdict = |passes: bool| if passes { "yes" } else { "**no**" };
    for fit in &finding.fits {
        page.expect(fit.passes(), || format!("{} at {} does not fit", fit.law, fit.scale));
        let _ = writeln!(
            page.text,
            "| {} | {} | {:.6} | {:.6} | {} |",
            fit.law,
            fit.scale,
            fit.gap,
            fit.allowed,
            verdict(fit.passes())
        );
    }
    page.text.push_str(
        "\nTails, and pairs of successive draws: exact binomial tests.\n\n\
         | law | scale | what | seen | expected | fits |\n|---|---|---|---|---|---|\n",
    );
    for count in &finding.counts {
        page.expect(count.passes(), || {
            format!("{} of {} at {} do not fit", count.what, count.law, count.scale)
        });
        let _ = writeln!(
            page.text,
            "| {} | {} | {} | {} | {:.1} | {} |",
            count.law,
            count.scale,
            count.what,
            count.seen,
            count.of as f64 * count.probability,
            verdict(count.passes())
        );
    }
    page.text.push('\n');
    Ok(())
}

/// Scalar mechanisms whose last bits are tested.
const SCALARS: [(Scalar, [f64; 2], &str); 7] = [
    (Scalar::PlainLaplace, [0.0, 1.0], "plain f64 Laplace (fixture, broken)"),
    (Scalar::GridLaplace, [0.0, 1.0], "ours: Laplace on a grid"),
    (Scalar::GridLaplace, [0.1, 0.7], "ours: Laplace on a grid"),
    (Scalar::GridGaussian, [0.0, 1.0], "ours: Gaussian on a grid"),
    (Scalar::GridGaussian, [0.1, 0.7], "ours: Gaussian on a grid"),
    (Scalar::L2Laplace, [0.0, 1.0], "ours: ℓ2-Laplace, rounded after the sum"),
    (Scalar::L2Laplace, [0.1, 0.7], "ours: ℓ2-Laplace, rounded after the sum"),
];

/// Learners whose last bits are tested: those that release a solver's result with noise on it.
const LOW_BITS: [&str; 5] = ["objective", "linear", "linear-rotated", "amp", "output"];

fn write_low_bits_table(
    page: &mut Page,
    options: &AttackOptions,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    page.text.push_str(
        "## Low bits\n\nNeighbours 0 and 1, which lie on every grid, or 0.1 and 0.7, which lie on none; ε = 0.5: can \
         the last bits of a release tell them apart?\n\n\
         | mechanism | neighbours | ε at least | refuted |\n|---|---|---|---|\n",
    );
    for (kind, values, what) in SCALARS {
        progress.step(OTHER_WEIGHT, what);
        let target = FloatingPoint { kind, epsilon: 0.5, values };
        let found = bits::audit(&target, &target.claim()?, options, &())?;
        let expected = found.refuted == (kind == Scalar::PlainLaplace);
        page.expect(expected, || format!("{what}: refuted is {}", found.refuted));
        let _ = writeln!(
            page.text,
            "| {what} | {} and {} | {:.3} | {} |",
            values[0],
            values[1],
            found.epsilon_lower,
            yes_or_no(found.refuted)
        );
    }
    page.text.push_str(
        "\nThe same of learners at (1, 1e-5), add-remove:\n\n\
         | method | pair | ε at least | refuted |\n|---|---|---|---|\n",
    );
    for name in LOW_BITS {
        let setting = Setting::new(name.parse()?, Budget::new(1.0, 1e-5)?, Neighbours::AddRemove);
        for pair in [Pair::Canary, Pair::AllEqual] {
            progress.step(OTHER_WEIGHT, &format!("low bits of {name}"));
            let found = learner::low_bits(&setting, pair, options, &())?;
            page.expect(!found.refuted, || format!("low bits of {name}, {pair}: refuted"));
            let _ = writeln!(
                page.text,
                "| {name} | {pair} | {:.3} | {} |",
                found.epsilon_lower,
                yes_or_no(found.refuted)
            );
        }
    }
    page.text.push('\n');
    Ok(())
}

fn write_accounting_section(
    page: &mut Page,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<(), AuditError> {
    progress.step(OTHER_WEIGHT, "accounting");
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
