//! Parties and servers killed and restarted at every step: all resume, all have the same result, and no
//! server is held to two openings; and a copied folder resumes with its own table.

use crate::common::{SCHEMA, Through, counting, names, rows, schema, tables, take_part, verified};
use privet_learn::Released;
use privet_learn::statistics::count::Count;
use privet_parties::authority::{self, Validity};
use privet_parties::{Folder, PartiesError, PartyRequest, Server, ServerReply};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PARTIES: [&str; 3] = ["clinic", "hospital", "ward"];

/// Two servers with folders that can be killed and restarted, and all commitments they ever made.
struct Servers {
    place: tempfile::TempDir,
    there: Mutex<Vec<Option<Arc<Server>>>>,
    commitments: Mutex<HashSet<(usize, String)>>,
}

impl Servers {
    fn new() -> Self {
        let names = names(2);
        let place = tempfile::tempdir().unwrap();
        let made = (&counting(&names), &schema());
        authority::write_member_folders(place.path(), made, &names, 60, Validity::days(1)).unwrap();
        let there = (0..2).map(|server| Some(started(place.path(), server))).collect();
        Self { place, there: Mutex::new(there), commitments: Mutex::default() }
    }

    fn answer(&self, server: usize, party: usize, ask: &PartyRequest, body: &[u128]) -> Answer {
        let there = self.there.lock().unwrap()[server].clone();
        let Some(there) = there else { return Err(PartiesError::Transport("away".into())) };
        let (reply, numbers) = there.answer(party, ask, body);
        if let ServerReply::Committed { digest } = &reply {
            self.commitments.lock().unwrap().insert((server, digest.clone()));
        }
        Ok((reply, numbers))
    }

    /// Kills a server, as a power cut would, and starts it again.
    fn restart(&self, server: usize) {
        let gone = self.there.lock().unwrap()[server].take();
        let gone = gone.map(|gone| Arc::downgrade(&gone)).unwrap();
        while gone.strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.there.lock().unwrap()[server] = Some(started(self.place.path(), server));
    }

    /// Runs one party from its folder, over a transport implemented by this function.
    fn run(
        &self,
        party: usize,
        line: impl FnMut(usize, &PartyRequest, &[u128]) -> Answer + Send,
    ) -> Result<Released<Count>, String> {
        let planned = counting(&names(2));
        let table = &tables(&planned)[party];
        let folder = Folder::open(&self.place.path().join(PARTIES[party])).unwrap();
        let begun = folder.begin::<_, PartiesError>(SCHEMA, Through(line), rows(PARTIES[party]));
        let party = begun.map_err(|error| error.to_string())?;
        party.join().map_err(|error| error.to_string())?;
        take_part(&planned, table, &party).map_err(|error| error.to_string())
    }

    /// Checks that all results are equal, that each server made one opening, and that the servers ended
    /// well.
    fn check(&self, counts: &[Released<Count>], what: &str) {
        assert!(counts.iter().all(|other| other.artefact() == counts[0].artefact()), "{what}");
        assert!(verified(&counts[0]), "{what}");
        assert_eq!(self.commitments.lock().unwrap().len(), 2, "{what}");
        for server in self.there.lock().unwrap().iter().flatten() {
            assert!(
                server.is_over() && server.end_reason().is_none(),
                "{what}: {:?}",
                server.end_reason()
            );
        }
    }
}

type Answer = Result<(ServerReply, Vec<u128>), PartiesError>;

fn started(place: &Path, server: usize) -> Arc<Server> {
    let folder = Folder::open(&place.join(format!("server-{server}"))).unwrap();
    Arc::new(folder.server(Box::new(|_| {})).unwrap())
}

/// Phase of a request.
fn phase(ask: &PartyRequest) -> &'static str {
    match ask {
        PartyRequest::Hello { .. } => "hello",
        PartyRequest::Share { .. } => "share",
        PartyRequest::Commitment { .. } => "commitment",
        PartyRequest::Opening { .. } => "opening",
        PartyRequest::Sign { .. } => "signature",
        PartyRequest::Done => "done",
        PartyRequest::End { .. } | PartyRequest::Status => "other",
    }
}

/// Each party in a thread; the servers are killed at the `count`th request of a phase, before it is
/// processed or before its answer is sent.
#[test]
fn a_server_that_is_killed_in_any_phase_goes_on() {
    for at in ["hello", "share", "commitment", "opening", "signature", "done"] {
        for (heard, count) in [(false, 1), (true, 1), (true, 3)] {
            let servers = Servers::new();
            let strikes = Mutex::new(count);
            let counts = std::thread::scope(|scope| {
                let run = |party: usize| {
                    let (servers, strikes) = (&servers, &strikes);
                    scope.spawn(move || {
                        let line = |server: usize, ask: &PartyRequest, body: &[u128]| {
                            let struck = server == 1 && phase(ask) == at && {
                                let mut left = strikes.lock().unwrap();
                                let now = *left == 1;
                                *left = 0.max(*left - 1);
                                now
                            };
                            if struck && !heard {
                                servers.restart(server);
                            }
                            let answer = servers.answer(server, party, ask, body);
                            if struck && heard {
                                servers.restart(server);
                                return Err(PartiesError::Transport("broken".into()));
                            }
                            answer
                        };
                        servers.run(party, line).unwrap()
                    })
                };
                let runs: Vec<_> = (0..3).map(run).collect();
                runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
            });
            assert!(*strikes.lock().unwrap() <= 0, "{at}: nothing was killed");
            servers.check(&counts, &format!("{at}, heard: {heard}, {count}"));
        }
    }
}

