//! Sums among parties, seen by servers and parties that work together.
//!
//! The seeds are fixed. At a confidence of 1 − 10⁻¹⁰ another seed would refute one of the true claims with probability
//! below 10⁻⁹. The false claim would not be refuted only if a bound from 5·10⁴ judging runs were off by more than 7
//! of its standard deviations.

use privet_audit::AuditError;
use privet_audit::attack::{AttackOptions, Finding, audit};
use privet_audit::claim::Claim;
use privet_audit::runs::{Target, World};
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{Event, gaussian};
use privet_dp::mechanism::Gaussian;
use privet_dp::mechanism::shares::{Adding, Among, joined, split};
use privet_dp::noise::Source;

/// One round: a record of an honest party moves its sum by 1, and the others' sums, known to the coalition, are 0.
struct Coalition {
    among: Among,
    /// Servers in it, which add no noise so that they need not take it off again.
    servers: usize,
    leaf: Event,
    step: f64,
}

impl Coalition {
    fn new(among: Among, servers: usize, budget: Budget) -> Self {
        let noise_scale = 1.0 / gaussian::mu(budget.epsilon(), budget.delta());
        let mechanism = Gaussian {
            neighbours: Neighbours::AddRemove,
            unit: Unit::Record,
            sensitivity: 1.0,
            noise_scale,
            coordinates: 2,
        };
        let step = privet_dp::noise::GridGaussian::new(noise_scale).unwrap().step();
        Self { among, servers, leaf: mechanism.event().unwrap(), step }
    }
}

impl Target for Coalition {
    fn release(&self, world: World, source: &mut dyn Source) -> Result<Vec<f64>, AuditError> {
        let one = if world == World::Second { (1.0 / self.step) as i128 } else { 0 };
        let shares = split(&[one, 0], self.among.servers, source);
        let mut openings = Vec::new();
        let mut seen = Vec::new();
        for (server, share) in shares.iter().enumerate() {
            if server < self.servers {
                // What it was sent, as numbers in [0, 1): top and bottom bits.
                seen.push((share[0] >> 75) as f64 / 2_f64.powi(53));
                seen.push((share[0] & ((1 << 53) - 1)) as f64 / 2_f64.powi(53));
                openings.push(share.to_vec());
            } else {
                let mut adding =
                    Adding::new(&self.leaf, self.among).map_err(privet_learn::LearnError::from)?;
                adding.add(share).map_err(privet_learn::LearnError::from)?;
                openings.push(adding.opening(source));
            }
        }
        let sum = joined(&openings).unwrap_or_default();
        let mut view: Vec<f64> = sum.iter().map(|value| *value as f64 * self.step).collect();
        view.extend(seen);
        Ok(view)
    }

    fn direction(&self) -> Option<Vec<f64>> {
        let mut direction = vec![0.0; 2 + 2 * self.servers];
        direction[0] = 1.0;
        Some(direction)
    }
}

fn found(among: Among, servers: usize, runs: u64) -> Finding {
    let budget = Budget::new(4.0, 1e-5).unwrap();
    let options = AttackOptions { runs, confidence: 1.0 - 1e-10, seed: 47 };
    audit(&Coalition::new(among, servers, budget), &Claim::stated_gaussian(budget), &options, &())
        .unwrap()
}

#[test]
fn a_coalition_learns_no_more_than_claimed_and_one_server_more_would() {
    let among = |servers, honest| Among { parties: 3, servers, honest };
    for (among, colluding) in
        [(among(2, 1), 1), (among(3, 1), 2), (among(3, 2), 1), (among(2, 1), 0)]
    {
        let finding = found(among, colluding, 60_000);
        assert!(!finding.refuted, "{among:?}: {finding:?}");
        // Where as many collude as may, most of the claim is seen: the noise is no wider than it must be (within what
        // these bounds resolve).
        if colluding > 0 {
            assert!(finding.mu_lower.unwrap() > 0.7 * finding.mu_claimed.unwrap(), "{finding:?}");
        }
    }
    // Two of three colluding where two were to be honest: noise of σ/√2 is left.
    assert!(found(among(3, 2), 2, 60_000).refuted);
}
