//! Bounds that were estimated privately: a schema narrowed by a private release, and the total cost.
//!
//! Declared bounds are wide, since their author may not look at the records; the noise is proportional
//! to them. `privet describe` releases quantiles and counts within the wide bounds under (ε₁, δ₁), and
//! `privet schema new --epsilon` the contents of undeclared columns. Bounds computed from that release
//! alone are post-processing: the narrower schema may be public at no further cost. A learner under it
//! at (ε₂, δ₂) takes that public schema as given, whatever it is, so that both together are (ε₁ + ε₂,
//! δ₁ + δ₂) differentially private: basic composition, which lets the second depend on the first (Dwork
//! & Roth 2014, Theorem 3.16 and Appendix B), if both have the same neighbours and unit. A plan is
//! refused where they have not, or where the events that the schema carries do not prove its stated
//! cost; its notes state schema, release and total apart.
//!
//! The total is about the same records. Nothing here checks that both releases were made from them. A
//! file made under such a schema contains its bounds, so whoever sees the file sees the description's
//! outcome too: an account of the file together with others counts its [`BoundsCost`] schema once.

use crate::error::LearnError;
use crate::release::note::{Condition, Note};
use crate::release::released::Released;
use crate::release::request::Request;
use crate::release::task::Task;
use crate::release::verify::verify;
use privet_core::{Spelling, UnitDefinition};
use privet_data::Schema;
use privet_data::schema::Paid;
use privet_dp::account::{self, Cost, Event, Guarantee};

/// The cost of the bounds of a schema, with the events that prove it.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundsCost {
    /// The digest of the certificate of the release they come from: two schemas with the same digest
    /// were paid for once.
    pub certificate: String,
    /// The guarantee of that release.
    pub guarantee: Guarantee,
    /// Its definition of a unit.
    pub whose: UnitDefinition,
    /// Its events.
    pub events: Event,
}

impl BoundsCost {
    /// The cost of a schema whose bounds were estimated privately; `None` for any other. The events are
    /// those that its file states: a caller who relies on them has verified a release under it, which
    /// checks them against the cost.
    pub fn of(schema: &Schema) -> Option<Self> {
        let paid = schema.origin()?.paid.as_ref()?;
        let guarantee = Guarantee::new(paid.neighbours, paid.unit, paid.epsilon, paid.delta);
        let claimed = || Event::Use {
            neighbours: paid.neighbours,
            unit: paid.unit,
            cost: Cost::Approximate { epsilon: paid.epsilon, delta: paid.delta },
        };
        let events = read_events(&paid.events).unwrap_or_else(claimed);
        let column = |column: &String| UnitDefinition::Column {
            column: column.clone(),
            trim: paid.trim,
            spelling: paid.spelling,
        };
        let whose = paid.whose.as_ref().map_or(UnitDefinition::NotSaid, column).of(paid.unit);
        Some(Self { certificate: paid.certificate.clone(), guarantee, whose, events })
    }
}

/// Reads events as a description or an outline states them: a few uses of noise with a closed form, so
/// that accounting for them takes no time, whatever a forged file states.
fn read_events(text: &str) -> Option<Event> {
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

/// Refuses a schema whose bounds were estimated at a cost that is not proved, or for other neighbours.
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
        let events = read_events(&paid.events)?;
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

/// The definition of one person: the column of identifiers, whether blanks around them are removed, and
/// their spelling.
fn people(schema: &Schema) -> (Option<String>, bool, Spelling) {
    let unit = schema.unit_column();
    let spelling = unit.map(|unit| unit.spelling).unwrap_or_default();
    (unit.map(|unit| unit.column.clone()), schema.file().trim, spelling)
}

/// States the cost of the schema, of this release, and the total.
pub(crate) fn total(schema: &Schema, guarantee: &Guarantee) -> Option<Note> {
    let paid = schema.origin()?.paid.as_ref()?;
    let epsilon = written_sum(paid.epsilon, guarantee.epsilon);
    let delta = written_sum(paid.delta, guarantee.delta).min(1.0);
    let [schema_delta, own_delta, delta] =
        [paid.delta, guarantee.delta, delta].map(|delta| format!("{delta:e}"));
    Some(ESTIMATED_BOUNDS_NOTE.with(&[
        ("schema_epsilon", &paid.epsilon),
        ("schema_delta", &schema_delta),
        ("own_epsilon", &guarantee.epsilon),
        ("own_delta", &own_delta),
        ("epsilon", &epsilon),
        ("delta", &delta),
    ]))
}

/// True for the note of [`total`].
pub(crate) fn is_total(note: &Note) -> bool {
    note.condition().is_some_and(|condition| condition.code == ESTIMATED_BOUNDS_NOTE.code)
}

const ESTIMATED_BOUNDS_NOTE: Condition = Condition::new(
    "schema-estimated-privately",
    "the schema's bounds were bought from the records by a private release: schema ε = {schema_epsilon}, δ = \
     {schema_delta}; this release ε = {own_epsilon}, δ = {own_delta}; together, of the same records, ε = {epsilon}, δ = \
     {delta}",
);

/// A sum as it is written: the nearest number of twelve digits, or the next one where that would be less
/// than the sum by more than rounding in `f64`.
fn written_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let digits = |x: f64| format!("{x:.11e}").parse().unwrap_or(x);
    let near = digits(sum);
    let rounding = 4.0 * f64::EPSILON;
    if near >= sum * (1.0 - rounding) { near } else { digits(sum * (1.0 + 1e-11)) }
}

/// The cost of a release, as a schema made from it states it; refused where its claim does not hold.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_written_in_few_digits_and_never_too_small() {
        assert_eq!((written_sum(60.0, 5.0), written_sum(6.25e-6, 6.25e-6)), (65.0, 1.25e-5));
        assert_eq!(written_sum(0.1, 0.2), 0.3);
        for (a, b) in [(1.0, 1e-13), (0.7, 0.1), (1.0 / 3.0, 2.0 / 7.0), (1e-9, 1e-17), (0.0, 5.0)]
        {
            let sum = written_sum(a, b);
            let rounded = a + b;
            assert!(
                sum >= rounded * (1.0 - 4.0 * f64::EPSILON) && sum <= rounded * (1.0 + 2e-11),
                "{a} {b}"
            );
        }
        assert!(written_sum(1.0, 1e-13) > 1.0 + 1e-13);
    }
}
