//! After the last round: collects the parties' signatures, and passes them on.

use super::state::State;
use super::{Server, refusal};
use crate::commitment::is_digest;
use crate::message::ServerReply;
use crate::signature::Signed;
use std::sync::MutexGuard;

/// Approximate maximum bytes of signatures in one message.
const SIGNATURES: usize = 48_000;

impl Server {
    /// Stores a party's signature, and returns all parties' once all are there.
    pub(super) fn take_signature(
        &self,
        mut state: MutexGuard<'_, State>,
        party: usize,
        signed: &Signed,
        from: u64,
    ) -> ServerReply {
        if !state.is_open() {
            return refusal("a signature came before the last round was open");
        }
        if let Err(why) = self.check_signature(&mut state, party, signed) {
            return self.end(&mut state, why);
        }
        let state = self.delay_until(state, State::is_witnessed);
        if let Some(why) = &state.ended {
            return ServerReply::Ended { why: why.clone() };
        }
        if !state.is_witnessed() {
            return ServerReply::Waiting { missing: self.missing(&state) };
        }
        let (mut signatures, mut bytes) = (Vec::new(), 0);
        for one in state.signed.iter().flatten().skip(from as usize) {
            bytes += one.certificate.len() + one.signature.len() + 200;
            if bytes > SIGNATURES && !signatures.is_empty() {
                break;
            }
            signatures.push(one.clone());
        }
        ServerReply::Signatures { signatures }
    }

    /// Checks and stores a signature; an error ends the run.
    fn check_signature(
        &self,
        state: &mut State,
        party: usize,
        signed: &Signed,
    ) -> Result<(), String> {
        let name = &self.agreement.parties[party].name;
        if let Some(before) = &state.signed[party] {
            return match before.transcript == signed.transcript {
                true => Ok(()),
                false => Err(format!("{name} signed twice, and not the same")),
            };
        }
        if !is_digest(&signed.transcript) || !signed.is_of(&self.agreement, party) {
            return Err(format!("{name} sent a signature that is not its own"));
        }
        if let Err(first) = state.transcript.say(party, &signed.transcript) {
            return Err(format!(
                "{} and {name} signed that they heard different things: a server tells parties different sums, and no \
                 result is accepted",
                self.agreement.parties[first].name
            ));
        }
        if let Some(store) = &self.store {
            let failed = |error| format!("{} could not write down a signature: {error}", self.name);
            store.keep_signature(party, signed).map_err(failed)?;
        }
        state.signed[party] = Some(signed.clone());
        self.changed.notify_all();
        Ok(())
    }
}
