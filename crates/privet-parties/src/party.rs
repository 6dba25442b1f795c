//! A party's way to the servers: shares out, openings back, and both the same after a restart.

use crate::PartiesError;
use crate::agreement::{Agreement, digest_of, hex};
use crate::folder::{Kept, Store};
use crate::message::{Ask, Reply, Standing};
use crate::plausible::plausible;
use crate::server::now;
use privet_dp::account::Event;
use privet_dp::gate::GateError;
use privet_dp::mechanism::shares::{Together, joined};
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How long servers that draw noise together are left alone before they are asked again.
const DRAWING: Duration = Duration::from_millis(300);

/// How questions get to a server.
pub trait Line: Send {
    /// Puts a question to the server of this place, and brings the answer. An error may be passing: it is tried again.
    fn ask(
        &mut self,
        server: usize,
        ask: &Ask,
        body: &[u128],
    ) -> Result<(Reply, Vec<u128>), PartiesError>;

    /// Whether the servers are in this very process.
    fn is_simulated(&self) -> bool {
        false
    }
}

/// One of the parties of an agreement.
pub struct Party<L: Line> {
    agreement: Agreement,
    place: usize,
    schema: String,
    /// Of all parties, where their number is public.
    public_rows: Option<u64>,
    store: Option<Store>,
    inner: Mutex<Inner<L>>,
}

struct Inner<L> {
    line: L,
    instance: String,
    /// Of all that was opened so far.
    heard: Sha256,
    /// The last round for which shares were made.
    kept: Option<Kept>,
    /// Rounds that every server is known to have opened.
    opened: u64,
}

impl<L: Line> Party<L> {
    /// The party of this name. `schema` is that of its own table, in whichever form it compares.
    pub fn new(
        agreement: Agreement,
        name: &str,
        schema: &str,
        line: L,
    ) -> Result<Self, PartiesError> {
        Self::with(agreement, name, schema, None, line)
    }

    pub(crate) fn with(
        agreement: Agreement,
        name: &str,
        schema: &str,
        store: Option<Store>,
        line: L,
    ) -> Result<Self, PartiesError> {
        let odd = || PartiesError::Asked(format!("'{name}' is no party of the agreement"));
        let place = agreement.party(name).ok_or_else(odd)?;
        let (instance, kept) = match &store {
            Some(store) => {
                store.belongs_to(&agreement.digest())?;
                (store.instance()?, store.kept()?)
            }
            None => (format!("{name} in this process"), None),
        };
        // Shares of a round are made once all before it were opened; after the end none are kept.
        let made = kept.as_ref().filter(|kept| !kept.shares.is_empty());
        let opened = made.map_or(0, |kept| kept.round);
        let inner = Mutex::new(Inner { line, instance, heard: Sha256::new(), kept, opened });
        let schema = hex(&Sha256::digest(schema));
        let public_rows = agreement.public_rows();
        Ok(Self { agreement, place, schema, public_rows, store, inner })
    }

    /// What is agreed on.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// What the agreement says of it.
    pub fn holder(&self) -> &crate::Holder {
        &self.agreement.parties[self.place]
    }

    /// Greets every server: agreement, schema and clock are compared.
    pub fn join(&self) -> Result<(), PartiesError> {
        let mut inner = self.lock();
        let mut all = 0..self.agreement.servers.len();
        let greeted = all.try_for_each(|server| self.greet(&mut inner, server));
        self.told_everyone(&mut inner, greeted)
    }

    /// Where something has ended the run for this party, every server is told why, and tells the others.
    fn told_everyone<T>(
        &self,
        inner: &mut Inner<L>,
        found: Result<T, PartiesError>,
    ) -> Result<T, PartiesError> {
        if let Err(PartiesError::Ended(why)) = &found {
            let end = Ask::End { why: why.clone() };
            for server in 0..self.agreement.servers.len() {
                // One that cannot be reached loses patience by itself.
                let _ = inner.line.ask(server, &end, &[]);
            }
        }
        found
    }

    /// How far each server is.
    pub fn standing(&self) -> Vec<(String, Result<Standing, PartiesError>)> {
        let mut inner = self.lock();
        let mut all = Vec::new();
        for (place, station) in self.agreement.servers.iter().enumerate() {
            let found = match inner.line.ask(place, &Ask::Status, &[]) {
                Ok((Reply::Standing(standing), _)) => Ok(standing),
                Ok(_) => Err(PartiesError::Line(format!("{} gave an odd answer", station.name))),
                Err(error) => Err(error),
            };
            all.push((station.name.clone(), found));
        }
        all
    }

