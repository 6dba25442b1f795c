//! One round at a server: shares in, a commitment, and the opening once all parties have sent the same
//! commitments.

use super::state::{Open, Opening, State};
use super::{Server, refusal};
use crate::PartiesError;
use crate::commitment::{Commitment, is_digest, leaf, nonce};
use crate::message::ServerReply;
use crate::unanimous::Unanimous;
use privet_dp::gate::GateError;
use privet_dp::mechanism::joint::NoiseShare;
use privet_dp::mechanism::shares::ServerSum;
use sha2::{Digest, Sha256};
use std::sync::MutexGuard;
use std::time::Instant;
use zeroize::Zeroizing;

impl Server {
    pub(super) fn take_share(
        &self,
        state: &mut State,
        party: usize,
        round: u64,
        (charged, heard): (&str, &str),
        share: &[u128],
    ) -> ServerReply {
        let name = self.agreement.parties[party].name.clone();
        let current = state.openings.len() as u64;
        if round < current {
            (self.tell)(&format!("{name} sent its share of round {} again: ignored", round + 1));
            return ServerReply::Taken;
        }
        let open = round == current && state.shown == current;
        let Some(planned) = state.rounds.next().cloned().filter(|_| open) else {
            return self.end(
                state,
                format!("{name} sent a share of round {}, which is not open", round + 1),
            );
        };
        if leaf(&planned) != charged {
            return self.end(state, format!("{name} goes by another plan in round {}", round + 1));
        }
        if state.open.is_none() {
            let adding = match ServerSum::new(&planned, self.among) {
                Ok(adding) => adding,
                Err(error) => return self.end(state, error.to_string()),
            };
            let shares = vec![None; self.agreement.parties.len()];
            let heard = Unanimous::among(self.agreement.parties.len());
            state.open = Some(Open { adding, shares, heard, since: Instant::now() });
        }
        let Some(open) = &mut state.open else { return refusal("no round is open") };
        let digest = digest_of_share(share);
        if let Some(before) = open.shares[party] {
            if before == digest {
                return ServerReply::Taken;
            }
            return self
                .end(state, format!("{name} sent two different shares of round {}", round + 1));
        }
        if let Err(first) = open.heard.say(party, &heard.to_string()) {
            let first = self.agreement.parties[first].name.clone();
            let why =
                format!("{first} and {name} were told different sums before round {}", round + 1);
            return self.end(state, why);
        }
        if open.adding.add(share).is_err() {
            return self.end(
                state,
                format!("{name} sent a share of the wrong length in round {}", round + 1),
            );
        }
        open.shares[party] = Some(digest);
        if open.shares.iter().all(Option::is_some)
            && let Some(open) = state.open.take()
        {
            return self.open_round(state, open, round);
        }
        ServerReply::Taken
    }

