//! Killed and started again at every step: a party and a server go on, everyone has the same, and no server is held to
//! two openings; and a folder that was copied goes on with its own table.

use crate::common::{SCHEMA, Through, counting, names, rows, schema, tables, take_part, verified};
use privet_learn::Released;
use privet_learn::statistics::count::Count;
use privet_parties::authority::{self, Validity};
use privet_parties::{Ask, Folder, PartiesError, Reply, Server};
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PARTIES: [&str; 3] = ["clinic", "hospital", "ward"];

/// Two servers with folders, that can be killed and started again, and all that they ever committed to.
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
        authority::found(place.path(), made, &names, 60, Validity::days(1)).unwrap();
        let there = (0..2).map(|server| Some(started(place.path(), server))).collect();
        Self { place, there: Mutex::new(there), commitments: Mutex::default() }
    }

    fn answer(&self, server: usize, party: usize, ask: &Ask, body: &[u128]) -> Answer {
        let there = self.there.lock().unwrap()[server].clone();
        let Some(there) = there else { return Err(PartiesError::Line("away".into())) };
        let (reply, numbers) = there.answer(party, ask, body);
        if let Reply::Committed { digest } = &reply {
            self.commitments.lock().unwrap().insert((server, digest.clone()));
        }
        Ok((reply, numbers))
    }

    /// As by a power cut.
    fn restart(&self, server: usize) {
        let gone = self.there.lock().unwrap()[server].take();
        let gone = gone.map(|gone| Arc::downgrade(&gone)).unwrap();
        while gone.strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.there.lock().unwrap()[server] = Some(started(self.place.path(), server));
    }

    /// One party's run, from its folder, through a line that is this function of a question.
    fn run(
        &self,
        party: usize,
        line: impl FnMut(usize, &Ask, &[u128]) -> Answer + Send,
    ) -> Result<Released<Count>, String> {
        let planned = counting(&names(2));
        let table = &tables(&planned)[party];
        let folder = Folder::open(&self.place.path().join(PARTIES[party])).unwrap();
        let begun = folder.begin::<_, PartiesError>(SCHEMA, Through(line), rows(PARTIES[party]));
        let party = begun.map_err(|error| error.to_string())?;
        party.join().map_err(|error| error.to_string())?;
        take_part(&planned, table, &party).map_err(|error| error.to_string())
    }

    /// All have the same, each server has been held to one opening, and is content.
    fn check(&self, counts: &[Released<Count>], what: &str) {
        assert!(counts.iter().all(|other| other.artefact() == counts[0].artefact()), "{what}");
        assert!(verified(&counts[0]), "{what}");
        assert_eq!(self.commitments.lock().unwrap().len(), 2, "{what}");
        for server in self.there.lock().unwrap().iter().flatten() {
            assert!(server.is_over() && server.ended().is_none(), "{what}: {:?}", server.ended());
        }
    }
}

type Answer = Result<(Reply, Vec<u128>), PartiesError>;

fn started(place: &Path, server: usize) -> Arc<Server> {
    let folder = Folder::open(&place.join(format!("server-{server}"))).unwrap();
    Arc::new(folder.server(Box::new(|_| {})).unwrap())
}

/// The phase that a question is of.
fn phase(ask: &Ask) -> &'static str {
    match ask {
        Ask::Hello { .. } => "hello",
        Ask::Share { .. } => "share",
        Ask::Commitment { .. } => "commitment",
        Ask::Opening { .. } => "opening",
        Ask::Sign { .. } => "signature",
        Ask::Done => "done",
        Ask::End { .. } | Ask::Status => "other",
    }
}

/// Each party in a thread; the servers are killed at the `count`th question of a phase, before it is heard or before its
/// answer is.
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
                        let line = |server: usize, ask: &Ask, body: &[u128]| {
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
                                return Err(PartiesError::Line("broken".into()));
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

/// One party is killed after its first, second, third … question, and started again, until it gets through.
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
                    let line = move |server: usize, ask: &Ask, body: &[u128]| {
                        servers.answer(server, party, ask, body)
                    };
                    scope.spawn(move || servers.run(party, line).unwrap())
                })
                .collect();
            let mut left = last;
            let dying = |server: usize, ask: &Ask, body: &[u128]| {
                if left == 0 {
                    return Err(PartiesError::Ended("killed".into()));
                }
                left -= 1;
                phases = phase(ask);
                servers.answer(server, 0, ask, body)
            };
            let first = servers.run(0, dying);
            through = first.is_ok() && phases == "done";
            let line =
                |server: usize, ask: &Ask, body: &[u128]| servers.answer(server, 0, ask, body);
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

/// A server whose folder is brought back from before it committed itself: the party remembers.
#[test]
fn a_server_that_commits_itself_twice_is_found_out_after_a_restart() {
    let servers = Servers::new();
    let killed = || PartiesError::Ended("killed".into());
    // All die once they hold the servers to something, before anything is opened.
    std::thread::scope(|scope| {
        for party in 0..3 {
            let servers = &servers;
            scope.spawn(move || {
                let line = |server: usize, ask: &Ask, body: &[u128]| match ask {
                    Ask::Opening { .. } | Ask::End { .. } => Err(killed()),
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
                let line = |server: usize, ask: &Ask, body: &[u128]| {
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

/// Everything in a folder, elsewhere.
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
    let to_servers = |server: usize, ask: &Ask, body: &[u128]| servers.answer(server, 0, ask, body);
    let begin = |name: &str, table: &str| {
        folder(name).begin::<_, PartiesError>(SCHEMA, Through(to_servers), rows(table))
    };
    // Copied after it had joined and before it began: two tables, of which servers take one.
    folder("clinic").party(SCHEMA, Through(to_servers)).unwrap().join().unwrap();
    copied(&servers.place.path().join("clinic"), &servers.place.path().join("early"));
    begin("clinic", "one\ntwo").unwrap().join().unwrap();
    let why = begin("early", "three").unwrap().join().unwrap_err().to_string();
    assert!(why.contains("from another copy of its folder"), "{why}");
    // Copied later: another table is refused before a word is said; its own goes on.
    copied(&servers.place.path().join("clinic"), &servers.place.path().join("late"));
    for name in ["clinic", "late"] {
        for other in ["one\ntwo\nthree", "two\none", "onetwo", ""] {
            let silent = |_: usize, _: &Ask, _: &[u128]| panic!("it spoke");
            let refused =
                folder(name).begin::<_, PartiesError>(SCHEMA, Through(silent), rows(other));
            assert!(matches!(refused.map(drop), Err(PartiesError::OtherTable)), "{name}: {other}");
        }
        begin(name, "one\ntwo").unwrap().join().unwrap();
    }
    // What it knows its table by is its own: neither sent nor readable by others.
    let kept = servers.place.path().join("clinic/state/table.json");
    let text: serde_json::Value = serde_json::from_slice(&std::fs::read(&kept).unwrap()).unwrap();
    let said: Mutex<String> = Mutex::default();
    let listening = |server: usize, ask: &Ask, body: &[u128]| {
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
    // Who only looks takes no part.
    let party = folder("ward").party(SCHEMA, Through(to_servers)).unwrap();
    let table = &tables(&counting(&names(2)))[2];
    let why = take_part(&counting(&names(2)), table, &party).unwrap_err().to_string();
    assert!(why.contains("takes part with a table"), "{why}");
}
