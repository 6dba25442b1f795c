//! Connections between servers: one to each for writing, one from each for reading.

use crate::agreement::hex;
use crate::connection_limits::Seat;
use crate::tls::{Connections, InboundStream, Stream};
use privet_core::printable;
use privet_joint::pipe;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Kind byte of a frame that holds a [`ServerMessage`].
const MESSAGE_FRAME: u8 = 0;
/// Kind byte of a frame that holds the engine's bytes.
const ENGINE_FRAME: u8 = 1;
/// Interval of a server's sign of life.
const PULSE: Duration = Duration::from_secs(4);
/// Interval at which waiting checks the time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum time for a frame, from the end of the one before: a server's signs of life are far more
/// frequent.
const FRAME_DEADLINE: Duration = Duration::from_secs(300);

/// Messages between servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ServerMessage {
    /// First message of a connection.
    Hello {
        /// Digest of the agreement, [`crate::Agreement::digest`].
        agreement: String,
        /// Protocol version of the engine.
        protocol: u32,
        /// Time in seconds since 1970.
        clock: u64,
        /// Random identifier of this meeting.
        word: String,
        /// Identifiers of the draws it has its shares of, by round.
        draws: Vec<String>,
        /// True if it will never draw again.
        ready: bool,
    },
    /// It has received every server's identifier of the meeting.
    Meeting {
        /// SHA-256 of all identifiers; equal for all servers that have them.
        words: String,
    },
    /// It begins to draw the noise of a round.
    Begin {
        /// Index of the round, from 0.
        round: u64,
    },
    /// It has all shares.
    Have {
        /// SHA-256 of the identifiers of its draws.
        digest: String,
    },
    /// Sign of life.
    Pulse,
    /// The run is over.
    Ended {
        /// The reason, in words.
        why: String,
    },
}

/// A connection from another server, after its certificate was checked.
pub(crate) struct AcceptedConnection {
    pub place: usize,
    pub stream: Box<InboundStream>,
    pub seat: Seat,
}

/// Sender of connections to the thread that uses them.
pub(crate) type Inbound = Sender<Event>;

/// An event of the connections or the engine.
pub(crate) enum Event {
    /// Another server has connected.
    Came(AcceptedConnection),
    /// A frame: index of the server, number of the connection, kind and bytes.
    Frame(usize, u64, u8, Zeroizing<Vec<u8>>),
    /// A connection has ended.
    Gone(usize, u64),
    /// The engine has ended.
    Drawn(Result<Zeroizing<Vec<u128>>, String>),
}

/// Reasons to stop using the connections.
pub(super) enum ConnectionEnd {
    /// A connection broke.
    Transport(String),
    /// A server said that the run is over, or deviated from the protocol in a way that ends it.
    Told(String),
}

/// Result of a meeting.
pub(super) struct Meeting {
    /// First messages of the other servers.
    pub hellos: Vec<(usize, ServerMessage)>,
    /// Digest of all identifiers.
    pub word: String,
}

/// State of reading from one server.
#[derive(Default)]
struct Reader {
    /// Number of its connection; 0 if there is none.
    connection: u64,
    said: VecDeque<(u8, Zeroizing<Vec<u8>>)>,
    hello: Option<ServerMessage>,
    words: Option<String>,
}

type Writer = Arc<Mutex<Option<Stream>>>;

/// All connections of one server.
pub(super) struct Lines {
    place: usize,
    names: Vec<String>,
    connections: Connections,
    inbox: Sender<Event>,
    events: Receiver<Event>,
    ears: Vec<Reader>,
    mouths: Vec<Writer>,
    number: u64,
    pulse: Instant,
    outcome: Option<Result<Zeroizing<Vec<u128>>, String>>,
}

/// Writes an engine's bytes to other servers.
pub(super) struct Writers(Vec<Writer>);

impl Writers {
    pub fn write(&mut self, place: usize, bytes: &[u8]) -> io::Result<()> {
        let none = || io::Error::other("there is no such server");
        let mut mouth = lock_writer(self.0.get(place).ok_or_else(none)?);
        let stream = mouth.as_mut().ok_or_else(none)?;
        write_frame(stream, ENGINE_FRAME, bytes)
    }
}

