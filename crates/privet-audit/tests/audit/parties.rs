//! Sums among parties, from the view of a coalition of servers and parties.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims
//! with probability below 10⁻⁹. The false claim would survive only if a bound from 5·10⁴ judging runs
//! were off by more than 7 of its standard deviations.

use privet_audit::attack::{AttackOptions, Finding};
use privet_audit::parties::{Setting, audit, output};
use privet_core::Budget;
use privet_dp::mechanism::shares::{NoiseMode, Participants};

fn found(setting: &Setting) -> Finding {
    let options = AttackOptions { runs: 60_000, confidence: 1.0 - 1e-10, seed: 47 };
    audit(setting, &options, &()).unwrap()
}

#[test]
fn a_coalition_learns_no_more_than_claimed_and_one_server_more_would() {
    for setting in Setting::all(4.0, 1e-5).unwrap() {
        assert!(setting.is_covered());
        let finding = found(&setting);
        assert!(!finding.refuted, "{setting:?}: {finding:?}");
        // With the maximum number of colluding servers, most of the claim is visible: the noise is no
        // wider than necessary (within the resolution of these bounds).
        if setting.colluding > 0 {
            assert!(finding.mu_lower.unwrap() > 0.7 * finding.mu_claimed.unwrap(), "{finding:?}");
        }
    }
    // Two of three colluding where two were assumed honest: noise of σ/√2 is left.
    let among = Participants { parties: 3, servers: 3, honest: 2, noise: NoiseMode::Shares };
    let over = Setting { among, colluding: 2, budget: Budget::new(4.0, 1e-5).unwrap() };
    assert!(!over.is_covered() && found(&over).refuted);
}

/// Minimisers as far apart as proved possible: no coalition learns more than claimed, and with the
/// maximum number of colluding servers the claim is nearly used up, so that half of it is refuted.
#[test]
fn minimisers_of_parties_are_as_private_as_claimed_and_no_more() {
    let options = AttackOptions { runs: 60_000, confidence: 1.0 - 1e-10, seed: 48 };
    for setting in output::Setting::all(4.0, 1e-5).unwrap() {
        let finding = output::audit(&setting, &options, &()).unwrap();
        assert!(!finding.refuted, "{setting:?}: {finding:?}");
        if setting.colluding > 0 {
            assert!(finding.mu_lower.unwrap() > 0.7 * finding.mu_claimed.unwrap(), "{finding:?}");
            let half = Budget::new(2.0, 1e-5).unwrap();
            let finding = output::audit_against(&setting, half, &options, &()).unwrap();
            assert!(finding.refuted, "{setting:?}: {finding:?}");
        }
    }
}
