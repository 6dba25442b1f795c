//! Sums in shares: uniform, exact, of the right law, and no result without all of them.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{Cost, Event};
use privet_dp::gate::{Arithmetic, GateError, PlannedDraws, Private, Session, Statement};
use privet_dp::mechanism::shares::{
    InProcess, NoiseMode, Participants, PartyChannel, ServerSum, split, sum_openings,
};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace, joint};
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use proptest::prelude::*;
use zeroize::Zeroizing;

const THREE: Participants =
    Participants { parties: 4, servers: 3, honest: 1, noise: NoiseMode::Shares };

fn gaussian(coordinates: usize) -> Gaussian {
    Gaussian {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 1.0,
        coordinates,
    }
}

proptest! {
    #[test]
    fn shares_add_up(values in proptest::collection::vec(any::<i128>(), 0..20), servers in 2_u32..9, seed: u64) {
        let shares = split(&values, servers, &mut FixedSeed::new(seed));
        prop_assert_eq!(shares.len(), servers as usize);
        let plain: Vec<Vec<u128>> = shares.iter().map(|share| share.to_vec()).collect();
        prop_assert_eq!(sum_openings(&plain), Some(values));
    }

    /// For any data of the parties, adding up shares server by server gives the sum in the clear.
    #[test]
    fn sums_of_shares_are_shares_of_sums(
        parties in proptest::collection::vec(proptest::collection::vec(-(1_i128 << 100)..(1 << 100), 3), 1..40),
        seed: u64,
    ) {
        let mut source = FixedSeed::new(seed);
        let mut sums = vec![vec![0_u128; 3]; 3];
        for values in &parties {
            for (sum, share) in sums.iter_mut().zip(split(values, 3, &mut source)) {
                sum.iter_mut().zip(share.iter()).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
            }
        }
        let expected: Vec<i128> = (0..3).map(|at| parties.iter().map(|values| values[at]).sum()).collect();
        prop_assert_eq!(sum_openings(&sums), Some(expected));
    }
}

/// χ² of byte `place` of one server's share against uniform, 256 cells.
fn chi_square(values: &[i128], server: usize, place: u32, source: &mut dyn Source) -> f64 {
    let rounds = 200_000 / values.len();
    let mut cells = [0_u32; 256];
    for _ in 0..rounds {
        for word in split(values, 3, source)[server].iter() {
            cells[(word >> (8 * place)) as usize & 255] += 1;
        }
    }
    let expected = (rounds * values.len()) as f64 / 256.0;
    cells.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum()
}

/// In every world one server's view is uniform, whatever is shared. 255 degrees of freedom: by Laurent &
/// Massart 2000 χ² > 255 + 2√(255x) + 2x has a probability of at most e^(−x); x = 26.5 for 96 tests is
/// below 3.1e-10 in all (the approximation of the multinomial by χ² is well inside the slack of that
/// bound).
#[test]
fn a_servers_view_is_uniform_in_both_worlds() {
    let mut source = SystemRandom::new().unwrap();
    let limit = 255.0 + 2.0 * (255.0_f64 * 26.5).sqrt() + 2.0 * 26.5;
    for world in [vec![0; 100], vec![-1; 100], vec![(1_i128 << 100) - 7; 100], (0..100).collect()] {
        for server in 0..3 {
            for place in [0, 1, 4, 7, 8, 11, 14, 15] {
                let actual = chi_square(&world, server, place, &mut source);
                assert!(actual < limit, "server {server}, byte {place}: {actual}");
            }
        }
    }
}

/// The test above would detect masks of fewer bits, as those of the prototype of the thesis: there from
/// ±10⁹.
#[test]
fn narrow_masks_would_be_seen() {
    let mut source = SystemRandom::new().unwrap();
    let expected = 200_000.0 / 256.0;
    let mut cells = [0_f64; 256];
    for _ in 0..200_000 {
        let mask = source.below(2_000_000_000) as i128 - 1_000_000_000;
        cells[(mask as u128 >> 120) as usize & 255] += 1.0;
    }
    let found: f64 = cells.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(found > 1e6);
}

