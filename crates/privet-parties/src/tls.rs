//! Transport over a network: TLS 1.3, with a certificate of the agreement's authority on both sides.
//!
//! A member is authenticated by the fingerprint of its certificate, which the agreement states: another
//! certificate of the same authority is refused. Every read and write has a time limit, and so has a
//! whole answer, so that a silent or slowly sending peer delays nobody beyond it.

use crate::authority::{fingerprint, inner_name};
use crate::connection_limits::{ConnectionLimits, Stranger};
use crate::drawing::{self, AcceptedConnection, Drawer, Inbound};
use crate::message::{PartyRequest, ServerReply, read_frame, write_frame};
use crate::signature::Signer;
use crate::timed::Timed;
use crate::{Agreement, Engine, Folder, PartiesError, Server, Transport};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, RootCertStore,
    ServerConfig, ServerConnection, StreamOwned,
};
use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum time for connecting, and then for the handshake.
const CONNECTING: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(20));
/// Minimum time allowed for a request and its answer; otherwise the agreed patience.
const LEAST_REPLY_TIME: Duration = Duration::from_secs(10);

fn tls_error(error: impl std::fmt::Display) -> PartiesError {
    PartiesError::InvalidRequest(format!("certificate or key cannot be used: {error}"))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn roots(agreement: &Agreement) -> Result<RootCertStore, PartiesError> {
    let mut roots = RootCertStore::empty();
    let authority =
        CertificateDer::from_pem_slice(agreement.authority.as_bytes()).map_err(tls_error)?;
    roots.add(authority).map_err(tls_error)?;
    Ok(roots)
}

fn identity(
    folder: &Folder,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), PartiesError> {
    let (certificate, key) = folder.identity()?;
    let certificate = CertificateDer::from_pem_slice(&certificate).map_err(tls_error)?;
    let settings = folder.settings();
    let agreement = folder.agreement();
    let stated = agreement
        .parties
        .iter()
        .map(|party| (&party.name, &party.fingerprint))
        .chain(agreement.servers.iter().map(|server| (&server.name, &server.fingerprint)))
        .find(|(name, _)| **name == settings.name);
    match stated {
        Some((_, stated)) if *stated == fingerprint(&certificate) => {}
        Some(_) => {
            return Err(PartiesError::InvalidRequest(format!(
                "the certificate of {} is not the one that the agreement names",
                settings.name
            )));
        }
        None => {
            return Err(PartiesError::InvalidRequest(format!(
                "'{}' is no member of the agreement",
                privet_core::printable(&settings.name)
            )));
        }
    }
    Ok((vec![certificate], PrivateKeyDer::from_pem_slice(&key).map_err(tls_error)?))
}

/// Creates a party's signer from its certificate's key.
pub(crate) fn signer(folder: &Folder) -> Result<Signer, PartiesError> {
    let (mut chain, key) = identity(folder)?;
    Signer::new(chain.remove(0), &key)
}

/// A party's connections, one to each server, made when needed and again when lost.
pub struct Connections {
    agreement: Agreement,
    config: Arc<ClientConfig>,
    open: Vec<Option<Stream>>,
    /// Maximum number of values in an answer.
    longest: usize,
}

pub(crate) type Stream = StreamOwned<ClientConnection, Timed>;
/// A connection that another server made.
pub(crate) type InboundStream = StreamOwned<ServerConnection, Timed>;

impl Connections {
    /// Prepares the connections of a party's folder; none is made yet.
    pub fn new(folder: &Folder) -> Result<Self, PartiesError> {
        let agreement = folder.agreement().clone();
        let (chain, key) = identity(folder)?;
        if crate::server::now() > agreement.expires {
            return Err(PartiesError::InvalidRequest(
                "the certificates of the agreement have expired: ask for a new agreement".into(),
            ));
        }
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(tls_error)?
            .with_root_certificates(roots(&agreement)?)
            .with_client_auth_cert(chain, key)
            .map_err(tls_error)?;
        let open = agreement.servers.iter().map(|_| None).collect();
        let longest = agreement.longest_round()?;
        Ok(Self { agreement, config: Arc::new(config), open, longest })
    }

    pub(crate) fn connect(&self, server: usize) -> Result<Stream, PartiesError> {
        let station = &self.agreement.servers[server];
        let lost = |error: io::Error| in_words(&station.name, &station.address, &error);
        let mut addresses = station.address.to_socket_addrs().map_err(lost)?;
        let none = || io::Error::new(ErrorKind::NotFound, "the address leads nowhere");
        let address = addresses.next().ok_or_else(none).map_err(lost)?;
        let socket = TcpStream::connect_timeout(&address, CONNECTING.0).map_err(lost)?;
        let until = Some(Instant::now() + CONNECTING.1);
        let socket = Timed::new(socket, until).map_err(lost)?;
        let name = ServerName::try_from(inner_name(&station.name)).map_err(tls_error)?;
        let connection =
            ClientConnection::new(Arc::clone(&self.config), name).map_err(tls_error)?;
        let mut stream = StreamOwned::new(connection, socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).map_err(lost)?;
        }
        stream.sock.ends(None);
        let shown = stream.conn.peer_certificates().and_then(|chain| chain.first());
        if shown.map(|shown| fingerprint(shown)) != Some(station.fingerprint.clone()) {
            return Err(PartiesError::InvalidRequest(format!(
                "who answers at {} is not server {}: its certificate is another than the agreement names",
                station.address, station.name
            )));
        }
        Ok(stream)
    }
}

