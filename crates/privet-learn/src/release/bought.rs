//! Bounds that were bought: a schema made narrower by a private description, and what that adds up to.
//!
//! People write bounds that are wide, since they may not look; the noise is in proportion to them. `privet describe`
//! releases quantiles and counts within the wide bounds under (ε₁, δ₁), and `privet schema new --epsilon` what stands in
//! columns of which nothing is declared ([`crate::statistics::outline`]). What is computed from that release alone,
//! [`narrowed`], is post-processing: the narrower schema may be known to everybody at no further price. What is learnt
//! under it at (ε₂, δ₂) takes that public schema as given, whatever it is, so that both together are (ε₁ + ε₂, δ₁ + δ₂)
//! differentially private: basic composition, which lets the second depend on the first (Dwork & Roth 2014, Theorem 3.16
//! and Appendix B), if both are about the same neighbours and unit. A plan is refused where they are not, or where the
//! events that the schema carries do not prove what it says they cost; its notes state schema, release and total apart.
//!
//! The total is about the same records. Nothing here knows whether both releases were made from them. A file made under
//! such a schema holds its bounds, so whoever sees the file sees the description's outcome too: what is stated of the
//! file together with others counts its [`Bought`] schema once.

use crate::error::LearnError;
use crate::release::released::Released;
use crate::release::request::Request;
use crate::release::task::Task;
use crate::release::verify::verify;
use crate::statistics::describe::{Describe, Kind, Summary};
use privet_core::{Spelling, Whose};
use privet_data::Schema;
use privet_data::schema::{ColumnDraft, ColumnType, Draft, Origin, Paid, UnknownDraft};
use privet_dp::account::{self, Cost, Event, Guarantee};

/// How far beyond the outer quantiles bounds go, of the distance between those.
const ROOM: f64 = 0.25;

/// What the bounds of a schema cost, with the events that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bought {
    /// The digest of the certificate of what they were read off: two schemas with the same one were paid for once.
    pub certificate: String,
    /// What was paid.
    pub guarantee: Guarantee,
    /// Who a unit was.
    pub whose: Whose,
    /// What was done for it.
    pub events: Event,
}

impl Bought {
    /// Of a schema whose bounds were bought. The events are those that its file states: whoever relies on them has
    /// verified a release under it, which holds them against the price.
    pub fn of(schema: &Schema) -> Option<Self> {
        let paid = schema.origin()?.paid.as_ref()?;
        let guarantee = Guarantee::new(paid.neighbours, paid.unit, paid.epsilon, paid.delta);
        let claimed = || Event::Use {
            neighbours: paid.neighbours,
            unit: paid.unit,
            cost: Cost::Approximate { epsilon: paid.epsilon, delta: paid.delta },
        };
        let events = plain(&paid.events).unwrap_or_else(claimed);
        let column = |column: &String| Whose::Column {
            column: column.clone(),
            trim: paid.trim,
            spelling: paid.spelling,
        };
        let whose = paid.whose.as_ref().map_or(Whose::NotSaid, column).of(paid.unit);
        Some(Self { certificate: paid.certificate.clone(), guarantee, whose, events })
    }
}

/// Events as a description or an outline states them: a few uses of noise with a closed form, so that accounting for
/// them takes no time, whatever stands in a made-up file.
fn plain(text: &str) -> Option<Event> {
    const MOST: usize = 4;
    let known = |event: &Event| {
        let cost = match event {
            Event::Use { cost, .. } => cost,
            _ => return false,
        };
        matches!(cost, Cost::Gaussian { .. } | Cost::Laplace { .. } | Cost::Approximate { .. })
    };
    let events: Event = serde_json::from_str(text).ok()?;
    let accepted = match &events {
        Event::All(parts) => (1..=MOST).contains(&parts.len()) && parts.iter().all(known),
        one => known(one),
    };
    accepted.then_some(events)
}

