//! Servers draw noise together, over TLS on loopback, with a trivial engine: stored draws, attempts, and
//! the end of runs.

use super::*;
use crate::authority::{self, Validity};
use crate::message::{PROTOCOL, PartyRequest, ServerReply};
use crate::server::now;
use crate::store::Store;
use crate::{Folder, Names, PartiesError, SendTo, tls};
use privet_core::{Budget, Neighbours};
use privet_data::Schema;
use privet_dp::mechanism::shares::NoiseMode;
use privet_dp::noise::{DiscreteGaussian, SystemRandom};
use privet_learn::{Erm, Request, plan};
use privet_optim::loss::Loss;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread::JoinHandle;

const SCHEMA: &str = r#"
bias = true
[clip]
norm = "l2"
radius = 1.0
[target]
column = "y"
classes = ["no", "yes"]
[[columns]]
name = "a"
type = "number"
bounds = [-1, 1]
scale = "symmetric"
"#;

/// A port of this process alone, below the system's ephemeral ports and above those of the other tests.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(50);
    let first = 10_000 + (std::process::id() % 200) as u16 * 100;
    (0..100)
        .map(|_| first + NEXT.fetch_add(1, Ordering::Relaxed) % 100)
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a port that is free")
}

/// Folders for one party and several servers that draw the noise of three rounds together.
fn laid_out(servers: usize, patience: u64) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let names = Names {
        parties: vec![("clinic".into(), 5000)],
        servers: (0..servers)
            .map(|s| (format!("server-{s}"), format!("127.0.0.1:{}", port())))
            .collect(),
    };
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let task = Erm { loss: Loss::Logistic, method: "gd".parse().unwrap() };
    let among = authority::among_with(&names, 1, NoiseMode::Joint).unwrap();
    let request = Request::new(schema.clone(), 5000, Neighbours::ReplaceOne, task)
        .with_budget(Budget::new(1.0, 1e-6).unwrap())
        .shared_among(among)
        .with("steps", "3")
        .unwrap();
    let planned = plan(&request).unwrap();
    let made = (&planned, &schema);
    authority::write_member_folders(place.path(), made, &names, patience, Validity::days(1))
        .unwrap();
    place
}

/// An engine without secrecy: every server but the last sends a mask to the last, which draws in the
/// clear. The sum is right.
#[derive(Default)]
struct Toy {
    /// Server and number of values of each call.
    calls: Mutex<Vec<(usize, usize)>>,
    /// Server and call, both from 0, that fails.
    fails: Option<(usize, usize)>,
}

impl Engine for Toy {
    fn draw(
        &self,
        job: &Job,
        from: Receiver<(usize, Vec<u8>)>,
        to: &mut SendTo<'_>,
    ) -> Result<Zeroizing<Vec<u128>>, String> {
        let before = {
            let mut calls = self.calls.lock().unwrap();
            calls.push((job.place, job.drawing.coordinates));
            calls.iter().filter(|(place, _)| *place == job.place).count() - 1
        };
        if self.fails == Some((job.place, before)) {
            return Err("somebody cheats".into());
        }
        let (length, last) = (job.drawing.coordinates, job.servers - 1);
        if job.place != last {
            let mut bytes = vec![0; 16 * length];
            getrandom::fill(&mut bytes).unwrap();
            to(last, &bytes).map_err(|error| error.to_string())?;
            return Ok(Zeroizing::new(numbers(&bytes).map(u128::wrapping_neg).collect()));
        }
        let mut noise = vec![0; length];
        let law = DiscreteGaussian::new(job.drawing.steps).unwrap();
        law.fill(&mut noise, &mut SystemRandom::new().unwrap());
        let mut share: Vec<u128> = noise.iter().map(|x| i128::from(*x) as u128).collect();
        for _ in 0..last {
            let (_, bytes) = from.recv().map_err(|_| "the lines are closed")?;
            share
                .iter_mut()
                .zip(numbers(&bytes))
                .for_each(|(sum, mask)| *sum = sum.wrapping_add(mask));
        }
        Ok(Zeroizing::new(share))
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u128> + '_ {
    bytes.chunks_exact(16).map(|word| u128::from_le_bytes(word.try_into().unwrap()))
}

type Served = (Arc<Server>, JoinHandle<Result<(), PartiesError>>);

fn served(place: &Path, server: usize, engine: &Arc<Toy>) -> Served {
    let folder = Folder::open(&place.join(format!("server-{server}"))).unwrap();
    let server = Arc::new(folder.server(Box::new(|_| {})).unwrap());
    let (same, engine) = (Arc::clone(&server), Arc::clone(engine) as Arc<dyn Engine>);
    let serving = std::thread::spawn(move || {
        tls::serve_with(&folder, same, Some(engine), Arc::new(|_: &str| {}))
    });
    (server, serving)
}

/// A server's store, while no server has it open.
fn store(place: &Path, server: usize) -> Store {
    Store::open(&place.join(format!("server-{server}/state"))).unwrap()
}

fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(120), "it does not come about");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Greets a server as the only party would over a connection.
fn greeted(server: &Server) -> ServerReply {
    let hello = PartyRequest::Hello {
        protocol: PROTOCOL,
        agreement: server.agreement().digest(),
        schema: "s".into(),
        instance: "i".into(),
        begun: Some("b".into()),
        clock: now(),
    };
    server.answer(0, &hello, &[]).0
}