/// Converts a connection's error. One that cannot pass by itself is not a `Transport` error, so that it is
/// not retried.
fn in_words(name: &str, address: &str, error: &io::Error) -> PartiesError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => PartiesError::InvalidRequest(format!(
            "the certificate of {name} has expired: ask for a new agreement"
        )),
        Some(rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => PartiesError::InvalidRequest(format!(
            "the certificate of {name} is not valid yet: is the clock of this machine right?"
        )),
        // Authorities of two agreements have the same name: of another's certificate the signature is wrong.
        Some(rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => PartiesError::InvalidRequest(format!(
            "the certificate of {name} is not signed by this agreement's authority"
        )),
        Some(rustls::Error::InvalidCertificate(why)) => PartiesError::InvalidRequest(format!(
            "the certificate of {name} is not accepted: {why:?}"
        )),
        Some(rustls::Error::AlertReceived(AlertDescription::CertificateExpired)) => {
            PartiesError::InvalidRequest(format!(
                "{name} says that our certificate has expired: ask for a new agreement"
            ))
        }
        Some(rustls::Error::AlertReceived(
            alert @ (AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::AccessDenied),
        )) => PartiesError::InvalidRequest(format!(
            "{name} does not accept our certificate ({alert:?})"
        )),
        _ => PartiesError::Transport(format!(
            "server {name} at {address} cannot be reached: {error}"
        )),
    }
}

impl Transport for Connections {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        let mut stream = match self.open[server].take() {
            Some(stream) => stream,
            None => self.connect(server)?,
        };
        // Limits the whole exchange, however slowly single bytes arrive.
        let patience = Duration::from_secs(self.agreement.patience);
        stream.sock.ends(Some(Instant::now() + patience.max(LEAST_REPLY_TIME)));
        let asked = write_frame(&mut stream, ask, body)
            .and_then(|()| read_frame::<ServerReply>(&mut stream, self.longest));
        match asked {
            Ok((reply, body)) => {
                self.open[server] = Some(stream);
                Ok((reply, body.to_vec()))
            }
            // The connection is dropped; the next request makes another.
            Err(error) => {
                let station = &self.agreement.servers[server];
                Err(in_words(&station.name, &station.address, &error))
            }
        }
    }
}

