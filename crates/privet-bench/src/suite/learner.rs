//! The learners of a suite's entries: of linear models, ours or a [`Peer`], of ratings, of networks.

use super::grid::{self, OWN_KEYS, Point};
use super::nearby::{self, QuerySettings};
use super::peer::Peer;
use super::vote::{VOTE_SETTINGS, Voter};
use privet_learn::networks::Method as Training;
use privet_learn::ratings::Method as Completion;
use privet_learn::{LearnError, Method, SettingInfo};
use serde::Deserialize;

/// The keys of a network that are not settings of its training: the clipping of rows, scale and shift of
/// the input, and the number of hat functions in which numbers of a table are expanded.
pub const NETWORK_KEYS: [&str; 5] = ["row-norm", "entry-bound", INPUT_SCALE, INPUT_SHIFT, HATS];
/// The factor on a network's input.
pub const INPUT_SCALE: &str = "input-scale";
/// The constant added to the scaled input.
pub const INPUT_SHIFT: &str = "input-shift";
/// The number of knots of each number of a table.
pub const HATS: &str = "hats";

/// The family of learners of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Linear models of tables.
    #[default]
    Train,
    /// Completion of ratings.
    Complete,
    /// Networks of tables and images.
    Network,
}

impl Family {
    /// The learner of that name.
    pub fn learner(self, word: &str) -> Result<Learner, LearnError> {
        Ok(match self {
            Self::Train => match (Voter::by_name(word), QuerySettings::by_name(word)) {
                (Some(voter), _) => Learner::Vote(voter),
                (None, Some(asker)) => Learner::Nearby(asker),
                (None, None) => Learner::Train(word.parse()?),
            },
            Self::Complete => Learner::Complete(word.parse()?),
            Self::Network => Learner::Network(word.parse()?),
        })
    }
}

/// A learner with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Learner {
    /// Of a linear model.
    Train(Method),
    /// Of ratings.
    Complete(Completion),
    /// Of labels by votes.
    Vote(Voter),
    /// None: answers by records nearby.
    Nearby(QuerySettings),
    /// Of a network.
    Network(Training),
    /// A peer's learner of a linear model.
    Peer(Peer),
}

impl Learner {
    /// Its name for `--method`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Train(method) => method.name(),
            Self::Complete(method) => method.info().name,
            Self::Vote(voter) => voter.name(),
            Self::Nearby(_) => QuerySettings::NAME,
            Self::Network(method) => method.info().name,
            Self::Peer(peer) => peer.name(),
        }
    }

    /// True if it is private.
    pub fn is_private(&self) -> bool {
        match self {
            Self::Train(method) => method.is_private(),
            Self::Complete(method) => method.is_private(),
            Self::Vote(voter) => voter.is_private(),
            Self::Network(method) => method.is_private(),
            Self::Nearby(_) | Self::Peer(_) => true,
        }
    }

    /// Its own settings.
    pub fn settings(&self) -> &'static [SettingInfo] {
        match self {
            Self::Train(method) => method.info().settings,
            Self::Complete(method) => method.info().settings,
            Self::Vote(_) => VOTE_SETTINGS,
            Self::Nearby(_) => nearby::SETTINGS,
            Self::Network(method) => method.info().settings,
            Self::Peer(_) => &[],
        }
    }

    /// The peer, if it is one.
    pub fn peer(&self) -> Option<Peer> {
        match self {
            Self::Peer(peer) => Some(*peer),
            Self::Train(_)
            | Self::Complete(_)
            | Self::Vote(_)
            | Self::Nearby(_)
            | Self::Network(_) => None,
        }
    }

    /// The keys that a suite may set.
    pub fn keys(&self) -> Vec<&'static str> {
        let own = self.settings().iter().map(|setting| setting.name);
        match self {
            Self::Train(_) => own.chain(OWN_KEYS).collect(),
            Self::Complete(_) | Self::Nearby(_) => own.collect(),
            Self::Vote(voter) => voter.keys(),
            Self::Network(_) => own.chain(NETWORK_KEYS).collect(),
            Self::Peer(peer) => peer.settings().to_vec(),
        }
    }

    /// With the settings of a point.
    pub fn with(&self, point: &Point, rows: u64) -> Result<Self, LearnError> {
        Ok(match self {
            Self::Train(method) => Self::Train(grid::apply_point(method, point, rows)?),
            Self::Complete(method) => {
                let one =
                    |method: Completion, (key, value): (&String, &String)| method.with(key, value);
                Self::Complete(point.iter().try_fold(method.clone(), one)?)
            }
            Self::Vote(voter) => Self::Vote(voter.with(point)?),
            Self::Nearby(asker) => Self::Nearby(asker.with(point)?),
            Self::Network(method) => {
                let own = |(key, _): &(&String, &String)| !NETWORK_KEYS.contains(&key.as_str());
                let one =
                    |method: Training, (key, value): (&String, &String)| method.with(key, value);
                Self::Network(point.iter().filter(own).try_fold(method.clone(), one)?)
            }
            Self::Peer(peer) => Self::Peer(*peer),
        })
    }
}
