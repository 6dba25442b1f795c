//! Guarantees and mechanisms in plain words.

use crate::output::number;
use privet_core::{Neighbours, Unit, UnitDefinition};
use privet_dp::account::filter::Law;
use privet_dp::account::{
    Cost, Event, Filter, Grid, Guarantee, ObjectiveNoise, OutputNoise, SeenBy, ThresholdNoise,
};
use privet_dp::gate::{Arithmetic, LAST_WITHOUT_PROVENANCE, Provenance};
use privet_learn::report::{Part, Section};
use privet_learn::{PlanNumbers, Unchecked};

pub use privet_learn::linear::features;

/// The guarantee, for readers who do not know ε.
pub fn guarantee(guarantee: &Guarantee) -> String {
    let Guarantee { epsilon, delta, neighbours, unit, seen_by } = guarantee;
    if epsilon.is_infinite() {
        return "no guarantee: ε = ∞".into();
    }
    let change = match (neighbours, unit) {
        (Neighbours::ReplaceOne, Unit::Record) => {
            "exchanging any one record of the table for any other".into()
        }
        (Neighbours::AddRemove, Unit::Record) => {
            "adding any one record to the table, or leaving it out,".into()
        }
        (Neighbours::ReplaceOne, Unit::User { max_records }) => format!(
            "exchanging all records of any one user (at most {max_records} are used) for those of \
             another"
        ),
        (Neighbours::AddRemove, Unit::User { max_records }) => format!(
            "adding all records of any one user (at most {max_records} are used), or leaving them \
             out,"
        ),
        (Neighbours::ReplaceLabel, Unit::Record) => {
            "exchanging the label of any one record for another (labels alone are protected: everything \
             else of the records is taken for public)"
                .into()
        }
        (Neighbours::ReplaceLabel, Unit::User { .. }) => {
            "exchanging the labels of all records of any one user (labels alone are protected: everything else of \
             the records is taken for public)"
                .into()
        }
    };
    let slack = if *delta == 0.0 {
        String::new()
    } else {
        format!(" and, beyond that, by δ = {}", number(*delta))
    };
    let outcome = match seen_by {
        SeenBy::Everyone => "any outcome".into(),
        SeenBy::AllButTheUnit => format!("anything that {seen_by} sees"),
    };
    format!(
        "{change} changes the probability of {outcome} at most by the factor e^ε = {} (ε = {}){slack}",
        number(epsilon.exp()),
        number(*epsilon),
    )
}

/// A budget (ε, δ) in words.
pub fn budget(epsilon: f64, delta: f64) -> String {
    format!("ε = {}, δ = {}", number(epsilon), number(delta))
}

/// The arithmetic for which the guarantee is proved.
pub fn arithmetic(arithmetic: Arithmetic) -> &'static str {
    match arithmetic {
        Arithmetic::Finite => "proved with rounding, for the program as it runs (finite)",
        Arithmetic::Real => {
            "proved on paper, for exact numbers (real); the notes say what that leaves out"
        }
    }
}

/// The arithmetic in two words.
pub fn arithmetic_words(arithmetic: Arithmetic) -> &'static str {
    match arithmetic {
        Arithmetic::Finite => "with rounding",
        Arithmetic::Real => "on paper",
    }
}

/// The heading above the words of a file's maker.
pub const MAKER_HEADING: &str =
    "Words of whoever made the file, not of this program, which nothing checks:";

/// Notes of a file that are not its plan's, quoted line by line, so that they cannot pass for words of
/// the program.
pub fn quote_notes(notes: &[String]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let quoted = notes.iter().map(|note| wrap_lines(note, "  | ")).collect::<String>();
    format!("{}{quoted}", wrap_lines(MAKER_HEADING, "  "))
}

/// The assumptions of a claim, in one sentence.
pub fn assumptions_sentence(facts: &[Unchecked]) -> String {
    let all: Vec<_> = facts.iter().map(|one| one.what.as_str()).collect();
    format!("taken for granted, checked by nothing: {}.", all.join("; "))
}

