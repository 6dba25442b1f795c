//! Audit of sums among parties: what a coalition of servers and parties learns of a record of another
//! party.
//!
//! One round ([`privet_dp::mechanism::shares`]). A record of an honest party moves its sum by 1; the
//! coalition has all other parties, whose known sums it subtracts, and some of the servers, whose known
//! noise it subtracts. It is left with the shares that were sent to it, and the openings of all servers.

pub mod output;

use crate::AuditError;
use crate::attack::Finding;
use crate::audited::{TargetAttack, audited};
use crate::claim::Claim;
use crate::runs::{Neighbour, Target};
use privet_core::{Budget, Neighbours, Unit};
use privet_dp::account::{Event, gaussian};
use privet_dp::gate::GateError;
use privet_dp::mechanism::Gaussian;
use privet_dp::mechanism::shares::{NoiseMode, Participants, ServerSum, split, sum_openings};
use privet_dp::noise::{GridGaussian, Source};
use privet_learn::LearnError;

/// Setting of an audit: a coalition and the claim against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The number of parties and servers.
    pub among: Participants,
    /// The number of servers in the coalition.
    pub colluding: u32,
    /// Budget requested.
    pub budget: Budget,
}

impl Setting {
    /// Settings with as many colluding servers as allowed, for a few numbers of servers; and one
    /// without.
    pub fn all(epsilon: f64, delta: f64) -> Result<Vec<Self>, AuditError> {
        let budget = Budget::new(epsilon, delta)?;
        let setting = |servers, honest, colluding| {
            let among = Participants { parties: 3, servers, honest, noise: NoiseMode::Shares };
            Self { among, colluding, budget }
        };
        Ok(vec![
            setting(2, 1, 1),
            setting(2, 1, 0),
            setting(3, 1, 2),
            setting(3, 2, 1),
            setting(5, 3, 2),
        ])
    }

    /// True if the claim must hold: at least as many servers as were counted on as honest are outside.
    pub fn is_covered(&self) -> bool {
        self.colluding + self.among.honest <= self.among.servers
    }
}

audited!(Setting);

fn attack_setting(
    setting: &Setting,
    stated: Budget,
    judge: &TargetAttack<'_>,
) -> Result<Finding, AuditError> {
    judge.attack(&Coalition::new(setting)?, &Claim::stated_gaussian(stated))
}

/// One round, from the coalition's view.
struct Coalition {
    among: Participants,
    servers: usize,
    leaf: Event,
    step: f64,
    /// The honest party's shared values for each input, in steps.
    worlds: [Vec<i128>; 2],
}

impl Coalition {
    fn new(setting: &Setting) -> Result<Self, AuditError> {
        let Setting { among, colluding, budget } = *setting;
        let noise_scale = 1.0 / gaussian::mu(budget.epsilon(), budget.delta());
        let mechanism = Gaussian {
            neighbours: Neighbours::AddRemove,
            unit: Unit::Record,
            sensitivity: 1.0,
            noise_scale,
            coordinates: 2,
        };
        let noise = GridGaussian::new(noise_scale).map_err(GateError::from);
        let step = noise.map_err(LearnError::from)?.step();
        let leaf = mechanism.event().map_err(LearnError::from)?;
        let worlds = [vec![0, 0], vec![(1.0 / step) as i128, 0]];
        Ok(Self { among, servers: colluding as usize, leaf, step, worlds })
    }
}

impl Target for Coalition {
    fn release(
        &self,
        neighbour: Neighbour,
        source: &mut dyn Source,
    ) -> Result<Vec<f64>, AuditError> {
        let [first, second] = &self.worlds;
        let values = if neighbour == Neighbour::Second { second } else { first };
        let shares = split(values, self.among.servers, source);
        let (mut openings, mut seen) = (Vec::new(), Vec::new());
        for (server, share) in shares.iter().enumerate() {
            if server < self.servers {
                // The share sent to it, as numbers in [0, 1): top and bottom bits.
                seen.push((share[0] >> 75) as f64 / 2_f64.powi(53));
                seen.push((share[0] & ((1 << 53) - 1)) as f64 / 2_f64.powi(53));
                openings.push(share.to_vec());
            } else {
                let mut adding =
                    ServerSum::new(&self.leaf, self.among).map_err(LearnError::from)?;
                adding.add(share).map_err(LearnError::from)?;
                openings.push(adding.opening(source).map_err(LearnError::from)?);
            }
        }
        let sum = sum_openings(&openings).unwrap_or_default();
        let mut view: Vec<f64> = sum.iter().map(|value| *value as f64 * self.step).collect();
        view.extend(seen);
        Ok(view)
    }

    fn direction(&self) -> Option<Vec<f64>> {
        let [first, second] = &self.worlds;
        let moved = second.iter().zip(first).map(|(b, a)| (b - a) as f64 * self.step);
        let mut direction: Vec<f64> = moved.collect();
        direction.resize(first.len() + 2 * self.servers, 0.0);
        Some(direction)
    }
}
