//! Servers draw the noise of all rounds together, before anything is opened.
//!
//! Every server has one connection to each other server for writing, and one from each for reading: two
//! connections of mutual TLS per pair, each authenticated by the certificates of the agreement. Messages
//! are [`ServerMessage`]; beside them the [`Engine`]'s own bytes are passed on unread.
//!
//! 1. **Meeting.** Each sends the identifiers of its stored draws, and a random identifier of the
//!    meeting; once every server is known to have received all identifiers, the draws that all have are
//!    kept and the others deleted.
//! 2. **Drawing**, round by round: all say that they begin, each records the attempt on disk, the
//!    engines draw, each stores its share.
//! 3. **Ready.** Each sends the digest of its draws; when all agree, it records that it is ready. From
//!    then on it never draws again: a server that has lost its shares ends the run.
//!
//! A broken connection leads back to the meeting, and draws that all servers have are kept. A round that
//! was begun [`ATTEMPTS`] times and not drawn ends the run, because that many are charged for
//! ([`privet_dp::mechanism::joint`]). An engine that fails while all connections hold ends the run at
//! once: some server deviates from the protocol, or its program is broken; all servers are notified.
//!
//! Until a server is ready it defers the parties' requests, so that nothing is spent before.

mod lines;
#[cfg(test)]
mod tests;

pub(crate) use lines::{AcceptedConnection, Event, Inbound};

use crate::agreement::hex;
use crate::engine::{Engine, Job};
use crate::server::{CLOCKS, Server, now};
use crate::tls::Connections;
use lines::{ConnectionEnd, Lines, ServerMessage};
use privet_dp::mechanism::joint::{ATTEMPTS, Drawing};
use privet_joint::pipe;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Time to wait, after an engine failed, for news of a broken connection.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// Reasons for the end of a meeting.
enum MeetingEnd {
    /// A connection broke: the servers meet again.
    Transport(String),
    /// The run is over.
    End(String),
}

impl From<ConnectionEnd> for MeetingEnd {
    fn from(lost: ConnectionEnd) -> Self {
        match lost {
            ConnectionEnd::Transport(why) => Self::Transport(why),
            ConnectionEnd::Told(why) => Self::End(why),
        }
    }
}

impl From<crate::PartiesError> for MeetingEnd {
    fn from(error: crate::PartiesError) -> Self {
        Self::End(error.to_string())
    }
}

/// One server's part in drawing noise.
pub(crate) struct Drawer {
    server: Arc<Server>,
    engine: Arc<dyn Engine>,
    lines: Lines,
    drawings: Vec<Drawing>,
    place: usize,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Channel for the connections of other servers.
pub(crate) fn inbox() -> (Sender<Event>, Receiver<Event>) {
    channel()
}

impl Drawer {
    pub fn new(
        server: Arc<Server>,
        engine: Arc<dyn Engine>,
        connections: Connections,
        (inbox, events): (Sender<Event>, Receiver<Event>),
        tell: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        let place = server.agreement().server(server.name()).unwrap_or_default();
        let names = server.agreement().servers.iter().map(|server| server.name.clone()).collect();
        let lines = Lines::new(place, names, connections, inbox, events);
        let drawings = server.drawings().unwrap_or_default();
        Self { server, engine, lines, drawings, place, tell }
    }

    /// Runs meetings until the run is over.
    pub fn run(mut self) {
        let mut told = String::new();
        let mut since = Instant::now();
        while !self.server.is_over() {
            match self.meeting(&mut since) {
                Ok(()) => return,
                Err(MeetingEnd::Transport(why)) => {
                    if !self.server.noise_is_ready() && told != why {
                        (self.tell)(&format!("noise: {why}; the servers meet again"));
                        told = why;
                    }
                    self.lines.close();
                    std::thread::sleep(Duration::from_millis(400));
                }
                Err(MeetingEnd::End(why)) => {
                    self.lines.say(&ServerMessage::Ended { why: why.clone() });
                    self.server.end_run(&why);
                    self.lines.close();
                    return;
                }
            }
        }
    }

