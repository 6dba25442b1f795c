//! Killed and restarted: shares and openings are those stored.

use crate::common::{SCHEMA, names, request, rows, schema, tables, take_part, verified};
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::authority::{self, Validity};
use privet_parties::{
    Folder, PROTOCOL, PartiesError, PartyRequest, Server, ServerReply, Transport,
};
use std::sync::{Arc, Mutex};

/// An answer with numbers: server, round and numbers.
type Seen = (usize, u64, Vec<u128>);

/// Servers that can be removed and restored, and a transport that breaks on request.
#[derive(Clone)]
struct Switchboard {
    servers: Arc<Mutex<Vec<Option<Arc<Server>>>>>,
    party: usize,
    /// After this many requests the transport is dead for good, as if the party were killed.
    left: Arc<Mutex<usize>>,
    /// Every answer with numbers.
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Transport for Switchboard {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        {
            let mut left = self.left.lock().unwrap();
            *left = left.checked_sub(1).ok_or_else(|| PartiesError::Ended("killed".into()))?;
        }
        let there = self.servers.lock().unwrap()[server].clone();
        let Some(there) = there else { return Err(PartiesError::Transport("away".into())) };
        let (reply, numbers) = there.answer(self.party, ask, body);
        if let (PartyRequest::Opening { round, .. }, ServerReply::Opened { .. }) = (ask, &reply) {
            self.seen.lock().unwrap().push((server, *round, numbers.clone()));
        }
        Ok((reply, numbers))
    }
}

