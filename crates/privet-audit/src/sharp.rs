//! Settings for which a theorem's charge is nearly attained.
//!
//! A sensitivity is a worst case. Ordinary settings keep tables away from it, and an attack there has
//! little to show even if the theorem is exact. Any user could choose the settings below; if the caller
//! gave none, they are tried beside the learner's own rules, with the pairs that go with them. One
//! column is enough: the theorems lose when a movement must be spread over several.
//!
//! - **linear**, **linear-rotated**: the charged derivative is 1 + RB, attained with θ at the edge of
//!   the ball. With B = 0.01 it is 1.01, while a lone row has 1 at θ = 0; a large ridge keeps θ inside
//!   the ball and the determinants out of the account.
//! - **sample-aggregate**: a block's model must go from one end of the clipping ball to the other.
//!   Clipped at 0.5 with little ridge, a vote of weak rows decides the end, and one row at the bound
//!   outvotes them. Four blocks: none is empty.
//! - **frank-wolfe**, **simplex**: one choice. A bounded range is used up if the row raises the vertex
//!   that is otherwise unlikely, so another row counts against it. For the simplex, a small radius keeps
//!   the minimiser's own movement, which is charged by smoothness, small.
//! - **chosen-amp**: there is only one column, so that almost no budget is spent on choosing it; then as
//!   `amp`, whose minimiser a large ridge keeps on the linear part of the loss.
//! - **two-stage**: as `chosen-amp`, rows of the maximum norm.
//! - **dp-ight**: one step in each stage with half of the budget, so small that no row leaves the linear
//!   part: their sum is released.
//! - **psgd**, **psgd-strong**, **averaged**: one pass, with steps so small that no row leaves the
//!   hinge's linear part. For `averaged`, which takes rows in their order, the row comes first, so that
//!   every point has moved.

use crate::pairs::Pair;
use privet_learn::Method;

/// Settings, and the pairs to try with them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sharp {
    pub columns: usize,
    pub settings: Vec<(&'static str, String)>,
    pub pairs: &'static [Pair],
}

/// Sharp settings for a method on tables of this many rows.
pub(crate) fn sharp(method: &str, rows: u64) -> Option<Sharp> {
    let n = rows as f64;
    let one = |pairs, settings: &[(&'static str, f64)]| {
        let settings = settings.iter().map(|(name, value)| (*name, value.to_string())).collect();
        Some(Sharp { columns: 1, settings, pairs })
    };
    match method {
        "linear" | "linear-rotated" => one(&[Pair::AllEqual], &[("norm", 0.01), ("ridge", 1e5)]),
        "sample-aggregate" => {
            one(&[Pair::Outvoted], &[("blocks", 4.0), ("bound", 0.5), ("ridge", 0.25 / n)])
        }
        "frank-wolfe" => one(&[Pair::Tipped, Pair::AllEqual], &[("steps", 1.0)]),
        "simplex" => one(&[Pair::Tipped, Pair::AllEqual], &[("draws", 1.0), ("radius", 1e-3 / n)]),
        "chosen-amp" => one(&[Pair::AllEqual], &[("share", 0.001), ("ridge", 65_536.0)]),
        "two-stage" => {
            one(&[Pair::AllEqual], &[("share", 0.001), ("ridge", 65_536.0), ("fit_radius", 1.0)])
        }
        "dp-ight" => one(
            &[Pair::AllEqual],
            &[
                ("share", 0.5),
                ("steps", 1.0),
                ("fit_steps", 1.0),
                ("fit_radius", 1.0),
                ("pace", 1e-6),
            ],
        ),
        "psgd" => one(&[Pair::Opposed], &[("passes", 1.0), ("batch", 1.0), ("rate", 0.5 / n)]),
        "averaged" => one(&[Pair::First], &[("passes", 1.0), ("ridge", 2.0 * n)]),
        "psgd-strong" => {
            one(&[Pair::Opposed], &[("passes", 1.0), ("batch", 1.0), ("ridge", 2.0 * n)])
        }
        _ => None,
    }
}

/// Sets each of these settings that the method has and that was not given; `None` if there is none.
pub(crate) fn with_unless_given(
    method: &Method,
    settings: &[(&'static str, String)],
) -> Option<Method> {
    let written = serde_json::to_value(method).ok()?;
    let free = |name: &str| written.get(name).is_none_or(serde_json::Value::is_null);
    let mut changed = None;
    for (name, value) in settings.iter().filter(|(name, _)| free(name)) {
        changed = Some(changed.as_ref().unwrap_or(method).with(name, value).ok()?);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{ROWS, Setting, first_plan};
    use privet_core::{Budget, Neighbours};
    use privet_learn::METHODS;

    /// A list with a misspelt setting would silently never be tried.
    #[test]
    fn every_list_is_accepted_and_never_overrides_the_caller() {
        let mut lists = 0;
        for info in METHODS {
            let Some(sharp) = sharp(info.name, ROWS) else { continue };
            lists += 1;
            let method: Method = info.name.parse().unwrap();
            let method = with_unless_given(&method, &sharp.settings).unwrap();
            assert_eq!(with_unless_given(&method, &sharp.settings), None, "nothing is free now");
            let budget = Budget::new(4.0, 1e-5).unwrap();
            let setting = Setting::new(method, budget, Neighbours::ReplaceOne);
            first_plan(&setting, sharp.columns).unwrap();
        }
        assert_eq!(lists, 11, "a method was renamed");
    }
}
