//! What a server knows, and how it finds it again after a restart.

use crate::PartiesError;
use crate::agreement::Agreement;
use crate::commitment::{Commitment, leaf};
use crate::same::Same;
use crate::signature::Signed;
use crate::store::Store;
use privet_dp::account::Event;
use privet_dp::gate::Rounds;
use privet_dp::mechanism::joint::Drawing;
use privet_dp::mechanism::shares::{Adding, Among, NoiseMode};
use privet_dp::noise::{Source, SystemRandom};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;
use zeroize::Zeroizing;

/// Rounds for which noise is drawn together, at most.
const MOST_DRAWINGS: usize = 1 << 16;

pub(super) struct State {
    pub rounds: Rounds,
    /// What was committed to, round after round.
    pub openings: Vec<Opening>,
    /// How many of them are open: all, or all but the last.
    pub shown: u64,
    /// What parties say of the commitments to the one that is not.
    pub told: Same<Vec<String>>,
    pub open: Option<Open>,
    pub signed: Vec<Option<Signed>>,
    /// Under which digest.
    pub transcript: Same<String>,
    pub joined: Vec<Option<Joined>>,
    pub done: Vec<bool>,
    pub ended: Option<String>,
    /// The last commitment or opening, or when this process began.
    pub since: Instant,
    pub source: Box<dyn Source>,
    /// What servers draw together, round by round; `None` where each draws its own.
    pub together: Option<Together>,
}

/// How far noise that is drawn together is.
pub(super) struct Together {
    pub drawings: Vec<Drawing>,
    /// For how many rounds it is drawn.
    pub done: u64,
    /// Whether all servers have their shares of all rounds.
    pub ready: bool,
    /// Where nothing is on disk: the shares.
    pub held: BTreeMap<u64, Zeroizing<Vec<u128>>>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Joined {
    pub instance: String,
    pub schema: String,
    /// The word that it began with, once it has.
    pub begun: Option<String>,
}

/// What is opened in a round, and what was said of it before.
pub(super) struct Opening {
    pub commitment: String,
    pub nonce: String,
    pub numbers: Vec<u128>,
}

impl State {
    /// Before anything was said.
    pub fn new(among: Among, events: &Event, parties: usize) -> Result<Self, PartiesError> {
        let source = SystemRandom::new().map_err(|error| PartiesError::Line(error.to_string()))?;
        Ok(Self {
            rounds: Rounds::of(events),
            openings: Vec::new(),
            shown: 0,
            told: Same::among(parties),
            open: None,
            signed: vec![None; parties],
            transcript: Same::among(parties),
            joined: vec![None; parties],
            done: vec![false; parties],
            ended: None,
            since: Instant::now(),
            source: Box::new(source),
            together: match among.noise {
                NoiseMode::Shares => None,
                NoiseMode::Joint => {
                    let (drawings, held) = (drawings(events)?, BTreeMap::new());
                    Some(Together { drawings, done: 0, ready: false, held })
                }
            },
        })
    }

    /// As it was when the process before ended.
    pub fn resume(
        &mut self,
        store: &Store,
        agreement: &Agreement,
        name: &str,
    ) -> Result<(), PartiesError> {
        let (digest, parties) = (agreement.digest(), agreement.parties.len());
        self.ended = store.ended()?;
        let server = agreement.server(name).unwrap_or_default();
        while let Some((nonce, numbers)) = store.opening(self.openings.len() as u64)? {
            let planned = self.rounds.next().cloned();
            let Some(charged) = planned.filter(|leaf| self.rounds.go_on(leaf)) else {
                return Err(PartiesError::Asked(
                    "the server's folder holds more rounds than are planned".into(),
                ));
            };
            let (round, leaf) = (self.openings.len() as u64, &leaf(&charged));
            let commitment = Commitment { agreement: &digest, round, leaf, server, nonce: &nonce }
                .digest(&numbers);
            self.openings.push(Opening { commitment, nonce, numbers });
            self.shown += u64::from(store.commitments(round)?.is_some());
        }
        store.no_gaps(self.openings.len())?;
        if self.openings.len() as u64 - self.shown > 1 {
            return Err(PartiesError::Asked(
                "the server's folder lacks what parties said of its commitments: bring it back whole, or begin a new \
                 agreement"
                    .into(),
            ));
        }
        for party in 0..parties {
            self.done[party] = store.done(party)?;
            if let Some(signed) = store.signature(party)? {
                let odd =
                    |_| PartiesError::Asked("signatures in the server's folder were edited".into());
                self.transcript.say(party, &signed.transcript).map_err(odd)?;
                self.signed[party] = Some(signed);
            }
        }
        for (place, joined) in self.joined.iter_mut().enumerate() {
            *joined = store.joined(place)?;
        }
        self.resume_noise(store)
    }

    fn resume_noise(&mut self, store: &Store) -> Result<(), PartiesError> {
        let Some(together) = &mut self.together else { return Ok(()) };
        let opened = self.openings.len() as u64;
        together.ready = store.noise_is_ready()?.is_some();
        if opened > 0 && !together.ready {
            return Err(PartiesError::Asked(
                "the server's folder holds openings, and not that its noise was drawn: bring it back whole, or \
                 begin a new agreement"
                    .into(),
            ));
        }
        for (round, drawing) in (0..).zip(&together.drawings) {
            match store.noise(round)? {
                // A round that was opened has had its share.
                Some(_) if round < opened => store.wipe_noise(round)?,
                Some((_, share)) if share.len() == drawing.coordinates => {}
                None if !together.ready => break,
                _ => {
                    return Err(PartiesError::Asked(format!(
                        "the server's folder lacks its share of the noise of round {}: nothing can be opened; bring \
                         it back whole, or begin a new agreement",
                        round + 1
                    )));
                }
            }
            together.done = round + 1;
        }
        Ok(())
    }

    /// Whether all noise that servers draw together is there.
    pub fn noise_is_ready(&self) -> bool {
        self.together.as_ref().is_none_or(|together| together.ready)
    }

    /// Whether all rounds are open.
    pub fn is_open(&self) -> bool {
        self.rounds.complete() && self.shown == self.openings.len() as u64
    }

    /// Whether it has begun, and somebody's word is still to come.
    pub fn waits(&self) -> bool {
        let begun = self.open.is_some() || !self.openings.is_empty();
        begun && self.ended.is_none() && !self.is_witnessed()
    }

    /// Whether nothing is left to be said: all is open, and everyone has signed what it heard.
    pub fn is_witnessed(&self) -> bool {
        self.is_open() && self.signed.iter().all(Option::is_some)
    }
}

/// The round that shares are coming in for.
pub(super) struct Open {
    pub adding: Adding,
    /// Digest of each party's share, once it is there.
    pub shares: Vec<Option<[u8; 32]>>,
    /// What parties had heard before.
    pub heard: Same<String>,
    pub since: Instant,
}

/// What is drawn for every round of a plan, in order.
fn drawings(events: &Event) -> Result<Vec<Drawing>, PartiesError> {
    let (mut rounds, mut all) = (Rounds::of(events), Vec::new());
    while let Some(leaf) = rounds.next().cloned() {
        let drawing = Drawing::of(&leaf).map_err(|error| PartiesError::Asked(error.to_string()))?;
        all.push(drawing);
        if all.len() > MOST_DRAWINGS || !rounds.go_on(&leaf) {
            return Err(PartiesError::Asked(format!(
                "noise that servers draw together is offered for up to {MOST_DRAWINGS} rounds"
            )));
        }
    }
    Ok(all)
}
