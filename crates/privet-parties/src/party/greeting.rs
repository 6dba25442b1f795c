//! Greeting of a server by a party, and waiting until the servers have drawn their noise.

use super::{Inner, Party, Transport};
use crate::PartiesError;
use crate::message::{PROTOCOL, PartyRequest, ServerReply};
use crate::server::now;
use crate::waiting::RequestIntervals;
use privet_dp::gate::PlannedDraws;
use privet_dp::mechanism::joint::Drawing;
use privet_dp::mechanism::shares::NoiseMode;
use privet_joint::COORDINATES_PER_EVALUATION;
use std::time::{Duration, Instant};

/// Progress of the servers' drawing, and the deadline for it.
struct Progress {
    done: Option<u64>,
    until: Instant,
}

impl Progress {
    fn new() -> Self {
        Self { done: None, until: Instant::now() }
    }
}

impl<L: Transport> Party<L> {
    pub(super) fn greet(&self, inner: &mut Inner<L>, server: usize) -> Result<(), PartiesError> {
        let (mut pauses, mut drawing) = (RequestIntervals::new(), Progress::new());
        let reply = loop {
            let hello = PartyRequest::Hello {
                protocol: PROTOCOL,
                agreement: self.agreement.digest(),
                schema: self.schema.clone(),
                instance: inner.instance.clone(),
                begun: self.own.begun.clone(),
                clock: now(),
            };
            match self.request_until_answered(inner, server, &hello, &[])?.0 {
                // The servers proceed by themselves, or end the run.
                ServerReply::Drawing { done, of } => {
                    self.drawing(server, (done, of), &mut drawing)?;
                    pauses.pause();
                }
                reply => break reply,
            }
        };
        match reply {
            ServerReply::Welcome { round } if round < inner.opened => {
                Err(PartiesError::Ended(format!(
                    "server {} has opened {round} rounds, and had opened {} before: it was brought back to an earlier \
                     state, and would open with other noise",
                    self.name(server),
                    inner.opened
                )))
            }
            ServerReply::Welcome { .. } => Ok(()),
            reply => Err(self.unexpected_reply(server, &reply)),
        }
    }

    /// Checks a server's answer that noise is still being drawn: allowed for the agreed patience while
    /// the servers meet, and again for every [`COORDINATES_PER_EVALUATION`] values of the round being
    /// drawn. Nothing is spent before that.
    fn drawing(
        &self,
        server: usize,
        (done, of): (u64, u64),
        progress: &mut Progress,
    ) -> Result<(), PartiesError> {
        let odd =
            || PartiesError::Ended(format!("server {} gave an odd answer", self.name(server)));
        if self.agreement.participants()?.noise != NoiseMode::Joint {
            return Err(odd());
        }
        if progress.done.is_none_or(|before| done > before) {
            let numbers = self.drawn_after(done)?.ok_or_else(odd)?;
            let waits = 1 + numbers.div_ceil(COORDINATES_PER_EVALUATION);
            progress.done = Some(done);
            progress.until =
                Instant::now() + Duration::from_secs(self.agreement.patience.saturating_mul(waits));
        }
        if Instant::now() < progress.until {
            return Ok(());
        }
        Err(PartiesError::Transport(format!(
            "server {} says for too long that noise is being drawn ({} of {of} rounds); nothing is spent yet: ask who runs \
             it, and start again",
            self.name(server),
            done,
        )))
    }

    /// The number of values of the round after `done`, 0 after the last; `None` if `done` exceeds the
    /// plan.
    fn drawn_after(&self, done: u64) -> Result<Option<u64>, PartiesError> {
        let mut rounds = PlannedDraws::of(&self.agreement.events()?);
        for _ in 0..done {
            if !rounds.next().cloned().is_some_and(|leaf| rounds.go_on(&leaf)) {
                return Ok(None);
            }
        }
        let next = rounds.next().and_then(|leaf| Drawing::of(leaf).ok());
        Ok(Some(next.map_or(0, |drawing| drawing.coordinates as u64)))
    }
}