/// Noise of all servers together: variance kσ²/t on the grid, mean the sum. Each draw is sub-Gaussian
/// with its own variance (Canonne et al. 2020), so χ² bounds hold: for n = 60,000 the mean of squares
/// leaves ±5 % with probability below 2·exp(−n·0.05²/6) < 3e-11, and the mean ±0.06·σ·√(k/t) with below
/// 2·exp(−n·0.06²/2) < 1e-46.
#[test]
fn noise_has_the_variance_of_all_shares() {
    for (servers, honest) in [(2, 1), (3, 1), (3, 2), (5, 4)] {
        let among = Participants { parties: 4, servers, honest, noise: NoiseMode::Shares };
        let event = gaussian(60_000).event().unwrap();
        let step = 2_f64.powi(-40);
        let mut source = SystemRandom::new().unwrap();
        let shares = split(&vec![7_i128 << 40; 60_000], servers, &mut source);
        let together = InProcess::new(among, &mut source);
        let opened = sum_openings(&together.exchange(0, &event, shares).unwrap()).unwrap();
        let noise: Vec<f64> = opened.iter().map(|sum| *sum as f64 * step - 7.0).collect();
        let count = noise.len() as f64;
        let mean = noise.iter().sum::<f64>() / count;
        let square = noise.iter().map(|x| x * x).sum::<f64>() / count;
        let expected = f64::from(servers) / f64::from(honest);
        assert!((among.widening().powi(2) - expected).abs() < 1e-12);
        assert!(mean.abs() < 0.06 * expected.sqrt(), "{mean}");
        assert!((square / expected - 1.0).abs() < 0.05, "{servers}/{honest}: {square}");
    }
}

/// Without any one opening the rest is uniform: bytes of the partial sum, same bound as above.
#[test]
fn without_one_opening_nothing_is_opened() {
    let event = gaussian(100).event().unwrap();
    let mut source = SystemRandom::new().unwrap();
    let mut cells = [0_u32; 256];
    for _ in 0..2_000 {
        let shares = split(&[42; 100], 3, &mut source);
        let mut openings = InProcess::new(THREE, &mut source).exchange(0, &event, shares).unwrap();
        openings.pop();
        for word in sum_openings(&openings).unwrap() {
            cells[word as usize & 255] += 1;
        }
    }
    let expected = 200_000.0 / 256.0;
    let found: f64 =
        cells.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(found < 255.0 + 2.0 * (255.0_f64 * 26.5).sqrt() + 2.0 * 26.5, "{found}");
}

/// Returns one opening too few.
struct Dropping(u32);

impl PartyChannel for Dropping {
    fn exchange(
        &self,
        _: u64,
        leaf: &Event,
        shares: Vec<Zeroizing<Vec<u128>>>,
    ) -> Result<Vec<Vec<u128>>, GateError> {
        let mut source = SystemRandom::new().unwrap();
        let kept = shares.len() - self.0 as usize;
        shares[..kept]
            .iter()
            .map(|share| {
                let mut adding = ServerSum::new(leaf, THREE)?;
                adding.add(share)?;
                adding.opening(&mut source)
            })
            .collect()
    }
}

fn statement(gaussian: &Gaussian) -> Statement {
    let claim = privet_dp::account::guarantee(&gaussian.event().unwrap(), 1e-6).unwrap();
    let request = serde_json::json!({});
    Statement { claim, arithmetic: Arithmetic::Finite, notes: vec![], conditions: vec![], request }
}

#[test]
fn a_session_among_parties_lets_out_the_noised_sum_alone() {
    let gaussian = gaussian(2);
    let exact = || Private::new(ExactCounts { counts: vec![1 << 20, -(1 << 20)], unit: 1.0 });
    let (mut own, mut servers) = (SystemRandom::new().unwrap(), SystemRandom::new().unwrap());
    let together = InProcess::new(THREE, &mut servers);
    let session =
        Session::start(gaussian.event().unwrap(), &mut own).distributed_among(THREE, &together);
    let release = session
        .carry_out(statement(&gaussian), |session| gaussian.run_units(exact(), session))
        .unwrap();
    let actual = release.value();
    // 40 standard deviations.
    assert!((actual[0] - 1_048_576.0).abs() < 70.0 && (actual[1] + 1_048_576.0).abs() < 70.0);
    assert!(actual.iter().all(|x| (x * 2_f64.powi(40)).fract() == 0.0), "on the grid");

    // One opening too few: nothing is released, and the draw is spent.
    let mut own = SystemRandom::new().unwrap();
    let mut session =
        Session::start(gaussian.event().unwrap(), &mut own).distributed_among(THREE, &Dropping(1));
    assert_eq!(gaussian.run_units(exact(), &mut session).unwrap_err(), GateError::Unanswered);
    assert!(session.has_spent());

    // Servers with reproducible noise: nothing is claimed.
    let (mut own, mut fixed) = (SystemRandom::new().unwrap(), FixedSeed::new(1));
    let together = InProcess::new(THREE, &mut fixed);
    let session =
        Session::start(gaussian.event().unwrap(), &mut own).distributed_among(THREE, &together);
    let release = session
        .carry_out(statement(&gaussian), |session| gaussian.run_units(exact(), session))
        .unwrap();
    let claim = release.certificate().guarantee.unwrap();
    assert!(claim.epsilon.is_infinite());
}