/// Refuses a schema whose bounds were bought at a price that is not proved, or for other neighbours.
pub(crate) fn check<T: Task>(request: &Request<T>) -> Result<(), LearnError> {
    let Some(paid) = request.schema.origin().and_then(|origin| origin.paid.as_ref()) else {
        return Ok(());
    };
    let unit = paid.unit;
    let relation = request.relation();
    let people = people(&request.schema);
    let of_paid = (paid.whose.clone(), paid.trim, paid.spelling);
    let same_people = people == of_paid || (people.0.is_none() && paid.whose.is_none());
    if (relation.neighbours, relation.unit) != (paid.neighbours, unit) || !same_people {
        return Err(LearnError::NotCovered {
            what: "the schema's bounds were bought under other neighbours or for another unit, and no total \
                   can be stated"
                .into(),
            instead: "describe the table under the neighbours and unit of this release, and narrow the schema by that",
        });
    }
    let proved = || -> Option<bool> {
        let events = plain(&paid.events)?;
        // Another platform's arithmetic may differ in the last digits.
        let epsilon = paid.epsilon * (1.0 + 1e-9);
        let met = match paid.delta == 0.0 {
            true => account::epsilon(&events, 0.0).ok()? <= epsilon,
            false => account::delta(&events, epsilon).ok()? <= paid.delta,
        };
        Some(met && account::relation(&events).ok()? == (paid.neighbours, unit))
    };
    match proved() {
        Some(true) => Ok(()),
        _ => Err(LearnError::NotCovered {
            what: "the schema's bounds were bought, and the events that it carries do not prove their price".into(),
            instead: "give the schema as `privet schema narrow` wrote it",
        }),
    }
}

/// Which column says whose a record is, whether blanks around names are left out, and how names are spelt: who is one
/// person.
fn people(schema: &Schema) -> (Option<String>, bool, Spelling) {
    let unit = schema.unit_column();
    let spelling = unit.map(|unit| unit.spelling).unwrap_or_default();
    (unit.map(|unit| unit.column.clone()), schema.file().trim, spelling)
}

/// What the schema cost, what this release costs, and both together.
pub(crate) fn total(schema: &Schema, guarantee: &Guarantee) -> Option<String> {
    let paid = schema.origin()?.paid.as_ref()?;
    let epsilon = written(paid.epsilon, guarantee.epsilon);
    let delta = written(paid.delta, guarantee.delta).min(1.0);
    Some(format!(
        "the schema's bounds were bought from the records by a private release: schema ε = {}, δ = {:e}; this \
         release ε = {}, δ = {:e}; together, of the same records, ε = {epsilon}, δ = {delta:e}",
        paid.epsilon, paid.delta, guarantee.epsilon, guarantee.delta
    ))
}

/// A sum as it is written: the nearest number of twelve digits, or the next one where that would be less than the sum by more
/// than rounding in `f64` does.
fn written(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let digits = |x: f64| format!("{x:.11e}").parse().unwrap_or(x);
    let near = digits(sum);
    let rounding = 4.0 * f64::EPSILON;
    if near >= sum * (1.0 - rounding) { near } else { digits(sum * (1.0 + 1e-11)) }
}

/// What a release cost, as a schema that is made of it states it; refused where its claim does not hold.
pub fn price<T: Task>(released: &Released<T>) -> Result<Paid, LearnError> {
    let refused =
        |what: &str| LearnError::Schema(format!("no schema can be made of this release: {what}"));
    let verdict = verify(released);
    let Some(guarantee) = verdict.guarantee.filter(|_| verdict.valid) else {
        return Err(refused("its certificate does not hold"));
    };
    let certificate = released.certificate();
    let (Some(events), Some(digest)) = (&certificate.events, &certificate.digest) else {
        return Err(refused("its certificate has no events or no digest"));
    };
    let (whose, trim, spelling) = people(&released.request().schema);
    Ok(Paid {
        epsilon: guarantee.epsilon,
        delta: guarantee.delta,
        neighbours: guarantee.neighbours,
        unit: guarantee.unit,
        whose,
        trim,
        spelling,
        certificate: digest.clone(),
        events: serde_json::to_string(events).map_err(|error| refused(&error.to_string()))?,
    })
}