/// Writes a frame, with a deadline for the peer to read it.
fn write_frame(stream: &mut Stream, kind: u8, bytes: &[u8]) -> io::Result<()> {
    stream.sock.ends(Some(Instant::now() + FRAME_DEADLINE));
    pipe::write(stream, kind, bytes)
}

fn lock_writer(mouth: &Writer) -> std::sync::MutexGuard<'_, Option<Stream>> {
    mouth.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lines {
    pub fn new(
        place: usize,
        names: Vec<String>,
        connections: Connections,
        inbox: Sender<Event>,
        events: Receiver<Event>,
    ) -> Self {
        let ears = names.iter().map(|_| Reader::default()).collect();
        let mouths = names.iter().map(|_| Writer::default()).collect();
        let pulse = Instant::now();
        Self {
            place,
            names,
            connections,
            inbox,
            events,
            ears,
            mouths,
            number: 0,
            pulse,
            outcome: None,
        }
    }

    pub fn name(&self, place: usize) -> &str {
        &self.names[place]
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.place;
        (0..self.names.len()).filter(move |place| *place != own)
    }

    /// Sender for the engine's outcome.
    pub fn outcome(&self) -> Sender<Event> {
        self.inbox.clone()
    }

    pub fn writers(&self) -> Writers {
        Writers(self.mouths.clone())
    }

    /// Sends a message to all servers; a failure shows when nothing comes from there.
    pub fn say(&self, say: &ServerMessage) {
        self.others().for_each(|place| {
            let _ = self.say_to(place, say);
        });
    }

    fn say_to(&self, place: usize, say: &ServerMessage) -> io::Result<()> {
        let mut mouth = lock_writer(&self.mouths[place]);
        let Some(stream) = mouth.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
        let said = write_frame(stream, MESSAGE_FRAME, &serde_json::to_vec(say)?);
        if said.is_err() {
            *mouth = None;
        }
        said
    }

    /// Closes the writing connections. Reading goes on: other servers may have begun a new meeting
    /// already.
    pub fn close(&mut self) {
        for mouth in &self.mouths {
            if let Some(mut stream) = lock_writer(mouth).take() {
                stream.conn.send_close_notify();
                let _ = stream.conn.complete_io(&mut stream.sock);
            }
        }
        for reader in &mut self.ears {
            reader.words = None;
            reader.said.clear();
        }
    }

    /// Sends a sign of life at its interval. A connection in use needs none.
    fn pulse(&mut self) {
        if self.pulse.elapsed() < PULSE {
            return;
        }
        self.pulse = Instant::now();
        let bytes = serde_json::to_vec(&ServerMessage::Pulse).unwrap_or_default();
        for place in self.others() {
            if let Ok(mut mouth) = self.mouths[place].try_lock()
                && let Some(stream) = mouth.as_mut()
                && write_frame(stream, MESSAGE_FRAME, &bytes).is_err()
            {
                *mouth = None;
            }
        }
    }

    /// Handles the next event; returns the index of the server whose connection came or ended.
    fn next(&mut self) -> Result<Option<usize>, ConnectionEnd> {
        self.pulse();
        let event = match self.events.recv_timeout(POLL_INTERVAL) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ConnectionEnd::Told("nobody listens any more".into()));
            }
        };
        self.take_event(event)
    }

    fn take_event(&mut self, event: Event) -> Result<Option<usize>, ConnectionEnd> {
        match event {
            Event::Came(AcceptedConnection { place, stream, seat }) => {
                self.number += 1;
                let (number, inbox) = (self.number, self.inbox.clone());
                self.ears[place] = Reader { connection: number, ..Reader::default() };
                std::thread::spawn(move || {
                    let _seat = seat;
                    let mut stream = stream;
                    let mut read = || {
                        stream.sock.ends(Some(Instant::now() + FRAME_DEADLINE));
                        pipe::read(&mut stream)
                    };
                    while let Ok(Some((kind, bytes))) = read() {
                        let frame = Event::Frame(place, number, kind, Zeroizing::new(bytes));
                        if inbox.send(frame).is_err() {
                            return;
                        }
                    }
                    let _ = inbox.send(Event::Gone(place, number));
                });
                Ok(Some(place))
            }
            Event::Gone(place, number) if self.ears[place].connection == number => {
                self.ears[place] = Reader::default();
                Ok(Some(place))
            }
            Event::Frame(place, number, kind, bytes) if self.ears[place].connection == number => {
                self.take_frame(place, kind, bytes)?;
                Ok(None)
            }
            // Of a connection that was replaced since.
            Event::Gone(..) | Event::Frame(..) => Ok(None),
            Event::Drawn(drawn) => {
                self.outcome = Some(drawn);
                Ok(None)
            }
        }
    }

    fn take_frame(
        &mut self,
        place: usize,
        kind: u8,
        bytes: Zeroizing<Vec<u8>>,
    ) -> Result<(), ConnectionEnd> {
        if kind == ENGINE_FRAME {
            self.ears[place].said.push_back((kind, bytes));
            return Ok(());
        }
        let name = &self.names[place];
        let odd =
            |_| ConnectionEnd::Told(format!("server {name} sent something that is no message"));
        let reader = &mut self.ears[place];
        match serde_json::from_slice(&bytes).map_err(odd)? {
            ServerMessage::Pulse => {}
            hello @ ServerMessage::Hello { .. } => reader.hello = Some(hello),
            ServerMessage::Meeting { words } => reader.words = Some(words),
            ServerMessage::Ended { why } => {
                return Err(ConnectionEnd::Told(format!(
                    "server {name} ended the run: {}",
                    printable(why.trim_start_matches(&format!("server {name} ended the run: ")))
                )));
            }
            ServerMessage::Begin { .. } | ServerMessage::Have { .. } => {
                reader.said.push_back((kind, bytes))
            }
        }
        Ok(())
    }

    /// Meets all servers; `None` if the run is over before.
    pub fn meet(
        &mut self,
        hello: &ServerMessage,
        patience: Option<Duration>,
        since: &mut Instant,
        over: &mut dyn FnMut() -> bool,
        tell: &Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Option<Meeting>, ConnectionEnd> {
        let mut tried = Instant::now() - Duration::from_secs(1);
        let (began, mut said, mut waiting) = (Instant::now(), None, false);
        loop {
            if over() {
                return Ok(None);
            }
            if tried.elapsed() > Duration::from_millis(300) {
                tried = Instant::now();
                for place in self.others() {
                    if lock_writer(&self.mouths[place]).is_some() {
                        continue;
                    }
                    // A server that cannot be reached yet is tried again.
                    if let Ok(stream) = self.connections.connect(place) {
                        *lock_writer(&self.mouths[place]) = Some(stream);
                        let _ = self.say_to(place, hello);
                        if let Some(words) = &said {
                            let _ = self.say_to(
                                place,
                                &ServerMessage::Meeting { words: String::clone(words) },
                            );
                        }
                    }
                }
            }
            if let Some(place) = self.next()? {
                // A server that reconnected may be a new process: everything is sent to it again.
                if self.ears[place].connection == 0 {
                    *lock_writer(&self.mouths[place]) = None;
                }
            }
            let words = self.identifiers_digest(hello);
            if words.is_some() && words != said {
                said = words;
                if let Some(words) = &said {
                    self.say(&ServerMessage::Meeting { words: words.clone() });
                }
            }
            let reached = self.others().all(|place| lock_writer(&self.mouths[place]).is_some());
            let all = |words: &String| {
                self.others().all(|place| self.ears[place].words.as_ref() == Some(words))
            };
            if let Some(word) = said.clone().filter(|words| reached && all(words)) {
                let hellos = self
                    .others()
                    .filter_map(|place| self.ears[place].hello.clone().map(|hello| (place, hello)));
                return Ok(Some(Meeting { hellos: hellos.collect(), word }));
            }
            let missing = || {
                let missing = self.others().filter(|place| self.ears[*place].hello.is_none());
                let names: Vec<&str> = missing.map(|place| self.name(place)).collect();
                names.join(", ")
            };
            if patience.is_some_and(|patience| since.elapsed() > patience) {
                return Err(ConnectionEnd::Told(format!(
                    "server {} was not reached for {} s, and noise is drawn by all servers or none: nothing is opened",
                    missing(),
                    since.elapsed().as_secs()
                )));
            }
            if !waiting && began.elapsed() > PULSE && !missing().is_empty() {
                tell(&format!("noise is drawn by all servers together: waiting for {}", missing()));
                waiting = true;
            }
        }
    }

    /// Digest of every server's identifier in order; `None` until all were received.
    fn identifiers_digest(&self, own: &ServerMessage) -> Option<String> {
        let mut hash = Sha256::new();
        for (place, reader) in self.ears.iter().enumerate() {
            let hello = if place == self.place { Some(own) } else { reader.hello.as_ref() };
            let ServerMessage::Hello { word, .. } = hello? else { return None };
            hash.update(word.len().to_le_bytes());
            hash.update(word);
        }
        Some(hex(&hash.finalize()))
    }

    /// Error if a connection broke.
    fn check_connected(&self, changed: Option<usize>) -> Result<(), ConnectionEnd> {
        match changed {
            Some(place) => Err(ConnectionEnd::Transport(format!(
                "the line to server {} broke",
                self.name(place)
            ))),
            None => Ok(()),
        }
    }

    fn go_on(&mut self, over: &dyn Fn() -> bool) -> Result<(), ConnectionEnd> {
        if over() {
            return Err(ConnectionEnd::Transport("the run is over".into()));
        }
        let changed = self.next()?;
        self.check_connected(changed)
    }

    /// Waits until all servers send this message; left-over bytes of an earlier engine are discarded.
    pub fn all_say(
        &mut self,
        expected: impl Fn(&ServerMessage) -> bool,
        over: &dyn Fn() -> bool,
    ) -> Result<(), ConnectionEnd> {
        let mut waiting: Vec<usize> = self.others().collect();
        loop {
            let mut wrong = None;
            waiting.retain(|&place| {
                while let Some((kind, bytes)) = self.ears[place].said.pop_front() {
                    if kind != MESSAGE_FRAME {
                        continue;
                    }
                    if !serde_json::from_slice(&bytes).is_ok_and(|say| expected(&say)) {
                        wrong = Some(place);
                    }
                    return false;
                }
                true
            });
            if let Some(place) = wrong {
                return Err(ConnectionEnd::Told(format!(
                    "server {} is at another place of the protocol, or has drawn other noise",
                    self.name(place)
                )));
            }
            if waiting.is_empty() {
                return Ok(());
            }
            self.go_on(over)?;
        }
    }

    /// Passes the bytes of other engines to this one until it ends.
    pub fn pass_on(
        &mut self,
        to: Sender<(usize, Vec<u8>)>,
        over: &dyn Fn() -> bool,
    ) -> Result<Result<Zeroizing<Vec<u128>>, String>, ConnectionEnd> {
        loop {
            for place in self.others() {
                let said = &mut self.ears[place].said;
                // Up to the next protocol message.
                while said.front().is_some_and(|(kind, _)| *kind == ENGINE_FRAME) {
                    if let Some((_, mut bytes)) = said.pop_front() {
                        let _ = to.send((place, std::mem::take(&mut *bytes)));
                    }
                }
            }
            if let Some(drawn) = self.outcome.take() {
                return Ok(drawn);
            }
            self.go_on(over)?;
        }
    }

    /// Discards the outcome of an abandoned engine.
    pub fn forget_outcome(&mut self) {
        // It was sent before the engine's thread ended, maybe behind other events.
        let waiting: Vec<Event> = self.events.try_iter().collect();
        for event in waiting {
            let _ = self.take_event(event);
        }
        self.outcome = None;
    }

    /// Waits this long; returns the reason if a connection breaks.
    pub fn broken_within(&mut self, time: Duration) -> Option<ConnectionEnd> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if let Err(lost) = self.go_on(&|| false) {
                return Some(lost);
            }
        }
        None
    }

    /// Waits until the run is over, or a connection breaks.
    pub fn rest(&mut self, over: &dyn Fn() -> bool) -> Result<(), ConnectionEnd> {
        while !over() {
            let changed = self.next()?;
            self.check_connected(changed)?;
        }
        Ok(())
    }
}
