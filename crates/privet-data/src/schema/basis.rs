//! Expansion of a number in a piecewise-linear basis, before any private step.
//!
//! A number with declared bounds can enter a row as itself (`linear`) or with fixed functions of itself
//! beside it: *hats*, piecewise-linear functions that are 1 at their own knot and 0 at all others, so
//! that a linear model of them bends at the knots. Nothing is fitted and no ε is spent: knots come from
//! the bounds or from a declared list. `auto` leaves the choice to the planner, which decides from
//! public facts.
//!
//! ```toml
//! basis = "linear"                                 # the number alone
//! basis = { hats = 8 }                             # eight knots, evenly over the bounds
//! basis = { hats = 8, knots = "log" }              # evenly in ln(1 + value); bounds from 0
//! basis = { knots = [0, 18, 30, 65, 120] }         # where the law or the clinic puts them
//! basis = { hats = 12, cyclic = true }             # hours, months: the last knot meets the first
//! basis = "auto"                                   # chosen by `--method auto`
//! ```
//!
//! A schema *file* leaves open what it does not specify ([`Draft::of_file`]): a number with neither
//! `basis` nor `scale` is `auto`, and so is the constant column, if `bias` is absent. A request in JSON
//! leaves nothing open: without a basis a number is linear, as in every file before there were bases.

use super::check::{Checked, in_range, refuse};
use super::*;
use crate::encode::Encoding;
use privet_core::Range;

/// Limits on the number of knots.
pub const HATS: Range = Range::from("hats", 2.0, 1025.0);
/// Limits on the factor that multiplies the entries of hats and pairs.
pub(super) const WEIGHT: Range = Range::open("weight", 0.0, 1e6);

/// The basis in which a number is expanded.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    /// The number alone.
    Linear,
    /// Piecewise-linear functions of it, beside it.
    Hats(HatsFacts),
    /// Left to the planner; until then as [`Basis::Linear`].
    Auto,
}

/// Piecewise-linear functions of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct HatsFacts {
    /// The number of knots.
    pub count: u32,
    /// Their positions.
    pub knots: Knots,
    /// True if the upper bound is identified with the lower one: the number itself then has no column.
    pub cyclic: bool,
    /// The factor that multiplies their entries.
    pub weight: f64,
}

/// Positions of knots.
#[derive(Debug, Clone, PartialEq)]
pub enum Knots {
    /// Evenly over the bounds (after the column's transform).
    Even,
    /// Evenly in ln(1 + value).
    Log,
    /// At these values, rising.
    At(Vec<f64>),
}

impl HatsFacts {
    /// `count` knots, evenly spaced, with weight 1.
    pub fn even(count: u32) -> Self {
        Self { count, knots: Knots::Even, cyclic: false, weight: 1.0 }
    }

    /// The number of encoded columns of the hats and the number itself.
    pub(super) fn width(&self) -> u64 {
        u64::from(self.count) + u64::from(!self.cyclic)
    }
}

/// The key `basis`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`basis` must be \"linear\", \"auto\" or { hats = K } with, if need be, `knots` (\"even\", \
                 \"log\" or a list), `cyclic` and `weight`"
)]
pub enum BasisDraft {
    /// `"linear"` or `"auto"`.
    Word(String),
    /// Piecewise-linear functions.
    Hats(HatsDraft),
}

/// The table `{ hats = K, … }`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HatsDraft {
    /// The number of knots; may be left out where they are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hats: Option<u32>,
    /// Their positions; evenly spaced unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knots: Option<KnotsDraft>,
    /// True if the upper bound is identified with the lower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cyclic: Option<bool>,
    /// The factor that multiplies their entries; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// The key `knots`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "`knots` must be \"even\", \"log\" or a list of numbers")]
pub enum KnotsDraft {
    /// `"even"` or `"log"`.
    Word(String),
    /// A list.
    At(Vec<f64>),
}

impl From<Basis> for Option<BasisDraft> {
    /// A linear basis is the default, so it is not written.
    fn from(basis: Basis) -> Self {
        match basis {
            Basis::Linear => None,
            Basis::Auto => Some(BasisDraft::Word("auto".into())),
            Basis::Hats(HatsFacts { count, knots, cyclic, weight }) => {
                Some(BasisDraft::Hats(HatsDraft {
                    hats: Some(count),
                    knots: match knots {
                        Knots::Even => None,
                        Knots::Log => Some(KnotsDraft::Word("log".into())),
                        Knots::At(values) => Some(KnotsDraft::At(values)),
                    },
                    cyclic: cyclic.then_some(true),
                    weight: (weight != 1.0).then_some(weight),
                }))
            }
        }
    }
}

