//! Whatever is offered, by its declaration alone, and a family that is not listed: the toy.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims,
//! fewer than a hundred, with probability below 10⁻⁸.

use crate::mean::Mean;
use privet_audit::AuditError;
use privet_audit::attack::AttackOptions;
use privet_audit::declared::{Setting, audit, of_family, offered_families};
use privet_core::{Budget, Neighbours};
use privet_learn::Family;

const OPTIONS: AttackOptions = AttackOptions { runs: 4_000, confidence: 1.0 - 1e-10, seed: 47 };

#[test]
fn what_is_offered_is_as_private_as_it_claims() {
    let mut audited = std::collections::BTreeSet::new();
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        let found = match audit(&setting, &OPTIONS, &()) {
            // The method refuses this combination before any data: nothing to audit.
            Err(AuditError::NoTable { .. }) => continue,
            found => found.unwrap(),
        };
        assert!(!found.refuted, "{setting:?}: {found:?}");
        audited.insert(setting.name());
    }
    let ways = |(_, methods): &(&str, Vec<&str>)| methods.len().max(1);
    // It needs thousands of rows: `selections` has its tables.
    assert!(!audited.contains("select lasso-stability"));
    assert_eq!(
        audited.len() + 1,
        offered_families().iter().map(ways).sum::<usize>(),
        "{audited:?}"
    );
}

/// A family that nothing was written for has a pair that refutes a claim of half of its ε.
#[test]
fn a_declared_family_has_its_audit() {
    let budget = Budget::new(4.0, 0.0).unwrap();
    for neighbours in [Neighbours::ReplaceOne, Neighbours::AddRemove] {
        let setting = Setting { verb: Mean::VERB, method: None, budget, neighbours };
        let against = |stated| of_family::<Mean>(&setting, stated, &OPTIONS, &()).unwrap();
        let sound = against(budget);
        assert!(!sound.refuted, "{sound:?}");
        let bold = against(Budget::new(2.0, 0.0).unwrap());
        // Of an exchange it charges an addition and a removal, twice of what a sum moves.
        let sharp = neighbours == Neighbours::AddRemove;
        assert!(bold.refuted || !sharp, "{neighbours} {bold:?}");
    }
}
