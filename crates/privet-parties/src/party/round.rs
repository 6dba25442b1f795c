//! One round: shares out, commitments received and stored, openings checked against them.

use super::{Inner, Party, Transport, printable_reason};
use crate::PartiesError;
use crate::commitment::{Commitment, is_digest, leaf};
use crate::message::{PartyRequest, ServerReply};
use crate::plausible::is_plausible;
use crate::store::StoredShares;
use crate::waiting::{RequestIntervals, deadline};
use privet_dp::account::Event;
use privet_dp::mechanism::shares::sum_openings;
use std::time::Instant;
use zeroize::Zeroizing;

impl<L: Transport> Party<L> {
    pub(super) fn collect_openings(
        &self,
        inner: &mut Inner<L>,
        round: u64,
        charged: &Event,
        fresh: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, PartiesError> {
        let length = fresh.first().map_or(0, |share| share.len());
        // A round from before a restart was sent then, and is not made again: the shares on disk count.
        let past = inner.kept.as_ref().is_some_and(|kept| round < kept.round);
        let again = inner.kept.as_ref().is_some_and(|kept| round == kept.round);
        if !past && !again {
            let kept = StoredShares { round, shares: fresh };
            if let Some(store) = &self.own.store {
                store.keep_shares(&kept)?;
            }
            inner.kept = Some(kept);
        }
        let shares = match &inner.kept {
            Some(kept) if !past => kept.shares.clone(),
            _ => Vec::new(),
        };
        let charged_as = leaf(charged);
        let heard = inner.heard.digest();
        let share = PartyRequest::Share { round, leaf: charged_as.clone(), heard };
        for (server, numbers) in shares.iter().enumerate() {
            self.send_share(inner, server, &share, numbers)?;
        }
        let commitments = self.commitments(inner, (round, past), &share, &shares)?;
        let openings = self.openings(inner, (round, &charged_as), &commitments)?;
        if openings.iter().any(|opening| opening.len() != length) {
            return Err(PartiesError::Ended("a server opened sums of another length".into()));
        }
        let sum = sum_openings(&openings).unwrap_or_default();
        if let Some(rows) = self.public_rows
            && !is_plausible(charged, self.agreement.participants()?, rows, &sum)
        {
            return Err(PartiesError::Ended(format!(
                "what was opened in round {} is more than {rows} rows can add up to under its noise: a party or server \
                 sends what no table gives",
                round + 1
            )));
        }
        inner.heard.round((round, &charged_as), &commitments, &openings, &sum);
        inner.opened = inner.opened.max(round + 1);
        Ok(openings)
    }

    /// Sends a server its share; one that was restarted is greeted first.
    pub(super) fn send_share(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        ask: &PartyRequest,
        share: &[u128],
    ) -> Result<(), PartiesError> {
        match self.request_until_answered(inner, server, ask, share)?.0 {
            ServerReply::Taken => Ok(()),
            ServerReply::Refused { .. } => {
                self.greet(inner, server)?;
                match self.request_until_answered(inner, server, ask, share)?.0 {
                    ServerReply::Taken => Ok(()),
                    reply => Err(self.unexpected_reply(server, &reply)),
                }
            }
            reply => Err(self.unexpected_reply(server, &reply)),
        }
    }

    /// Collects the servers' commitments of a round, and stores them before any server receives the
    /// others'. Those from before a restart count, and a server's commitment now must be the same.
    fn commitments(
        &self,
        inner: &mut Inner<L>,
        (round, past): (u64, bool),
        share: &PartyRequest,
        shares: &[Zeroizing<Vec<u128>>],
    ) -> Result<Vec<String>, PartiesError> {
        let store = self.own.store.as_ref();
        let before = store.map(|store| store.commitments(round)).transpose()?.flatten();
        if past {
            return before.ok_or_else(|| {
                PartiesError::InvalidRequest(format!(
                    "the party's folder lacks what servers committed themselves to in round {}: bring it back whole, or \
                     begin a new agreement",
                    round + 1
                ))
            });
        }
        let (until, mut all) = (deadline(self.agreement.patience), Vec::new());
        for server in 0..self.agreement.servers.len() {
            let waiting = |party: &Self, inner: &mut Inner<L>| match shares.get(server) {
                // A restarted server may have lost our share: the same numbers are sent again.
                Some(numbers) => party.send_share(inner, server, share, numbers),
                None => Ok(()),
            };
            match self
                .awaited(inner, server, &PartyRequest::Commitment { round }, until, waiting)?
                .0
            {
                ServerReply::Committed { digest } if is_digest(&digest) => all.push(digest),
                reply => return Err(self.unexpected_reply(server, &reply)),
            }
        }
        let Some(before) = before else {
            if let Some(store) = store {
                store.keep_commitments(round, &all)?;
            }
            return Ok(all);
        };
        match before.iter().zip(&all).position(|(before, now)| before != now) {
            Some(server) => Err(PartiesError::Ended(format!(
                "server {} had committed itself to another opening of round {}: it was brought back to an earlier state, or \
                 cheats",
                self.name(server),
                round + 1
            ))),
            None => Ok(before),
        }
    }

    /// Collects the openings of all servers, and checks each against its commitment.
    fn openings(
        &self,
        inner: &mut Inner<L>,
        (round, leaf): (u64, &str),
        commitments: &[String],
    ) -> Result<Vec<Vec<u128>>, PartiesError> {
        let (until, mut openings) = (deadline(self.agreement.patience), Vec::new());
        let ask = PartyRequest::Opening { round, commitments: commitments.to_vec() };
        let agreement = &self.agreement.digest();
        for (server, committed) in commitments.iter().enumerate() {
            let (reply, numbers) = self.awaited(inner, server, &ask, until, |_, _| Ok(()))?;
            let ServerReply::Opened { nonce } = &reply else {
                return Err(self.unexpected_reply(server, &reply));
            };
            let opened = Commitment { agreement, round, leaf, server, nonce }.digest(&numbers);
            if opened != *committed {
                return Err(PartiesError::Ended(format!(
                    "server {} opened round {} with other numbers than it had committed itself to: it cheats, or was \
                     brought back to an earlier state",
                    self.name(server),
                    round + 1
                )));
            }
            openings.push(numbers);
        }
        Ok(openings)
    }

    /// Repeats a request until the server answers something other than "waiting", with pauses and a
    /// deadline. `meanwhile` runs whenever the server waits for this party.
    fn awaited(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        ask: &PartyRequest,
        until: Instant,
        meanwhile: impl Fn(&Self, &mut Inner<L>) -> Result<(), PartiesError>,
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        let (mut pauses, own) = (RequestIntervals::new(), &self.holder().name);
        loop {
            match self.request_until_answered(inner, server, ask, &[])? {
                (ServerReply::Waiting { missing }, _) if Instant::now() < until => {
                    if missing.contains(own) {
                        meanwhile(self, inner)?;
                    }
                    pauses.pause();
                }
                (ServerReply::Waiting { missing }, _) => {
                    return Err(PartiesError::Ended(format!(
                        "server {} waited too long for {}",
                        self.name(server),
                        printable_reason(&missing.join(", "))
                    )));
                }
                answer => return Ok(answer),
            }
        }
    }
}
