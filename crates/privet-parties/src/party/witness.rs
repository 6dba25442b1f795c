//! After the last round: every party's signature under the same digest, or no result.

use super::{Inner, Party, Transport};
use crate::PartiesError;
use crate::message::{PartyRequest, ServerReply};
use crate::signature::{Signed, Witness};
use crate::waiting::{RequestIntervals, deadline};
use std::time::Instant;

impl<L: Transport> Party<L> {
    /// Signs the digest of everything received, and collects every party's signature under the same
    /// digest: without them there is no result. Any one server suffices to deliver them; this party's
    /// own goes to all.
    pub(super) fn exchange_signatures(&self, inner: &mut Inner<L>) -> Result<(), PartiesError> {
        let transcript = inner.heard.digest();
        let own = match &self.own.signer {
            Some(signer) => signer.sign(&self.agreement, &transcript)?,
            None => Signed { transcript: transcript.clone(), ..Signed::default() },
        };
        let parties = &self.agreement.parties;
        let (until, mut pauses) = (deadline(self.agreement.patience), RequestIntervals::new());
        let mut all: Vec<Option<Signed>> = vec![None; parties.len()];
        loop {
            let (mut ended, mut lost) = (None, None);
            for server in 0..self.agreement.servers.len() {
                match self.collect_signatures(inner, server, (&own, until), &mut all)? {
                    Some(error @ PartiesError::Transport(_)) => lost = Some(error),
                    Some(error) => ended = Some(error),
                    None => {}
                }
            }
            if all.iter().all(Option::is_some) {
                let signatures = all.into_iter().flatten().collect();
                let parties = parties.iter().map(|party| party.name.clone()).collect();
                let Some(store) = &self.own.store else { return Ok(()) };
                return store.keep_witness(&Witness { parties, signatures });
            }
            let missing = || {
                let missing = parties.iter().zip(&all).filter(|(_, signed)| signed.is_none());
                missing.map(|(one, _)| one.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            match (ended, lost) {
                (Some(ended), _) => return Err(ended),
                (None, lost) if Instant::now() >= until => {
                    let why = lost.map(|lost| format!(" ({lost})")).unwrap_or_default();
                    return Err(PartiesError::Ended(format!(
                        "all rounds were opened, and no signature came of {} under what {} heard: no result is \
                         accepted{why}",
                        missing(),
                        self.holder().name
                    )));
                }
                _ => pauses.pause(),
            }
        }
    }

    /// Collects signatures from one server. Returns that server's error, if any; an `Err` ends the run.
    fn collect_signatures(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        (own, until): (&Signed, Instant),
        all: &mut [Option<Signed>],
    ) -> Result<Option<PartiesError>, PartiesError> {
        let mut from = 0;
        while from < all.len() {
            let ask = PartyRequest::Sign { signed: own.clone(), from: from as u64 };
            let signatures = match inner.line.ask(server, &ask, &[]) {
                Ok((ServerReply::Signatures { signatures }, _)) => signatures,
                Ok((ServerReply::Waiting { .. }, _)) => return Ok(None),
                Ok((reply, _)) => return Ok(Some(self.unexpected_reply(server, &reply))),
                Err(error @ PartiesError::Transport(_)) => return Ok(Some(error)),
                Err(error) => return Err(error),
            };
            let before = from;
            for (place, signed) in all[before..].iter_mut().zip(signatures) {
                // An invalid signature counts as withheld: another server may have the right one.
                if signed.is_of(&self.agreement, from) {
                    if signed.transcript != own.transcript {
                        return Err(PartiesError::Ended(format!(
                            "{} has signed that it heard something else than {}: a server tells parties different \
                             things, and no result is accepted",
                            self.agreement.parties[from].name,
                            self.holder().name
                        )));
                    }
                    *place = Some(signed);
                }
                from += 1;
            }
            if from == before || Instant::now() >= until {
                break;
            }
        }
        Ok(None)
    }
}