/// Checks a column's basis against its bounds.
pub(super) fn check_basis(
    key: &str,
    draft: Option<&BasisDraft>,
    (low, high): (f64, f64),
) -> Checked<Basis> {
    let key = format!("{key}.basis");
    let draft = match draft {
        None => return Ok(Basis::Linear),
        Some(BasisDraft::Word(word)) if word == "linear" => return Ok(Basis::Linear),
        Some(BasisDraft::Word(word)) if word == "auto" => return Ok(Basis::Auto),
        Some(BasisDraft::Word(word)) => {
            let accepted = "\"linear\", \"auto\" or { hats = K }";
            return refuse(key, format!("{word:?}"), accepted);
        }
        Some(BasisDraft::Hats(draft)) => draft,
    };
    let knots = match &draft.knots {
        None => Knots::Even,
        Some(KnotsDraft::Word(word)) if word == "even" => Knots::Even,
        Some(KnotsDraft::Word(word)) if word == "log" && low >= 0.0 => Knots::Log,
        Some(KnotsDraft::Word(word)) if word == "log" => {
            let accepted = "bounds from 0 on, or knots = \"even\" or a list";
            return refuse(key, "knots = \"log\" with a bound below 0", accepted);
        }
        Some(KnotsDraft::Word(word)) => {
            return refuse(key, format!("knots = {word:?}"), "\"even\", \"log\" or a list");
        }
        Some(KnotsDraft::At(values)) => {
            let rising = values.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = values.iter().all(|value| (low..=high).contains(value));
            if !rising || !inside {
                let accepted = format!("rising numbers from {low} to {high}, the column's bounds");
                return refuse(key, "knots that do not rise within the bounds", accepted);
            }
            Knots::At(values.clone())
        }
    };
    let listed = match &knots {
        Knots::At(values) => Some(values.len() as u32),
        _ => None,
    };
    let count = match (draft.hats, listed) {
        (Some(hats), Some(listed)) if hats != listed => {
            let accepted = format!("hats = {listed}, or no hats at all");
            return refuse(key, format!("hats = {hats}, but {listed} knots are listed"), accepted);
        }
        (Some(count), _) | (None, Some(count)) => count,
        (None, None) => return refuse(key, "neither hats nor knots", "{ hats = 8 }, say"),
    };
    in_range(format!("{key}.hats"), HATS, f64::from(count))?;
    let cyclic = draft.cyclic.unwrap_or(false);
    if cyclic && count < 3 {
        return refuse(key, "a circle of fewer than 3 knots", "hats from 3 on");
    }
    if !knots_distinct(count, (low, high)) {
        let accepted = "fewer hats, or wider bounds";
        return refuse(key, format!("{count} knots are more than the bounds allow"), accepted);
    }
    let weight = draft.weight.unwrap_or(1.0);
    in_range(format!("{key}.weight"), WEIGHT, weight)?;
    Ok(Basis::Hats(HatsFacts { count, knots, cyclic, weight }))
}

/// True if the spacing of so many knots is far above the f64 resolution at either bound, so that no two
/// coincide.
fn knots_distinct(count: u32, (low, high): (f64, f64)) -> bool {
    (high - low) / f64::from(count) > 1e-9 * low.abs().max(high.abs())
}

/// Makes every open number linear, so that nothing is left to a planner.
pub(super) fn close(columns: &mut [Column]) {
    for column in columns {
        if let ColumnKind::Number { basis, .. } = &mut column.kind
            && *basis == Basis::Auto
        {
            *basis = Basis::Linear;
        }
    }
}

/// A radius beyond the norm of any usual row.
const UNCLIPPED_RADIUS: f64 = 1e5;

/// A planner's choices where a schema leaves its encoding open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BasisChoice {
    /// Knots of each open number; 0 for none.
    pub hats: u32,
    /// Knots of each number in a pair of open numbers; 0 for no pairs.
    pub pair_hats: u32,
    /// The constant column's value, where it is open.
    pub bias: f64,
    /// Treatment of rows by their norm.
    pub rows: Rows,
    /// True if the radius is raised to a bound that no row can exceed, so that none is clipped: for
    /// learners that scale rows themselves.
    pub whole: bool,
}

impl Draft {
    /// Marks what a schema *file* does not specify as left to the planner. Applies only where rows are
    /// clipped in the Euclidean norm and columns are declared; otherwise nothing is open.
    pub fn of_file(mut self) -> Self {
        if self.clip.norm != Norm::L2 || self.libsvm.is_some() || self.image.is_some() {
            return self;
        }
        for column in self.columns.iter_mut().filter(|column| column.kind == ColumnType::Number) {
            if column.scale.is_none() {
                column.scale = Some(Scale::Symmetric);
                column.basis.get_or_insert_with(|| BasisDraft::Word("auto".into()));
            }
        }
        if self.bias.is_none() && self.columns.iter().any(ColumnDraft::is_open) {
            self.bias = Some(BiasDraft::Word("auto".into()));
        }
        self
    }
}

impl ColumnDraft {
    fn is_open(&self) -> bool {
        matches!(&self.basis, Some(BasisDraft::Word(word)) if word == "auto")
    }
}

