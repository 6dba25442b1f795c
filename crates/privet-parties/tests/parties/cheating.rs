//! A member that deviates from the agreement is named, and nothing more is opened.

use crate::common::{SCHEMA, agreed};
use privet_dp::gate::PlannedDraws;
use privet_dp::mechanism::shares::{PartyChannel, split};
use privet_dp::noise::SystemRandom;
use privet_parties::{
    Agreement, Commitment, InProcessServers, PROTOCOL, PartiesError, Party, PartyRequest, Server,
    ServerReply, Signed, Transport,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn server(agreement: &Agreement) -> Server {
    Server::new(agreement.clone(), "server-0", Box::new(|_| {})).unwrap()
}

fn hello(agreement: &Agreement) -> PartyRequest {
    PartyRequest::Hello {
        protocol: PROTOCOL,
        agreement: agreement.digest(),
        schema: "s".into(),
        instance: "i".into(),
        begun: Some("b".into()),
        clock: now(),
    }
}

/// The first server's commitment, beside an arbitrary one of the second.
fn commitments(server: &Server, round: u64) -> Vec<String> {
    match server.answer(0, &PartyRequest::Commitment { round }, &[]).0 {
        ServerReply::Committed { digest } => vec![digest, "0".repeat(64)],
        reply => panic!("{reply:?}"),
    }
}

/// A request for the opening by a party that received no commitments.
fn opening(round: u64) -> PartyRequest {
    PartyRequest::Opening { round, commitments: vec!["0".repeat(64); 2] }
}

/// The charge of a round; of the last one if there is no such round.
fn charged(agreement: &Agreement, round: u64) -> privet_dp::account::Event {
    let mut rounds = PlannedDraws::of(&agreement.events().unwrap());
    let mut next = rounds.next().unwrap().clone();
    for _ in 0..round.min(10) {
        assert!(rounds.go_on(&next));
        let Some(after) = rounds.next() else { break };
        next = after.clone();
    }
    next
}

/// SHA-256 of the round's charge, as a party states it.
fn leaf(agreement: &Agreement, round: u64) -> String {
    privet_parties::leaf(&charged(agreement, round))
}

fn share(agreement: &Agreement, round: u64) -> PartyRequest {
    PartyRequest::Share { round, leaf: leaf(agreement, round), heard: "h".into() }
}

fn why(reply: &ServerReply) -> &str {
    match reply {
        ServerReply::Refused { why } | ServerReply::Ended { why } => why,
        reply => panic!("{reply:?}"),
    }
}

#[test]
fn greetings_that_do_not_agree_are_refused() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    let said = |party: usize, ask: PartyRequest| server.answer(party, &ask, &[]).0;
    let PartyRequest::Hello { agreement: digest, schema, instance, clock, .. } = hello(&agreement)
    else {
        panic!()
    };
    let with = |digest: &str, schema: &str, instance: &str, clock| PartyRequest::Hello {
        protocol: PROTOCOL,
        agreement: digest.into(),
        schema: schema.into(),
        instance: instance.into(),
        begun: None,
        clock,
    };
    // A greeting of privet 0.2.0.
    let old = format!(
        r#"{{"ask":"hello","agreement":"{digest}","schema":"s","instance":"i","clock":{clock}}}"#
    );
    let old = said(0, serde_json::from_str(&old).unwrap());
    assert!(why(&old).contains("clinic speaks version 1 of the protocol and server-0"), "{old:?}");
    let other = said(0, with("another", &schema, &instance, clock));
    assert!(why(&other).contains("clinic and server-0 hold different agreements"), "{other:?}");
    let late = said(0, with(&digest, &schema, &instance, clock - 1000));
    assert!(why(&late).contains("clocks of clinic and server-0 are"), "{late:?}");
    assert_eq!(said(0, hello(&agreement)), ServerReply::Welcome { round: 0 });
    assert_eq!(said(0, hello(&agreement)), ServerReply::Welcome { round: 0 }, "a restart");
    let twice = said(0, with(&digest, &schema, "elsewhere", clock));
    assert!(why(&twice).contains("clinic has joined before"), "{twice:?}");
    let odd = said(2, with(&digest, "another", &instance, clock));
    assert!(why(&odd).contains("the schemas of ward and clinic differ"), "{odd:?}");
    // None of this ends the run.
    assert!(server.end_reason().is_none());
    assert!(matches!(server.answer(7, &PartyRequest::Status, &[]).0, ServerReply::Refused { .. }));
}