/// The origin of a certificate: version, date and identifier.
pub fn provenance_sentence(made: Option<&Provenance>) -> String {
    match made {
        None => format!("made by version {LAST_WITHOUT_PROVENANCE}, which wrote no date."),
        Some(Provenance { version, date: Some(date), id: Some(id) }) => {
            format!("made by version {version} on {date}, certificate {id}.")
        }
        Some(Provenance { version, .. }) => format!("made by version {version}."),
    }
}

/// Number of candidates whose noise is described.
const SHOWN_CANDIDATES: usize = 3;

/// The events of an adaptive session: its limit, and the first few.
pub fn events_within(filter: &Filter, event: &Event, on: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "what was asked was decided on the way from noised answers, within a limit that counts as spent in full: {}",
        match filter.limit {
            Law::Gaussian { mu } =>
                format!("a Gaussian release of sensitivity over noise {}", number(mu)),
            Law::Concentrated { rho } => format!("zero-concentrated with ρ = {}", number(rho)),
            Law::Renyi { order, limit } => {
                format!("Rényi divergence {} at order {}", number(limit), number(order))
            }
            Law::Sum { epsilon } => format!("ε = {} in all", number(epsilon)),
        }
    )];
    lines.push(format!("under noise: {on}"));
    let all = mechanisms(event, ITS_PART);
    lines.extend(all.iter().take(SHOWN_CANDIDATES - 1).cloned());
    if all.len() >= SHOWN_CANDIDATES {
        lines.push(format!("and so on, {} times in all", all.len()));
    }
    lines
}

/// The noisy quantity of one of several mechanisms.
const ITS_PART: &str = "its part's answer";

/// One line for every mechanism used, in order; `on` names the noisy quantities. Where there are several
/// mechanisms each is on one of these alone, and the first line names them all.
pub fn events(event: &Event, on: &str) -> Vec<String> {
    match uses(event) {
        0 | 1 => mechanisms(event, on),
        several => {
            let mut lines = vec![format!("in {several} parts, under noise: {on}")];
            lines.extend(mechanisms(event, ITS_PART));
            lines
        }
    }
}

/// The number of mechanisms, each counted once however often it is used; of candidates, those of one.
fn uses(event: &Event) -> usize {
    match event {
        Event::Use { .. } => 1,
        Event::All(all) => all.iter().map(uses).sum(),
        Event::Repeat { event, .. } | Event::UpTo { event, .. } | Event::Selected { event, .. } => {
            uses(event)
        }
        Event::BestOf { candidates, .. } => candidates.iter().map(uses).max().unwrap_or(0),
    }
}

fn mechanisms(event: &Event, on: &str) -> Vec<String> {
    match event {
        Event::Use { cost, .. } => vec![self::cost(cost, on)],
        Event::All(all) => all.iter().flat_map(|part| mechanisms(part, on)).collect(),
        Event::Repeat { count, event } => {
            use_sentences(event, on, &format!("{count} times, fresh noise each"))
        }
        Event::UpTo { count, event } => use_sentences(
            event,
            on,
            &format!("up to {count} times, fresh noise each, charged as if all were made"),
        ),
        Event::BestOf { candidates, .. } => {
            let mut lines = Vec::new();
            for (place, event) in candidates.iter().take(SHOWN_CANDIDATES).enumerate() {
                let how = format!("in a run of candidate {}", place + 1);
                lines.extend(use_sentences(event, on, &how));
            }
            if candidates.len() > SHOWN_CANDIDATES {
                lines.push(format!("and so on for all {} candidates", candidates.len()));
            }
            lines.push(
                "only the best of a secret random number of such runs is shown, each of a candidate drawn by lot"
                    .into(),
            );
            lines
        }
        Event::Selected { event, .. } => use_sentences(
            event,
            on,
            "the best of a secret random number of runs, each with fresh noise",
        ),
    }
}

