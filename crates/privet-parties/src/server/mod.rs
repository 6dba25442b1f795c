//! A server's handling of shares: adds them up, adds its noise, and opens each round once.
//!
//! - It recomputes the plan from the agreement and adds noise for the plan's next round, and for nothing
//!   else.
//! - A round is opened when every party's share is there, and never with fewer.
//! - The opening is on disk before anything of it is sent: first a commitment ([`crate::Commitment`]),
//!   and the numbers once every party has sent it the same commitments of all servers. So no server sees
//!   another's opening before its own is fixed. A round is never opened again with other noise: a later
//!   request, also after a restart, gets the same answer.
//! - If the servers draw their noise together ([`privet_dp::mechanism::joint`]), a round is opened with
//!   this server's share of the draw made for it; nothing is opened before all servers have their shares
//!   of all rounds.
//! - The digests of what parties received before must be the same for all: otherwise some server sent
//!   them different sums. After the last round it passes on the parties' signatures, which it cannot
//!   forge.
//! - It waits without limit for all parties to begin, and from the first opening on no longer than the
//!   agreed patience.

mod greeting;
mod round;
mod state;
mod witness;

use crate::PartiesError;
use crate::agreement::Agreement;
use crate::message::{PartyRequest, RunStanding, ServerReply};
use crate::store::Store;
use crate::waiting::LONGEST_DELAY;
use privet_core::printable;
use privet_dp::mechanism::joint::Drawing;
use privet_dp::mechanism::shares::Participants;
use state::{Joined, State};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// Maximum difference of two clocks in seconds.
pub const CLOCKS: u64 = 300;
/// Maximum characters of a party's reason for leaving.
const MOST_REASON_CHARACTERS: usize = 500;

/// Prints a line for the server's operator.
type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// One server of an agreement.
pub struct Server {
    agreement: Agreement,
    among: Participants,
    digest: String,
    name: String,
    longest: usize,
    store: Option<Store>,
    tell: Tell,
    state: Mutex<State>,
    changed: Condvar,
}

impl Server {
    /// Creates the server of this name with nothing on disk: for members of one process.
    pub fn new(agreement: Agreement, name: &str, tell: Tell) -> Result<Self, PartiesError> {
        Self::with(agreement, name, None, tell)
    }

    /// Creates the server of this name, resuming from its store, which holds every opening.
    pub(crate) fn with(
        agreement: Agreement,
        name: &str,
        store: Option<Store>,
        tell: Tell,
    ) -> Result<Self, PartiesError> {
        if agreement.server(name).is_none() {
            return Err(PartiesError::InvalidRequest(format!(
                "'{}' is no server of the agreement",
                printable(name)
            )));
        }
        let (among, events) = (agreement.participants()?, agreement.events()?);
        let digest = agreement.digest();
        let mut state = State::new(among, &events, agreement.parties.len())?;
        if let Some(store) = &store {
            store.belongs_to(&digest)?;
            state.resume(store, &agreement, name)?;
        }
        Ok(Self {
            longest: agreement.longest_round()?,
            among,
            digest,
            name: name.into(),
            store,
            tell,
            state: Mutex::new(state),
            changed: Condvar::new(),
            agreement,
        })
    }