#[test]
fn a_share_that_is_none_ends_the_run_and_names_who_sent_it() {
    let (_, agreement) = agreed(60);
    let mut source = SystemRandom::new().unwrap();
    let good: Vec<u128> = split(&[1, 2, 3], 2, &mut source)[0].to_vec();
    let odd: Vec<(&str, PartyRequest, Vec<u128>)> = vec![
        ("wrong length", share(&agreement, 0), vec![1, 2]),
        ("wrong length", share(&agreement, 0), vec![1; 4]),
        ("not open", share(&agreement, 1), good.clone()),
        ("not open", share(&agreement, u64::MAX - 1), good.clone()),
        (
            "another plan",
            PartyRequest::Share { round: 0, leaf: "x".into(), heard: "h".into() },
            good.clone(),
        ),
    ];
    for (words, ask, body) in odd {
        let server = server(&agreement);
        server.answer(1, &hello(&agreement), &[]);
        let (reply, opened) = server.answer(1, &ask, &body);
        assert!(why(&reply).contains(words) && why(&reply).contains("hospital"), "{reply:?}");
        assert!(opened.is_empty());
        // No party gets anything from here on.
        server.answer(0, &hello(&agreement), &[]);
        let (reply, opened) = server.answer(0, &opening(0), &[]);
        assert!(matches!(reply, ServerReply::Ended { .. }) && opened.is_empty());
    }
}

#[test]
fn replays_and_second_thoughts() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    // A party that has not greeted is refused.
    let fresh = self::server(&agreement);
    assert!(matches!(
        fresh.answer(0, &share(&agreement, 0), &[1, 2, 3]).0,
        ServerReply::Refused { .. }
    ));
    let body = [5, 6, 7];
    assert_eq!(server.answer(0, &share(&agreement, 0), &body).0, ServerReply::Taken);
    assert_eq!(
        server.answer(0, &share(&agreement, 0), &body).0,
        ServerReply::Taken,
        "the same again"
    );
    let (reply, _) = server.answer(0, &share(&agreement, 0), &[5, 6, 8]);
    assert!(why(&reply).contains("clinic sent two different shares"), "{reply:?}");
}

#[test]
fn parties_that_were_told_different_sums_are_named() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    server.answer(2, &share(&agreement, 0), &[1, 2, 3]);
    let other =
        PartyRequest::Share { round: 0, leaf: leaf(&agreement, 0), heard: "something else".into() };
    let (reply, _) = server.answer(0, &other, &[1, 2, 3]);
    assert!(why(&reply).contains("ward and clinic were told different sums"), "{reply:?}");
}

/// With one share missing nothing is opened, and after the patience all parties are told which was
/// missing.
#[test]
fn nothing_is_opened_without_everyone() {
    let (_, agreement) = agreed(1);
    let server = server(&agreement);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    for party in [0, 2] {
        assert_eq!(server.answer(party, &share(&agreement, 0), &[1, 2, 3]).0, ServerReply::Taken);
    }
    let (reply, opened) = server.answer(0, &opening(0), &[]);
    assert_eq!(reply, ServerReply::Waiting { missing: vec!["hospital".into()] });
    assert!(opened.is_empty());
    std::thread::sleep(Duration::from_millis(1100));
    server.lose_patience();
    let (reply, opened) = server.answer(0, &opening(0), &[]);
    assert!(why(&reply).contains("waited 1 s for hospital"), "{reply:?}");
    assert!(opened.is_empty() && server.is_over());
    let ServerReply::Standing(standing) = server.answer(0, &PartyRequest::Status, &[]).0 else {
        panic!()
    };
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
        // The schema that members compare is not the one tables are read by.
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
    // Of a version without commitments: refused with a message.
    assert_eq!(honest["format"], "privet agreement 2");
    let mut old = honest.clone();
    old["format"] = "privet agreement 1".into();
    let refused = read(&old).unwrap_err().to_string();
    assert!(refused.contains("is of privet 0.2.0 or older"), "{refused}");
}