fn use_sentences(event: &Event, on: &str, how: &str) -> Vec<String> {
    mechanisms(event, on).into_iter().map(|line| format!("{how}: {line}")).collect()
}

fn cost(cost: &Cost, on: &str) -> String {
    match cost {
        // Another event charges this noise; this one states its grid.
        Cost::Gaussian { sensitivity: 0.0, noise_scale, grid } => format!(
            "Gaussian noise of standard deviation {}{} inside the objective",
            number(*noise_scale),
            on_grid(grid.as_ref())
        ),
        Cost::Gaussian { sensitivity, noise_scale, grid } => format!(
            "Gaussian noise of standard deviation {}{} on every number of {on}; one unit moves them by \
             at most {} (ℓ2)",
            number(*noise_scale),
            on_grid(grid.as_ref()),
            number(*sensitivity)
        ),
        Cost::Laplace { sensitivity, noise_scale, .. } => format!(
            "Laplace noise of scale {} on every number of {on}; one unit moves them by at most {} (ℓ1)",
            number(*noise_scale),
            number(*sensitivity)
        ),
        Cost::L2Laplace { sensitivity, noise_scale } => format!(
            "noise in a random direction, its length of Gamma law with scale {}, on {on}; one unit moves \
             them by at most {} (ℓ2)",
            number(*noise_scale),
            number(*sensitivity)
        ),
        Cost::PoissonGaussian { rate, sensitivity, noise_scale, .. } => format!(
            "Gaussian noise of standard deviation {} on a sum over records, each drawn with \
             probability {} and of norm at most {}",
            number(*noise_scale),
            number(*rate),
            number(*sensitivity)
        ),
        Cost::WithoutReplacementGaussian {
            population, batch, sensitivity, noise_scale, ..
        } => {
            format!(
                "Gaussian noise of standard deviation {} on a sum over {batch} of {population} \
                 records drawn without replacement, sensitivity {}",
                number(*noise_scale),
                number(*sensitivity)
            )
        }
        Cost::ContinualGaussian { steps, participation, sensitivity, noise_scale, .. } => format!(
            "Gaussian noise of standard deviation {} on each of {steps} steps of a stream, correlated so that \
             sums over steps get little of it; one unit, in at most {} of the steps, moves all of them \
             together by at most {} (ℓ2)",
            number(*noise_scale),
            participation.times,
            number(*sensitivity)
        ),
        Cost::AboveThreshold { law, sensitivity, noise_scale, query_noise_scale } => format!(
            "{} noise of scale {} on a threshold that stays secret, and of scale {} on each number compared with it \
             ({on}), up to the first that is not above; one unit moves a number by at most {}",
            match law {
                ThresholdNoise::Laplace => "discrete Laplace",
                ThresholdNoise::Exponential => "discrete exponential",
            },
            number(*noise_scale),
            number(*query_noise_scale),
            number(*sensitivity)
        ),
        Cost::JointGaussian { sensitivity, noise_scale, distance, .. } => format!(
            "Gaussian noise of standard deviation {} that servers draw together, within {} of its law, on every number of \
             {on}; one unit moves them by at most {} (ℓ2)",
            number(*noise_scale),
            number(*distance),
            number(*sensitivity)
        ),
        Cost::IndividualGaussian { steps, sensitivity, noise_scale, .. } => format!(
            "Gaussian noise of standard deviation {} on each of {steps} answers; one unit, which stays out once \
             its share is spent, moves all of them together by at most {} (ℓ2)",
            number(*noise_scale),
            number(*sensitivity)
        ),
        Cost::Pure { epsilon } => format!("a mechanism that is pure with ε = {}", number(*epsilon)),
        Cost::BoundedRange { range } => {
            format!("an exponential mechanism of range {} makes {on}", number(*range))
        }
        Cost::ZeroConcentrated { rho } => {
            format!("a mechanism that is zero-concentrated with ρ = {}", number(*rho))
        }
        Cost::Approximate { epsilon, delta } => {
            format!("a mechanism with {}", budget(*epsilon, *delta))
        }
        Cost::Objective(objective) => format!(
            "{} inside the objective; its exact minimiser is released",
            linear(&objective.noise)
        ),
        Cost::ApproximateMinima { objective, output_sensitivity, output } => format!(
            "{} inside the objective, then {} on the minimiser found; two minimisers that the \
             solver may stop at differ by at most {} (ℓ2)",
            linear(&objective.noise),
            output_words(output),
            number(*output_sensitivity)
        ),
        #[allow(unreachable_patterns)]
        other => format!("{other:?}"),
    }
}