impl Schema {
    /// True if part of its encoding is left to a planner.
    pub fn is_open(&self) -> bool {
        self.open_bias || self.open_numbers().next().is_some()
    }

    /// The number of numeric columns left to a planner.
    pub fn open_count(&self) -> usize {
        self.open_numbers().count()
    }

    fn open_numbers(&self) -> impl Iterator<Item = &Column> {
        let open = |column: &&Column| {
            matches!(&column.kind, ColumnKind::Number { basis: Basis::Auto, .. })
        };
        self.columns.iter().filter(open)
    }

    /// The schema with nothing left open: numbers alone, under their scale, and no constant column
    /// unless declared.
    pub fn linear(&self) -> Self {
        let mut schema = self.clone();
        schema.open_bias = false;
        close(&mut schema.columns);
        schema
    }

    /// True if a planner may have derived `closed` from this schema: the same except for what this one
    /// leaves open.
    pub fn may_become(&self, closed: &Self) -> bool {
        if !self.is_open() {
            return self == closed;
        }
        let mut own = self.linear();
        if self.open_bias {
            own.bias = closed.bias;
        }
        if own.clip.norm == closed.clip.norm {
            own.clip = closed.clip;
        }
        if own.pairs.is_empty() {
            own.pairs = closed.pairs.clone();
        }
        for ((own, open), closed) in own.columns.iter_mut().zip(&self.columns).zip(&closed.columns)
        {
            if let (
                ColumnKind::Number { basis, scale, .. },
                ColumnKind::Number { basis: Basis::Auto, .. },
                ColumnKind::Number { basis: decided, scale: scaled, .. },
            ) = (&mut own.kind, &open.kind, &closed.kind)
            {
                (*basis, *scale) = (decided.clone(), *scaled);
            }
        }
        own == *closed
    }

    /// The schema with its open parts decided by `choice`. Declared parts stay, except that a radius is
    /// raised where rows are not to be clipped, and rows that would be clipped may be filled.
    pub fn with_bases(&self, choice: &BasisChoice) -> Self {
        if !self.is_open() {
            return self.clone();
        }
        let mut schema = self.linear();
        if self.open_bias {
            schema.bias = Some(choice.bias);
        }
        // Rows declared as `fill` stay so.
        let declared = schema.clip.rows == Rows::Fill;
        if !declared {
            schema.clip.rows = choice.rows;
        }
        let mut names = Vec::new();
        for (column, open) in schema.columns.iter_mut().zip(&self.columns) {
            let (
                ColumnKind::Number { basis, scale, low, high, .. },
                ColumnKind::Number { basis: was, .. },
            ) = (&mut column.kind, &open.kind)
            else {
                continue;
            };
            if *was == Basis::Auto {
                *scale = Scale::Symmetric;
                names.push(column.name.clone());
                // Bounds too close for knots leave a number linear: the schema must pass its own check.
                if choice.hats > 0 && knots_distinct(choice.hats, (*low, *high)) {
                    *basis = Basis::Hats(HatsFacts::even(choice.hats));
                }
            }
        }
        if choice.pair_hats > 0 && schema.pairs.is_empty() {
            for (place, first) in names.iter().enumerate() {
                for second in &names[place + 1..] {
                    let columns = [first.clone(), second.clone()];
                    schema.pairs.push(Pair { columns, hats: choice.pair_hats, weight: 1.0 });
                }
            }
        }
        if choice.whole && !declared {
            schema.clip.rows = Rows::Clip;
            schema.clip.radius = UNCLIPPED_RADIUS;
            // Rounded up to thousandths, so that the written value is short and reads back exactly.
            let longest = (Encoding::new(&schema).l2_radius() * 1000.0).ceil() / 1000.0;
            schema.clip.radius = longest.clamp(1e-3, UNCLIPPED_RADIUS);
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A planner's choice is written to a file, and must read back unchanged.
    #[test]
    fn bounds_too_near_for_knots_leave_a_number_alone() {
        let number = |name: &str, bounds: &str| {
            format!("[[columns]]\nname = \"{name}\"\ntype = \"number\"\nbounds = {bounds}\n")
        };
        let text = format!(
            "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n{}{}",
            number("wide", "[0, 1]"),
            number("near", "[1.0, 1.000000001]")
        );
        let choice =
            BasisChoice { hats: 8, pair_hats: 3, bias: 1.0, rows: Rows::Fill, whole: false };
        let settled = Schema::from_toml(&text).unwrap().with_bases(&choice);
        let hats = |column: &Column| {
            matches!(&column.kind, ColumnKind::Number { basis: Basis::Hats(_), .. })
        };
        assert_eq!(settled.columns().iter().map(hats).collect::<Vec<_>>(), [true, false]);
        let written = serde_json::to_string(&settled).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&written).unwrap(), settled);
    }
}