#[test]
fn a_killed_party_and_a_killed_server_go_on_where_they_were() {
    let names = names(2);
    let request = request("gd", Loss::Logistic, &names, 1).with("steps", "6").unwrap();
    let planned = plan(&request).unwrap();
    let tables = tables(&planned);
    let place = tempfile::tempdir().unwrap();
    let (made, patience) = ((&planned, &schema()), 30);
    authority::write_member_folders(place.path(), made, &names, patience, Validity::days(1))
        .unwrap();
    let folder = |name: &str| Folder::open(&place.path().join(name)).unwrap();
    let start = |name: &str| Some(Arc::new(folder(name).server(Box::new(|_| {})).unwrap()));
    // A table that was read alone binds the folder to nothing: the file may have changed meanwhile.
    let mark = place.path().join("clinic/state/table.json");
    drop(folder("clinic").recognise(rows("hospital")).unwrap());
    assert!(!mark.exists());
    let servers = Arc::new(Mutex::new(vec![start("server-0"), start("server-1")]));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let line = |party: usize, questions: usize| Switchboard {
        servers: Arc::clone(&servers),
        party,
        left: Arc::new(Mutex::new(questions)),
        seen: Arc::clone(&seen),
    };
    let models = std::thread::scope(|scope| {
        let mut runs = Vec::new();
        for (party, name) in ["clinic", "hospital", "ward"].into_iter().enumerate() {
            let (folder, table, planned, line) = (folder(name), &tables[party], &planned, &line);
            runs.push(scope.spawn(move || {
                // One party is killed again and again, each time a little later.
                for questions in [3, 4, 5, 7, 9, 12, 20, 30] {
                    if name == "hospital" {
                        let line = line(party, questions);
                        let party = folder.begin(SCHEMA, line, rows(name)).unwrap();
                        let _ = party.join().map(|()| take_part(planned, table, &party));
                    }
                }
                let line = line(party, usize::MAX);
                let party = folder.begin(SCHEMA, line, rows(name)).unwrap();
                party.join().unwrap();
                take_part(planned, table, &party).unwrap()
            }));
        }
        // Meanwhile a server is killed and restarted, several times.
        for _ in 0..4 {
            std::thread::sleep(std::time::Duration::from_millis(40));
            let gone = servers.lock().unwrap()[1].take();
            let held = gone.map(|server| Arc::downgrade(&server)).unwrap();
            while held.strong_count() > 0 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            let back = start("server-1");
            servers.lock().unwrap()[1] = back;
        }
        runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(mark.exists());
    assert!(models.iter().all(|model| model.artefact() == models[0].artefact()));
    assert!(verified(&models[0]));
    // Over all requests there is one opening per server and round.
    let seen = seen.lock().unwrap();
    for (server, round, numbers) in seen.iter() {
        let same = seen.iter().filter(|(s, r, _)| s == server && r == round);
        assert!(same.clone().count() >= 3, "everyone heard it");
        assert!(same.into_iter().all(|(_, _, other)| other == numbers), "round {round} twice");
    }
    // A folder belongs to one agreement.
    authority::write_member_folders(
        &place.path().join("other"),
        made,
        &names,
        patience,
        Validity::days(1),
    )
    .unwrap();
    std::fs::copy(
        place.path().join("other/ward/agreement.json"),
        place.path().join("ward/agreement.json"),
    )
    .unwrap();
    let refused = folder("ward").party(SCHEMA, line(2, 9)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("another agreement"), "{refused}");
}

/// Joined parties are known after a restart too: a second folder of one name is refused.
#[test]
fn a_server_that_is_started_again_knows_who_joined() {
    let names = names(2);
    let planned = plan(&request("gd", Loss::Logistic, &names, 1)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let made = (&planned, &schema());
    let agreement =
        authority::write_member_folders(place.path(), made, &names, 30, Validity::days(1)).unwrap();
    let folder = Folder::open(&place.path().join("server-0")).unwrap();
    let clock = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let hello = |instance: &str, begun: Option<&str>| PartyRequest::Hello {
        protocol: PROTOCOL,
        agreement: agreement.digest(),
        schema: "s".into(),
        instance: instance.into(),
        begun: begun.map(String::from),
        clock,
    };
    let greeted = |instance, begun| {
        let server = folder.server(Box::new(|_| {})).unwrap();
        server.answer(0, &hello(instance, begun), &[]).0
    };
    let welcome = ServerReply::Welcome { round: 0 };
    assert_eq!(greeted("one", None), welcome);
    assert_eq!(greeted("one", None), welcome);
    assert!(matches!(greeted("two", None), ServerReply::Refused { .. }));
    // Of two copies that had joined and not begun, the first that begins is accepted; checks remain
    // allowed.
    assert_eq!(greeted("one", Some("first")), welcome);
    assert_eq!(greeted("one", Some("first")), welcome);
    let ServerReply::Refused { why } = greeted("one", Some("second")) else { panic!() };
    assert!(why.contains("clinic has begun before, from another copy of its folder"), "{why}");
    assert_eq!(greeted("one", None), welcome);
}

#[test]
fn one_process_has_a_folder_at_a_time_and_keys_are_the_owners_alone() {
    let names = names(2);
    let planned = plan(&request("gd", Loss::Logistic, &names, 1)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let made = (&planned, &schema());
    authority::write_member_folders(place.path(), made, &names, 30, Validity::days(1)).unwrap();
    let folder = Folder::open(&place.path().join("server-0")).unwrap();
    let first = folder.server(Box::new(|_| {})).unwrap();
    let refused = folder.server(Box::new(|_| {})).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("in use by another process"), "{refused}");
    drop(first);
    assert!(folder.server(Box::new(|_| {})).is_ok());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for file in ["key.pem", "agreement.json", "party.toml"] {
            let mode = std::fs::metadata(place.path().join("clinic").join(file)).unwrap();
            assert_eq!(mode.permissions().mode() & 0o777, 0o600, "{file}");
        }
    }
    // A folder that lacks an earlier opening would open that round again: refused.
    let state = place.path().join("server-0/state");
    std::fs::write(state.join("opening-0000001"), b"").unwrap();
    let refused = folder.server(Box::new(|_| {})).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("lacks what was opened in round 1"), "{refused}");
    // Existing files are not overwritten: keys may have been distributed.
    assert!(
        authority::write_member_folders(place.path(), made, &names, 30, Validity::days(1)).is_err()
    );
}
