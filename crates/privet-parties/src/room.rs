//! All servers of an agreement in one process: every message as over a network, without one.

use crate::message::{Ask, Reply};
use crate::{Agreement, Line, PartiesError, Server};
use std::sync::Arc;

/// Servers that parties of the same process talk to, each from a thread of its own.
#[derive(Clone)]
pub struct Room {
    servers: Vec<Arc<Server>>,
}

impl Room {
    /// All servers of an agreement.
    pub fn new(agreement: &Agreement) -> Result<Self, PartiesError> {
        let server = |station: &crate::Station| {
            Server::new(agreement.clone(), &station.name, Box::new(|_| {})).map(Arc::new)
        };
        Ok(Self { servers: agreement.servers.iter().map(server).collect::<Result<_, _>>()? })
    }

    /// The servers.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// The line of the party at this place.
    pub fn line(&self, party: usize) -> impl Line {
        InRoom { servers: self.servers.clone(), party }
    }
}

struct InRoom {
    servers: Vec<Arc<Server>>,
    party: usize,
}

impl Line for InRoom {
    fn ask(
        &mut self,
        server: usize,
        ask: &Ask,
        body: &[u128],
    ) -> Result<(Reply, Vec<u128>), PartiesError> {
        match self.servers.get(server) {
            Some(server) => Ok(server.answer(self.party, ask, body)),
            None => Err(PartiesError::Asked("there is no such server".into())),
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }
}