/// A schema whose bounds are those that a description suggests: of a number, the outer quantiles with a quarter of their
/// distance beyond, within the bounds declared; of a category with a place for others, those whose noised count is
/// above what noise alone may be. A function of the release and of public facts.
pub fn narrowed(schema: &Schema, description: &Released<Describe>) -> Result<Schema, LearnError> {
    let refused = |what: &str| {
        LearnError::Schema(format!("the description cannot narrow this schema: {what}"))
    };
    let paid = price(description)?;
    if schema.origin().is_some_and(|origin| origin.paid.is_some()) {
        return Err(refused(
            "its bounds were bought already; give the one before, and one description",
        ));
    }
    let summary = Summary::of(description.request(), description.artefact())
        .ok_or_else(|| refused("its sums are not those of its request"))?;
    let mut draft = Draft::from(schema.clone());
    let mut changed = false;
    for column in &summary.columns {
        let Some(own) = draft.columns.iter_mut().find(|own| own.name == column.name) else {
            continue;
        };
        changed |= narrow(own, &column.kind, summary.margin);
    }
    if !changed {
        return Err(refused("no column of it has bounds or categories that it suggests to narrow"));
    }
    draft.origin = Some(Origin { paid: Some(paid), ..draft.origin.unwrap_or_default() });
    draft.check().map_err(|error| LearnError::Schema(error.to_string()))
}

/// Whether something became narrower.
fn narrow(column: &mut ColumnDraft, kind: &Kind, margin: f64) -> bool {
    match (kind, column.kind) {
        (Kind::Number { bounds, quantiles, .. }, ColumnType::Number)
            if column.bounds == Some(*bounds) && column.date.is_none() =>
        {
            let (Some(first), Some(last)) = (quantiles.first(), quantiles.last()) else {
                return false;
            };
            let room = ROOM * (last.high - first.low);
            let (low, high) =
                ((first.low - room).max(bounds[0]), (last.high + room).min(bounds[1]));
            let stands_in = match &column.missing {
                Some(privet_data::schema::MissingDraft::Number(value)) => {
                    (low..=high).contains(value)
                }
                _ => true,
            };
            // Knots that were listed keep their bounds.
            let free = !matches!(&column.basis, Some(privet_data::schema::BasisDraft::Hats(hats)) if hats.knots.is_some());
            let narrower = low < high && (low, high) != (bounds[0], bounds[1]);
            if narrower && stands_in && free && column.invalid.is_none() {
                column.bounds = Some([low, high]);
                return true;
            }
            false
        }
        (Kind::Category { cells }, ColumnType::Category) => {
            let others =
                matches!(&column.unknown, Some(UnknownDraft::Word(word)) if word == "other");
            let Some(listed) = column.categories.as_mut().filter(|_| others) else { return false };
            let plain = column.missing.is_none()
                || matches!(&column.missing, Some(privet_data::schema::MissingDraft::Word(_)));
            let counted = |text: &String| {
                cells
                    .iter()
                    .find(|cell| cell.category == *text)
                    .is_none_or(|cell| cell.count > margin)
            };
            let kept: Vec<String> = listed.iter().filter(|text| counted(text)).cloned().collect();
            if plain && column.invalid.is_none() && !kept.is_empty() && kept.len() < listed.len() {
                *listed = kept;
                return true;
            }
            false
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_written_in_few_digits_and_never_too_small() {
        assert_eq!((written(60.0, 5.0), written(6.25e-6, 6.25e-6)), (65.0, 1.25e-5));
        assert_eq!(written(0.1, 0.2), 0.3);
        for (a, b) in [(1.0, 1e-13), (0.7, 0.1), (1.0 / 3.0, 2.0 / 7.0), (1e-9, 1e-17), (0.0, 5.0)]
        {
            let sum = written(a, b);
            let rounded = a + b;
            assert!(
                sum >= rounded * (1.0 - 4.0 * f64::EPSILON) && sum <= rounded * (1.0 + 2e-11),
                "{a} {b}"
            );
        }
        assert!(written(1.0, 1e-13) > 1.0 + 1e-13);
    }
}
