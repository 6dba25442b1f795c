//! The agreement of all members before anything is sent: members and plan.

use crate::PartiesError;
use privet_core::printable;
use privet_data::Schema;
use privet_dp::account::Event;
use privet_dp::gate::canonical;
use privet_dp::mechanism::shares::{Participants, longest};
use privet_learn::ratings::Complete;
use privet_learn::statistics::count::Count;
use privet_learn::{Erm, Plan, Request, Task, plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Format name in the file. It identifies the protocol too ([`crate::PROTOCOL`]): all members hold the
/// same file, and another version's file has another format.
const FORMAT: &str = "privet agreement 2";
/// Format name of privet up to 0.2.0.
const BEFORE: &str = "privet agreement 1";
/// Maximum numbers of one round, over all servers: the size of one message and of one record on disk.
pub(crate) const MOST_ROUND_NUMBERS: usize = 1 << 24;
/// Maximum letters of a name.
const LONGEST_NAME: usize = 40;

/// Members and plan of one run. Public; every member has the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agreement {
    /// Format name.
    format: String,
    /// Identifier of the run: another run has other noise, and its own charge.
    pub run: String,
    /// The settled request, from which every member recomputes the plan.
    pub request: Value,
    /// Schema of every party's table, before the plan decided its open settings.
    pub schema: Value,
    /// Parties: they hold the records.
    pub parties: Vec<Holder>,
    /// Servers: they add up shares and noise.
    pub servers: Vec<ServerAddress>,
    /// Seconds that a round waits for a missing member.
    pub patience: u64,
    /// Certificate of the authority that signed the members' certificates, as PEM.
    pub authority: String,
    /// End of the certificates' validity, in seconds since 1970.
    pub expires: u64,
}

/// Kinds of release that parties can make together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// A linear model.
    Model,
    /// Counts of a column's values.
    Counts,
    /// Completion of ratings; a row is a person.
    Ratings,
}

/// A party.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// Name of the party.
    pub name: String,
    /// The number of rows it declares.
    pub rows: u64,
    /// SHA-256 of its certificate.
    pub fingerprint: String,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerAddress {
    /// Name of the server.
    pub name: String,
    /// Its address, host:port.
    pub address: String,
    /// SHA-256 of its certificate.
    pub fingerprint: String,
}

/// Names of parties with their row counts, and of servers with their addresses, before certificates are
/// made.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Parties: name and row count.
    pub parties: Vec<(String, u64)>,
    /// Servers: name and address.
    pub servers: Vec<(String, String)>,
}

impl Names {
    /// Refuses names that have other characters than lower-case letters, digits and hyphens, or that
    /// repeat.
    pub fn check(&self) -> Result<(), PartiesError> {
        let all: Vec<&str> = self
            .parties
            .iter()
            .map(|(name, _)| name.as_str())
            .chain(self.servers.iter().map(|(name, _)| name.as_str()))
            .collect();
        for (place, name) in all.iter().enumerate() {
            let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
            let fits = !name.is_empty()
                && name.len() <= LONGEST_NAME
                && name.chars().all(|letter| plain(letter) || letter == '-')
                && name.starts_with(plain)
                && name.ends_with(plain);
            if !fits {
                return Err(PartiesError::InvalidRequest(format!(
                    "the name '{}' is not accepted: up to {LONGEST_NAME} small letters, digits and hyphens are, the \
                     first and last no hyphen",
                    printable(name)
                )));
            }
            if all[..place].contains(name) {
                return Err(PartiesError::InvalidRequest(format!(
                    "the name '{name}' comes twice: every party and server needs one of its own"
                )));
            }
        }
        let port =
            |address: &str| address.rsplit_once(':').is_some_and(|(_, p)| p.parse::<u16>().is_ok());
        match self.servers.iter().find(|(_, address)| !port(address)) {
            Some((name, address)) => Err(PartiesError::InvalidRequest(format!(
                "server '{name}': '{}' is no address; host:port is accepted, such as 10.0.0.4:7001",
                printable(address)
            ))),
            None => Ok(()),
        }
    }
}