fn linear(noise: &ObjectiveNoise) -> String {
    match noise {
        ObjectiveNoise::Gaussian { noise_scale, grid } => format!(
            "Gaussian noise of standard deviation {}{}",
            number(*noise_scale),
            on_grid(grid.as_ref())
        ),
        ObjectiveNoise::L2Laplace { noise_scale } => {
            format!(
                "noise of random direction and Gamma length with scale {}",
                number(*noise_scale)
            )
        }
    }
}

fn output_words(output: &OutputNoise) -> String {
    match output {
        OutputNoise::Gaussian { noise_scale, grid } => format!(
            "Gaussian noise of standard deviation {}{}",
            number(*noise_scale),
            on_grid(grid.as_ref())
        ),
        OutputNoise::L2Laplace { noise_scale } => {
            format!(
                "noise of random direction and Gamma length with scale {}",
                number(*noise_scale)
            )
        }
    }
}

fn on_grid(grid: Option<&Grid>) -> String {
    grid.map_or(String::new(), |grid| format!(" (discrete, on a grid of {})", number(grid.step)))
}

/// The text with a capital first letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Long lines broken at blanks, each starting with `indent`.
pub fn wrap_lines(text: &str, indent: &str) -> String {
    const WIDTH: usize = 80;
    let mut lines = String::new();
    let mut line = String::new();
    let text = privet_core::printable(text);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let longer = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && indent.chars().count() + longer > WIDTH {
            lines.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&format!("{indent}{line}\n"));
    lines
}

/// The parts of a report: paragraphs broken into lines that start with `indent`.
pub fn parts(parts: &[Part], indent: &str) -> String {
    let shown = |part: &Part| match part {
        Part::Prose(text) => wrap_lines(text, indent),
        Part::Lines(text) => text.clone(),
        Part::Table(rows) => crate::output::table(rows),
    };
    parts.iter().map(shown).collect()
}

/// All sections of a report, without their titles.
pub fn sections(sections: &[Section]) -> String {
    sections.iter().map(|section| parts(&section.parts, "")).collect()
}

/// Wrapped text after a margin, which later lines leave blank.
pub fn wrap_after_margin(margin: &str, text: &str) -> String {
    let indent = " ".repeat(margin.chars().count());
    format!("{margin}{}", &wrap_lines(text, &indent)[indent.len()..])
}

/// The numbers of a plan: noise scales, and the others.
pub fn settings(settings: &PlanNumbers) -> (String, String) {
    let (noise, other): (Vec<_>, Vec<_>) =
        settings.iter().partition(|(name, _)| name.ends_with("_noise"));
    let joined = |numbers: Vec<(&str, f64)>| {
        let words = numbers.iter().map(|(name, value)| {
            let name = name.strip_suffix("_noise").unwrap_or(name).replace('_', " ");
            format!("{name} {}", number(*value))
        });
        let words = words.collect::<Vec<_>>().join(", ");
        if words.is_empty() { "–".to_string() } else { words }
    };
    (joined(noise), joined(other))
}

/// The definition of a unit, where it does not follow from its kind.
pub fn unit_sentence(unit: Unit, whose: &UnitDefinition) -> Option<String> {
    match (unit, whose) {
        (Unit::Record, _) => None,
        (Unit::User { .. }, UnitDefinition::NotSaid) => {
            Some("whose records are one user's is not said".into())
        }
        (Unit::User { .. }, whose) => Some(format!("a user is {whose}")),
    }
}
