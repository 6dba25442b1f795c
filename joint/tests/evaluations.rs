//! Joint noise between servers that really evaluate the circuit: in memory, over TCP, and with one that cheats.

use privet_joint::{JointGaussian, JointLaplace, Law};
use privet_joint_engine::{JointError, Lines, Stream, evaluations, joined, noise, opening, system};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use zeroize::Zeroizing;

type Share = Result<Zeroizing<Vec<u128>>, JointError>;

/// Bytes for tests, the same each time: Weyl's sequence, mixed (Steele, Lea & Flood 2014).
fn seeded(mut state: u64) -> impl FnMut(&mut [u8]) -> Result<(), JointError> {
    move |bytes| {
        for chunk in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            chunk.copy_from_slice(&(mixed ^ mixed >> 31).to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// Every server's share of the noise, each from a thread of its own.
fn shares(law: &(dyn Law + Sync), coordinates: usize, lines: Vec<Lines>) -> Vec<Share> {
    std::thread::scope(|scope| {
        let run = |lines: Lines| {
            scope.spawn(move || {
                let mut source = seeded(31 + lines.place() as u64);
                noise(law, coordinates, &lines, &mut source)
            })
        };
        let running: Vec<_> = lines.into_iter().map(run).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Parties' vectors in shares, the servers' sums, noise, openings: what is opened, and the noise alone.
fn opened(
    law: &(dyn Law + Sync),
    values: &[Vec<i128>],
    lines: Vec<Lines>,
) -> (Vec<i128>, Vec<i128>) {
    let (servers, length) = (lines.len(), values[0].len());
    let mut sums = vec![vec![0_u128; length]; servers];
    for (place, value) in values.iter().flat_map(|vector| vector.iter().enumerate()) {
        // A random number for each server, and what is left for the first.
        let mut left = *value as u128;
        for sum in &mut sums[1..] {
            let mut part = [0; 16];
            system(&mut part).unwrap();
            let part = u128::from_le_bytes(part);
            left = left.wrapping_sub(part);
            sum[place] = sum[place].wrapping_add(part);
        }
        sums[0][place] = sums[0][place].wrapping_add(left);
    }
    let shares: Vec<_> = shares(law, length, lines).into_iter().map(Result::unwrap).collect();
    let alone: Vec<Vec<u128>> = shares.iter().map(|share| share.to_vec()).collect();
    let openings: Vec<Vec<u128>> =
        sums.iter().zip(shares).map(|(sum, share)| opening(sum, share).unwrap()).collect();
    (joined(&openings).unwrap(), joined(&alone).unwrap())
}

/// Lines over connections on this machine; what the server `to` reads goes through the caller.
fn over_tcp(servers: usize, wrap: &dyn Fn(usize, Stream) -> Stream) -> Vec<Lines> {
    let mut streams: Vec<Vec<Option<Stream>>> =
        (0..servers).map(|_| (0..servers).map(|_| None).collect()).collect();
    for (a, b) in (0..servers).flat_map(|a| (a + 1..servers).map(move |b| (a, b))) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        streams[a][b] = Some(wrap(a, Lines::tcp(near).unwrap()));
        streams[b][a] = Some(wrap(b, Lines::tcp(far).unwrap()));
    }
    streams.into_iter().enumerate().map(|(place, all)| Lines::over(place, all)).collect()
}

#[test]
fn two_servers_open_the_sum_and_one_draw() {
    let law = JointLaplace::new(2_f64.powi(27)).unwrap();
    let values = [vec![5, -7, 1 << 90], vec![-9, 1 << 40, -(1 << 90)], vec![1, 1, 1]];
    let (sum, noise) = opened(&law, &values, Lines::in_process(2));
    let exact = [-3, (1 << 40) - 6, 1];
    assert_eq!(sum, exact.iter().zip(&noise).map(|(a, b)| a + b).collect::<Vec<i128>>());
    // Outside with a probability below 2⁻⁶⁴ a coordinate; all three small with one of 2⁻⁴⁵.
    assert!(noise.iter().all(|x| x.abs() < 46 << 28), "{noise:?}");
    assert!(noise.iter().any(|x| x.abs() > 1 << 12), "{noise:?}");
}

#[test]
fn three_servers_over_tcp_open_gaussian_noise() {
    let steps = 2_f64.powi(40);
    let law = JointGaussian::new(steps).unwrap();
    let lines = over_tcp(3, &|_, stream| stream);
    let (sum, noise) = opened(&law, &[vec![17], vec![-3]], lines);
    assert_eq!(sum[0], 14 + noise[0]);
    // Beyond 9.5σ with a probability below 10⁻²⁰, within 2⁻³²σ below 10⁻⁹.
    assert!((1 << 8..19 << 39).contains(&noise[0].unsigned_abs()), "{noise:?}");
}

/// Turns one bit of what comes, far into it.
struct Turned<R> {
    from: R,
    read: u64,
    at: u64,
}

impl<R: Read> Read for Turned<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(into)?;
        let here = self.at.checked_sub(self.read).filter(|at| *at < count as u64);
        if let Some(at) = here {
            into[at as usize] ^= 4;
        }
        self.read += count as u64;
        Ok(count)
    }
}

/// The servers' bits are the same each time, so the noise is: whoever changes what is sent may end the evaluation, but never
/// gets other noise out of it.
#[test]
fn a_changed_message_ends_the_evaluation_or_changes_nothing() {
    let law = JointLaplace::new(64.0).unwrap();
    let all = |at: u64| -> Vec<Share> {
        let lines = over_tcp(2, &|to, (reader, writer)| match to {
            1 => (Box::new(Turned { from: reader, read: 0, at }), writer),
            _ => (reader, writer),
        });
        let patience = Duration::from_secs(20);
        shares(&law, 2, lines.into_iter().map(|line| line.with_patience(patience)).collect())
    };
    let noise = |shares: &[Share]| -> Option<Vec<i128>> {
        let shares: Option<Vec<Vec<u128>>> =
            shares.iter().map(|share| share.as_ref().ok().map(|share| share.to_vec())).collect();
        joined(&shares?).ok()
    };
    let honest = noise(&all(u64::MAX)).unwrap();
    // From the oblivious transfers to the garbled gates, of which only every fourth row is ever read.
    let mut ended = 0;
    for at in [300, 1_000_003, 4_000_001, 7_000_003, 9_000_001] {
        let shares = all(at);
        match noise(&shares) {
            Some(noise) => assert_eq!(noise, honest, "at {at}"),
            None => ended += 1,
        }
        for why in shares.iter().filter_map(|share| share.as_ref().err()) {
            assert!(
                matches!(why, JointError::Line(_)) && why.to_string().contains("nothing is opened"),
                "{why}"
            );
        }
    }
    assert!(ended >= 2, "{ended} were found out");
}

#[test]
fn long_vectors_take_several_evaluations() {
    let (gaussian, laplace) =
        (JointGaussian::new(2_f64.powi(40)).unwrap(), JointLaplace::new(2_f64.powi(27)).unwrap());
    assert_eq!((evaluations(&laplace, 2, 104), evaluations(&gaussian, 2, 104)), (1, 4));
    assert_eq!((evaluations(&laplace, 2, 0), evaluations(&laplace, 2, 1)), (1, 1));
    // Short ones none at all.
    let all = shares(&laplace, 0, Lines::in_process(2));
    assert!(all.iter().all(|share| share.as_ref().is_ok_and(|share| share.is_empty())));
}

#[test]
fn one_server_alone_is_refused() {
    let law = JointLaplace::new(64.0).unwrap();
    let lines = Lines::in_process(1).remove(0);
    let refused = noise(&law, 1, &lines, &mut system).unwrap_err();
    assert!(refused.to_string().contains("at least 2 servers"), "{refused}");
}
