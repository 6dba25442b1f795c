//! Over TLS on loopback: a whole run, and certificates that are refused.

use crate::common::{SCHEMA, counting, names, request, rows, schema, tables, take_part, verified};
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::authority::{self, Validity};
use privet_parties::tls::{self, Connections};
use privet_parties::{Folder, Names, PartiesError, PartyRequest, ServerReply, Transport};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// A port of this process alone, below the system's ephemeral ports, so that no other process gets it
/// meanwhile.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + (std::process::id() % 200) as u16 * 100;
    (0..100)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % 100)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port that is free")
}

/// Names with ports that are free.
fn free(mut names: Names) -> Names {
    for (_, address) in &mut names.servers {
        *address = format!("127.0.0.1:{}", port());
    }
    names
}

/// Waits until all addresses accept connections.
fn listening<'a>(addresses: impl IntoIterator<Item = &'a String>) {
    for address in addresses {
        let pause = |_: &u32| std::thread::sleep(std::time::Duration::from_millis(50));
        let listens = |_| TcpStream::connect(address).is_ok();
        assert!((0..600).inspect(pause).any(listens), "nobody listens at {address}");
    }
}

fn serve(folder: &Path) -> std::thread::JoinHandle<Result<(), privet_parties::PartiesError>> {
    let folder = Folder::open(folder).unwrap();
    let server = Arc::new(folder.server(Box::new(|_| {})).unwrap());
    std::thread::spawn(move || tls::serve(&folder, server, Arc::new(|_: &str| {})))
}