/// Runs a server until every party has its result, or the run ended and every party could be informed.
/// Every server draws its own noise; an agreement with noise drawn together is refused.
pub fn serve(
    folder: &Folder,
    server: Arc<Server>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<(), PartiesError> {
    serve_with(folder, server, None, tell)
}

/// Runs a server, with an engine that draws noise together with the other servers if the agreement says
/// so.
pub fn serve_with(
    folder: &Folder,
    server: Arc<Server>,
    engine: Option<Arc<dyn Engine>>,
    tell: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<(), PartiesError> {
    let engine = match (server.drawings(), engine) {
        (None, _) => None,
        (Some(_), Some(engine)) => Some(engine),
        (Some(_), None) => {
            return Err(PartiesError::InvalidRequest(
                "the agreement has servers draw noise together, and nothing is there that does"
                    .into(),
            ));
        }
    };
    let (chain, key) = identity(folder)?;
    let clients = WebPkiClientVerifier::builder_with_provider(
        Arc::new(roots(folder.agreement())?),
        provider(),
    );
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(tls_error)?
        .with_client_cert_verifier(clients.build().map_err(tls_error)?)
        .with_single_cert(chain, key)
        .map_err(tls_error)?;
    let mut config = config;
    // Sessions are never resumed; and unread tickets would spoil the end of a connection that is only
    // written to.
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    let place = server.agreement().server(server.name()).unwrap_or_default();
    let station = &server.agreement().servers[place];
    let address = folder.settings().listen.clone().unwrap_or_else(|| station.address.clone());
    let lost =
        |error: io::Error| PartiesError::Transport(format!("cannot listen at {address}: {error}"));
    let listener = TcpListener::bind(&address).map_err(lost)?;
    listener.set_nonblocking(true).map_err(lost)?;
    tell(&format!("server {} listens at {address}", server.name()));
    let servers = engine.as_ref().map_or(0, |_| server.agreement().servers.len());
    let doors = ConnectionLimits::new(server.agreement().parties.len() + servers);
    let inbound = match engine {
        None => None,
        Some(engine) => {
            let connections = Connections::new(folder)?;
            let (inbox, events) = drawing::inbox();
            let with = (inbox.clone(), events);
            let drawer =
                Drawer::new(Arc::clone(&server), engine, connections, with, Arc::clone(&tell));
            std::thread::spawn(move || drawer.run());
            Some(inbox)
        }
    };
    let mut over = None;
    loop {
        match listener.accept() {
            Ok((socket, from)) => {
                let (config, server, tell, doors) =
                    (Arc::clone(&config), Arc::clone(&server), Arc::clone(&tell), doors.clone());
                let inbound = inbound.clone();
                // A peer over the maximum is disconnected at once, and may come again.
                if let Some(room) = doors.enter() {
                    std::thread::spawn(move || {
                        let told = attend(socket, config, (room, &doors), &server, inbound);
                        if let Err(error) = told
                            && doors.worth_telling()
                        {
                            tell(&format!("connection from {from}: {error}"));
                        }
                    });
                } else if doors.worth_telling() {
                    tell(&format!("connection from {from}: too many at once, let go"));
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => {
                tell(&format!("a connection failed: {error}"));
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        server.lose_patience();
        if server.is_over() {
            let since = over.get_or_insert_with(std::time::Instant::now);
            let linger = match server.end_reason() {
                // Time for all parties to receive the reason.
                Some(_) => Duration::from_secs(server.agreement().patience.min(10)),
                None => Duration::from_millis(200),
            };
            if since.elapsed() > linger {
                return match server.end_reason() {
                    Some(why) => Err(PartiesError::Ended(format!("the run was ended: {why}"))),
                    None => Ok(()),
                };
            }
        }
    }
}

/// Serves one party until it disconnects; a server's connection is passed to the thread that draws
/// noise.
fn attend(
    socket: TcpStream,
    config: Arc<ServerConfig>,
    (stranger, doors): (Stranger, &ConnectionLimits),
    server: &Server,
    inbound: Option<Inbound>,
) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut socket = Timed::new(socket, Some(stranger.until()))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    socket.ends(None);
    let mut stream = StreamOwned::new(connection, socket);
    let shown = stream.conn.peer_certificates().and_then(|chain| chain.first());
    let shown = shown.map(|shown| fingerprint(shown)).unwrap_or_default();
    let parties = &server.agreement().parties;
    let servers = &server.agreement().servers;
    let other =
        servers.iter().position(|one| one.fingerprint == shown && one.name != server.name());
    if let Some((place, inbound)) = other.zip(inbound) {
        let full = || io::Error::other(format!("{} has too many connections", servers[place].name));
        let seat = doors.seat(parties.len() + place).ok_or_else(full)?;
        drop(stranger);
        let _ = inbound.send(drawing::Event::Came(AcceptedConnection {
            place,
            stream: Box::new(stream),
            seat,
        }));
        return Ok(());
    }
    let Some(party) = parties.iter().position(|party| party.fingerprint == shown) else {
        return Err(io::Error::other("who connects is no party of the agreement"));
    };
    let full = || io::Error::other(format!("{} has too many connections", parties[party].name));
    let _seat = doors.seat(party).ok_or_else(full)?;
    drop(stranger);
    let most = Duration::from_secs(server.agreement().patience).max(LEAST_REPLY_TIME);
    loop {
        stream.sock.ends(Some(Instant::now() + most));
        let (ask, body) = match read_frame::<PartyRequest>(&mut stream, server.longest_share()) {
            Ok(read) => read,
            Err(error) => {
                // A party that disconnects or is slow may return; a malformed message ends the run.
                if error.kind() == ErrorKind::InvalidData {
                    let name = &parties[party].name;
                    server.end_run(&format!("{name} sent something that is no message: {error}"));
                }
                return Ok(());
            }
        };
        let (reply, opening) = server.answer(party, &ask, &body);
        stream.sock.ends(Some(Instant::now() + most));
        write_frame(&mut stream, &reply, &opening)?;
    }
}
