//! Servers that keep a party waiting: it gives up by itself, and sends few requests meanwhile.

use crate::common::{SCHEMA, Through, agreed, counting, first_leaf, names, request, schema};
use privet_dp::gate::PlannedDraws;
use privet_dp::mechanism::shares::{NoiseMode, Participants, PartyChannel, split};
use privet_dp::noise::SystemRandom;
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::authority::{self, Validity};
use privet_parties::tls::Connections;
use privet_parties::{
    Agreement, Commitment, Folder, PartiesError, Party, PartyRequest, ServerReply,
};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of requests after which a server stops the test of a party that would wait without end.
const LET_GO: usize = 2000;
/// Bound on the requests at a patience of one second, two at each wait, with intervals that grow to a
/// second.
const FEW: usize = 60;

/// The answer to a request, by server and number of the request.
type Answers<'a> = &'a (dyn Fn(usize, usize, &PartyRequest) -> ServerReply + Sync);

/// The number of a party's requests until it gives up, and its reason.
fn held(agreement: &Agreement, answers: Answers<'_>) -> (usize, String) {
    let asked = AtomicUsize::new(0);
    let line = Through(|server: usize, ask: &PartyRequest, _: &[u128]| {
        let before = asked.fetch_add(1, Ordering::Relaxed);
        if before > LET_GO {
            return Err(PartiesError::Ended("held".into()));
        }
        let numbers = if matches!(ask, PartyRequest::Opening { .. }) { vec![1; 2] } else { vec![] };
        Ok((answers(server, before, ask), numbers))
    });
    let party = Party::new(agreement.clone(), "clinic", SCHEMA, line).unwrap();
    let why = party.join().map_err(|error| error.to_string()).and_then(|()| {
        let events = agreement.events().unwrap();
        let leaf = PlannedDraws::of(&events).next().unwrap().clone();
        let shares = split(&[1, 2], 2, &mut SystemRandom::new().unwrap());
        party.exchange(0, &leaf, shares).map(drop).map_err(|error| error.to_string())
    });
    drop(party);
    (asked.into_inner(), why.unwrap_err())
}

fn counted() -> Agreement {
    let names = names(2);
    authority::without_certificates((&counting(&names), &schema()), &names, 1).unwrap()
}

/// Follows the protocol towards one party, apart from the requests answered otherwise.
fn answered(agreement: &Agreement, server: usize, ask: &PartyRequest) -> ServerReply {
    let (digest, leaf) = (&agreement.digest(), &first_leaf(agreement));
    let of = Commitment { agreement: digest, round: 0, leaf, server, nonce: "n" };
    match ask {
        PartyRequest::Hello { .. } => ServerReply::Welcome { round: 0 },
        PartyRequest::Commitment { .. } => ServerReply::Committed { digest: of.digest(&[1, 1]) },
        PartyRequest::Opening { .. } => ServerReply::Opened { nonce: "n".into() },
        _ => ServerReply::Taken,
    }
}

/// "Waiting" at once, without end: at each place where a party waits, for others or for itself.
#[test]
fn a_server_that_says_wait_at_once_is_asked_seldom_and_not_for_ever() {
    let agreement = counted();
    for missing in ["ward", "clinic"] {
        let wait = || ServerReply::Waiting { missing: vec![missing.into()] };
        let at = |place: &'static str| {
            held(&agreement, &|server, _, ask| match (ask, place) {
                (PartyRequest::Commitment { .. }, "commitment")
                | (PartyRequest::Opening { .. }, "opening")
                | (PartyRequest::Sign { .. }, "signature") => wait(),
                _ => answered(&agreement, server, ask),
            })
        };
        for (place, words) in [
            ("commitment", format!("server-0 waited too long for {missing}")),
            ("opening", format!("server-0 waited too long for {missing}")),
            ("signature", "no signature came of clinic, hospital, ward".into()),
        ] {
            let (asked, why) = at(place);
            assert!(asked < FEW && why.contains(&words), "{place}: asked {asked} times: {why}");
        }
    }
}

/// A server that accepts a share and loses it each time is sent it again, at the same intervals.
#[test]
fn a_server_that_refuses_what_it_asks_for_is_left() {
    let agreement = counted();
    let (asked, why) = held(&agreement, &|server, _, ask| match ask {
        PartyRequest::Share { .. } => ServerReply::Refused { why: "greet me".into() },
        _ => answered(&agreement, server, ask),
    });
    assert!(asked < FEW && why.contains("server-0 refuses: greet me"), "{asked}: {why}");
}

