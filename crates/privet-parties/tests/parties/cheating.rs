//! Whoever sends what is not agreed: named, and nothing more is opened.

use crate::common::{SCHEMA, agreed};
use privet_dp::gate::Rounds;
use privet_dp::mechanism::shares::{Together, split};
use privet_dp::noise::SystemRandom;
use privet_parties::{Agreement, Ask, Line, PartiesError, Party, Reply, Server};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn server(agreement: &Agreement) -> Server {
    Server::new(agreement.clone(), "server-0", Box::new(|_| {})).unwrap()
}

fn hello(agreement: &Agreement) -> Ask {
    Ask::Hello {
        agreement: agreement.digest(),
        schema: "s".into(),
        instance: "i".into(),
        clock: now(),
    }
}

/// The digest of what the plan charges first, as a party works it out.
fn leaf(agreement: &Agreement) -> String {
    use sha2::{Digest, Sha256};
    let events = agreement.events().unwrap();
    let next = serde_json::to_value(Rounds::of(&events).next().unwrap()).unwrap();
    let text = privet_dp::gate::canonical(&next).unwrap();
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn share(agreement: &Agreement, round: u64) -> Ask {
    Ask::Share { round, leaf: leaf(agreement), heard: "h".into() }
}

fn why(reply: &Reply) -> &str {
    match reply {
        Reply::Refused { why } | Reply::Ended { why } => why,
        reply => panic!("{reply:?}"),
    }
}

#[test]
fn greetings_that_do_not_agree_are_refused() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    let said = |party: usize, ask: Ask| server.answer(party, &ask, &[]).0;
    let Ask::Hello { agreement: digest, schema, instance, clock } = hello(&agreement) else {
        panic!()
    };
    let with = |digest: &str, schema: &str, instance: &str, clock| Ask::Hello {
        agreement: digest.into(),
        schema: schema.into(),
        instance: instance.into(),
        clock,
    };
    let other = said(0, with("another", &schema, &instance, clock));
    assert!(why(&other).contains("clinic and server-0 hold different agreements"), "{other:?}");
    let late = said(0, with(&digest, &schema, &instance, clock - 1000));
    assert!(why(&late).contains("clocks of clinic and server-0 are"), "{late:?}");
    assert_eq!(said(0, hello(&agreement)), Reply::Welcome { round: 0 });
    assert_eq!(said(0, hello(&agreement)), Reply::Welcome { round: 0 }, "a restart");
    let twice = said(0, with(&digest, &schema, "elsewhere", clock));
    assert!(why(&twice).contains("clinic has joined before"), "{twice:?}");
    let odd = said(2, with(&digest, "another", &instance, clock));
    assert!(why(&odd).contains("the schemas of ward and clinic differ"), "{odd:?}");
    // None of this ends the run.
    assert!(server.ended().is_none());
    assert!(matches!(server.answer(7, &Ask::Status, &[]).0, Reply::Refused { .. }));
}

#[test]
fn a_share_that_is_none_ends_the_run_and_names_who_sent_it() {
    let (_, agreement) = agreed(60);
    let mut source = SystemRandom::new().unwrap();
    let good: Vec<u128> = split(&[1, 2, 3], 2, &mut source)[0].to_vec();
    let odd: Vec<(&str, Ask, Vec<u128>)> = vec![
        ("wrong length", share(&agreement, 0), vec![1, 2]),
        ("wrong length", share(&agreement, 0), vec![1; 4]),
        ("not open", share(&agreement, 1), good.clone()),
        ("not open", share(&agreement, u64::MAX - 1), good.clone()),
        (
            "another plan",
            Ask::Share { round: 0, leaf: "x".into(), heard: "h".into() },
            good.clone(),
        ),
    ];
    for (words, ask, body) in odd {
        let server = server(&agreement);
        server.answer(1, &hello(&agreement), &[]);
        let (reply, opened) = server.answer(1, &ask, &body);
        assert!(why(&reply).contains(words) && why(&reply).contains("hospital"), "{reply:?}");
        assert!(opened.is_empty());
        // Nobody gets anything from here on.
        server.answer(0, &hello(&agreement), &[]);
        let (reply, opened) = server.answer(0, &Ask::Opening { round: 0 }, &[]);
        assert!(matches!(reply, Reply::Ended { .. }) && opened.is_empty());
    }
}

#[test]
fn replays_and_second_thoughts() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    // Before a greeting of its own nobody is heard.
    let fresh = self::server(&agreement);
    assert!(matches!(fresh.answer(0, &share(&agreement, 0), &[1, 2, 3]).0, Reply::Refused { .. }));
    let body = [5, 6, 7];
    assert_eq!(server.answer(0, &share(&agreement, 0), &body).0, Reply::Taken);
    assert_eq!(server.answer(0, &share(&agreement, 0), &body).0, Reply::Taken, "the same again");
    let (reply, _) = server.answer(0, &share(&agreement, 0), &[5, 6, 8]);
    assert!(why(&reply).contains("clinic sent two different shares"), "{reply:?}");
}

