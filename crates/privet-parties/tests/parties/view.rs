//! A server's view of two neighbouring inputs: one record of a party differs.
//!
//! A server's view consists of headers and shares. Headers must be the same for both inputs apart from
//! the clock, the servers' own commitments, and the digest of the openings, which every member knows.
//! Shares must be uniform for both: then no test distinguishes the inputs by one server's shares. The
//! test examines, for each server, party and input, the bits of every share and of the difference of
//! successive ones (a mask used twice would cancel there). Sharings that leak are controls: they must be
//! detected.

use crate::common::{SCHEMA, names, request, schema};
use privet_dp::gate::PlannedDraws;
use privet_dp::mechanism::shares::{PartyChannel, split};
use privet_dp::noise::{Source, SystemRandom};
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::{
    Agreement, InProcessServers, PartiesError, Party, PartyRequest, ServerReply, Signed, Transport,
    authority,
};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// The number of rounds, each of three values.
const ROUNDS: u64 = 300;

/// A header without the parts a server knows beforehand, and its numbers.
type Heard = (String, Vec<u128>);

/// A transport that records the messages to each server.
struct Recorded<L> {
    line: L,
    heard: Arc<Mutex<[Vec<Heard>; 2]>>,
}

impl<L: Transport> Transport for Recorded<L> {
    fn ask(
        &mut self,
        server: usize,
        ask: &PartyRequest,
        body: &[u128],
    ) -> Result<(ServerReply, Vec<u128>), PartiesError> {
        let known = match ask.clone() {
            PartyRequest::Hello { protocol, agreement, schema, instance, begun, .. } => {
                PartyRequest::Hello { protocol, agreement, schema, instance, begun, clock: 0 }
            }
            PartyRequest::Share { round, leaf, .. } => {
                PartyRequest::Share { round, leaf, heard: String::new() }
            }
            // The servers' own commitments, and a digest known to every member.
            PartyRequest::Opening { round, .. } => {
                PartyRequest::Opening { round, commitments: vec![] }
            }
            PartyRequest::Sign { from, .. } => {
                PartyRequest::Sign { signed: Signed::default(), from }
            }
            ask => ask,
        };
        let said = (serde_json::to_string(&known).unwrap(), body.to_vec());
        let mut heard = self.heard.lock().unwrap();
        // The number of repetitions depends on how long the others work.
        if heard[server].last() != Some(&said) {
            heard[server].push(said);
        }
        drop(heard);
        self.line.ask(server, ask, body)
    }
}

