//! Second moments through the gate.

use privet_core::{Neighbours, Unit};
use privet_dp::account;
use privet_dp::gate::{Arithmetic, GateError, Private, Session, Statement};
use privet_dp::mechanism::{ExactCounts, Gaussian, Laplace, Moments, MomentsLaw, NoisyMoments};
use privet_dp::noise::SystemRandom;
use serde_json::json;

const COLUMNS: usize = 3;

fn law(pure: bool, noise_scale: f64) -> MomentsLaw {
    let (neighbours, unit) = (Neighbours::AddRemove, Unit::Record);
    if pure {
        MomentsLaw::Laplace(Laplace {
            neighbours,
            unit,
            sensitivity: 1.0,
            noise_scale,
            step: noise_scale / 1024.0,
            on_grid: false,
            coordinates: 6 + COLUMNS,
        })
    } else {
        MomentsLaw::Gaussian(Gaussian {
            neighbours,
            unit,
            sensitivity: 1.0,
            noise_scale,
            coordinates: 9 + COLUMNS,
        })
    }
}

fn noisy_moments(pure: bool, counts: Vec<i128>) -> Result<Moments, GateError> {
    let moments = NoisyMoments { law: law(pure, 0.125), columns: COLUMNS, weight: 4.0, ridge: 7.0 };
    let planned = moments.event()?;
    let claim = account::guarantee(&planned, if pure { 0.0 } else { 1e-6 })?;
    let mut source = SystemRandom::new()?;
    let mut session = Session::start(planned, &mut source);
    let sums = Private::new(ExactCounts { counts, unit: 1.0 });
    let noisy = moments.run(sums, &mut session)?;
    let release = session.settle(noisy, Statement::new(claim, Arithmetic::Finite, json!({})))?;
    Ok(release.into_parts().0)
}

/// Both laws give a symmetric matrix near the true one and divide the weight out. Noise of scale ⅛
/// exceeds 40/8 with probability below e^(−40) a number.
#[test]
fn moments_come_out_symmetric_and_in_place() {
    let counts = vec![1, 20, 30, 20, 500, 60, 30, 60, 900, 4000, -800, 40];
    for pure in [false, true] {
        let moments = noisy_moments(pure, counts.clone()).unwrap();
        assert_eq!((moments.columns, moments.ridge), (COLUMNS, 7.0));
        for (place, found) in moments.gram.iter().enumerate() {
            assert!((found - counts[place] as f64).abs() < 5.0, "{pure} {place}");
            let (row, column) = (place / COLUMNS, place % COLUMNS);
            assert_eq!(*found, moments.gram[column * COLUMNS + row]);
        }
        assert_eq!(moments.cross.len(), 1);
        for (found, expected) in moments.cross[0].iter().zip([1000.0, -200.0, 10.0]) {
            assert!((found - expected).abs() < 5.0, "{pure}");
        }
    }
}

#[test]
fn a_vector_of_another_length_is_refused() {
    for pure in [false, true] {
        for length in [0, 9, 11, 13] {
            assert_eq!(noisy_moments(pure, vec![0; length]), Err(GateError::Malformed), "{length}");
        }
    }
}