/// Servers that accept everything, open any numbers, and claim any number of opened rounds.
struct Liar {
    agreement: Agreement,
    opens: u128,
    round: u64,
}

impl Liar {
    fn commitment(&self, server: usize) -> String {
        let (agreement, leaf) = (&self.agreement.digest(), &leaf(&self.agreement, 0));
        let of = Commitment { agreement, round: 0, leaf, server, nonce: "n" };
        of.digest(&[self.opens; 3])
    }
}

impl Transport for Liar {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        _body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        Ok(match ask {
            PartyRequest::Hello { .. } => (ServerReply::Welcome { round: self.round }, vec![]),
            PartyRequest::Commitment { .. } => {
                (ServerReply::Committed { digest: self.commitment(server) }, vec![])
            }
            PartyRequest::Opening { .. } => {
                (ServerReply::Opened { nonce: "n".into() }, vec![self.opens; 3])
            }
            _ => (ServerReply::Taken, vec![]),
        })
    }
}

/// Sums that no rows could give are detected by every party, and so is a server restored to an earlier
/// state.
#[test]
fn openings_that_no_table_gives_and_servers_that_forget_are_noticed() {
    let (_, agreement) = agreed(60);
    let events = agreement.events().unwrap();
    let leaf = PlannedDraws::of(&events).next().unwrap().clone();
    let mut source = SystemRandom::new().unwrap();
    let party = |opens| {
        let liar = Liar { agreement: agreement.clone(), opens, round: 0 };
        Party::new(agreement.clone(), "clinic", SCHEMA, liar).unwrap()
    };
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

/// Sends every party's share of a round, all alike.
fn all_send(server: &Server, agreement: &Agreement, round: u64) {
    for party in 0..3 {
        server.answer(party, &hello(agreement), &[]);
        assert_eq!(
            server.answer(party, &share(agreement, round), &[1, 2, 3]).0,
            ServerReply::Taken
        );
    }
}

/// Sends every party's commitments; returns the opening.
fn all_say(server: &Server, round: u64) -> Vec<u128> {
    let ask = PartyRequest::Opening { round, commitments: commitments(server, round) };
    let ask = &ask;
    std::thread::scope(|scope| {
        let say = |party| scope.spawn(move || server.answer(party, ask, &[]));
        let said: Vec<_> = (0..3).map(say).collect();
        let mut said = said.into_iter().map(|said| said.join().unwrap());
        let (reply, numbers) = said.next().unwrap();
        assert!(matches!(reply, ServerReply::Opened { .. }), "{reply:?}");
        assert!(said.all(|other| other == (reply.clone(), numbers.clone())));
        numbers
    })
}

/// The start has no deadline; once a round was opened, the next one has, and so have the commitments and
/// the signatures; and when all parties have signed, none is denied the result.
#[test]
fn patience_runs_from_the_first_opening_to_the_last_signature() {
    let (_, agreement) = agreed(1);
    let servers: [Server; 5] = std::array::from_fn(|_| server(&agreement));
    let [before, told, between, unsigned, after] = &servers;
    all_send(told, &agreement, 0);
    told.answer(1, &PartyRequest::Opening { round: 0, commitments: commitments(told, 0) }, &[]);
    all_send(between, &agreement, 0);
    all_say(between, 0);
    for server in [unsigned, after] {
        for round in 0..3 {
            all_send(server, &agreement, round);
            all_say(server, round);
        }
    }
    let signed = Signed { transcript: "0".repeat(64), ..Signed::default() };
    let sign = PartyRequest::Sign { signed, from: 0 };
    let waits = unsigned.answer(2, &sign, &[]).0;
    assert_eq!(waits, ServerReply::Waiting { missing: vec!["clinic".into(), "hospital".into()] });
    let signatures = |party| match after.answer(party, &sign, &[]).0 {
        ServerReply::Signatures { signatures } => signatures.len(),
        _ => 0,
    };
    assert_eq!([0, 1, 2].map(signatures), [0, 0, 3]);
    std::thread::sleep(Duration::from_millis(1100));
    servers.iter().for_each(Server::lose_patience);
    let why = |server: &Server| server.end_reason().unwrap();
    let words = "round 1 waited 1 s for a word of clinic, ward on its commitments";
    assert!(why(told).contains(words), "{}", why(told));
    assert!(why(between).contains("round 2 waited 1 s for everyone"), "{}", why(between));
    assert!(between.is_over() && before.end_reason().is_none() && !before.is_over());
    assert!(
        why(unsigned).contains("clinic, hospital did not sign within 1 s"),
        "{}",
        why(unsigned)
    );
    let ServerReply::Standing(standing) = after.answer(0, &PartyRequest::Status, &[]).0 else {
        panic!()
    };
    assert!(standing.complete && standing.ended.is_none() && standing.missing.is_empty());
    // A party that leaves then, or sends nonsense, is not waited for, and the others keep their result.
    let end = PartyRequest::End { why: "a full disk".into() };
    assert_eq!(after.answer(0, &end, &[]).0, ServerReply::Taken);
    after.end_run("nonsense");
    assert!(matches!(after.answer(1, &opening(2), &[]).0, ServerReply::Opened { .. }));
    assert_eq!(signatures(1), 3);
    (1..3).for_each(|party| drop(after.answer(party, &PartyRequest::Done, &[])));
    assert!(after.is_over() && after.end_reason().is_none());
}

/// One server ends the run: the other servers are informed by the parties, with the name of the culprit,
/// and nobody waits.
#[test]
fn what_one_server_ends_is_ended_at_every_server() {
    let (_, agreement) = agreed(60);
    let room = InProcessServers::new(&agreement).unwrap();
    let clinic = Party::new(agreement.clone(), "clinic", SCHEMA, room.line(0)).unwrap();
    clinic.join().unwrap();
    let [first, second] = room.servers() else { panic!() };
    Party::new(agreement.clone(), "hospital", SCHEMA, room.line(1)).unwrap().join().unwrap();
    let mut odd = room.line(1);
    odd.ask(0, &share(&agreement, 0), &[1]).unwrap();
    assert!(first.end_reason().is_some() && second.end_reason().is_none());
    let mut source = SystemRandom::new().unwrap();
    let shares = split(&[1, 2, 3], 2, &mut source);
    let heard = clinic.exchange(0, &charged(&agreement, 0), shares).unwrap_err().to_string();
    assert!(heard.contains("server-0 ended the run") && heard.contains("hospital"), "{heard}");
    let why = second.end_reason().unwrap();
    assert!(why.contains("clinic leaves it") && why.contains("hospital"), "{why}");
    // So is a party that comes only now, at whichever server it comes first.
    let (_, agreement) = agreed(60);
    let room = InProcessServers::new(&agreement).unwrap();
    room.servers()[1].end_run("for a test");
    let ward = Party::new(agreement, "ward", SCHEMA, room.line(2)).unwrap();
    assert!(ward.join().unwrap_err().to_string().contains("for a test"));
    assert!(room.servers()[0].end_reason().unwrap().contains("for a test"));
    // A server that merely refuses a second folder of one name goes on.
    let (_, agreement) = agreed(60);
    let room = InProcessServers::new(&agreement).unwrap();
    room.servers()[0].answer(0, &hello(&agreement), &[]);
    let twice = Party::new(agreement, "clinic", "s", room.line(0)).unwrap();
    assert!(twice.join().unwrap_err().to_string().contains("joined before"));
    assert!(room.servers().iter().all(|server| server.end_reason().is_none()));
}

/// A party shares a sum that no rows give: every party detects it in the opening.
#[test]
fn a_sum_that_no_table_gives_ends_the_run_everywhere() {
    let (_, agreement) = agreed(60);
    let room = InProcessServers::new(&agreement).unwrap();
    std::thread::scope(|scope| {
        for (place, holder) in agreement.parties.iter().enumerate() {
            let (line, agreement) = (room.line(place), &agreement);
            scope.spawn(move || {
                let party = Party::new(agreement.clone(), &holder.name, SCHEMA, line).unwrap();
                party.join().unwrap();
                let sum = if place == 1 { 1 << 90 } else { 1 };
                let shares = split(&[sum, 2, 3], 2, &mut SystemRandom::new().unwrap());
                let refused = party.exchange(0, &charged(agreement, 0), shares).unwrap_err();
                let refused = refused.to_string();
                assert!(refused.contains("no table gives") || refused.contains("leaves it"));
            });
        }
    });
    for server in room.servers() {
        let why = server.end_reason().unwrap();
        assert!(server.is_over() && why.contains("no table gives"), "{why}");
    }
}

/// A party's reason for leaving is shortened and escaped before others see it.
#[test]
fn words_of_a_party_are_cut_and_plain() {
    let (_, agreement) = agreed(60);
    let server = server(&agreement);
    let end = PartyRequest::End { why: format!("\u{1b}[1m{}", "long ".repeat(10_000)) };
    server.answer(0, &end, &[]);
    let why = server.end_reason().unwrap();
    assert!(why.len() < 1000 && !why.contains('\u{1b}') && why.contains("clinic"), "{why}");
}

#[test]
fn two_members_with_one_certificate_are_refused() {
    let (_, agreement) = agreed(60);
    let honest = serde_json::to_value(&agreement).unwrap();
    let with = |edits: &[(&str, &str)]| {
        let mut edited = honest.clone();
        for (place, print) in edits {
            *edited.pointer_mut(place).unwrap() = (*print).into();
        }
        Agreement::read(&serde_json::to_vec(&edited).unwrap(), "agreement.json")
    };
    let places = ["/parties/0/fingerprint", "/parties/1/fingerprint", "/servers/0/fingerprint"];
    let own: Vec<_> = places.into_iter().zip(["aa", "bb", "cc"]).collect();
    assert!(with(&own).is_ok());
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let refused = with(&[(places[one], "aa"), (places[other], "aa")]).unwrap_err().to_string();
        assert!(refused.contains("two members have the same certificate"), "{refused}");
    }
}