#[test]
fn other_noise_is_refused_before_anything_is_drawn() {
    let laplace = Laplace {
        neighbours: Neighbours::ReplaceOne,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 1.0,
        step: 1.0,
        on_grid: true,
        coordinates: 1,
    };
    let (mut own, mut servers) = (FixedSeed::new(1), FixedSeed::new(2));
    let together = InProcess::new(THREE, &mut servers);
    let mut session = Session::start(laplace.event(), &mut own).distributed_among(THREE, &together);
    let value = Private::new(ExactCounts { counts: vec![3], unit: 1.0 });
    assert_eq!(laplace.run_units(value, &mut session).unwrap_err(), GateError::Alone);
    assert!(!session.has_spent());
    assert_eq!(ServerSum::new(&laplace.event(), THREE).unwrap_err(), GateError::Alone);
}

#[test]
fn servers_go_by_the_plan() {
    let (one, other) = (gaussian(2).event().unwrap(), gaussian(3).event().unwrap());
    let planned =
        Event::All(vec![one.clone(), Event::Repeat { count: 2, event: Box::new(other.clone()) }]);
    let mut rounds = PlannedDraws::of(&planned);
    assert!(!rounds.go_on(&other) && rounds.go_on(&one) && !rounds.go_on(&one));
    assert!(rounds.go_on(&other) && !rounds.complete() && rounds.go_on(&other));
    assert!(rounds.complete() && rounds.next().is_none() && rounds.completed() == 3);
}

#[test]
fn odd_numbers_of_servers_are_refused() {
    let among = |parties, servers, honest| {
        Participants { parties, servers, honest, noise: NoiseMode::Shares }.check()
    };
    assert!(among(2, 2, 1).is_ok() && among(50_000, 64, 63).is_ok());
    for bad in [(0, 2, 1), (2, 1, 1), (2, 2, 0), (2, 2, 2), (2, 65, 1), (2_000_000, 2, 1)] {
        assert!(among(bad.0, bad.1, bad.2).is_err(), "{bad:?}");
    }
    let mut adding = ServerSum::new(&gaussian(2).event().unwrap(), THREE).unwrap();
    assert_eq!(adding.add(&[1]), Err(GateError::Malformed));
}

const TOGETHER: Participants =
    Participants { parties: 4, servers: 3, honest: 1, noise: NoiseMode::Joint };

fn joint_leaf(coordinates: usize) -> Event {
    joint::charged_event(gaussian(coordinates).event().unwrap(), NoiseMode::Joint)
}

/// One joint draw, for any number of servers: variance σ², bounds as above.
#[test]
fn noise_that_is_drawn_together_has_the_variance_of_one_draw() {
    for servers in [2, 4] {
        let among = Participants { servers, ..TOGETHER };
        let mut source = SystemRandom::new().unwrap();
        let shares = split(&vec![7_i128 << 40; 60_000], servers, &mut source);
        let together = InProcess::new(among, &mut source);
        let opened = together.exchange(0, &joint_leaf(60_000), shares).unwrap();
        let opened = sum_openings(&opened).unwrap();
        let noise: Vec<f64> =
            opened.iter().map(|sum| *sum as f64 * 2_f64.powi(-40) - 7.0).collect();
        let mean = noise.iter().sum::<f64>() / 60_000.0;
        let square = noise.iter().map(|x| x * x).sum::<f64>() / 60_000.0;
        assert_eq!(among.widening(), 1.0);
        assert!(mean.abs() < 0.06 && (square - 1.0).abs() < 0.05, "{servers}: {mean} {square}");
    }
}

/// The circuit's law is the charged one: σ/step exactly, and within the charged distance.
#[test]
fn the_law_that_servers_draw_is_the_one_that_is_charged() {
    for noise_scale in [1.0, 0.3, 1.999_999, 2.0, 7.1e9, 3e-12, 1.0_f64.next_down()] {
        let plain = Gaussian { noise_scale, coordinates: 53, ..gaussian(1) };
        let leaf = joint::charged_event(plain.event().unwrap(), NoiseMode::Joint);
        let Event::Use { cost: Cost::JointGaussian { sensitivity, grid, distance, .. }, .. } =
            &leaf
        else {
            panic!("not joint: {leaf:?}")
        };
        let Event::Use {
            cost: Cost::Gaussian { sensitivity: alone, grid: Some(same), .. }, ..
        } = plain.event().unwrap()
        else {
            panic!("not Gaussian")
        };
        assert_eq!((*sensitivity, *grid), (alone, same));
        let drawing = joint::Drawing::of(&leaf).unwrap();
        assert_eq!(drawing.steps * grid.step, noise_scale);
        assert_eq!(drawing.coordinates, 53);
        let law = privet_joint::JointGaussian::new(drawing.steps).unwrap();
        assert_eq!(law.steps(), drawing.steps);
        assert!(privet_joint::Law::distance(&law) < privet_joint::NOISE_LAW_DISTANCE);
        // Three evaluations of at most 26 numbers, each attempted twice at most.
        let charged = 53.0 * 2_f64.powi(-60) + 6.0 * 2_f64.powi(-36);
        assert!(*distance >= charged && *distance <= charged * (1.0 + 1e-11), "{distance}");
        let of_the_crate = privet_joint::charge(53, 6, 1, 1.0);
        assert!((joint::taken_of_delta(&leaf, 1.0) / of_the_crate - 1.0).abs() < 1e-8);
    }
}