    /// Runs one meeting, from its first message to the end of the run.
    fn meeting(&mut self, since: &mut Instant) -> Result<(), MeetingEnd> {
        let server = Arc::clone(&self.server);
        let Some(store) = server.store() else {
            return Err(MeetingEnd::End("a server without a folder cannot draw noise".into()));
        };
        let mut kept = Vec::new();
        while let Some((draw, _)) = store.noise(kept.len() as u64)? {
            kept.push(draw);
        }
        let mut attempts = store.attempts()?;
        attempts.resize(self.drawings.len(), 0);
        let begun = attempts.iter().any(|count| *count > 0);
        let (agreement, ready) = (server.agreement(), self.server.noise_is_ready());
        let hello = ServerMessage::Hello {
            agreement: agreement.digest(),
            protocol: pipe::PROTOCOL,
            clock: now(),
            word: word()?,
            draws: kept.clone(),
            ready,
        };
        // Before any draw was begun, the wait for others is unlimited.
        let patience = (begun && !ready).then_some(Duration::from_secs(agreement.patience));
        let met = self.lines.meet(&hello, patience, since, &mut || server.is_over(), &self.tell);
        let Some(met) = met? else { return Ok(()) };
        *since = Instant::now();
        for (place, other) in &met.hellos {
            self.check(*place, other)?;
        }
        let everyone: Vec<(usize, &Vec<String>, bool)> = met
            .hellos
            .iter()
            .filter_map(|(place, hello)| match hello {
                ServerMessage::Hello { draws, ready, .. } => Some((*place, draws, *ready)),
                _ => None,
            })
            .chain([(self.place, &kept, ready)])
            .collect();
        let common = (0..self.drawings.len())
            .take_while(|round| {
                kept.get(*round).is_some_and(|own| {
                    everyone.iter().all(|(_, draws, _)| draws.get(*round) == Some(own))
                })
            })
            .count();
        if common < self.drawings.len()
            && let Some((counting, ..)) = everyone.iter().find(|(.., ready)| *ready)
        {
            let lacking = everyone.iter().find(|(_, draws, ready)| !ready || draws.len() <= common);
            return Err(MeetingEnd::End(format!(
                "server {} lacks its share of the noise of round {}, which server {} counts on: nothing more is opened",
                self.lines.name(lacking.map_or(self.place, |(place, ..)| *place)),
                common + 1,
                self.lines.name(*counting)
            )));
        }
        drop(everyone);
        if !ready {
            store.forget_noise(common as u64)?;
            kept.truncate(common);
        }
        for round in common..self.drawings.len() {
            self.server.drawn(round as u64, false);
            self.lines.say(&ServerMessage::Begin { round: round as u64 });
            let begins = |say: &ServerMessage| matches!(say, ServerMessage::Begin { round: other } if *other == round as u64);
            self.lines.all_say(begins, &|| server.is_over())?;
            attempts[round] += 1;
            if attempts[round] > ATTEMPTS {
                return Err(MeetingEnd::End(format!(
                    "the noise of round {} was begun {ATTEMPTS} times and not drawn, and no more are charged for: begin a new \
                     agreement; nothing was opened",
                    round + 1
                )));
            }
            store.keep_attempts(&attempts)?;
            let share = self.drawn(round)?;
            let draw = hex(&Sha256::digest(format!("{} round {round}", met.word)));
            store.keep_noise(round as u64, &draw, &share)?;
            kept.push(draw);
            *since = Instant::now();
        }
        let digest = hex(&Sha256::digest(kept.join("\n")));
        self.lines.say(&ServerMessage::Have { digest: digest.clone() });
        self.lines.all_say(
            |say| matches!(say, ServerMessage::Have { digest: other } if *other == digest),
            &|| server.is_over(),
        )?;
        if !ready {
            store.keep_noise_ready(&digest)?;
            self.server.drawn(self.drawings.len() as u64, true);
            (self.tell)(&format!(
                "the servers have drawn the noise of {} rounds together",
                self.drawings.len()
            ));
        }
        // Others may not have received it yet, or reconnect.
        Ok(self.lines.rest(&|| server.is_over())?)
    }

    /// Checks another server's first message; a mistake that its operator can correct is retried.
    fn check(&self, place: usize, hello: &ServerMessage) -> Result<(), MeetingEnd> {
        let ServerMessage::Hello { agreement, protocol, clock, .. } = hello else {
            return Err(MeetingEnd::Transport("a server did not greet".into()));
        };
        let (own, other) = (self.server.name(), self.lines.name(place));
        if *agreement != self.server.agreement().digest() {
            return Err(MeetingEnd::End(format!(
                "servers {own} and {other} hold different agreements: everyone needs the same file, bit for bit"
            )));
        }
        if *protocol != pipe::PROTOCOL {
            return Err(MeetingEnd::Transport(format!(
                "servers {own} and {other} draw noise by different protocols ({} and {protocol}): both need the same \
                 version of privet",
                pipe::PROTOCOL
            )));
        }
        if clock.abs_diff(now()) > CLOCKS {
            return Err(MeetingEnd::Transport(format!(
                "the clocks of servers {own} and {other} are {} s apart; at most {CLOCKS} are accepted: set them right",
                clock.abs_diff(now())
            )));
        }
        Ok(())
    }

    /// Draws the noise of one round: runs the engine and passes its bytes on.
    fn drawn(&mut self, round: usize) -> Result<Zeroizing<Vec<u128>>, MeetingEnd> {
        let job = Job {
            place: self.place,
            servers: self.server.agreement().servers.len(),
            drawing: self.drawings[round],
        };
        let (engine, server) = (Arc::clone(&self.engine), Arc::clone(&self.server));
        let (outcome, mut writers) = (self.lines.outcome(), self.lines.writers());
        let (to_engine, from) = channel();
        let working = std::thread::spawn(move || {
            let mut to = |place: usize, bytes: &[u8]| writers.write(place, bytes);
            let drawn = engine.draw(&job, from, &mut to);
            let _ = outcome.send(Event::Drawn(drawn));
        });
        let passed = self.lines.pass_on(to_engine, &|| server.is_over());
        let drawn = match passed {
            Ok(drawn) => drawn,
            Err(lost) => {
                // Without connections the engine ends by itself.
                let _ = working.join();
                self.lines.forget_outcome();
                return Err(lost.into());
            }
        };
        let _ = working.join();
        match drawn {
            Ok(share) if share.len() == job.drawing.coordinates => Ok(share),
            Ok(_) => Err(MeetingEnd::End("the engine drew noise of another length".into())),
            Err(why) => match self.lines.broken_within(AFTERWARDS) {
                Some(lost) => Err(lost.into()),
                None => Err(MeetingEnd::End(format!(
                    "the servers did not draw the noise of round {} together, and nothing is opened; server {} found: {why}",
                    round + 1,
                    self.server.name()
                ))),
            },
        }
    }
}

/// Returns a random identifier of a meeting.
fn word() -> Result<String, MeetingEnd> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| MeetingEnd::End(error.to_string()))?;
    Ok(hex(&bytes))
}
