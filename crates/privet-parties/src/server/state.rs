//! State of a server, and its recovery after a restart.

use crate::PartiesError;
use crate::agreement::Agreement;
use crate::commitment::{Commitment, leaf};
use crate::signature::Signed;
use crate::store::Store;
use crate::unanimous::Unanimous;
use privet_dp::account::Event;
use privet_dp::gate::PlannedDraws;
use privet_dp::mechanism::joint::Drawing;
use privet_dp::mechanism::shares::{NoiseMode, Participants, ServerSum};
use privet_dp::noise::{Source, SystemRandom};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;
use zeroize::Zeroizing;

/// Maximum rounds for which noise is drawn together.
const MOST_DRAWINGS: usize = 1 << 16;

pub(super) struct State {
    pub rounds: PlannedDraws,
    /// Openings committed to, by round.
    pub openings: Vec<Opening>,
    /// The number of rounds shown: all of `openings`, or all but the last.
    pub shown: u64,
    /// The parties' commitments for the round not yet shown.
    pub told: Unanimous<Vec<String>>,
    pub open: Option<Open>,
    pub signed: Vec<Option<Signed>>,
    /// The digest that parties signed.
    pub transcript: Unanimous<String>,
    pub joined: Vec<Option<Joined>>,
    pub done: Vec<bool>,
    pub ended: Option<String>,
    /// Time of the last commitment or opening, or of the start of this process.
    pub since: Instant,
    pub source: Box<dyn Source>,
    /// Noise drawn together, round by round; `None` if each server draws its own.
    pub together: Option<JointDrawing>,
}

/// Progress of the noise drawn together.
pub(super) struct JointDrawing {
    pub drawings: Vec<Drawing>,
    /// The number of rounds drawn.
    pub done: u64,
    /// True if all servers have their shares of all rounds.
    pub ready: bool,
    /// The shares, if nothing is on disk.
    pub held: BTreeMap<u64, Zeroizing<Vec<u128>>>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Joined {
    pub instance: String,
    pub schema: String,
    /// Random identifier of its begun run, once it has begun.
    pub begun: Option<String>,
}

/// The opening of a round and its commitment.
pub(super) struct Opening {
    pub commitment: String,
    pub nonce: String,
    pub numbers: Vec<u128>,
}

impl State {
    /// Creates the state before any request.
    pub fn new(among: Participants, events: &Event, parties: usize) -> Result<Self, PartiesError> {
        let source =
            SystemRandom::new().map_err(|error| PartiesError::Transport(error.to_string()))?;
        Ok(Self {
            rounds: PlannedDraws::of(events),
            openings: Vec::new(),
            shown: 0,
            told: Unanimous::among(parties),
            open: None,
            signed: vec![None; parties],
            transcript: Unanimous::among(parties),
            joined: vec![None; parties],
            done: vec![false; parties],
            ended: None,
            since: Instant::now(),
            source: Box::new(source),
            together: match among.noise {
                NoiseMode::Shares => None,
                NoiseMode::Joint => {
                    let (drawings, held) = (drawings(events)?, BTreeMap::new());
                    Some(JointDrawing { drawings, done: 0, ready: false, held })
                }
            },
        })
    }

    /// Restores the state of the previous process from disk.
    pub fn resume(
        &mut self,
        store: &Store,
        agreement: &Agreement,
        name: &str,
    ) -> Result<(), PartiesError> {
        let (digest, parties) = (agreement.digest(), agreement.parties.len());
        self.ended = store.end_reason()?;
        let server = agreement.server(name).unwrap_or_default();
        while let Some((nonce, numbers)) = store.opening(self.openings.len() as u64)? {
            let planned = self.rounds.next().cloned();
            let Some(charged) = planned.filter(|leaf| self.rounds.go_on(leaf)) else {
                return Err(PartiesError::InvalidRequest(
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
            return Err(PartiesError::InvalidRequest(
                "the server's folder lacks what parties said of its commitments: bring it back whole, or begin a new \
                 agreement"
                    .into(),
            ));
        }
        for party in 0..parties {
            self.done[party] = store.is_party_done(party)?;
            if let Some(signed) = store.signature(party)? {
                let odd = |_| {
                    PartiesError::InvalidRequest(
                        "signatures in the server's folder were edited".into(),
                    )
                };
                self.transcript.say(party, &signed.transcript).map_err(odd)?;
                self.signed[party] = Some(signed);
            }
        }
        for (place, joined) in self.joined.iter_mut().enumerate() {
            *joined = store.joined_party(place)?;
        }
        self.resume_noise(store)
    }

    fn resume_noise(&mut self, store: &Store) -> Result<(), PartiesError> {
        let Some(together) = &mut self.together else { return Ok(()) };
        let opened = self.openings.len() as u64;
        together.ready = store.noise_is_ready()?.is_some();
        if opened > 0 && !together.ready {
            return Err(PartiesError::InvalidRequest(
                "the server's folder holds openings, and not that its noise was drawn: bring it back whole, or \
                 begin a new agreement"
                    .into(),
            ));
        }
        for (round, drawing) in (0..).zip(&together.drawings) {
            match store.noise(round)? {
                // The share of an opened round was used.
                Some(_) if round < opened => store.wipe_noise(round)?,
                Some((_, share)) if share.len() == drawing.coordinates => {}
                None if !together.ready => break,
                _ => {
                    return Err(PartiesError::InvalidRequest(format!(
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

    /// True if all noise that servers draw together is stored.
    pub fn noise_is_ready(&self) -> bool {
        self.together.as_ref().is_none_or(|together| together.ready)
    }

    /// True if all rounds are opened.
    pub fn is_open(&self) -> bool {
        self.rounds.complete() && self.shown == self.openings.len() as u64
    }

    /// True if the run has begun, and a party's message is still to come.
    pub fn waits(&self) -> bool {
        let begun = self.open.is_some() || !self.openings.is_empty();
        begun && self.ended.is_none() && !self.is_witnessed()
    }

    /// True if all rounds are opened, and every party has signed.
    pub fn is_witnessed(&self) -> bool {
        self.is_open() && self.signed.iter().all(Option::is_some)
    }
}

/// The round that is collecting shares.
pub(super) struct Open {
    pub adding: ServerSum,
    /// Digest of each party's share, once it is there.
    pub shares: Vec<Option<[u8; 32]>>,
    /// Digests of what parties received before.
    pub heard: Unanimous<String>,
    pub since: Instant,
}

/// The noise to draw for every round of a plan, in order.
fn drawings(events: &Event) -> Result<Vec<Drawing>, PartiesError> {
    let (mut rounds, mut all) = (PlannedDraws::of(events), Vec::new());
    while let Some(leaf) = rounds.next().cloned() {
        let drawing =
            Drawing::of(&leaf).map_err(|error| PartiesError::InvalidRequest(error.to_string()))?;
        all.push(drawing);
        if all.len() > MOST_DRAWINGS || !rounds.go_on(&leaf) {
            return Err(PartiesError::InvalidRequest(format!(
                "noise that servers draw together is offered for up to {MOST_DRAWINGS} rounds"
            )));
        }
    }
    Ok(all)
}