#[test]
fn three_parties_train_over_tls() {
    let names = free(names(2));
    let request = request("gd", Loss::Logistic, &names, 1).with("steps", "5").unwrap();
    let planned = plan(&request).unwrap();
    let tables = tables(&planned);
    let place = tempfile::tempdir().unwrap();
    let made = (&planned, &schema());
    let agreement =
        authority::write_member_folders(place.path(), made, &names, 30, Validity::days(1)).unwrap();
    let servers: Vec<_> =
        names.servers.iter().map(|(name, _)| serve(&place.path().join(name))).collect();
    // Nonsense from strangers disturbs nobody.
    listening(names.servers.iter().map(|(_, address)| address));
    for (_, address) in &names.servers {
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(&[0xff; 200]).unwrap();
    }
    let models = std::thread::scope(|scope| {
        let runs: Vec<_> = names
            .parties
            .iter()
            .zip(&tables)
            .map(|((name, _), table)| {
                let (folder, planned) = (place.path().join(name), &planned);
                scope.spawn(move || {
                    let folder = Folder::open(&folder).unwrap();
                    let line = Connections::new(&folder).unwrap();
                    let party = folder.begin(SCHEMA, line, rows(name)).unwrap();
                    party.join().unwrap();
                    take_part(planned, table, &party).unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(models.iter().all(|model| model.artefact() == models[0].artefact()));
    assert!(verified(&models[0]));
    for server in servers {
        server.join().unwrap().unwrap();
    }
    assert_eq!(agreement.parties.len(), 3);
}

#[test]
fn certificates_that_have_expired_or_are_of_others_are_refused() {
    let names = free(names(2));
    let planned = plan(&request("gd", Loss::Logistic, &names, 1)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let made = (&planned, &schema());
    let (old, new) = (place.path().join("old"), place.path().join("new"));
    let past = Validity { from: 1_000_000_000, until: 1_000_086_400 };
    authority::write_member_folders(&old, made, &names, 2, past).unwrap();
    authority::write_member_folders(&new, made, &names, 2, Validity::days(1)).unwrap();
    let expired = Connections::new(&Folder::open(&old.join("clinic")).unwrap()).map(|_| ());
    let expired = expired.unwrap_err().to_string();
    assert!(expired.contains("have expired"), "{expired}");
    // The certificate of another agreement in an edited folder.
    std::fs::copy(old.join("clinic/certificate.pem"), new.join("clinic/certificate.pem")).unwrap();
    let other = Connections::new(&Folder::open(&new.join("clinic")).unwrap()).map(|_| ());
    let other = other.unwrap_err().to_string();
    assert!(other.contains("not the one that the agreement names"), "{other}");
    // A server whose certificate has expired: the party names it. By the party's clock its own is valid,
    // so it connects.
    let server = serve(&old.join("server-0"));
    listening([&names.servers[0].1]);
    let agreement = old.join("hospital/agreement.json");
    let text = std::fs::read_to_string(&agreement).unwrap();
    let edited = text.replace("1000086400", "9000086400");
    assert_ne!(text, edited);
    std::fs::write(&agreement, edited).unwrap();
    let folder = Folder::open(&old.join("hospital")).unwrap();
    let party = folder.party(SCHEMA, Connections::new(&folder).unwrap()).unwrap();
    let refused = party.join().unwrap_err().to_string();
    assert!(refused.contains("the certificate of server-0 has expired"), "{refused}");
    drop(server);
    // No server listens: reported with name and address, after the patience.
    let folder = Folder::open(&new.join("ward")).unwrap();
    let party = folder.party(SCHEMA, Connections::new(&folder).unwrap()).unwrap();
    let (_, standing) = &party.standing()[1];
    let away = standing.as_ref().unwrap_err().to_string();
    assert!(away.contains("server server-1 at 127.0.0.1"), "{away}");
    // A server of another agreement there.
    let third = place.path().join("third");
    authority::write_member_folders(&third, made, &names, 2, Validity::days(1)).unwrap();
    let server = serve(&third.join("server-1"));
    listening([&names.servers[1].1]);
    let (_, standing) = &party.standing()[1];
    let other = standing.as_ref().unwrap_err().to_string();
    let words = "the certificate of server-1 is not signed by this agreement's authority";
    assert!(other.contains(words), "{other}");
    drop(server);
}

/// Connections that break for good after this many requests, as if the party were killed.
struct Mortal {
    inner: Connections,
    left: usize,
}

impl Transport for Mortal {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        let killed = || PartiesError::Ended("killed".into());
        self.left = self.left.checked_sub(1).ok_or_else(killed)?;
        self.inner.ask(server, ask, body)
    }
}

/// Killed in the last round, before or after its share is with every server: restarted it gets its
/// result, and its remaining state on disk is no sum of rows.
#[test]
fn a_party_that_is_killed_in_the_last_round_has_its_result_when_it_comes_back() {
    // Two greetings; a share to each server; requests for commitments, then for openings.
    for questions in [3, 4, 5, 7] {
        let names = free(names(2));
        let planned = counting(&names);
        let tables = tables(&planned);
        let place = tempfile::tempdir().unwrap();
        let made = (&planned, &schema());
        authority::write_member_folders(place.path(), made, &names, 30, Validity::days(1)).unwrap();
        let servers: Vec<_> =
            names.servers.iter().map(|(name, _)| serve(&place.path().join(name))).collect();
        // A request that finds no server would count too.
        listening(names.servers.iter().map(|(_, address)| address));
        let folder = |name: &str| Folder::open(&place.path().join(name)).unwrap();
        let clinic = folder("clinic");
        {
            let inner = Connections::new(&clinic).unwrap();
            let line = Mortal { inner, left: questions };
            let party = clinic.begin(SCHEMA, line, rows("clinic")).unwrap();
            party.join().unwrap();
            take_part(&planned, &tables[0], &party).unwrap_err();
        }
        let counts = std::thread::scope(|scope| {
            let runs: Vec<_> = [1, 2, 0]
                .map(|place| {
                    let (planned, table, name) =
                        (&planned, &tables[place], &names.parties[place].0);
                    let folder = folder(name);
                    scope.spawn(move || {
                        // The killed party returns when the others may be done.
                        if place == 0 {
                            std::thread::sleep(std::time::Duration::from_millis(600));
                        }
                        let line = Connections::new(&folder).unwrap();
                        let party = folder.begin(SCHEMA, line, rows(name)).unwrap();
                        party.join().unwrap();
                        take_part(planned, table, &party).unwrap()
                    })
                })
                .into_iter()
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(counts.iter().all(|other| other.artefact() == counts[0].artefact()));
        for server in servers {
            server.join().unwrap().unwrap();
        }
        let left = std::fs::read(place.path().join("clinic/state/shares")).unwrap();
        assert!(left.len() < 100, "{} bytes", left.len());
    }
}

/// A member that sends a share longer than any round's ends the run, and all parties are told its name.
#[test]
fn a_share_that_is_too_long_ends_the_run_over_the_line() {
    let names = free(names(2));
    let planned = counting(&names);
    let place = tempfile::tempdir().unwrap();
    let made = (&planned, &schema());
    authority::write_member_folders(place.path(), made, &names, 5, Validity::days(1)).unwrap();
    let server = serve(&place.path().join("server-0"));
    let folder = |name: &str| Folder::open(&place.path().join(name)).unwrap();
    let mut clinic = Connections::new(&folder("clinic")).unwrap();
    let mut asked = (0..100).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let share = PartyRequest::Share { round: 0, leaf: String::new(), heard: String::new() };
        clinic.ask(0, &share, &[1; 5000])
    });
    // Once the server listens: the connection is closed on a message that is too long.
    let closed = |asked: &Result<_, PartiesError>| {
        asked.as_ref().is_err_and(|error| !error.to_string().contains("refused"))
    };
    assert!(asked.any(|asked| closed(&asked)));
    let ended = server.join().unwrap().unwrap_err().to_string();
    assert!(ended.contains("clinic sent something that is no message"), "{ended}");
}
