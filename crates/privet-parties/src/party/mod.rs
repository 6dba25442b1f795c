//! A party's protocol with the servers: shares out, openings back, and both the same after a restart.
//!
//! **A round.** The party sends its shares; requests every server's commitment ([`crate::Commitment`]);
//! stores those commitments; sends all of them to every server, which opens once all parties have sent
//! the same; and accepts an opening only if it matches the commitment. **After the last round** it signs
//! the digest of everything it received, and returns a result only with every party's signature under
//! the same digest.
//!
//! **What holds**, if SHA-256 has no collisions and signatures are not forged. Let at least one party be
//! honest.
//!
//! 1. *No server chooses its opening late.* An honest server opens a round after every honest party has
//!    sent it the commitments that party holds all servers to. So each opening that an honest party
//!    accepts was fixed when the openings of the honest servers, and with them the noise, were known to
//!    nobody else: what a lying server adds to a sum does not depend on either. Its commitment may
//!    repeat another's; then it cannot open it.
//! 2. *All get the same.* Two honest parties that accept different openings received different
//!    commitments. An honest server compares them and ends the run; and if no server is honest, the
//!    digests that the two sign differ, and neither accepts the other's. So no two honest parties accept
//!    different results, whatever the servers do.
//! 3. *After a restart too.* Shares, commitments and openings are on disk before they are sent,
//!    signatures before anyone relies on them: a restarted member sends the same, and holds the others
//!    to the same.
//!
//! **Remaining attacks.** A server can add a number that it fixed beforehand (within the bound of
//! [`crate::plausible`]), as a party can. A member that opens or signs last can see the result and end
//! the run instead, so that others do not get it: it is spent, and a second try is a new agreement with
//! its own charge. All servers together know every sum and can choose their openings, though all parties
//! get the same. A recipient of a party's model has that party's word for it: the certificate states the
//! plan, not the members.

mod greeting;
mod round;
mod witness;

use crate::PartiesError;
use crate::agreement::{Agreement, hex};
use crate::commitment::Transcript;
use crate::message::{PartyRequest, RunStanding, ServerReply};
use crate::signature::Signer;
use crate::store::{Store, StoredShares};
use crate::waiting::RequestIntervals;
use privet_core::printable;
use privet_dp::account::Event;
use privet_dp::gate::{GateError, PlannedDraws};
use privet_dp::mechanism::shares::PartyChannel;
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Maximum seconds of retrying to inform a server that the result is there.
const TELLING: u64 = 5;
/// Maximum characters of a server's reason that are shown.
const MOST_REASON_CHARACTERS: usize = 1000;

/// Transport of requests to servers.
pub trait Transport: Send {
    /// Sends a request to the server of this index and returns its answer. An error may be temporary:
    /// the request is repeated.
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError>;

    /// True if the servers are in the same process.
    fn is_simulated(&self) -> bool {
        false
    }
}

/// One party of an agreement.
pub struct Party<L: Transport> {
    agreement: Agreement,
    place: usize,
    schema: String,
    /// The number of rows of all parties, if it is public.
    public_rows: Option<u64>,
    own: PartyState,
    inner: Mutex<Inner<L>>,
}

/// A party's own state and key.
pub(crate) struct PartyState {
    pub store: Option<Store>,
    /// Random identifier of its begun run ([`crate::table`]); without one it cannot take part.
    pub begun: Option<String>,
    /// None if all members are in one process.
    pub signer: Option<Signer>,
}

impl PartyState {
    pub fn none() -> Self {
        Self { store: None, begun: None, signer: None }
    }
}

struct Inner<L> {
    line: L,
    instance: String,
    /// Digest of every round opened so far.
    heard: Transcript,
    rounds: PlannedDraws,
    /// The last round for which shares were made.
    kept: Option<StoredShares>,
    /// The number of rounds that every server is known to have opened.
    opened: u64,
}

impl<L: Transport> Party<L> {
    /// Creates the party of this name when all members are in one process: nothing on disk, and no key.
    /// `schema` is that of its own table, as text to compare.
    pub fn new(
        agreement: Agreement,
        name: &str,
        schema: &str,
        line: L,
    ) -> Result<Self, PartiesError> {
        let own =
            PartyState { begun: Some(format!("{name} in this process")), ..PartyState::none() };
        Self::with(agreement, name, schema, own, line)
    }

    pub(crate) fn with(
        agreement: Agreement,
        name: &str,
        schema: &str,
        own: PartyState,
        line: L,
    ) -> Result<Self, PartiesError> {
        let odd = || PartiesError::InvalidRequest(format!("'{name}' is no party of the agreement"));
        let place = agreement.party(name).ok_or_else(odd)?;
        let (instance, kept) = match &own.store {
            Some(store) => {
                store.belongs_to(&agreement.digest())?;
                (store.instance()?, store.stored_shares()?)
            }
            None => (format!("{name} in this process"), None),
        };
        // Shares of a round are made once all before it were opened; after the end none are stored.
        let made = kept.as_ref().filter(|kept| !kept.shares.is_empty());
        let opened = made.map_or(0, |kept| kept.round);
        let (heard, rounds) = (Transcript::new(&agreement), PlannedDraws::of(&agreement.events()?));
        let inner = Mutex::new(Inner { line, instance, heard, rounds, kept, opened });
        let schema = hex(&Sha256::digest(schema));
        let public_rows = agreement.public_rows();
        Ok(Self { agreement, place, schema, public_rows, own, inner })
    }