/// A server's opening to the only party, which states that server's commitment and none of the others'.
fn opened(server: &Server, round: u64) -> (ServerReply, Vec<u128>) {
    let agreement = server.agreement();
    let mut commitments = vec!["0".repeat(64); agreement.servers.len()];
    match server.answer(0, &PartyRequest::Commitment { round }, &[]).0 {
        ServerReply::Committed { digest } => {
            commitments[agreement.server(server.name()).unwrap()] = digest;
        }
        reply => return (reply, vec![]),
    }
    server.answer(0, &PartyRequest::Opening { round, commitments }, &[])
}

fn sent(server: &Server, round: u64, share: &[u128]) -> ServerReply {
    let leaf = crate::server::next_leaf(server).unwrap();
    let ask = PartyRequest::Share { round, leaf, heard: "nothing".into() };
    server.answer(0, &ask, share).0
}

/// Whole runs: noise of the planned law that adds up, round by round; each share is used once and wiped
/// afterwards.
#[test]
fn servers_draw_all_noise_before_anything_is_opened() {
    for count in [2, 3] {
        let place = laid_out(count, 60);
        let engine = Arc::new(Toy::default());
        let (first, serving) = served(place.path(), 0, &engine);
        // One server alone draws nothing, and accepts no share.
        assert!(matches!(greeted(&first), ServerReply::Drawing { done: 0, of: 3 }));
        assert!(matches!(sent(&first, 0, &[1, 2]), ServerReply::Refused { .. }));
        let mut all = vec![(first, serving)];
        all.extend((1..count).map(|server| served(place.path(), server, &engine)));
        until(|| all.iter().all(|(server, _)| server.noise_is_ready()));
        let drawings = all[0].0.drawings().unwrap();
        assert_eq!(drawings.len(), 3);
        for (round, drawing) in (0..3).zip(&drawings) {
            let mut sum = vec![0_u128; drawing.coordinates];
            for (server, _) in &all {
                assert!(matches!(greeted(server), ServerReply::Welcome { .. }));
                assert_eq!(
                    sent(server, round, &vec![1_u128 << 70; drawing.coordinates]),
                    ServerReply::Taken
                );
                let (reply, numbers) = opened(server, round);
                assert!(matches!(reply, ServerReply::Opened { .. }), "{reply:?}");
                sum.iter_mut().zip(&numbers).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
                assert_eq!(opened(server, round), (reply, numbers));
                let (draw, left) = server.store().unwrap().noise(round).unwrap().unwrap();
                assert!(left.is_empty() && draw.len() == 64, "a share was left");
            }
            for value in sum {
                let noise = value.wrapping_sub((count as u128) << 70) as i128;
                // Within 12σ; a draw of 0 has a probability below 2⁻⁴⁰.
                assert!(
                    noise != 0 && (noise.unsigned_abs() as f64) < 12.0 * drawing.steps,
                    "{noise}"
                );
            }
        }
        for (server, serving) in all {
            assert_eq!(server.answer(0, &PartyRequest::Done, &[]).0, ServerReply::Taken);
            serving.join().unwrap().unwrap();
        }
        let calls = engine.calls.lock().unwrap();
        assert_eq!(calls.len(), 3 * count);
    }
}