    /// With every share received: adds noise, stores the opening, then commits to it.
    fn open_round(&self, state: &mut State, open: Open, round: u64) -> ServerReply {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            format!("{} could not {what} round {}: {error}", self.name, round + 1)
        };
        let Some(charged) = state.rounds.next().cloned() else {
            return refusal("no round is open");
        };
        let numbers = match self.noisy_sum(state, open.adding, round) {
            Ok(numbers) => numbers,
            Err(error) => return self.end(state, failed("open", &error)),
        };
        let nonce = match nonce() {
            Ok(nonce) => nonce,
            Err(error) => return self.end(state, failed("open", &error)),
        };
        if let Some(store) = &self.store {
            if let Err(error) = store.keep_opening(round, &nonce, &numbers) {
                return self.end(state, failed("write down", &error));
            }
            if state.together.is_some()
                && let Err(error) = store.wipe_noise(round)
            {
                return self.end(state, failed("wipe its noise of", &error));
            }
        }
        let server = self.agreement.server(&self.name).unwrap_or_default();
        let (agreement, leaf) = (&self.digest, &leaf(&charged));
        let commitment =
            Commitment { agreement, round, leaf, server, nonce: &nonce }.digest(&numbers);
        state.rounds.go_on(&charged);
        state.openings.push(Opening { commitment, nonce, numbers });
        state.told = Unanimous::among(self.agreement.parties.len());
        state.since = Instant::now();
        self.changed.notify_all();
        ServerReply::Taken
    }

    /// Adds noise to the sum: this server's own, or its share of the noise drawn together for this
    /// round.
    fn noisy_sum(
        &self,
        state: &mut State,
        adding: ServerSum,
        round: u64,
    ) -> Result<Vec<u128>, PartiesError> {
        let odd = |error: GateError| PartiesError::InvalidRequest(error.to_string());
        let Some(together) = &mut state.together else {
            return adding.opening(state.source.as_mut()).map_err(odd);
        };
        let share = match &self.store {
            Some(store) => store.noise(round)?.map(|(_, share)| share),
            None => together.held.remove(&round),
        };
        let share = share.filter(|share| together.ready && share.len() == adding.coordinates());
        let missing = || PartiesError::InvalidRequest("its share of the noise is not there".into());
        adding.opening_with(NoiseShare::new(share.ok_or_else(missing)?)).map_err(odd)
    }

    /// Returns this server's commitment of a round, once every party's share is there.
    pub(super) fn commitment_of_round(
        &self,
        state: MutexGuard<'_, State>,
        round: u64,
    ) -> ServerReply {
        let state = self.delay_until(state, |state| state.openings.len() as u64 > round);
        match (&state.ended, state.openings.get(round as usize)) {
            (Some(why), _) => ServerReply::Ended { why: why.clone() },
            (None, Some(there)) => ServerReply::Committed { digest: there.commitment.clone() },
            (None, None) => ServerReply::Waiting { missing: self.missing(&state) },
        }
    }

    /// Returns the opening of a round, once every party has sent the same commitments of all servers.
    pub(super) fn opening_of_round(
        &self,
        mut state: MutexGuard<'_, State>,
        party: usize,
        round: u64,
        commitments: &[String],
    ) -> (ServerReply, Vec<u128>) {
        if round == state.shown
            && let Some(own) = state.openings.get(round as usize)
        {
            let own = own.commitment.clone();
            if let Err(why) = self.take_commitments(&mut state, party, commitments, own) {
                return (self.end(&mut state, why), vec![]);
            }
        }
        let state = self.delay_until(state, |state| state.shown > round);
        match (&state.ended, state.openings.get(round as usize)) {
            (Some(why), _) => (ServerReply::Ended { why: why.clone() }, vec![]),
            (None, Some(there)) if round < state.shown => {
                (ServerReply::Opened { nonce: there.nonce.clone() }, there.numbers.clone())
            }
            (None, _) => (ServerReply::Waiting { missing: self.missing(&state) }, vec![]),
        }
    }

    /// Records a party's commitments for the next round; when all have sent the same, the round is open.
    /// An error ends the run.
    fn take_commitments(
        &self,
        state: &mut State,
        party: usize,
        commitments: &[String],
        own: String,
    ) -> Result<(), String> {
        let (name, round) = (&self.agreement.parties[party].name, state.shown);
        let server = self.agreement.server(&self.name).unwrap_or_default();
        let whole = commitments.len() == self.agreement.servers.len()
            && commitments.iter().all(|commitment| is_digest(commitment))
            && commitments[server] == own;
        if !whole {
            return Err(format!(
                "{name} says that {} committed itself to something else in round {}",
                self.name,
                round + 1
            ));
        }
        if let Err(first) = state.told.say(party, &commitments.to_vec()) {
            return Err(format!(
                "{} and {name} were told different commitments in round {}: a server does not keep to the protocol",
                self.agreement.parties[first].name,
                round + 1
            ));
        }
        if !state.told.all() {
            return Ok(());
        }
        if let Some(store) = &self.store {
            let failed =
                |error| format!("{} could not write down round {}: {error}", self.name, round + 1);
            store.keep_commitments(round, commitments).map_err(failed)?;
        }
        (state.shown, state.since) = (round + 1, Instant::now());
        if state.is_open() {
            (self.tell)(&format!("all {} rounds are opened", state.openings.len()));
        }
        self.changed.notify_all();
        Ok(())
    }
}

/// Distinguishes one share from another.
fn digest_of_share(share: &[u128]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for number in share {
        hash.update(Zeroizing::new(number.to_le_bytes()));
    }
    hash.finalize().into()
}