#[test]
fn parties_that_were_told_different_sums_are_named() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    server.answer(2, &share(&agreement, 0), &[1, 2, 3]);
    let other = Ask::Share { round: 0, leaf: leaf(&agreement), heard: "something else".into() };
    let (reply, _) = server.answer(0, &other, &[1, 2, 3]);
    assert!(why(&reply).contains("ward and clinic were told different sums"), "{reply:?}");
}

/// With one share missing nothing is opened, and when patience ends everyone hears who was missing.
#[test]
fn nothing_is_opened_without_everyone() {
    let (_, agreement) = agreed(1);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    for party in [0, 2] {
        assert_eq!(server.answer(party, &share(&agreement, 0), &[1, 2, 3]).0, Reply::Taken);
    }
    let (reply, opened) = server.answer(0, &Ask::Opening { round: 0 }, &[]);
    assert_eq!(reply, Reply::Waiting { missing: vec!["hospital".into()] });
    assert!(opened.is_empty());
    std::thread::sleep(Duration::from_millis(1100));
    server.lose_patience();
    let (reply, opened) = server.answer(0, &Ask::Opening { round: 0 }, &[]);
    assert!(why(&reply).contains("waited 1 s for hospital"), "{reply:?}");
    assert!(opened.is_empty() && server.is_over());
    let Reply::Standing(standing) = server.answer(0, &Ask::Status, &[]).0 else { panic!() };
    assert!(standing.ended.is_some() && standing.opened == 0 && !standing.complete);
    assert_eq!(server.answer(1, &share(&agreement, 0), &[1, 2, 3]).1, Vec::<u128>::new());
}

#[test]
fn an_agreement_that_is_not_one_is_refused() {
    let (_, agreement) = agreed(60);
    let honest = serde_json::to_value(&agreement).unwrap();
    let read = |value: &serde_json::Value| {
        Agreement::read(&serde_json::to_vec(value).unwrap(), "agreement.json")
    };
    assert_eq!(read(&honest).unwrap(), agreement);
    let edits: [(&str, serde_json::Value); 9] = [
        ("/parties/0/rows", 1.into()),
        ("/parties/0/name", "hospital".into()),
        ("/parties/0/name", "Clinic \u{1b}[1m".into()),
        ("/servers/0/address", "nowhere".into()),
        ("/request/noise/0", 1e-6.into()),
        ("/request/among/servers", 3.into()),
        // What members compare is not what tables are read by.
        ("/schema/columns/0/bounds/1", 2.into()),
        ("/schema/columns/0/name", "c".into()),
        ("/servers/0/address", honest["servers"][1]["address"].clone()),
    ];
    for (place, value) in edits {
        let mut edited = honest.clone();
        *edited.pointer_mut(place).unwrap() = value;
        let refused = read(&edited).unwrap_err().to_string();
        assert!(!refused.contains('\u{1b}'), "{place}: {refused}");
    }
    assert!(Agreement::read(b"{}", "x").is_err() && Agreement::read(b"\xff", "x").is_err());
}

/// A server that takes everything, opens what it likes, and says that it has opened so many rounds.
struct Liar {
    opens: u128,
    round: u64,
}

impl Line for Liar {
    fn ask(
        &mut self,
        _server: usize,
        ask: &Ask,
        _body: &[u128],
    ) -> Result<(Reply, Vec<u128>), PartiesError> {
        Ok(match ask {
            Ask::Hello { .. } => (Reply::Welcome { round: self.round }, vec![]),
            Ask::Opening { .. } => (Reply::Opened, vec![self.opens; 3]),
            _ => (Reply::Taken, vec![]),
        })
    }
}

/// What no rows can have given is noticed by every party, and so is a server that has gone back in time.
#[test]
fn openings_that_no_table_gives_and_servers_that_forget_are_noticed() {
    let (_, agreement) = agreed(60);
    let events = agreement.events().unwrap();
    let leaf = Rounds::of(&events).next().unwrap().clone();
    let mut source = SystemRandom::new().unwrap();
    let party =
        |opens| Party::new(agreement.clone(), "clinic", SCHEMA, Liar { opens, round: 0 }).unwrap();
    let honest = party(1 << 30);
    honest.join().unwrap();
    honest.exchange(0, &leaf, split(&[1, 2, 3], 2, &mut source)).unwrap();
    let forgotten = honest.join().unwrap_err().to_string();
    assert!(forgotten.contains("brought back to an earlier state"), "{forgotten}");
    let far = party(1 << 100);
    far.join().unwrap();
    let opened = far.exchange(0, &leaf, split(&[1, 2, 3], 2, &mut source));
    let refused = opened.unwrap_err().to_string();
    assert!(refused.contains("no table gives"), "{refused}");
}