/// A server killed midway: draws that all servers have are kept, the rest is drawn, and no more often
/// than is charged.
#[test]
fn what_all_servers_have_is_not_drawn_again() {
    let place = laid_out(2, 60);
    {
        let (one, other) = (store(place.path(), 0), store(place.path(), 1));
        for (store, draws) in [(&one, vec!["a", "b", "c"]), (&other, vec!["a", "b"])] {
            for (round, draw) in (0..).zip(draws) {
                store.keep_noise(round, draw, &[7 + u128::from(round), 9]).unwrap();
            }
            store.keep_attempts(&[1, 1, 1]).unwrap();
        }
    }
    let engine = Arc::new(Toy::default());
    let all: Vec<Served> = (0..2).map(|server| served(place.path(), server, &engine)).collect();
    until(|| all.iter().all(|(server, _)| server.noise_is_ready()));
    assert_eq!(engine.calls.lock().unwrap().len(), 2, "the third round, once for each server");
    for (server, _) in &all {
        let store = server.store().unwrap();
        let kept: Vec<_> = (0..3).map(|round| store.noise(round).unwrap().unwrap()).collect();
        assert_eq!((kept[0].0.as_str(), kept[1].0.as_str()), ("a", "b"));
        assert_eq!(kept[1].1[..], [8, 9]);
        assert!(kept[2].0 != "c");
        assert_eq!(store.attempts().unwrap(), [1, 1, 2]);
        server.end_run("enough");
    }
    all.into_iter().for_each(|(_, serving)| assert!(serving.join().unwrap().is_err()));
}

/// Both servers' reasons, once both have ended.
fn ended(all: Vec<Served>) -> Vec<String> {
    until(|| all.iter().all(|(server, _)| server.end_reason().is_some()));
    let whys = all.iter().map(|(server, _)| server.end_reason().unwrap()).collect();
    all.into_iter().for_each(|(_, serving)| assert!(serving.join().unwrap().is_err()));
    whys
}

#[test]
fn rounds_are_begun_no_more_often_than_is_charged() {
    let place = laid_out(2, 5);
    store(place.path(), 1).keep_attempts(&[ATTEMPTS, 0, 0]).unwrap();
    let engine = Arc::new(Toy::default());
    let whys = ended((0..2).map(|server| served(place.path(), server, &engine)).collect());
    assert!(whys[1].contains("was begun 2 times and not drawn"), "{whys:?}");
    assert!(whys[0].contains("server server-1 ended the run"), "{whys:?}");
}

/// A server that is ready never draws again: one without its shares ends the run, and the other opens
/// nothing.
#[test]
fn a_server_that_lost_its_noise_ends_the_run() {
    let place = laid_out(2, 5);
    {
        let ready = store(place.path(), 0);
        for round in 0..3 {
            ready.keep_noise(round, &format!("draw {round}"), &[1, 2]).unwrap();
        }
        ready.keep_noise_ready("all").unwrap();
    }
    let engine = Arc::new(Toy::default());
    let whys = ended((0..2).map(|server| served(place.path(), server, &engine)).collect());
    assert!(whys.iter().any(|why| why.contains("server server-1 lacks its share")), "{whys:?}");
    assert!(engine.calls.lock().unwrap().is_empty());
    // A server that is ready and lacks a share itself does not start.
    let place = laid_out(2, 5);
    {
        let torn = store(place.path(), 0);
        torn.keep_noise(0, "draw 0", &[1, 2]).unwrap();
        torn.keep_noise(2, "draw 2", &[1, 2]).unwrap();
        torn.keep_noise_ready("all").unwrap();
    }
    let folder = Folder::open(&place.path().join("server-0")).unwrap();
    let refused = folder.server(Box::new(|_| {})).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("lacks its share of the noise of round 2"), "{refused}");
}

