//! Two worlds: all that a server hears, where one record of a party is another one.
//!
//! What a server hears are headers and shares. Headers must be the same in both worlds but for the clock, what servers said
//! themselves (commitments), and the digest of what was opened, which everyone knows. Shares must be uniform in both: then no test tells the worlds apart by one
//! server's shares. Looked at, for each server, party and world, are the bits of every share and of the difference of
//! successive ones (a mask used twice would cancel there). Ways of sharing that leak are controls: they must be seen.

use crate::common::{SCHEMA, names, request, schema};
use privet_dp::gate::Rounds;
use privet_dp::mechanism::shares::{Together, split};
use privet_dp::noise::{Source, SystemRandom};
use privet_learn::plan;
use privet_optim::loss::Loss;
use privet_parties::{Agreement, Ask, Line, PartiesError, Party, Reply, Room, Signed, authority};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

/// Rounds, each of three numbers.
const ROUNDS: u64 = 300;

/// A header as a server may know it beforehand, and the numbers that came with it.
type Heard = (String, Vec<u128>);

/// A line that writes down what goes to a server.
struct Recorded<L> {
    line: L,
    heard: Arc<Mutex<[Vec<Heard>; 2]>>,
}

impl<L: Line> Line for Recorded<L> {
    fn ask(
        &mut self,
        server: usize,
        ask: &Ask,
        body: &[u128],
    ) -> Result<(Reply, Vec<u128>), PartiesError> {
        let known = match ask.clone() {
            Ask::Hello { protocol, agreement, schema, instance, begun, .. } => {
                Ask::Hello { protocol, agreement, schema, instance, begun, clock: 0 }
            }
            Ask::Share { round, leaf, .. } => Ask::Share { round, leaf, heard: String::new() },
            // What servers committed themselves to, and a digest of what everyone knows.
            Ask::Opening { round, .. } => Ask::Opening { round, commitments: vec![] },
            Ask::Sign { from, .. } => Ask::Sign { signed: Signed::default(), from },
            ask => ask,
        };
        let said = (serde_json::to_string(&known).unwrap(), body.to_vec());
        let mut heard = self.heard.lock().unwrap();
        // How often it asks until there is an opening depends on how long the others work.
        if heard[server].last() != Some(&said) {
            heard[server].push(said);
        }
        drop(heard);
        self.line.ask(server, ask, body)
    }
}

/// How a vector is shared between two servers.
type Sharing = fn(&[i128], &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>>;

fn well(values: &[i128], source: &mut dyn Source) -> Vec<Zeroizing<Vec<u128>>> {
    split(values, 2, source)
}

fn with_masks(values: &[i128], mut mask: impl FnMut() -> u128) -> Vec<Zeroizing<Vec<u128>>> {
    let masks: Vec<u128> = values.iter().map(|_| mask()).collect();
    let rest = values.iter().zip(&masks).map(|(value, mask)| (*value as u128).wrapping_sub(*mask));
    vec![Zeroizing::new(rest.collect()), Zeroizing::new(masks)]
}

/// Masks of 30 bits, as the thesis' prototype has them.
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

/// What both servers hear of each party, where the clinic's sum is this.
fn heard(agreement: &Agreement, clinic: [i128; 3], sharing: Sharing) -> Vec<[Vec<Heard>; 2]> {
    let room = Room::new(agreement).unwrap();
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
                let mut rounds = Rounds::of(&agreement.events().unwrap());
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

/// The shares of a view, number by number.
fn shares(view: &[Heard]) -> Vec<&Vec<u128>> {
    view.iter().map(|(_, body)| body).filter(|body| !body.is_empty()).collect()
}

/// Bits of numbers that are not set about half of the time. Each count is binomial(n, ½): by Hoeffding one further than √(17n)
/// from n/2 has a probability of at most 2e⁻³⁴.
fn odd_bits(numbers: &[u128]) -> usize {
    let n = numbers.len() as f64;
    let off = |bit: &u32| {
        let set = numbers.iter().filter(|number| *number >> bit & 1 == 1).count();
        (set as f64 - n / 2.0).abs() > (17.0 * n).sqrt()
    };
    (0..128).filter(off).count()
}

/// Bits that give a view away, over all shares and differences of successive ones.
fn seen(view: &[Heard]) -> usize {
    let shares = shares(view);
    let all: Vec<u128> = shares.iter().flat_map(|share| share.iter().copied()).collect();
    let differences: Vec<u128> = shares
        .windows(2)
        .flat_map(|pair| pair[0].iter().zip(pair[1]).map(|(one, next)| next.wrapping_sub(*one)))
        .collect();
    odd_bits(&all) + odd_bits(&differences)
}

/// Two worlds, three parties, two servers, two statistics of 128 bits: 3,072 looks at 2e⁻³⁴ are below 1.1e-11 in all.
/// (Differences of successive uniform numbers are uniform and independent themselves: with the first number they are all of them.)
#[test]
fn a_server_cannot_tell_two_worlds_apart() {
    let agreement = agreed_on();
    let [first, second] =
        [[0, 0, 0], [1 << 40, -(1 << 40), 12_345]].map(|sum| heard(&agreement, sum, well));
    for (party, views) in first.iter().zip(&second).enumerate() {
        for (server, (one, other)) in views.0.iter().zip(views.1).enumerate() {
            // The same words in the same order, with as many numbers each.
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

/// The looks above have power: each way of sharing that leaks is seen at a server.
#[test]
fn sharing_that_leaks_is_seen() {
    let agreement = agreed_on();
    for (name, sharing) in [("narrow", narrow as Sharing), ("short", short), ("again", again)] {
        let found = heard(&agreement, [5, 6, 7], sharing);
        let worst = (0..2).map(|server| seen(&found[0][server])).max().unwrap();
        assert!(worst >= 8, "{name}: {worst}");
    }
}
