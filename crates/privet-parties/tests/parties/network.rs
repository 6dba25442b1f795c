//! Over TLS on loopback: a whole run, and certificates that do not do.

use crate::common::{SCHEMA, names, request, schema, tables, take_part, verified};
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::authority::{self, Validity};
use privet_parties::tls::{self, Connections};
use privet_parties::{Folder, Names};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// Names with ports that are free now.
fn free(mut names: Names) -> Names {
    let held: Vec<_> =
        names.servers.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    for ((_, address), port) in names.servers.iter_mut().zip(&held) {
        *address = port.local_addr().unwrap().to_string();
    }
    names
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
    let agreement = authority::found(place.path(), made, &names, 30, Validity::days(1)).unwrap();
    let servers: Vec<_> =
        names.servers.iter().map(|(name, _)| serve(&place.path().join(name))).collect();
    // Nonsense from anyone who is no member disturbs nobody.
    std::thread::sleep(std::time::Duration::from_millis(100));
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
                    let party = folder.party(SCHEMA, Connections::new(&folder).unwrap()).unwrap();
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
    authority::found(&old, made, &names, 2, past).unwrap();
    authority::found(&new, made, &names, 2, Validity::days(1)).unwrap();
    let expired = Connections::new(&Folder::open(&old.join("clinic")).unwrap()).map(|_| ());
    let expired = expired.unwrap_err().to_string();
    assert!(expired.contains("have expired"), "{expired}");
    // The certificate of another agreement in an edited folder.
    std::fs::copy(old.join("clinic/certificate.pem"), new.join("clinic/certificate.pem")).unwrap();
    let other = Connections::new(&Folder::open(&new.join("clinic")).unwrap()).map(|_| ());
    let other = other.unwrap_err().to_string();
    assert!(other.contains("not the one that the agreement names"), "{other}");
    // A server whose certificate has expired: the party says whose. Its clock says that it is valid, so it asks.
    let server = serve(&old.join("server-0"));
    std::thread::sleep(std::time::Duration::from_millis(100));
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
    // Nobody listens: said with name and address, after patience.
    let folder = Folder::open(&new.join("ward")).unwrap();
    let party = folder.party(SCHEMA, Connections::new(&folder).unwrap()).unwrap();
    let (_, standing) = &party.standing()[1];
    let away = standing.as_ref().unwrap_err().to_string();
    assert!(away.contains("server server-1 at 127.0.0.1"), "{away}");
}