    /// The agreement of all members.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// This party's part of the agreement.
    pub fn holder(&self) -> &crate::Holder {
        &self.agreement.parties[self.place]
    }

    /// Greets every server, which compares agreement, schema and clock.
    pub fn join(&self) -> Result<(), PartiesError> {
        let mut inner = self.lock();
        let mut all = 0..self.agreement.servers.len();
        let greeted = all.try_for_each(|server| self.greet(&mut inner, server));
        self.told_everyone(&mut inner, greeted)
    }

    /// Informs every server of the reason if the run has ended for this party.
    fn told_everyone<T>(
        &self,
        inner: &mut Inner<L>,
        found: Result<T, PartiesError>,
    ) -> Result<T, PartiesError> {
        if let Err(PartiesError::Ended(why)) = &found {
            let end = PartyRequest::End { why: why.clone() };
            for server in 0..self.agreement.servers.len() {
                // An idle connection may be gone: tried once more. A server that cannot be reached runs
                // out of patience by itself.
                let told = inner.line.ask(server, &end, &[]);
                if matches!(told, Err(PartiesError::Transport(_))) {
                    let _ = inner.line.ask(server, &end, &[]);
                }
            }
        }
        found
    }

    /// Requests the standing of each server.
    pub fn standing(&self) -> Vec<(String, Result<RunStanding, PartiesError>)> {
        let mut inner = self.lock();
        let mut all = Vec::new();
        for (place, station) in self.agreement.servers.iter().enumerate() {
            let found = match inner.line.ask(place, &PartyRequest::Status, &[]) {
                Ok((ServerReply::Standing(standing), _)) => Ok(standing),
                Ok(_) => {
                    Err(PartiesError::Transport(format!("{} gave an odd answer", station.name)))
                }
                Err(error) => Err(error),
            };
            all.push((station.name.clone(), found));
        }
        all
    }

    /// Informs every server that the result is there; one that is gone already is ignored.
    pub fn finish(&self) {
        let mut inner = self.lock();
        let patience = Duration::from_secs(self.agreement.patience.min(TELLING));
        let (began, mut pauses) = (Instant::now(), RequestIntervals::new());
        for server in 0..self.agreement.servers.len() {
            // A server that is being restarted would wait for this party.
            while matches!(
                inner.line.ask(server, &PartyRequest::Done, &[]),
                Err(PartiesError::Transport(_))
            ) && began.elapsed() < patience
            {
                pauses.pause();
            }
        }
        // The stored shares would add up to this party's own sums.
        inner.kept = None;
        if let Some(store) = &self.own.store {
            let _ = store.forget_shares();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner<L>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, server: usize) -> &str {
        &self.agreement.servers[server].name
    }

    /// Repeats a request until there is an answer, or the patience ends.
    fn request_until_answered(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        let (began, patience) = (Instant::now(), Duration::from_secs(self.agreement.patience));
        let mut pauses = RequestIntervals::new();
        loop {
            match inner.line.ask(server, ask, body) {
                Ok(answer) => return Ok(answer),
                Err(PartiesError::Transport(_)) if began.elapsed() < patience => pauses.pause(),
                Err(error) => return Err(error),
            }
        }
    }

    fn unexpected_reply(&self, server: usize, reply: &ServerReply) -> PartiesError {
        let name = self.name(server);
        match reply {
            ServerReply::Refused { why } => {
                PartiesError::Refused(format!("server {name} refuses: {}", printable_reason(why)))
            }
            ServerReply::Ended { why } => PartiesError::Ended(format!(
                "server {name} ended the run: {}",
                printable_reason(why)
            )),
            _ => PartiesError::Ended(format!("server {name} gave an odd answer")),
        }
    }

    /// Carries out a round; after the last one, collects every party's signature.
    fn round(
        &self,
        round: u64,
        charged: &Event,
        fresh: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, PartiesError> {
        let mut inner = self.lock();
        if self.own.begun.is_none() {
            return Err(PartiesError::InvalidRequest(
                "a party takes part with a table: it was opened to look".into(),
            ));
        }
        let opened =
            self.collect_openings(&mut inner, round, charged, fresh).and_then(|openings| {
                if !inner.rounds.go_on(charged) {
                    return Err(PartiesError::Ended(format!("round {} is not planned", round + 1)));
                }
                if inner.rounds.complete() {
                    self.exchange_signatures(&mut inner)?;
                }
                Ok(openings)
            });
        self.told_everyone(&mut inner, opened)
    }
}

/// A server's reason, shortened and with control characters escaped.
fn printable_reason(words: &str) -> String {
    printable(words).chars().take(MOST_REASON_CHARACTERS).collect()
}

impl<L: Transport> PartyChannel for Party<L> {
    fn exchange(
        &self,
        round: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError> {
        Ok(self.round(round, leaf, shares)?)
    }

    fn is_simulated(&self) -> bool {
        self.lock().line.is_simulated()
    }

    fn declared_rows(&self) -> Option<u64> {
        Some(self.holder().rows)
    }
}