/// "Still drawing", without end: refused if servers draw nothing together; otherwise limited, whatever
/// progress they claim.
#[test]
fn a_server_that_draws_for_ever_is_left() {
    let (_, alone) = agreed(1);
    let (requests, why) = held(&alone, &|_, _, _| ServerReply::Drawing { done: 0, of: 3 });
    assert!(requests < FEW && why.contains("odd answer"), "{requests}: {why}");
    let names = names(2);
    let among =
        Participants { noise: NoiseMode::Joint, ..authority::count_members(&names, 1).unwrap() };
    let request =
        request("gd", Loss::Logistic, &names, 1).with("steps", "3").unwrap().shared_among(among);
    let planned = plan(&request).unwrap();
    let joint = authority::without_certificates((&planned, &schema()), &names, 1).unwrap();
    let (request, why) = held(&joint, &|_, _, _| ServerReply::Drawing { done: 0, of: 3 });
    assert!(
        request < FEW && why.contains("noise is being drawn (0 of 3 rounds)"),
        "{request}: {why}"
    );
    assert!(why.contains("nothing is spent"), "{why}");
    // Falling progress, and more rounds than planned.
    let falls = |_, before: usize, _: &PartyRequest| ServerReply::Drawing {
        done: 2 - before.min(2) as u64,
        of: 3,
    };
    let (request, why) = held(&joint, &falls);
    assert!(request < FEW && why.contains("noise is being drawn"), "{request}: {why}");
    let (request, why) =
        held(&joint, &|_, before, _| ServerReply::Drawing { done: before as u64, of: 3 });
    assert!(request < FEW && why.contains("odd answer"), "{request}: {why}");
}

/// A reply that comes byte by byte, each within the limit of a read: the whole reply has a limit.
#[test]
fn a_server_that_drips_is_left() {
    let names = {
        let mut names = names(2);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        names.servers[0].1 = listener.local_addr().unwrap().to_string();
        (names, listener)
    };
    let (names, listener) = names;
    let (planned, place) = (counting(&names), tempfile::tempdir().unwrap());
    let made = (&planned, &schema());
    authority::write_member_folders(place.path(), made, &names, 1, Validity::days(1)).unwrap();
    let config = {
        use rustls::pki_types::pem::PemObject;
        use rustls::pki_types::{CertificateDer, PrivateKeyDer};
        let file = |name: &str| place.path().join("server-0").join(name);
        let certificate = CertificateDer::from_pem_file(file("certificate.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(file("key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider);
        let config = config.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
        Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
    };
    // A greeting of 60,000 spaces and a welcome: at five bytes a second it takes hours. After a minute
    // and a half the rest comes at once, so that a party that waited is released.
    let welcome = format!("{}{}", " ".repeat(60_000), r#"{"reply":"welcome","round":0}"#);
    let mut reply = (welcome.len() as u32).to_be_bytes().to_vec();
    reply.extend(welcome.as_bytes());
    reply.extend([0; 4]);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let (config, reply) = (Arc::clone(&config), reply.clone());
            std::thread::spawn(move || {
                let connection = rustls::ServerConnection::new(config).unwrap();
                let mut stream = rustls::StreamOwned::new(connection, socket.unwrap());
                let _ = stream.read(&mut [0; 1 << 14]);
                for (place, byte) in reply.iter().enumerate() {
                    if place == 450 {
                        let _ = stream.write_all(&reply[place..]);
                        break;
                    }
                    if stream.write_all(&[*byte]).and_then(|()| stream.flush()).is_err() {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
                let _ = stream.read(&mut [0; 1 << 14]);
            });
        }
    });
    let folder = Folder::open(&place.path().join("clinic")).unwrap();
    let party = folder.party(SCHEMA, Connections::new(&folder).unwrap()).unwrap();
    let (_, standing) = party.standing().remove(0);
    let why = standing.unwrap_err().to_string();
    assert!(why.contains("took too long in all"), "{why}");
    let why = party.join().unwrap_err().to_string();
    assert!(why.contains("server-0") && why.contains("took too long in all"), "{why}");
}
