//! A schema made narrower by a description of the table, which was paid for ([`crate::private_estimates`]).

use super::{Describe, Kind, Summary};
use crate::release::private_estimates::price;
use crate::{LearnError, Released};
use privet_data::Schema;
use privet_data::schema::{ColumnDraft, ColumnType, Draft, Origin, UnknownDraft};

/// How far beyond the outer quantiles bounds go, of the distance between those.
const BOUND_MARGIN: f64 = 0.25;

/// A schema whose bounds are those that a description suggests: of a number, the outer quantiles with a
/// quarter of their distance beyond, within the bounds declared; of a category with a place for others,
/// those whose noised count is above what noise alone may be. A function of the release and of public
/// facts.
pub fn narrow_bounds(
    schema: &Schema,
    description: &Released<Describe>,
) -> Result<Schema, LearnError> {
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
            let room = BOUND_MARGIN * (last.high - first.low);
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
