//! All servers of an agreement in one process: every message as over a network, without one. Noise that
//! they would draw together is drawn in the clear and divided into shares.

use crate::message::{PartyRequest, ServerReply};
use crate::{Agreement, PartiesError, Server, Transport};
use privet_dp::mechanism::joint::in_the_clear;
use privet_dp::noise::SystemRandom;
use std::sync::Arc;

/// Servers in the same process as the parties, each of which calls them from a thread of its own.
#[derive(Clone)]
pub struct InProcessServers {
    servers: Vec<Arc<Server>>,
}

impl InProcessServers {
    /// Creates all servers of an agreement.
    pub fn new(agreement: &Agreement) -> Result<Self, PartiesError> {
        let server = |station: &crate::ServerAddress| {
            Server::new(agreement.clone(), &station.name, Box::new(|_| {})).map(Arc::new)
        };
        let servers = agreement.servers.iter().map(server).collect::<Result<Vec<_>, _>>()?;
        if let Some(drawings) = servers.first().and_then(|server| server.drawings()) {
            let among = agreement.participants()?;
            let failed = |error: &dyn std::fmt::Display| PartiesError::Transport(error.to_string());
            let mut source = SystemRandom::new().map_err(|error| failed(&error))?;
            let mut held = vec![Vec::new(); servers.len()];
            for drawing in drawings {
                let shares = in_the_clear(drawing, among, &mut source);
                for (held, share) in held.iter_mut().zip(shares.map_err(|error| failed(&error))?) {
                    held.push(share.into_inner());
                }
            }
            servers.iter().zip(held).for_each(|(server, held)| server.hold(held));
        }
        Ok(Self { servers })
    }

    /// The servers.
    pub fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// Transport of the party of this index.
    pub fn line(&self, party: usize) -> impl Transport {
        InRoom { servers: self.servers.clone(), party }
    }
}

struct InRoom {
    servers: Vec<Arc<Server>>,
    party: usize,
}

impl Transport for InRoom {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        match self.servers.get(server) {
            Some(server) => Ok(server.answer(self.party, ask, body)),
            None => Err(PartiesError::InvalidRequest("there is no such server".into())),
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }
}
