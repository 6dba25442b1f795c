//! The accountant against itself and against simulation.

/// Fixed seed; another would fail with probability below 1e-8 (some hundred error bars at 1e-11).
#[test]
fn bounds_are_ordered_and_hold_the_simulated_truth() {
    let all = privet_audit::accounting::audit(12, 20_000, 1).unwrap();
    assert_eq!(all.len(), 48);
    for comparison in &all {
        assert!(comparison.faults().is_empty(), "{:?}: {comparison:?}", comparison.faults());
    }
    // The comparison can fail: an accountant that states half of the simulated δ is detected.
    let wrong = all
        .iter()
        .filter(|one| one.simulated.0 > 0.05)
        .map(|one| {
            let mut wrong = (*one).clone();
            wrong.stated = 0.5 * one.simulated.0;
            wrong
        })
        .collect::<Vec<_>>();
    assert!(!wrong.is_empty());
    assert!(wrong.iter().all(|one| !one.faults().is_empty()));
}