#[test]
fn modes_are_not_mixed_and_a_share_of_noise_fits_its_round() {
    let (own, together) = (gaussian(2).event().unwrap(), joint_leaf(2));
    assert_eq!(ServerSum::new(&own, TOGETHER).unwrap_err(), GateError::Alone);
    assert_eq!(ServerSum::new(&together, THREE).unwrap_err(), GateError::Alone);
    // A plan that charges too little for it.
    let Event::Use { neighbours, unit, cost } = together.clone() else { panic!() };
    let Cost::JointGaussian { sensitivity, noise_scale, grid, distance } = cost else { panic!() };
    let cost = Cost::JointGaussian { sensitivity, noise_scale, grid, distance: 0.5 * distance };
    let cheap = Event::Use { neighbours, unit, cost };
    assert_eq!(ServerSum::new(&cheap, TOGETHER).unwrap_err(), GateError::Alone);
    let share = |numbers: &[u128]| joint::NoiseShare::new(Zeroizing::new(numbers.to_vec()));
    let adding = || {
        let mut adding = ServerSum::new(&together, TOGETHER).unwrap();
        adding.add(&[5, u128::MAX]).unwrap();
        adding
    };
    assert_eq!(adding().opening_with(share(&[1, 2])).unwrap(), [6, 1]);
    assert_eq!(adding().opening_with(share(&[1])).unwrap_err(), GateError::Malformed);
    let mut source = FixedSeed::new(1);
    assert_eq!(adding().opening(&mut source).unwrap_err(), GateError::Alone);
    let alone = ServerSum::new(&own, THREE).unwrap();
    assert_eq!(alone.opening_with(share(&[1, 2])).unwrap_err(), GateError::Malformed);
    assert!(!format!("{:?}", share(&[77_777])).contains("77"));
}

/// The law's distance is added to δ, at every requested ε, and for every composition.
#[test]
fn what_joint_noise_is_off_by_is_added_to_delta() {
    let repeat = |event: Event| Event::Repeat { count: 40, event: Box::new(event) };
    let plain = Gaussian { noise_scale: 9.0, ..gaussian(30) }.event().unwrap();
    let joint = repeat(joint::charged_event(plain.clone(), NoiseMode::Joint));
    let plain = repeat(plain);
    let off = joint::total_distance(&joint);
    assert!((off / (40.0 * joint::distance(30)) - 1.0).abs() < 1e-9);
    for epsilon in [0.1, 0.5, 1.0, 2.0, 4.0] {
        let alone = privet_dp::account::delta(&plain, epsilon).unwrap();
        let actual = privet_dp::account::delta(&joint, epsilon).unwrap();
        let taken = (1.0 + libm::exp(epsilon)) * off;
        assert!(actual >= (alone + taken) * (1.0 - 1e-9) || taken > 1e-3 * actual, "{epsilon}");
        assert!(actual >= alone && actual <= (alone + taken) * (1.0 + 1e-9), "{epsilon}: {actual}");
    }
    // Nor does a large ε remove it: at least as much remains as at ε = 0.
    assert!(privet_dp::account::delta(&joint, 30.0).unwrap() >= 2.0 * off);
}

/// Older files leave the mode out, and so do new ones where every server draws its own.
#[test]
fn who_draws_is_written_only_where_all_do() {
    let written = serde_json::to_string(&THREE).unwrap();
    assert_eq!(written, r#"{"parties":4,"servers":3,"honest":1}"#);
    assert_eq!(serde_json::from_str::<Participants>(&written).unwrap(), THREE);
    let written = serde_json::to_string(&TOGETHER).unwrap();
    assert_eq!(written, r#"{"parties":4,"servers":3,"honest":1,"noise":"joint"}"#);
    assert_eq!(serde_json::from_str::<Participants>(&written).unwrap(), TOGETHER);
    assert!(serde_json::from_str::<Participants>(&written.replace("joint", "jointly")).is_err());
    for (servers, honest, accepted) in
        [(2, 1, true), (4, 1, true), (5, 1, false), (1, 1, false), (3, 2, false), (3, 0, false)]
    {
        let among = Participants { servers, honest, ..TOGETHER };
        assert_eq!(among.check().is_ok(), accepted, "{among:?}");
    }
    assert_eq!("joint".parse(), Ok(NoiseMode::Joint));
    assert!("both".parse::<NoiseMode>().unwrap_err().to_string().contains("shares, joint"));
}
