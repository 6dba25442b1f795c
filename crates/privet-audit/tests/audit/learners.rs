//! Every registered learner, both relations, with and without δ: none is refuted.
//!
//! A short audit with few runs, and one claim of each with more (`make audit` uses many). Fixed seed; at
//! confidence 0.9999 another seed would refute a sound learner here with probability at most 1e-4 each.

use privet_audit::attack::AttackOptions;
use privet_audit::learner::{self, Setting};
use privet_audit::{AuditError, one_run};
use privet_core::{Budget, Neighbours};
use privet_learn::{METHODS, Method};

#[test]
fn no_sound_learner_is_refuted() {
    for info in METHODS.iter().filter(|info| info.name != "non-private") {
        let method: Method = info.name.parse().unwrap();
        let mut audited = 0;
        for (neighbours, epsilon, delta) in [
            (Neighbours::ReplaceOne, 2.0, 1e-5),
            (Neighbours::AddRemove, 2.0, 1e-5),
            (Neighbours::ReplaceOne, 1.0, 0.0),
        ] {
            let budget = Budget::new(epsilon, delta).unwrap();
            let mut setting = Setting::new(method.clone(), budget, neighbours);
            setting.rows = 16;
            let options = AttackOptions { runs: 100, confidence: 0.9999, seed: 21 };
            match learner::audit(&setting, &options, &()) {
                Ok(report) => {
                    assert!(!report.finding.refuted, "{report:?}");
                    audited += 1;
                }
                // Refused before any data: no such guarantee is offered.
                Err(AuditError::NoTable { .. }) => {}
                Err(error) => panic!("{}, {neighbours}: {error}", info.name),
            }
        }
        assert!(audited > 0, "{} was never audited", info.name);
    }
}

/// With enough runs, every learner planned for twice the ε that its certificate states is refuted, and
/// with its own certificate it is not. `linear-rotated` states (ε, δ) without a curve, and Gaussian
/// noise shows little of that at a factor of 2: it is planned for eight times, as `placed-gd` is, whose
/// weights carry the noise of three earlier stages too. `auto` plans one of the others. With 5,000 runs the pilot has its maximum length: with 3,000, one seed in eight made it
/// choose settings of `amp` or `objective` that show too little.
#[test]
fn twice_the_stated_epsilon_of_a_learner_is_refuted() {
    for info in METHODS.iter().filter(|info| !["auto", "non-private"].contains(&info.name)) {
        let method: Method = info.name.parse().unwrap();
        let quiet = ["linear-rotated", "placed-gd"].contains(&info.name);
        let (stated, asked) = if quiet { (1.0, 8.0) } else { (4.0, 8.0) };
        let (stated, asked) =
            (Budget::new(stated, 1e-5).unwrap(), Budget::new(asked, 1e-5).unwrap());
        let mut setting = Setting::new(method, asked, Neighbours::ReplaceOne);
        setting.rows = 16;
        let options = AttackOptions { runs: 5_000, confidence: 0.999, seed: 77 };
        let bold = learner::audit_against(&setting, stated, &options, &()).unwrap();
        assert!(bold.finding.refuted, "{bold:?}");
        let honest = learner::audit(&setting, &options, &()).unwrap();
        assert!(!honest.finding.refuted, "{honest:?}");
    }
}

#[test]
fn one_run_does_not_refute_and_has_some_power() {
    let setting = Setting::new(
        "output".parse().unwrap(),
        Budget::new(8.0, 1e-5).unwrap(),
        Neighbours::ReplaceOne,
    );
    let finding = one_run::audit(&setting, 120, 0.95, 5).unwrap();
    assert!(!finding.refuted && finding.epsilon_lower > 0.5, "{finding:?}");
    assert!(one_run::audit(&setting, 3, 0.95, 5).is_err());
    let nothing = Setting { method: "non-private".parse().unwrap(), ..setting };
    assert!(matches!(
        one_run::audit(&nothing, 120, 0.95, 5),
        Err(AuditError::NothingClaimed { .. })
    ));
}
