//! What a server does with shares: adds them up, adds its noise, and opens each round once.
//!
//! - It makes the plan again from the agreement and adds noise for what the plan has next, and for nothing else.
//! - A round is opened when every party's share is there, and never with fewer.
//! - What it opens is on disk before anyone hears it, and a round that was opened is never opened again with other
//!   noise: whoever asks later, or after a restart, hears the same numbers.
//! - Where the servers draw their noise together ([`privet_dp::mechanism::joint`]), a round is opened with this server's share of the
//!   draw that was made for it and all servers have; nothing is opened before all have those of all rounds.
//! - What parties say they heard before must be the same for all: otherwise somebody told them different sums.
//! - It waits without end for everyone to begin, and from the first opening on for nothing longer than the agreed patience.

use crate::PartiesError;
use crate::agreement::{Agreement, digest_of};
use crate::folder::Store;
use crate::message::{Ask, Reply, Standing};
use privet_core::printable;
use privet_dp::account::Event;
use privet_dp::gate::{GateError, Rounds};
use privet_dp::mechanism::joint::{Drawing, NoiseShare};
use privet_dp::mechanism::shares::{Adding, Among, NoiseMode};
use privet_dp::noise::{Source, SystemRandom};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use zeroize::Zeroizing;

/// Seconds that two clocks may be apart.
pub const CLOCKS: u64 = 300;
/// How long a question for an opening waits for one.
const PAUSE: Duration = Duration::from_millis(500);

/// Rounds for which noise is drawn together, at most.
const MOST_DRAWINGS: usize = 1 << 16;
/// Characters that a party may say why it leaves.
const WORDS: usize = 500;

/// Something worth a line to whoever runs the server.
type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// One of the servers of an agreement.
pub struct Server {
    agreement: Agreement,
    among: Among,
    digest: String,
    name: String,
    longest: usize,
    store: Option<Store>,
    tell: Tell,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    rounds: Rounds,
    /// What was opened, round after round.
    openings: Vec<Vec<u128>>,
    open: Option<Open>,
    joined: Vec<Option<Joined>>,
    done: Vec<bool>,
    ended: Option<String>,
    /// The last opening, or when this process began.
    since: Instant,
    source: Box<dyn Source>,
    /// What servers draw together, round by round; `None` where each draws its own.
    together: Option<Together>,
}

/// How far noise that is drawn together is.
struct Together {
    drawings: Vec<Drawing>,
    /// For how many rounds it is drawn.
    done: u64,
    /// Whether all servers have their shares of all rounds.
    ready: bool,
    /// Where nothing is on disk: the shares.
    held: BTreeMap<u64, Zeroizing<Vec<u128>>>,
}

#[derive(Clone, PartialEq)]
struct Joined {
    instance: String,
    schema: String,
}

/// The round that shares are coming in for.
struct Open {
    adding: Adding,
    /// Digest of each party's share, once it is there.
    shares: Vec<Option<[u8; 32]>>,
    /// What the first party had heard, and who that was.
    heard: Option<(usize, String)>,
    since: Instant,
}

impl Server {
    /// The server of this name, with nothing on disk: for one process.
    pub fn new(agreement: Agreement, name: &str, tell: Tell) -> Result<Self, PartiesError> {
        Self::with(agreement, name, None, tell)
    }