    /// The agreement of all members.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// Name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Maximum length of a share, in any round: one that was opened may be sent again.
    pub fn longest_share(&self) -> usize {
        self.longest
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if every party has its result, or the run ended early.
    pub fn is_over(&self) -> bool {
        let state = self.state();
        state.ended.is_some() || state.done.iter().all(|done| *done)
    }

    /// The reason, if the run ended early.
    pub fn end_reason(&self) -> Option<String> {
        self.state().ended.clone()
    }

    /// Ends the run if a party, or all parties since the last opening, exceeded the patience. To be
    /// called periodically.
    pub fn lose_patience(&self) {
        let mut state = self.state();
        let seconds = self.agreement.patience;
        let round = state.openings.len();
        let since = state.open.as_ref().map_or(state.since, |open| open.since);
        if !state.waits() || since.elapsed() <= Duration::from_secs(seconds) {
            return;
        }
        let between = !state.is_open() && state.open.is_none() && state.shown == round as u64;
        let missing = if between { vec!["everyone".into()] } else { self.missing(&state) };
        if missing.is_empty() {
            return;
        }
        let missing = missing.join(", ");
        let why = if state.is_open() {
            format!(
                "all rounds are open, and {missing} did not sign within {seconds} s what it heard: no result is accepted"
            )
        } else if state.shown < round as u64 {
            format!(
                "round {round} waited {seconds} s for a word of {missing} on its commitments, and is not opened"
            )
        } else {
            format!("round {} waited {seconds} s for {missing}, and is not opened", round + 1)
        };
        self.end(&mut state, why);
    }

    /// Answers a party, whose index was authenticated by the transport.
    pub fn answer(
        &self,
        party: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> (ServerReply, Vec<u128>) {
        let Some(holder) = self.agreement.parties.get(party) else {
            return (refusal("who asks is no party of the agreement"), vec![]);
        };
        let mut state = self.state();
        if let PartyRequest::Status = ask {
            return (ServerReply::Standing(self.standing(&state)), vec![]);
        }
        if let Some(why) = &state.ended {
            return (ServerReply::Ended { why: why.clone() }, vec![]);
        }
        match ask {
            PartyRequest::Hello { protocol, agreement, schema, instance, begun, clock } => {
                let (instance, schema) = (instance.clone(), schema.clone());
                let joined = Joined { instance, schema, begun: begun.clone() };
                let said = (*protocol, agreement.as_str(), *clock);
                if let Some(refused) = self.greet_party(&mut state, party, said, joined) {
                    return (refused, vec![]);
                }
                let state = self.delay_until(state, State::noise_is_ready);
                (self.welcome(&state), vec![])
            }
            PartyRequest::Share { round, leaf, heard } => {
                let begun = state.joined[party].as_ref().and_then(|joined| joined.begun.as_ref());
                if begun.is_none() {
                    return (refusal("a share came before a greeting"), vec![]);
                }
                if !state.noise_is_ready() {
                    return (refusal("a share came before the noise was drawn"), vec![]);
                }
                (self.take_share(&mut state, party, *round, (leaf, heard), body), vec![])
            }
            PartyRequest::Commitment { round } => (self.commitment_of_round(state, *round), vec![]),
            PartyRequest::Opening { round, commitments } => {
                self.opening_of_round(state, party, *round, commitments)
            }
            PartyRequest::Sign { signed, from } => {
                (self.take_signature(state, party, signed, *from), vec![])
            }
            PartyRequest::Done => {
                if state.is_open() {
                    (self.tell)(&format!("{} has its result", holder.name));
                    self.mark_finished(&mut state, party);
                }
                (ServerReply::Taken, vec![])
            }
            PartyRequest::End { why } => {
                // A result that all parties have signed is not withheld from the others, but this party
                // is not waited for.
                if state.is_witnessed() {
                    self.mark_finished(&mut state, party);
                    return (ServerReply::Taken, vec![]);
                }
                let why: String = printable(why).chars().take(MOST_REASON_CHARACTERS).collect();
                (self.end(&mut state, format!("{} leaves it: {why}", holder.name)), vec![])
            }
            PartyRequest::Status => (ServerReply::Standing(self.standing(&state)), vec![]),
        }
    }

    /// Delays a request until it can be answered, the run ends, or a maximum time is over: this limits
    /// the rate of repetition.
    fn delay_until<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        ready: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waits = |state: &mut State| state.ended.is_none() && !ready(state);
        let held = self.changed.wait_timeout_while(state, LONGEST_DELAY, waits);
        held.unwrap_or_else(PoisonError::into_inner).0
    }

    fn mark_finished(&self, state: &mut State, party: usize) {
        if let Some(store) = self.store.as_ref().filter(|_| !state.done[party]) {
            // If this fails, the party is waited for once more after a restart.
            let _ = store.keep_done(party);
        }
        state.done[party] = true;
        self.changed.notify_all();
    }

    /// The noise drawn together, round by round; `None` if each server draws its own.
    pub(crate) fn drawings(&self) -> Option<Vec<Drawing>> {
        self.state().together.as_ref().map(|together| together.drawings.clone())
    }

    /// True if all noise drawn together is stored.
    pub(crate) fn noise_is_ready(&self) -> bool {
        self.state().noise_is_ready()
    }

    /// The store of its state.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Records the number of rounds whose noise is drawn.
    pub(crate) fn drawn(&self, done: u64, ready: bool) {
        if let Some(together) = &mut self.state().together {
            (together.done, together.ready) = (done, ready);
        }
        self.changed.notify_all();
    }

    /// Sets the shares of all noise, when all servers are in one process.
    pub(crate) fn hold(&self, shares: Vec<Zeroizing<Vec<u128>>>) {
        if let Some(together) = &mut self.state().together {
            (together.done, together.ready) = (shares.len() as u64, true);
            together.held = (0..).zip(shares).collect();
        }
    }

    /// Names of the parties waited for: for a share, the commitments, or a signature; all parties
    /// between rounds.
    fn missing(&self, state: &State) -> Vec<String> {
        let has = |party: usize| {
            if state.is_open() {
                state.signed[party].is_some() || state.done[party]
            } else if state.shown < state.openings.len() as u64 {
                state.told.has_said(party)
            } else {
                state.open.as_ref().is_some_and(|open| open.shares[party].is_some())
            }
        };
        let named = self.agreement.parties.iter().enumerate();
        named.filter(|(party, _)| !has(*party)).map(|(_, one)| one.name.clone()).collect()
    }

    fn standing(&self, state: &State) -> RunStanding {
        let named = self.agreement.parties.iter().zip(&state.joined);
        RunStanding {
            opened: state.shown,
            complete: state.is_open(),
            joined: named.filter(|(_, it)| it.is_some()).map(|(one, _)| one.name.clone()).collect(),
            missing: if state.waits() { self.missing(state) } else { vec![] },
            ended: state.ended.clone(),
            drawing: state
                .together
                .as_ref()
                .filter(|together| !together.ready)
                .map(|together| (together.done, together.drawings.len() as u64)),
        }
    }

    /// Ends the run: nothing is opened from here on, and every request is answered with the reason.
    pub fn end_run(&self, why: &str) {
        let mut state = self.state();
        if state.ended.is_none() {
            self.end(&mut state, why.into());
        }
    }

    fn end(&self, state: &mut State, why: String) -> ServerReply {
        // A result that all parties have signed is not withheld.
        if state.is_witnessed() {
            return ServerReply::Refused { why };
        }
        (self.tell)(&format!("the run is ended: {why}"));
        if let Some(store) = &self.store {
            let _ = store.keep_ended(&why);
        }
        state.open = None;
        state.ended = Some(why.clone());
        self.changed.notify_all();
        ServerReply::Ended { why }
    }
}

fn refusal(why: &str) -> ServerReply {
    ServerReply::Refused { why: why.into() }
}

/// Time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// SHA-256 of the next round's charge, as a party states it.
#[cfg(test)]
pub(crate) fn next_leaf(server: &Server) -> Option<String> {
    server.state().rounds.next().map(crate::commitment::leaf)
}
