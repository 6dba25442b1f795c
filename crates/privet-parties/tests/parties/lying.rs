//! Servers that deviate from the protocol: their openings are fixed beforehand and the same for all, or
//! there is no result.

use crate::common::{
    SCHEMA, Through, counting, first_leaf, names, rows, schema, tables, take_part,
};
use privet_learn::Released;
use privet_learn::statistics::count::Count;
use privet_parties::authority::{self, Validity};
use privet_parties::{
    Agreement, Commitment, Folder, InProcessServers, PROTOCOL, PartiesError, Party, PartyRequest,
    Server, ServerReply, Signed, Witness,
};
use std::sync::{Arc, Mutex};

type Answer = Result<(ServerReply, Vec<u128>), PartiesError>;
type Outcome = Result<Released<Count>, String>;

/// A server that adds up without noise; it commits to the sum and a number for each party, opens the sum
/// and possibly another number, and passes signatures on once it has all of them, possibly altered.
struct Liar {
    agreement: Agreement,
    place: usize,
    commits: [u128; 3],
    opens: [u128; 3],
    /// Alters the others' signatures on their way to a party.
    passes: fn(&Signed, own: &Signed) -> Signed,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    shares: [Option<Vec<u128>>; 3],
    signed: [Option<Signed>; 3],
}

impl Liar {
    fn new(agreement: &Agreement, place: usize, commits: [u128; 3], opens: [u128; 3]) -> Self {
        let (agreement, heard) = (agreement.clone(), Mutex::default());
        Self { agreement, place, commits, opens, passes: |other, _| other.clone(), heard }
    }

    fn answer(&self, party: usize, ask: &PartyRequest, body: &[u128]) -> (ServerReply, Vec<u128>) {
        let mut heard = self.heard.lock().unwrap();
        let shares: Vec<_> = heard.shares.iter().flatten().cloned().collect();
        let sum = |more: u128| -> Vec<u128> {
            let at = |place: usize| {
                shares.iter().fold(more, |sum: u128, share| sum.wrapping_add(share[place]))
            };
            (0..2).map(at).collect()
        };
        let (agreement, leaf) = (&self.agreement.digest(), &first_leaf(&self.agreement));
        let of = Commitment { agreement, round: 0, leaf, server: self.place, nonce: "n" };
        let waiting = ServerReply::Waiting { missing: vec![] };
        let reply = match ask {
            PartyRequest::Hello { .. } => ServerReply::Welcome { round: 0 },
            PartyRequest::Share { .. } => {
                heard.shares[party] = Some(body.to_vec());
                ServerReply::Taken
            }
            PartyRequest::Commitment { .. } if shares.len() < 3 => waiting,
            PartyRequest::Commitment { .. } => {
                ServerReply::Committed { digest: of.digest(&sum(self.commits[party])) }
            }
            PartyRequest::Opening { .. } => {
                return (ServerReply::Opened { nonce: "n".into() }, sum(self.opens[party]));
            }
            PartyRequest::Sign { signed: own, .. } => {
                heard.signed[party] = Some(own.clone());
                let there: Vec<_> = heard.signed.iter().flatten().cloned().collect();
                match there.len() {
                    3 => ServerReply::Signatures {
                        signatures: there.iter().map(|other| (self.passes)(other, own)).collect(),
                    },
                    _ => waiting,
                }
            }
            _ => ServerReply::Taken,
        };
        (reply, vec![])
    }
}

/// Answers a party's request as the server of this index would.
type Answering =
    Arc<dyn Fn(usize, &PartyRequest, &[u128]) -> (ServerReply, Vec<u128>) + Send + Sync>;

fn honest(server: &Arc<Server>) -> Answering {
    let server = Arc::clone(server);
    Arc::new(move |party, ask, body| server.answer(party, ask, body))
}

fn lying(liar: Liar) -> Answering {
    Arc::new(move |party, ask, body| liar.answer(party, ask, body))
}

/// Folders with keys for the members of a count, and the agreement.
fn laid_out(patience: u64) -> (tempfile::TempDir, Agreement) {
    let names = names(2);
    let (planned, place) = (counting(&names), tempfile::tempdir().unwrap());
    let made = (&planned, &schema());
    let agreement =
        authority::write_member_folders(place.path(), made, &names, patience, Validity::days(1))
            .unwrap();
    (place, agreement)
}