impl Agreement {
    /// Creates the agreement of a new run from settled parts.
    pub(crate) fn new(
        (request, schema): (Value, Value),
        (parties, servers): (Vec<Holder>, Vec<ServerAddress>),
        (patience, authority, expires): (u64, String, u64),
    ) -> Result<Self, PartiesError> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| PartiesError::Authority(error.to_string()))?;
        let run = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let format = FORMAT.into();
        let made =
            Self { format, run, request, schema, parties, servers, patience, authority, expires };
        made.check()?;
        Ok(made)
    }

    /// Parses an agreement, and checks it against the plan of its request.
    pub fn read(text: &[u8], from: &str) -> Result<Self, PartiesError> {
        let odd =
            |why: String| PartiesError::InvalidRequest(format!("{from} is no agreement: {why}"));
        let read: Self = serde_json::from_slice(text).map_err(|error| odd(error.to_string()))?;
        if read.format == BEFORE {
            return Err(PartiesError::InvalidRequest(format!(
                "{from} is of privet 0.2.0 or older, where servers neither commit to what they open nor parties sign \
                 what they heard: end the run with that version, or lay out a new agreement with `privet party init`"
            )));
        }
        if read.format != FORMAT {
            return Err(odd(format!("its format is not '{FORMAT}'")));
        }
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<(), PartiesError> {
        let names = Names {
            parties: self.parties.iter().map(|party| (party.name.clone(), party.rows)).collect(),
            servers: self
                .servers
                .iter()
                .map(|server| (server.name.clone(), server.address.clone()))
                .collect(),
        };
        names.check()?;
        // Without a canonical form it would compare equal to others that have none either.
        let written = serde_json::to_value(self).unwrap_or_default();
        canonical(&written).map_err(|error| {
            PartiesError::InvalidRequest(format!(
                "the agreement cannot be compared with others: {error}"
            ))
        })?;
        if self.patience == 0 || self.patience > 86_400 {
            return Err(PartiesError::InvalidRequest(
                "patience is not accepted: a whole number of seconds from 1 to 86400 is".into(),
            ));
        }
        let request = self.request.get("rows").and_then(Value::as_u64);
        let total = self.parties.iter().try_fold(0_u64, |sum, one| sum.checked_add(one.rows));
        if request.is_none() || total != request {
            return Err(PartiesError::InvalidRequest(
                "the rows of the parties do not add up to those of the request".into(),
            ));
        }
        let among = self.participants()?;
        let same = among.parties as usize == self.parties.len()
            && among.servers as usize == self.servers.len();
        if !same {
            return Err(PartiesError::InvalidRequest(format!(
                "the request is for {} parties and {} servers, and {} and {} are named",
                among.parties,
                among.servers,
                self.parties.len(),
                self.servers.len()
            )));
        }
        let twice = |all: Vec<&str>| {
            let mut seen = HashSet::new();
            all.into_iter().any(|one| !one.is_empty() && !seen.insert(one.to_owned()))
        };
        let parties = self.parties.iter().map(|party| party.fingerprint.as_str());
        let servers = self.servers.iter().map(|server| server.fingerprint.as_str());
        if twice(parties.chain(servers).collect()) {
            return Err(PartiesError::InvalidRequest(
                "two members have the same certificate: each needs one of its own".into(),
            ));
        }
        if twice(self.servers.iter().map(|server| server.address.as_str()).collect()) {
            return Err(PartiesError::InvalidRequest(
                "two servers have the same address: each is a process of its own, best at another organisation".into(),
            ));
        }
        let events = self.events()?;
        let longest = longest(&events, among.noise).ok_or_else(|| {
            PartiesError::InvalidRequest(
                "the plan has a round that cannot be added up in shares".into(),
            )
        })?;
        if is_open(&events) {
            return Err(PartiesError::InvalidRequest(
                "the plan leaves open how many rounds it has, so that nobody knows which is the last".into(),
            ));
        }
        if longest.saturating_mul(u64::from(among.servers)) > MOST_ROUND_NUMBERS as u64 {
            return Err(PartiesError::InvalidRequest(format!(
                "a round of {longest} numbers among {} servers is too long: at most {MOST_ROUND_NUMBERS} numbers in all are \
                 accepted; take fewer columns, or gd instead of ssp",
                among.servers
            )));
        }
        self.check_schema()
    }

    /// Checks that the schema which members compare is the one that tables are read by, apart from
    /// settings the plan decided.
    fn check_schema(&self) -> Result<(), PartiesError> {
        let odd = |error: serde_json::Error| {
            PartiesError::InvalidRequest(format!("the schema cannot be read: {error}"))
        };
        let stated: Schema = serde_json::from_value(self.schema.clone()).map_err(odd)?;
        let used = self.request.get("schema").cloned().unwrap_or_default();
        let used: Schema = serde_json::from_value(used).map_err(odd)?;
        let same = match self.family() {
            Family::Model => stated.may_become(&used),
            Family::Counts => {
                let by = self.request.get("by").and_then(Value::as_str).unwrap_or_default();
                stated.counting(by).is_ok_and(|part| part == used)
            }
            Family::Ratings => stated == used,
        };
        match same {
            true => Ok(()),
            false => Err(PartiesError::InvalidRequest(
                "the schema that members compare is not the one of the plan: somebody changed one of them".into(),
            )),
        }
    }

    /// The number of values in the longest round.
    pub(crate) fn longest_round(&self) -> Result<usize, PartiesError> {
        Ok(longest(&self.events()?, self.participants()?.noise)
            .map_or(0, |longest| longest as usize))
    }

    /// The number of parties and servers, and the noise mode.
    pub fn participants(&self) -> Result<Participants, PartiesError> {
        let missing = || PartiesError::InvalidRequest("the request says nothing of parties".into());
        let among = self.request.get("among").ok_or_else(missing)?;
        let among: Participants = serde_json::from_value(among.clone()).map_err(|_| missing())?;
        Ok(among.check().map_err(privet_learn::LearnError::from)?)
    }

    /// Recomputes the plan from the request; refuses a request that is not settled.
    pub fn plan<T: Task>(&self) -> Result<Plan<T>, PartiesError> {
        let request: Request<T> =
            serde_json::from_value(self.request.clone()).map_err(|error| {
                PartiesError::InvalidRequest(format!("the request cannot be read: {error}"))
            })?;
        let planned = plan(&request)?;
        if *planned.request() != request {
            return Err(PartiesError::InvalidRequest(
                "the request of the agreement is not one that the planner writes".into(),
            ));
        }
        Ok(planned)
    }

    /// Kind of the release.
    pub fn family(&self) -> Family {
        match self.request.get("task").and_then(Value::as_str) {
            Some(Count::NAME) => Family::Counts,
            Some(Complete::NAME) => Family::Ratings,
            _ => Family::Model,
        }
    }

    /// The number of rows of all parties together, if it bounds their sum ([`crate::plausible`]): under
    /// replace-one, where it is public; not for ratings, whose rows are people; nor for `output` with a
    /// penalty, whose minimisers may be far away.
    pub(crate) fn public_rows(&self) -> Option<u64> {
        let replaced =
            self.request.get("neighbours").and_then(Value::as_str) == Some("replace-one");
        let method = self.request.get("method");
        let says = |key| method.and_then(|method| method.get(key));
        let held = says("name").and_then(Value::as_str) == Some("output")
            && says("penalty").is_some_and(|penalty| !penalty.is_null());
        let public = replaced && self.family() != Family::Ratings && !held;
        self.request.get("rows").and_then(Value::as_u64).filter(|_| public)
    }

    /// The events of the plan.
    pub fn events(&self) -> Result<Event, PartiesError> {
        let events = match self.family() {
            Family::Model => self.plan::<Erm>()?.events().cloned(),
            Family::Counts => self.plan::<Count>()?.events().cloned(),
            Family::Ratings => self.plan::<Complete>()?.events().cloned(),
        };
        events.ok_or_else(|| PartiesError::InvalidRequest("the request plans no noise".into()))
    }

    /// True if all members are in one process, without certificates.
    pub(crate) fn is_one_process(&self) -> bool {
        self.authority.is_empty()
    }

    /// The digest that members compare: SHA-256 of the whole agreement in canonical JSON (RFC 8785).
    pub fn digest(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        digest_of(&value)
    }

    /// Index of a party.
    pub fn party(&self, name: &str) -> Option<usize> {
        self.parties.iter().position(|party| party.name == name)
    }

    /// Index of a server.
    pub fn server(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.name == name)
    }
}

/// True if a run may have fewer rounds than planned.
fn is_open(events: &Event) -> bool {
    match events {
        Event::UpTo { .. } => true,
        Event::All(all) => all.iter().any(is_open),
        Event::Repeat { event, .. } => is_open(event),
        Event::Use { .. } | Event::Selected { .. } | Event::BestOf { .. } => false,
    }
}

/// SHA-256 of a value in its canonical form.
pub(crate) fn digest_of(value: &Value) -> String {
    hex(&Sha256::digest(canonical(value).unwrap_or_default()))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