/// One party is killed after its first, second, third … request, and restarted, until it finishes.
#[test]
fn a_party_that_is_killed_after_any_question_goes_on() {
    let mut through = false;
    for last in 0..40 {
        let servers = Servers::new();
        let mut phases = "";
        let counts = std::thread::scope(|scope| {
            let others: Vec<_> = (1..3)
                .map(|party| {
                    let servers = &servers;
                    let line = move |server: usize, ask: &PartyRequest, body: &[u128]| {
                        servers.answer(server, party, ask, body)
                    };
                    scope.spawn(move || servers.run(party, line).unwrap())
                })
                .collect();
            let mut left = last;
            let dying = |server: usize, ask: &PartyRequest, body: &[u128]| {
                if left == 0 {
                    return Err(PartiesError::Ended("killed".into()));
                }
                left -= 1;
                phases = phase(ask);
                servers.answer(server, 0, ask, body)
            };
            let first = servers.run(0, dying);
            through = first.is_ok() && phases == "done";
            let line = |server: usize, ask: &PartyRequest, body: &[u128]| {
                servers.answer(server, 0, ask, body)
            };
            let mut counts = vec![servers.run(0, line).unwrap()];
            counts.extend(first);
            counts.extend(others.into_iter().map(|other| other.join().unwrap()));
            counts
        });
        servers.check(&counts, &format!("killed after {last}, in {phases}"));
        if through && last > 12 {
            return;
        }
    }
    panic!("it never got through");
}

/// A server whose folder is restored from before its commitment: the party has recorded it.
#[test]
fn a_server_that_commits_itself_twice_is_found_out_after_a_restart() {
    let servers = Servers::new();
    let killed = || PartiesError::Ended("killed".into());
    // All are killed once they hold the commitments, before anything is opened.
    std::thread::scope(|scope| {
        for party in 0..3 {
            let servers = &servers;
            scope.spawn(move || {
                let line = |server: usize, ask: &PartyRequest, body: &[u128]| match ask {
                    PartyRequest::Opening { .. } | PartyRequest::End { .. } => Err(killed()),
                    _ => servers.answer(server, party, ask, body),
                };
                servers.run(party, line).unwrap_err();
            });
        }
    });
    *servers.there.lock().unwrap() = vec![None, None];
    std::fs::remove_file(servers.place.path().join("server-1/state/opening-0000000")).unwrap();
    *servers.there.lock().unwrap() =
        (0..2).map(|server| Some(started(servers.place.path(), server))).collect();
    let whys: Vec<String> = std::thread::scope(|scope| {
        let run = |party: usize| {
            let servers = &servers;
            scope.spawn(move || {
                let line = |server: usize, ask: &PartyRequest, body: &[u128]| {
                    servers.answer(server, party, ask, body)
                };
                servers.run(party, line).unwrap_err()
            })
        };
        let runs: Vec<_> = (0..3).map(run).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let words = "server-1 had committed itself to another opening of round 1";
    assert!(whys.iter().any(|why| why.contains(words)), "{whys:?}");
}

/// Copies a folder.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn a_copied_folder_goes_on_with_its_own_table_alone() {
    let servers = Servers::new();
    let folder = |name: &str| Folder::open(&servers.place.path().join(name)).unwrap();
    let to_servers =
        |server: usize, ask: &PartyRequest, body: &[u128]| servers.answer(server, 0, ask, body);
    let begin = |name: &str, table: &str| {
        folder(name).begin::<_, PartiesError>(SCHEMA, Through(to_servers), rows(table))
    };
    // Copied after joining and before beginning: two tables, of which servers accept one.
    folder("clinic").party(SCHEMA, Through(to_servers)).unwrap().join().unwrap();
    copied(&servers.place.path().join("clinic"), &servers.place.path().join("early"));
    begin("clinic", "one\ntwo").unwrap().join().unwrap();
    let why = begin("early", "three").unwrap().join().unwrap_err().to_string();
    assert!(why.contains("from another copy of its folder"), "{why}");
    // Copied later: another table is refused before anything is sent; its own resumes.
    copied(&servers.place.path().join("clinic"), &servers.place.path().join("late"));
    for name in ["clinic", "late"] {
        for other in ["one\ntwo\nthree", "two\none", "onetwo", ""] {
            let silent = |_: usize, _: &PartyRequest, _: &[u128]| panic!("it spoke");
            let refused =
                folder(name).begin::<_, PartiesError>(SCHEMA, Through(silent), rows(other));
            assert!(matches!(refused.map(drop), Err(PartiesError::OtherTable)), "{name}: {other}");
        }
        begin(name, "one\ntwo").unwrap().join().unwrap();
    }
    // The key and digest of its table are neither sent nor readable by others.
    let kept = servers.place.path().join("clinic/state/table.json");
    let text: serde_json::Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
    let said: Mutex<String> = Mutex::default();
    let listening = |server: usize, ask: &PartyRequest, body: &[u128]| {
        said.lock().unwrap().push_str(&serde_json::to_string(ask).unwrap());
        servers.answer(server, 0, ask, body)
    };
    let party =
        folder("clinic").begin::<_, PartiesError>(SCHEMA, Through(listening), rows("one\ntwo"));
    party.unwrap().join().unwrap();
    let said = said.into_inner().unwrap();
    assert!(said.contains(text["begun"].as_str().unwrap()));
    assert!(!said.contains(text["digest"].as_str().unwrap()));
    assert!(!said.contains(text["key"].as_str().unwrap()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // A party opened without a table cannot take part.
    let party = folder("ward").party(SCHEMA, Through(to_servers)).unwrap();
    let table = &tables(&counting(&names(2)))[2];
    let why = take_part(&counting(&names(2)), table, &party).unwrap_err().to_string();
    assert!(why.contains("takes part with a table"), "{why}");
}