    /// Tells every server that the result is there; one that is gone already does not matter.
    pub fn finish(&self) {
        let mut inner = self.lock();
        for server in 0..self.agreement.servers.len() {
            let _ = inner.line.ask(server, &Ask::Done, &[]);
        }
        // What is left would be this party's own sums.
        inner.kept = None;
        if let Some(store) = &self.store {
            let _ = store.forget_shares();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner<L>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn greet(&self, inner: &mut Inner<L>, server: usize) -> Result<(), PartiesError> {
        let hello = Ask::Hello {
            agreement: self.agreement.digest(),
            schema: self.schema.clone(),
            instance: inner.instance.clone(),
            clock: now(),
        };
        let reply = loop {
            match self.asked(inner, server, &hello, &[])?.0 {
                // They go on by themselves, or end the run.
                Reply::Drawing { .. } => std::thread::sleep(DRAWING),
                reply => break reply,
            }
        };
        match reply {
            Reply::Welcome { round } if round < inner.opened => Err(PartiesError::Ended(format!(
                "server {} has opened {round} rounds, and had opened {} before: it was brought back to an earlier \
                     state, and would open with other noise",
                self.agreement.servers[server].name, inner.opened
            ))),
            Reply::Welcome { .. } => Ok(()),
            reply => Err(self.odd(server, &reply)),
        }
    }

    /// Asks until there is an answer, or patience is at its end.
    fn asked(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        ask: &Ask,
        body: &[u128],
    ) -> Result<(Reply, Vec<u128>), PartiesError> {
        let (began, patience) = (Instant::now(), Duration::from_secs(self.agreement.patience));
        let mut pause = Duration::from_millis(50);
        loop {
            match inner.line.ask(server, ask, body) {
                Ok(answer) => return Ok(answer),
                Err(error @ PartiesError::Line(_)) if began.elapsed() < patience => {
                    let _ = error;
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn odd(&self, server: usize, reply: &Reply) -> PartiesError {
        let name = &self.agreement.servers[server].name;
        match reply {
            Reply::Refused { why } => {
                PartiesError::Refused(format!("server {name} refuses: {why}"))
            }
            Reply::Ended { why } => {
                PartiesError::Ended(format!("server {name} ended the run: {why}"))
            }
            _ => PartiesError::Ended(format!("server {name} gave an odd answer")),
        }
    }

    /// A round.
    fn round(
        &self,
        round: u64,
        charged: &Event,
        fresh: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, PartiesError> {
        let mut inner = self.lock();
        let opened = self.opened(&mut inner, round, charged, fresh);
        self.told_everyone(&mut inner, opened)
    }

    fn opened(
        &self,
        inner: &mut Inner<L>,
        round: u64,
        charged: &Event,
        fresh: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, PartiesError> {
        let length = fresh.first().map_or(0, |share| share.len());
        // A round from before a restart was sent then, and is not made again: the shares that count are those on disk.
        let past = inner.kept.as_ref().is_some_and(|kept| round < kept.round);
        let again = inner.kept.as_ref().is_some_and(|kept| round == kept.round);
        if !past && !again {
            let kept = Kept { round, shares: fresh };
            if let Some(store) = &self.store {
                store.keep_shares(&kept)?;
            }
            inner.kept = Some(kept);
        }
        let shares = match &inner.kept {
            Some(kept) if !past => kept.shares.clone(),
            _ => Vec::new(),
        };
        let leaf = serde_json::to_value(charged).map(|leaf| digest_of(&leaf)).unwrap_or_default();
        let heard = hex(&inner.heard.clone().finalize());
        for (server, share) in shares.iter().enumerate() {
            let ask = Ask::Share { round, leaf: leaf.clone(), heard: heard.clone() };
            self.sent(inner, server, &ask, share)?;
        }
        let mut openings = Vec::new();
        for server in 0..self.agreement.servers.len() {
            openings.push(self.awaited(
                inner,
                server,
                round,
                (&leaf, &heard),
                shares.get(server),
            )?);
        }
        if openings.iter().any(|opening| opening.len() != length) {
            return Err(PartiesError::Ended("a server opened sums of another length".into()));
        }
        let sum = joined(&openings).unwrap_or_default();
        if let Some(rows) = self.public_rows
            && !plausible(charged, self.agreement.among()?, rows, &sum)
        {
            return Err(PartiesError::Ended(format!(
                "what was opened in round {} is more than {rows} rows can add up to under its noise: a party or server \
                 sends what no table gives",
                round + 1
            )));
        }
        inner.heard.update(round.to_le_bytes());
        sum.iter().for_each(|value| inner.heard.update(value.to_le_bytes()));
        inner.opened = inner.opened.max(round + 1);
        Ok(openings)
    }

    /// Brings a server its share; one that was restarted is greeted first.
    fn sent(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        ask: &Ask,
        share: &[u128],
    ) -> Result<(), PartiesError> {
        match self.asked(inner, server, ask, share)?.0 {
            Reply::Taken => Ok(()),
            Reply::Refused { .. } => {
                self.greet(inner, server)?;
                match self.asked(inner, server, ask, share)?.0 {
                    Reply::Taken => Ok(()),
                    reply => Err(self.odd(server, &reply)),
                }
            }
            reply => Err(self.odd(server, &reply)),
        }
    }

    /// What a server opens, once everyone's share is there. A server that was restarted may have lost ours: it is sent
    /// again, the same numbers.
    fn awaited(
        &self,
        inner: &mut Inner<L>,
        server: usize,
        round: u64,
        (leaf, heard): (&str, &str),
        share: Option<&Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<u128>, PartiesError> {
        // A little longer than the servers', who then say who is missing.
        let patience = Duration::from_secs(self.agreement.patience + 30);
        let (began, own) = (Instant::now(), &self.holder().name);
        loop {
            let (reply, body) = self.asked(inner, server, &Ask::Opening { round }, &[])?;
            match reply {
                Reply::Opened => return Ok(body),
                Reply::Waiting { missing } if began.elapsed() < patience => {
                    if missing.contains(own)
                        && let Some(share) = share
                    {
                        let (leaf, heard) = (leaf.into(), heard.into());
                        self.sent(inner, server, &Ask::Share { round, leaf, heard }, share)?;
                    }
                }
                Reply::Waiting { missing } => {
                    return Err(PartiesError::Ended(format!(
                        "round {} waited too long for {}",
                        round + 1,
                        missing.join(", ")
                    )));
                }
                reply => return Err(self.odd(server, &reply)),
            }
        }
    }
}

impl<L: Line> Together for Party<L> {
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