/// An agreement with reproducible damage is refused or has another digest: its holder does not agree
/// with holders of the original, except after changes of white space.
#[test]
fn damaged_agreements_are_refused_or_are_others() {
    use privet_dp::noise::{FixedSeed, Source};
    let (_, agreement) = agreed(60);
    let honest = serde_json::to_vec(&agreement).unwrap();
    let mut draws = FixedSeed::new(22);
    let pieces =
        ["", "0", "-1", "1e308", "18446744073709551616", "\"", ",", "{", "]", "null", "true"];
    let mut read = 0;
    for _ in 0..2000 {
        let mut bytes = honest.clone();
        let at = draws.below(bytes.len() as u64) as usize;
        match draws.below(4) {
            0 => bytes[at] ^= 1 << draws.below(7),
            1 => drop(bytes.remove(at)),
            2 => {
                let piece = pieces[draws.below(pieces.len() as u64) as usize];
                drop(bytes.splice(at..at, piece.bytes()));
            }
            // Another digit parses, so a check must refuse it or the digest must differ.
            _ => {
                let digit = |byte: &u8| byte.is_ascii_digit();
                let Some(place) = bytes[at..].iter().position(digit) else { continue };
                bytes[at + place] = b'0' + draws.below(10) as u8;
            }
        }
        let Ok(found) = Agreement::read(&bytes, "agreement.json") else { continue };
        read += 1;
        // By RFC 8785, 60 and 6e1 are the same.
        let form = |bytes: &[u8]| {
            privet_dp::gate::canonical(&serde_json::from_slice(bytes).unwrap()).unwrap()
        };
        let same = form(&bytes) == form(&honest);
        let around =
            String::from_utf8_lossy(&bytes[at.saturating_sub(20)..(at + 20).min(bytes.len())]);
        assert_eq!(found.digest() == agreement.digest(), same, "{around}");
    }
    assert!(read > 20, "{read}");
}