/// A server killed between opening and wiping, or at any other time, gives the same opening, and no
/// share is used for two.
#[test]
fn a_server_that_is_started_again_opens_what_it_opened() {
    let place = laid_out(2, 60);
    let folder = Folder::open(&place.path().join("server-0")).unwrap();
    {
        let store = store(place.path(), 0);
        for round in 0..3 {
            store.keep_noise(round, "d", &[100 + u128::from(round), 200]).unwrap();
        }
        store.keep_noise_ready("all").unwrap();
    }
    let start = || folder.server(Box::new(|_| {})).unwrap();
    let first = {
        let server = start();
        assert!(matches!(greeted(&server), ServerReply::Welcome { round: 0 }));
        assert_eq!(sent(&server, 0, &[1, 2]), ServerReply::Taken);
        opened(&server, 0)
    };
    assert_eq!(first.1, [101, 202]);
    {
        // As if it had been killed before it wiped: the next start wipes.
        store(place.path(), 0).keep_noise(0, "d", &[100, 200]).unwrap();
        let server = start();
        assert_eq!(opened(&server, 0), first);
        assert!(server.store().unwrap().noise(0).unwrap().unwrap().1.is_empty());
        // Another share for a round that was opened changes nothing.
        assert_eq!(
            server
                .answer(
                    0,
                    &PartyRequest::Share { round: 0, leaf: "x".into(), heard: "y".into() },
                    &[5, 5]
                )
                .0,
            ServerReply::Taken
        );
        assert_eq!(opened(&server, 0), first);
        // A share of noise that vanished during the run: nothing is opened.
        std::fs::remove_file(place.path().join("server-0/state/noise-0000001")).unwrap();
        assert!(matches!(sent(&server, 1, &[1, 2]), ServerReply::Ended { .. }));
        assert!(matches!(opened(&server, 1).0, ServerReply::Ended { .. }));
    }
    // Openings without the record that noise was drawn: the folder was assembled from parts.
    std::fs::remove_file(place.path().join("server-0/state/noise-ready")).unwrap();
    let refused = folder.server(Box::new(|_| {})).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("bring it back whole"), "{refused}");
}

#[test]
fn an_engine_that_fails_ends_the_run_for_everyone() {
    let place = laid_out(3, 20);
    let engine = Arc::new(Toy { fails: Some((1, 1)), ..Toy::default() });
    let whys = ended((0..3).map(|server| served(place.path(), server, &engine)).collect());
    for why in &whys {
        assert!(why.contains("round 2") && why.contains("server-1"), "{whys:?}");
        assert!(why.contains("somebody cheats") || why.contains("did not draw"), "{whys:?}");
    }
    assert!(whys[1].contains("somebody cheats"), "{whys:?}");
}

#[test]
fn servers_with_different_agreements_do_not_draw() {
    let place = laid_out(2, 5);
    let file = place.path().join("server-1/agreement.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replace("\"patience\": 5", "\"patience\": 6");
    assert_ne!(text, edited);
    std::fs::write(&file, edited).unwrap();
    let engine = Arc::new(Toy::default());
    let whys = ended((0..2).map(|server| served(place.path(), server, &engine)).collect());
    assert!(whys.iter().any(|why| why.contains("hold different agreements")), "{whys:?}");
    assert!(engine.calls.lock().unwrap().is_empty());
}

#[test]
fn a_program_that_is_not_there_or_another_is_refused() {
    let refused =
        |path: &Path| crate::Program::find(Some(path)).map(|_| ()).unwrap_err().to_string();
    let place = tempfile::tempdir().unwrap();
    let none = refused(&place.path().join("none"));
    assert!(none.contains("cannot be run") && none.contains("cargo build"), "{none}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let script = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let other = refused(&script("other", "#!/bin/sh\necho privet-joint-noise 0\n"));
        assert!(other.contains("is not privet-joint-noise 1"), "{other}");
        // A program that ends without noise gives its reason.
        let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo privet-joint-noise 1 && exit 0\necho no luck >&2\nexit 1\n";
        let program = crate::Program::find(Some(&script("failing", text))).unwrap();
        let drawing = Drawing { steps: 2_f64.powi(40), coordinates: 2 };
        let (_to, from) = channel();
        let job = Job { place: 0, servers: 2, drawing };
        let why = program.draw(&job, from, &mut |_, _| Ok(())).unwrap_err();
        assert!(why.contains("no luck"), "{why}");
    }
}