/// Shares a vector between two servers.
type Sharing = fn(&[i128], &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>>;

fn well(values: &[i128], source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    split(values, 2, source)
}

fn with_masks(values: &[i128], mut mask: impl FnMut() -> u128) -> Vec<Zeroizing<Vec<u128>>> {
    let masks: Vec<u128> = values.iter().map(|_| mask()).collect();
    let rest = values.iter().zip(&masks).map(|(value, mask)| (*value as u128).wrapping_sub(*mask));
    vec![Zeroizing::new(rest.collect()), Zeroizing::new(masks)]
}

/// Masks of 30 bits, as in the thesis' prototype.
fn narrow(values: &[i128], source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    with_masks(values, || u128::from(source.bits(30)))
}

/// A mask that covers all but the top byte.
fn short(values: &[i128], source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    with_masks(values, || u128::from(source.bits(56)) << 64 | u128::from(source.next_u64()))
}

/// The same mask in every round.
fn again(values: &[i128], _source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    with_masks(values, || 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834)
}

/// Both servers' views of each party, for this sum of the clinic.
fn heard(agreement: &Agreement, clinic: [i128; 3], sharing: Sharing) -> Vec<[Vec<Heard>; 2]> {
    let room = InProcessServers::new(agreement).unwrap();
    std::thread::scope(|scope| {
        let run = |(place, holder): (usize, &privet_parties::Holder)| {
            let (line, name) = (room.line(place), holder.name.clone());
            scope.spawn(move || {
                let heard = Arc::new(Mutex::new([vec![], vec![]]));
                let line = Recorded { line, heard: Arc::clone(&heard) };
                let party = Party::new(agreement.clone(), &name, SCHEMA, line).unwrap();
                party.join().unwrap();
                let mut source = SystemRandom::new().unwrap();
                let values = if place == 0 { clinic } else { [7, -7, 1 << 40] };
                let mut rounds = PlannedDraws::of(&agreement.events().unwrap());
                for round in 0..ROUNDS {
                    let leaf = rounds.next().unwrap().clone();
                    party.exchange(round, &leaf, sharing(&values, &mut source)).unwrap();
                    assert!(rounds.go_on(&leaf));
                }
                party.finish();
                drop(party);
                Arc::try_unwrap(heard).unwrap().into_inner().unwrap()
            })
        };
        let runs: Vec<_> = agreement.parties.iter().enumerate().map(run).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

fn agreed_on() -> Agreement {
    let names = names(2);
    let rounds = ROUNDS.to_string();
    let request = request("gd", Loss::Logistic, &names, 1).with("steps", &rounds).unwrap();
    let planned = plan(&request).unwrap();
    authority::without_certificates((&planned, &schema()), &names, 60).unwrap()
}

/// The shares of a view, value by value.
fn shares(view: &[Heard]) -> Vec<&Vec<u128>> {
    view.iter().map(|(_, body)| body).filter(|body| !body.is_empty()).collect()
}

/// The number of bits that are not set about half of the time. Each count is binomial(n, ½): by
/// Hoeffding a deviation above √(17n) from n/2 has a probability of at most 2e⁻³⁴.
fn odd_bits(numbers: &[u128]) -> usize {
    let n = numbers.len() as f64;
    let off = |bit: &u32| {
        let set = numbers.iter().filter(|number| *number >> bit & 1 == 1).count();
        (set as f64 - n / 2.0).abs() > (17.0 * n).sqrt()
    };
    (0..128).filter(off).count()
}

/// The number of biased bits in a view, over all shares and differences of successive ones.
fn seen(view: &[Heard]) -> usize {
    let shares = shares(view);
    let all: Vec<u128> = shares.iter().flat_map(|share| share.iter().copied()).collect();
    let differences: Vec<u128> = shares
        .windows(2)
        .flat_map(|pair| pair[0].iter().zip(pair[1]).map(|(one, next)| next.wrapping_sub(*one)))
        .collect();
    odd_bits(&all) + odd_bits(&differences)
}

/// Two inputs, three parties, two servers, two statistics of 128 bits: 3,072 tests at 2e⁻³⁴ are below
/// 1.1e-11 in all. (Differences of successive uniform numbers are uniform and independent themselves:
/// with the first number they determine all of them.)
#[test]
fn a_server_cannot_tell_two_worlds_apart() {
    let agreement = agreed_on();
    let [first, second] =
        [[0, 0, 0], [1 << 40, -(1 << 40), 12_345]].map(|sum| heard(&agreement, sum, well));
    for (party, views) in first.iter().zip(&second).enumerate() {
        for (server, (one, other)) in views.0.iter().zip(views.1).enumerate() {
            // The same headers in the same order, with as many values each.
            let form = |view: &[Heard]| -> Vec<(String, usize)> {
                view.iter().map(|(header, body)| (header.clone(), body.len())).collect()
            };
            assert_eq!(form(one), form(other), "party {party}, server {server}");
            assert_eq!(shares(one).len() as u64, ROUNDS);
            for view in [one, other] {
                assert_eq!(seen(view), 0, "party {party}, server {server}");
            }
        }
    }
}

/// The tests above have power: each sharing that leaks is detected at a server.
#[test]
fn sharing_that_leaks_is_seen() {
    let agreement = agreed_on();
    for (name, sharing) in [("narrow", narrow as Sharing), ("short", short), ("again", again)] {
        let actual = heard(&agreement, [5, 6, 7], sharing);
        let worst = (0..2).map(|server| seen(&actual[0][server])).max().unwrap();
        assert!(worst >= 8, "{name}: {worst}");
    }
}