/// Runs all parties of the folders with these servers.
fn all(place: &tempfile::TempDir, servers: &[Answering; 2]) -> Vec<Outcome> {
    let planned = counting(&names(2));
    let tables = tables(&planned);
    std::thread::scope(|scope| {
        let run = |(party, name): (usize, &'static str)| {
            let (planned, table) = (&planned, &tables[party]);
            scope.spawn(move || {
                let line =
                    Through(move |server: usize, ask: &PartyRequest, body: &[u128]| -> Answer {
                        Ok(servers[server](party, ask, body))
                    });
                let folder = Folder::open(&place.path().join(name)).unwrap();
                let party = folder.begin::<_, PartiesError>(SCHEMA, line, rows(name)).unwrap();
                party.join().map_err(|error| error.to_string())?;
                take_part(planned, table, &party).map_err(|error| error.to_string())
            })
        };
        let runs: Vec<_> =
            ["clinic", "hospital", "ward"].into_iter().enumerate().map(run).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

fn server(agreement: &Agreement, place: usize) -> Arc<Server> {
    let name = &agreement.servers[place].name;
    Arc::new(Server::new(agreement.clone(), name, Box::new(|_| {})).unwrap())
}

/// No party accepts a result, and one error contains these words.
fn none_accepts(outcomes: &[Outcome], words: &str) {
    let whys: Vec<_> =
        outcomes.iter().map(|outcome| outcome.as_ref().map(drop).unwrap_err()).collect();
    assert!(whys.iter().any(|why| why.contains(words)), "{whys:?}");
}

/// Premise of the tests below: a liar that is consistent towards all is not detected, and the sum is the
/// one it made.
#[test]
fn a_server_that_adds_what_it_fixed_beforehand_is_not_found_out() {
    let (place, agreement) = laid_out(30);
    let far = [1 << 40; 3];
    let liars = [0, 1].map(|place| lying(Liar::new(&agreement, place, far, far)));
    let counts: Vec<_> = all(&place, &liars).into_iter().map(Result::unwrap).collect();
    assert!(counts.iter().all(|other| other.artefact() == counts[0].artefact()));
}

/// In the last round, which no other follows: each party is sent another sum.
#[test]
fn a_server_that_commits_to_something_else_for_each_party_is_found_out_by_an_honest_one() {
    let (place, agreement) = laid_out(30);
    let first = server(&agreement, 0);
    let numbers = [10, 20, 20];
    let outcomes =
        all(&place, &[honest(&first), lying(Liar::new(&agreement, 1, numbers, numbers))]);
    none_accepts(&outcomes, "were told different commitments in round 1");
    assert!(first.end_reason().unwrap().contains("a server does not keep to the protocol"));
    // Whichever party compares first.
    let (place, agreement) = laid_out(30);
    let second = server(&agreement, 1);
    let outcomes =
        all(&place, &[lying(Liar::new(&agreement, 0, numbers, numbers)), honest(&second)]);
    none_accepts(&outcomes, "were told different commitments in round 1");
}

#[test]
fn a_server_that_opens_something_else_than_it_committed_to_is_found_out_by_everyone() {
    let (place, agreement) = laid_out(30);
    let first = server(&agreement, 0);
    let liar = Liar::new(&agreement, 1, [10; 3], [11, 10, 10]);
    let outcomes = all(&place, &[honest(&first), lying(liar)]);
    none_accepts(&outcomes, "server-1 opened round 1 with other numbers");
    let why = first.end_reason().unwrap();
    assert!(why.contains("clinic leaves it") && why.contains("had committed itself to"), "{why}");
}

/// No server is honest, so nobody compares the parties' commitments: their signatures do.
#[test]
fn where_all_servers_lie_alike_signatures_tell() {
    for (passes, words) in [
        ((|other, _| other.clone()) as fn(&Signed, &Signed) -> Signed, "heard something else"),
        // A signature cannot be forged: neither with the digest alone, nor by repeating the reader's
        // own.
        (
            |other, own| Signed { transcript: own.transcript.clone(), ..other.clone() },
            "no signature came of",
        ),
        (|_, own| own.clone(), "no signature came of"),
        (
            |other, own| Signed { certificate: other.certificate.clone(), ..own.clone() },
            "no signature came of",
        ),
    ] {
        let (place, agreement) = laid_out(1);
        let numbers = [10, 20, 20];
        let servers = [0, 1].map(|place| {
            let liar = Liar { passes, ..Liar::new(&agreement, place, numbers, numbers) };
            lying(liar)
        });
        none_accepts(&all(&place, &servers), words);
        assert!(!place.path().join("clinic/state/signatures.json").exists());
    }
}

/// With all servers honest, and with one that withholds signatures or says that the run is over: all
/// parties have the same result, and all signatures in their folders.
#[test]
fn one_server_that_passes_signatures_on_is_enough() {
    let replies: [Option<ServerReply>; 3] = [
        None,
        Some(ServerReply::Waiting { missing: vec![] }),
        Some(ServerReply::Signatures { signatures: vec![Signed::default(); 3] }),
    ];
    for withheld in replies {
        let (place, agreement) = laid_out(30);
        let [first, second] = [0, 1].map(|place| server(&agreement, place));
        let keeps = honest(&first);
        let keeps: Answering = Arc::new(move |party, ask, body| match (ask, &withheld) {
            (PartyRequest::Sign { .. }, Some(reply)) => (reply.clone(), vec![]),
            _ => keeps(party, ask, body),
        });
        let outcomes = all(&place, &[keeps, honest(&second)]);
        let counts: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
        assert!(counts.iter().all(|other| other.artefact() == counts[0].artefact()));
        for name in ["clinic", "hospital", "ward"] {
            let file = place.path().join(name).join("state/signatures.json");
            let kept: Witness = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            assert_eq!(kept.parties, ["clinic", "hospital", "ward"]);
            for (party, signed) in kept.signatures.iter().enumerate() {
                assert_eq!(signed.transcript, kept.signatures[0].transcript);
                assert!(
                    signed.is_of(&agreement, party) && !signed.is_of(&agreement, (party + 1) % 3)
                );
            }
        }
    }
}

fn hello(agreement: &Agreement) -> PartyRequest {
    PartyRequest::Hello {
        protocol: PROTOCOL,
        agreement: agreement.digest(),
        schema: "s".into(),
        instance: "i".into(),
        begun: Some("b".into()),
        clock: std::time::UNIX_EPOCH.elapsed().unwrap().as_secs(),
    }
}

/// One party colludes with a lying server: the honest server's opening is sent to nobody before every
/// party, the honest one too, has sent it the commitments.
#[test]
fn nothing_is_shown_before_all_parties_have_said_the_same_commitments() {
    let (_, agreement) = laid_out(30);
    let server = server(&agreement, 0);
    (0..3).for_each(|party| drop(server.answer(party, &hello(&agreement), &[])));
    let share = PartyRequest::Share { round: 0, leaf: first_leaf(&agreement), heard: "h".into() };
    for party in 0..3 {
        let asked = server.answer(party, &PartyRequest::Commitment { round: 0 }, &[]);
        assert!(matches!(asked.0, ServerReply::Waiting { .. }), "committed without all shares");
        assert_eq!(server.answer(party, &share, &[1, 2]).0, ServerReply::Taken);
    }
    let (ServerReply::Committed { digest }, _) =
        server.answer(1, &PartyRequest::Commitment { round: 0 }, &[])
    else {
        panic!()
    };
    let said = |other: &str| PartyRequest::Opening {
        round: 0,
        commitments: vec![digest.clone(), other.repeat(64)],
    };
    for _ in 0..2 {
        for party in [1, 2] {
            let (reply, numbers) = server.answer(party, &said("a"), &[]);
            assert!(
                matches!(reply, ServerReply::Waiting { .. }) && numbers.is_empty(),
                "{reply:?}"
            );
        }
    }
    // A commitment swapped after the honest party received another: the run ends, and nothing was sent.
    let (reply, numbers) = server.answer(0, &said("b"), &[]);
    assert!(matches!(reply, ServerReply::Ended { .. }) && numbers.is_empty());
    assert!(server.end_reason().unwrap().contains("hospital and clinic were told different"));
    // A server also refuses a false claim about its own commitment.
    let (_, agreement) = laid_out(30);
    let server = self::server(&agreement, 0);
    (0..3).for_each(|party| {
        server.answer(party, &hello(&agreement), &[]);
        server.answer(party, &share, &[1, 2]);
    });
    let (reply, _) = server.answer(0, &said("a"), &[]);
    let ServerReply::Ended { why } = reply else { panic!("{reply:?}") };
    assert!(why.contains("clinic says that server-0 committed itself to something else"), "{why}");
}

/// Signatures are bound to the party: a server that is sent another one names the party.
#[test]
fn a_signature_that_is_not_the_partys_own_is_refused_by_an_honest_server() {
    let (place, agreement) = laid_out(30);
    let servers = [0, 1].map(|place| server(&agreement, place));
    let stolen: Arc<Mutex<Option<Signed>>> = Arc::default();
    let answering = servers.each_ref().map(|server| {
        let (server, stolen) = (honest(server), Arc::clone(&stolen));
        let answering: Answering = Arc::new(move |party, ask, body| match ask {
            PartyRequest::Sign { signed, from } if party < 2 => {
                let before = stolen.lock().unwrap().get_or_insert(signed.clone()).clone();
                server(party, &PartyRequest::Sign { signed: before, from: *from }, body)
            }
            _ => server(party, ask, body),
        });
        answering
    });
    none_accepts(&all(&place, &answering), "sent a signature that is not its own");
}

/// An honest server compares the parties' signatures, and keeps to the first of each; after a restart it
/// has those it received.
#[test]
fn a_server_compares_what_parties_sign_and_finds_it_again() {
    let (place, agreement) = laid_out(30);
    let started = || {
        let folder = Folder::open(&place.path().join("server-0")).unwrap();
        folder.server(Box::new(|_| {})).unwrap()
    };
    let (leaf, heard) = (first_leaf(&agreement), "h".to_string());
    {
        let server = started();
        for party in 0..3 {
            server.answer(party, &hello(&agreement), &[]);
            let share = PartyRequest::Share { round: 0, leaf: leaf.clone(), heard: heard.clone() };
            assert_eq!(server.answer(party, &share, &[1, 2]).0, ServerReply::Taken);
        }
        let (ServerReply::Committed { digest }, _) =
            server.answer(0, &PartyRequest::Commitment { round: 0 }, &[])
        else {
            panic!()
        };
        let said = PartyRequest::Opening { round: 0, commitments: vec![digest, "a".repeat(64)] };
        // Before all rounds are opened there is nothing to sign.
        let early = PartyRequest::Sign { signed: Signed::default(), from: 0 };
        assert!(matches!(server.answer(0, &early, &[]).0, ServerReply::Refused { .. }));
        (0..3).for_each(|party| drop(server.answer(party, &said, &[])));
    }
    let signed = |party: usize, transcript: &str| {
        let folder = Folder::open(&place.path().join(&agreement.parties[party].name)).unwrap();
        folder.sign(&transcript.repeat(64)).unwrap()
    };
    let answered = |server: &Server, party, transcript| {
        let ask = PartyRequest::Sign { signed: signed(party, transcript), from: 0 };
        server.answer(party, &ask, &[]).0
    };
    assert!(matches!(answered(&started(), 0, "a"), ServerReply::Waiting { .. }));
    assert!(matches!(answered(&started(), 1, "a"), ServerReply::Waiting { .. }));
    // Signing the same digest again is accepted, though the signature has other bits.
    assert!(matches!(answered(&started(), 1, "a"), ServerReply::Waiting { .. }));
    let copy = place.path().join("copy");
    for entry in std::fs::read_dir(place.path().join("server-0/state")).unwrap() {
        let entry = entry.unwrap();
        std::fs::create_dir_all(&copy).unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let ServerReply::Ended { why } = answered(&started(), 2, "b") else { panic!() };
    assert!(why.contains("clinic and ward signed that they heard different things"), "{why}");
    let back = || {
        let state = place.path().join("server-0/state");
        std::fs::remove_dir_all(&state).unwrap();
        std::fs::create_dir(&state).unwrap();
        for entry in std::fs::read_dir(&copy).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), state.join(entry.file_name())).unwrap();
        }
    };
    back();
    let ServerReply::Ended { why } = answered(&started(), 1, "b") else { panic!() };
    assert!(why.contains("hospital signed twice, and not the same"), "{why}");
    back();
    let ServerReply::Signatures { signatures } = answered(&started(), 2, "a") else { panic!() };
    assert!((0..3).all(|party| signatures[party].is_of(&agreement, party)));
}

/// In one process there are no keys, and digests are compared all the same.
#[test]
fn digests_are_compared_in_one_process_too() {
    let names = names(2);
    let planned = counting(&names);
    let agreement = authority::without_certificates((&planned, &schema()), &names, 30).unwrap();
    let room = InProcessServers::new(&agreement).unwrap();
    let tables = tables(&planned);
    std::thread::scope(|scope| {
        for (place, table) in tables.iter().enumerate() {
            let (agreement, planned, room) = (&agreement, &planned, room.clone());
            scope.spawn(move || {
                use privet_parties::Transport;
                let mut line = room.line(place);
                let line =
                    Through(move |server: usize, ask: &PartyRequest, body: &[u128]| match ask {
                        PartyRequest::Sign { signed, from } if place == 2 => {
                            let transcript = signed.transcript.chars().rev().collect();
                            let signed = Signed { transcript, ..signed.clone() };
                            line.ask(server, &PartyRequest::Sign { signed, from: *from }, body)
                        }
                        _ => line.ask(server, ask, body),
                    });
                let name = &agreement.parties[place].name;
                let party = Party::new(agreement.clone(), name, SCHEMA, line).unwrap();
                party.join().unwrap();
                take_part(planned, table, &party).unwrap_err();
            });
        }
    });
    let whys: Vec<_> = room.servers().iter().filter_map(|server| server.end_reason()).collect();
    assert!(whys.iter().any(|why| why.contains("ward") && why.contains("different")), "{whys:?}");
}