    /// The same, that goes on where it was when it was ended: all it opened is in the store.
    pub(crate) fn with(
        agreement: Agreement,
        name: &str,
        store: Option<Store>,
        tell: Tell,
    ) -> Result<Self, PartiesError> {
        if agreement.server(name).is_none() {
            return Err(PartiesError::Asked(format!(
                "'{}' is no server of the agreement",
                printable(name)
            )));
        }
        let (among, events) = (agreement.among()?, agreement.events()?);
        let source = SystemRandom::new().map_err(|error| PartiesError::Line(error.to_string()))?;
        let parties = agreement.parties.len();
        let mut state = State {
            rounds: Rounds::of(&events),
            openings: Vec::new(),
            open: None,
            joined: vec![None; parties],
            done: vec![false; parties],
            ended: None,
            since: Instant::now(),
            source: Box::new(source),
            together: match among.noise {
                NoiseMode::Shares => None,
                NoiseMode::Joint => {
                    let (drawings, held) = (drawings(&events)?, BTreeMap::new());
                    Some(Together { drawings, done: 0, ready: false, held })
                }
            },
        };
        let digest = agreement.digest();
        if let Some(store) = &store {
            store.belongs_to(&digest)?;
            state.ended = store.ended()?;
            while let Some(opening) = store.opening(state.openings.len() as u64)? {
                let planned = state.rounds.next().cloned();
                if !planned.is_some_and(|leaf| state.rounds.go_on(&leaf)) {
                    return Err(PartiesError::Asked(
                        "the server's folder holds more rounds than are planned".into(),
                    ));
                }
                state.openings.push(opening);
            }
            store.no_gaps(state.openings.len())?;
            if let Some(together) = &mut state.together {
                let opened = state.openings.len() as u64;
                together.ready = store.noise_is_ready()?.is_some();
                if opened > 0 && !together.ready {
                    return Err(PartiesError::Asked(
                        "the server's folder holds openings, and not that its noise was drawn: bring it back whole, or \
                         begin a new agreement"
                            .into(),
                    ));
                }
                for (round, drawing) in (0..).zip(&together.drawings) {
                    match store.noise(round)? {
                        // A round that was opened has had its share.
                        Some(_) if round < opened => store.wipe_noise(round)?,
                        Some((_, share)) if share.len() == drawing.coordinates => {}
                        None if !together.ready => break,
                        _ => {
                            return Err(PartiesError::Asked(format!(
                                "the server's folder lacks its share of the noise of round {}: nothing can be opened; bring \
                                 it back whole, or begin a new agreement",
                                round + 1
                            )));
                        }
                    }
                    together.done = round + 1;
                }
            }
            for (place, joined) in state.joined.iter_mut().enumerate() {
                let before = store.joined(place)?;
                *joined = before.map(|(instance, schema)| Joined { instance, schema });
            }
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

    /// What is agreed on.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many numbers a share has at most, in whichever round: one that was opened may be sent again.
    pub fn longest_share(&self) -> usize {
        self.longest
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everyone has what they came for, or the run is over.
    pub fn is_over(&self) -> bool {
        let state = self.state();
        state.ended.is_some() || state.done.iter().all(|done| *done)
    }

    /// Why it ended before its end, if it did.
    pub fn ended(&self) -> Option<String> {
        self.state().ended.clone()
    }

    /// Ends the run where a round has waited too long for some, or for everyone since the last opening. To be called now
    /// and then.
    pub fn lose_patience(&self) {
        let mut state = self.state();
        let patience = Duration::from_secs(self.agreement.patience);
        let begun = !state.openings.is_empty() && !state.rounds.complete();
        let (since, missing) = match &state.open {
            Some(open) => (open.since, self.missing(open)),
            None if begun && state.ended.is_none() => (state.since, vec!["everyone".into()]),
            None => return,
        };
        if !missing.is_empty() && since.elapsed() > patience {
            let round = state.openings.len() + 1;
            let why = format!(
                "round {round} waited {} s for {}, and is not opened",
                self.agreement.patience,
                missing.join(", ")
            );
            self.end(&mut state, why);
        }
    }

    /// Answers a party, whose place in the agreement the line has made sure of.
    pub fn answer(&self, party: usize, ask: &Ask, body: &[u128]) -> (Reply, Vec<u128>) {
        let Some(holder) = self.agreement.parties.get(party) else {
            return (refused("who asks is no party of the agreement"), vec![]);
        };
        let mut state = self.state();
        if let Ask::Status = ask {
            return (Reply::Standing(self.standing(&state)), vec![]);
        }
        if let Some(why) = &state.ended {
            return (Reply::Ended { why: why.clone() }, vec![]);
        }
        match ask {
            Ask::Hello { agreement, schema, instance, clock } => {
                let joined = Joined { instance: instance.clone(), schema: schema.clone() };
                (self.greeted(&mut state, party, agreement, joined, *clock), vec![])
            }
            Ask::Share { round, leaf, heard } => {
                if state.joined[party].is_none() {
                    return (refused("a share came before a greeting"), vec![]);
                }
                if state.together.as_ref().is_some_and(|together| !together.ready) {
                    return (refused("a share came before the noise was drawn"), vec![]);
                }
                (self.taken(&mut state, party, *round, (leaf, heard), body), vec![])
            }
            Ask::Opening { round } => self.opened(state, *round),
            Ask::Done => {
                if state.rounds.complete() {
                    (self.tell)(&format!("{} has its result", holder.name));
                    state.done[party] = true;
                    self.changed.notify_all();
                }
                (Reply::Taken, vec![])
            }
            Ask::End { why } => {
                // Nobody is kept from what is opened already, but this one is not waited for.
                if state.rounds.complete() {
                    state.done[party] = true;
                    return (Reply::Taken, vec![]);
                }
                let why: String = printable(why).chars().take(WORDS).collect();
                (self.end(&mut state, format!("{} leaves it: {why}", holder.name)), vec![])
            }
            Ask::Status => (Reply::Standing(self.standing(&state)), vec![]),
        }
    }

    fn greeted(
        &self,
        state: &mut State,
        party: usize,
        agreement: &str,
        joined: Joined,
        clock: u64,
    ) -> Reply {
        let name = &self.agreement.parties[party].name;
        if agreement != self.digest {
            return refused(&format!(
                "{name} and {} hold different agreements: everyone needs the same file, bit for bit",
                self.name
            ));
        }
        let apart = clock.abs_diff(now());
        if apart > CLOCKS {
            return refused(&format!(
                "the clocks of {name} and {} are {apart} s apart; at most {CLOCKS} are accepted: set them right",
                self.name
            ));
        }
        let other = state.joined.iter().enumerate().find_map(|(place, other)| {
            let other = other.as_ref().filter(|_| place != party)?;
            (other.schema != joined.schema).then(|| self.agreement.parties[place].name.clone())
        });
        if let Some(other) = other {
            return refused(&format!(
                "the schemas of {name} and {other} differ: columns, bounds, categories and target must be the same"
            ));
        }
        match &state.joined[party] {
            Some(before) if before.instance != joined.instance => refused(&format!(
                "{name} has joined before, from another folder: a party takes part once"
            )),
            Some(_) => self.welcome(state),
            None => {
                let who = (joined.instance.as_str(), joined.schema.as_str());
                if let Some(store) = &self.store
                    && let Err(error) = store.keep_joined(party, who)
                {
                    return refused(&format!(
                        "{} could not write down who joined: {error}",
                        self.name
                    ));
                }
                (self.tell)(&format!("{name} joined"));
                state.joined[party] = Some(joined);
                self.welcome(state)
            }
        }
    }

    fn welcome(&self, state: &State) -> Reply {
        match &state.together {
            Some(together) if !together.ready => {
                Reply::Drawing { done: together.done, of: together.drawings.len() as u64 }
            }
            _ => Reply::Welcome { round: state.openings.len() as u64 },
        }
    }

    fn taken(
        &self,
        state: &mut State,
        party: usize,
        round: u64,
        (leaf, heard): (&str, &str),
        share: &[u128],
    ) -> Reply {
        let name = self.agreement.parties[party].name.clone();
        let current = state.openings.len() as u64;
        if round < current {
            (self.tell)(&format!("{name} sent its share of round {} again: ignored", round + 1));
            return Reply::Taken;
        }
        let Some(planned) = state.rounds.next().cloned().filter(|_| round == current) else {
            return self.end(
                state,
                format!("{name} sent a share of round {}, which is not open", round + 1),
            );
        };
        let same = serde_json::to_value(&planned).is_ok_and(|planned| digest_of(&planned) == leaf);
        if !same {
            return self.end(state, format!("{name} goes by another plan in round {}", round + 1));
        }
        if state.open.is_none() {
            let adding = match Adding::new(&planned, self.among) {
                Ok(adding) => adding,
                Err(error) => return self.end(state, error.to_string()),
            };
            let shares = vec![None; self.agreement.parties.len()];
            state.open = Some(Open { adding, shares, heard: None, since: Instant::now() });
        }
        let Some(open) = &mut state.open else { return refused("no round is open") };
        let digest = digest_of_share(share);
        if let Some(before) = open.shares[party] {
            if before == digest {
                return Reply::Taken;
            }
            return self
                .end(state, format!("{name} sent two different shares of round {}", round + 1));
        }
        match &open.heard {
            Some((first, other)) if other != heard => {
                let first = self.agreement.parties[*first].name.clone();
                return self.end(
                    state,
                    format!(
                        "{first} and {name} were told different sums before round {}",
                        round + 1
                    ),
                );
            }
            Some(_) => {}
            None => open.heard = Some((party, heard.into())),
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
        Reply::Taken
    }

    /// Every share is there: adds noise, writes down, then lets it be heard.
    fn open_round(&self, state: &mut State, open: Open, round: u64) -> Reply {
        let opening = match self.noised(state, open.adding, round) {
            Ok(opening) => opening,
            Err(error) => {
                let why = format!("{} cannot open round {}: {error}", self.name, round + 1);
                return self.end(state, why);
            }
        };
        if let Some(store) = &self.store
            && let Err(error) = store.keep_opening(round, &opening)
        {
            return self.end(
                state,
                format!("{} could not write down round {}: {error}", self.name, round + 1),
            );
        }
        if let Some(store) = self.store.as_ref().filter(|_| state.together.is_some())
            && let Err(error) = store.wipe_noise(round)
        {
            let why =
                format!("{} could not wipe its noise of round {}: {error}", self.name, round + 1);
            return self.end(state, why);
        }
        if let Some(leaf) = state.rounds.next().cloned() {
            state.rounds.go_on(&leaf);
        }
        state.openings.push(opening);
        state.since = Instant::now();
        if state.rounds.complete() {
            (self.tell)(&format!("all {} rounds are opened", state.openings.len()));
        }
        self.changed.notify_all();
        Reply::Taken
    }

    /// The sum with noise: of this server's own, or its share of what was drawn together for this very round.
    fn noised(
        &self,
        state: &mut State,
        adding: Adding,
        round: u64,
    ) -> Result<Vec<u128>, PartiesError> {
        let odd = |error: GateError| PartiesError::Asked(error.to_string());
        let Some(together) = &mut state.together else {
            return adding.opening(state.source.as_mut()).map_err(odd);
        };
        let share = match &self.store {
            Some(store) => store.noise(round)?.map(|(_, share)| share),
            None => together.held.remove(&round),
        };
        let share = share.filter(|share| together.ready && share.len() == adding.coordinates());
        let missing = || PartiesError::Asked("its share of the noise is not there".into());
        adding.opening_with(NoiseShare::new(share.ok_or_else(missing)?)).map_err(odd)
    }

    /// What is drawn together, round by round; `None` where each server draws its own.
    pub(crate) fn drawings(&self) -> Option<Vec<Drawing>> {
        self.state().together.as_ref().map(|together| together.drawings.clone())
    }

    /// Whether all noise that is drawn together is there.
    pub(crate) fn noise_is_ready(&self) -> bool {
        self.state().together.as_ref().is_none_or(|together| together.ready)
    }

    /// Where it keeps what it must find again.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Says for how many rounds noise is drawn.
    pub(crate) fn drawn(&self, done: u64, ready: bool) {
        if let Some(together) = &mut self.state().together {
            (together.done, together.ready) = (done, ready);
        }
    }

    /// Hands all noise over, where all servers are one process.
    pub(crate) fn hold(&self, shares: Vec<Zeroizing<Vec<u128>>>) {
        if let Some(together) = &mut self.state().together {
            (together.done, together.ready) = (shares.len() as u64, true);
            together.held = (0..).zip(shares).collect();
        }
    }

    fn opened(&self, mut state: MutexGuard<'_, State>, round: u64) -> (Reply, Vec<u128>) {
        let there = |state: &State| state.openings.get(round as usize).cloned();
        if there(&state).is_none() && state.ended.is_none() {
            let waited = self.changed.wait_timeout(state, PAUSE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match (there(&state), &state.ended) {
            (Some(opening), None) => (Reply::Opened, opening),
            (_, Some(why)) => (Reply::Ended { why: why.clone() }, vec![]),
            (None, None) => {
                let missing = match &state.open {
                    Some(open) => self.missing(open),
                    None => self.agreement.parties.iter().map(|one| one.name.clone()).collect(),
                };
                (Reply::Waiting { missing }, vec![])
            }
        }
    }

    fn missing(&self, open: &Open) -> Vec<String> {
        let named = self.agreement.parties.iter().zip(&open.shares);
        named.filter(|(_, share)| share.is_none()).map(|(one, _)| one.name.clone()).collect()
    }

    fn standing(&self, state: &State) -> Standing {
        let named = self.agreement.parties.iter().zip(&state.joined);
        Standing {
            opened: state.openings.len() as u64,
            complete: state.rounds.complete(),
            joined: named.filter(|(_, it)| it.is_some()).map(|(one, _)| one.name.clone()).collect(),
            missing: state.open.as_ref().map(|open| self.missing(open)).unwrap_or_default(),
            ended: state.ended.clone(),
            drawing: state
                .together
                .as_ref()
                .filter(|together| !together.ready)
                .map(|together| (together.done, together.drawings.len() as u64)),
        }
    }

    /// Ends the run: nothing is opened from here on, and everyone who asks hears why.
    pub fn end_run(&self, why: &str) {
        let mut state = self.state();
        if state.ended.is_none() {
            self.end(&mut state, why.into());
        }
    }

    fn end(&self, state: &mut State, why: String) -> Reply {
        (self.tell)(&format!("the run is ended: {why}"));
        if let Some(store) = &self.store {
            let _ = store.keep_ended(&why);
        }
        state.open = None;
        state.ended = Some(why.clone());
        self.changed.notify_all();
        Reply::Ended { why }
    }
}

/// What is drawn for every round of a plan, in order.
fn drawings(events: &Event) -> Result<Vec<Drawing>, PartiesError> {
    let (mut rounds, mut all) = (Rounds::of(events), Vec::new());
    while let Some(leaf) = rounds.next().cloned() {
        let drawing = Drawing::of(&leaf).map_err(|error| PartiesError::Asked(error.to_string()))?;
        all.push(drawing);
        if all.len() > MOST_DRAWINGS || !rounds.go_on(&leaf) {
            return Err(PartiesError::Asked(format!(
                "noise that servers draw together is offered for up to {MOST_DRAWINGS} rounds"
            )));
        }
    }
    Ok(all)
}

fn refused(why: &str) -> Reply {
    Reply::Refused { why: why.into() }
}

/// Tells one share from another.
fn digest_of_share(share: &[u128]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for number in share {
        hash.update(Zeroizing::new(number.to_le_bytes()));
    }
    hash.finalize().into()
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// SHA-256 of what is charged next, as a party says it.
#[cfg(test)]
pub(crate) fn next_leaf(server: &Server) -> Option<String> {
    let state = server.state();
    serde_json::to_value(state.rounds.next()?).ok().map(|leaf| digest_of(&leaf))
}
