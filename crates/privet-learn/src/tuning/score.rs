//! Noisy score of a model on the records: see the theorem in [`super`].

use crate::LearnError;
use crate::linear::facts::Facts;
use crate::linear::model::{LinearWeights, RowScores, largest};
use privet_data::{Dataset, Target};
use privet_dp::account::gaussian;
use privet_dp::gate::{GateError, Noisy, Private, Session};
use privet_dp::mechanism::{ExactCounts, Gaussian};

/// The score's μ as a fraction of the μ that a trial's (ε₁, δ) allows.
pub(super) const SCORE_SHARE: f64 = 1.0 / 3.0;
/// Scores are multiples of 2 to the minus `BITS`.
const BITS: i32 = 20;

/// The Gaussian mechanism on a sum of scores.
pub(super) fn mechanism(facts: &Facts, delta: f64, epsilon: f64) -> Gaussian {
    let sensitivity = f64::from(facts.unit.records());
    let noise_scale = sensitivity / (SCORE_SHARE * gaussian::mu(epsilon, delta));
    Gaussian {
        neighbours: facts.neighbours,
        unit: facts.unit,
        sensitivity,
        noise_scale,
        coordinates: 1,
    }
}

/// The noisy sum of scores.
pub(super) fn noisy_score(
    facts: &Facts,
    data: &Dataset,
    model: &LinearWeights,
    noise: &Gaussian,
    session: &mut Session<'_>,
) -> Result<Noisy<f64>, LearnError> {
    let sum = units(facts, data, model).ok_or(GateError::Unanswered)?;
    let sum = ExactCounts { counts: vec![sum], unit: 2_f64.powi(-BITS) };
    let noisy = noise.run_units(Private::new(sum), session)?;
    Ok(noisy.map(|sums| sums.first().copied().unwrap_or(f64::NEG_INFINITY)))
}

/// The sum of scores as an integer in units of 2⁻²⁰; `None` if the target is of another kind.
pub(super) fn units(facts: &Facts, data: &Dataset, model: &LinearWeights) -> Option<i128> {
    let problems = model.weights.len();
    let rows = RowScores::new(model, facts.radius);
    let mut sum = 0_i128;
    for row in 0..data.features.rows() {
        let scores = rows.of(&data.features, row);
        sum += i128::from(match &data.target {
            Target::Class { codes, .. } => {
                let code = *codes.get(row)?;
                let predicted = match problems {
                    1 => u32::from(scores[0] > 0.0),
                    _ => largest(&scores),
                };
                let weight = facts.weights.get(code as usize).copied().unwrap_or(1.0);
                if predicted == code { whole(weight) } else { 0 }
            }
            Target::Number(values) => {
                let predicted = facts.loss.prediction(scores[0]).clamp(-1.0, 1.0);
                let off = predicted - values.get(row)?.clamp(-1.0, 1.0);
                whole(1.0 - off * off / 4.0)
            }
        });
    }
    Some(sum)
}

/// A score as an integer; 0 for NaN.
fn whole(score: f64) -> i64 {
    if score.is_nan() { 0 } else { (score.clamp(0.0, 1.0) * 2_f64.powi(BITS)) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use privet_core::Neighbours;
    use privet_data::matrix::{CsrMatrix, DenseMatrix, Matrix};
    use privet_data::{Schema, read};
    use proptest::prelude::*;

    const TABLE: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
         classes = [\"no\", \"yes\"]\n[[columns]]\nname = \"a\"\ntype = \"number\"\nbounds = [-1, 1]\n\
         scale = \"symmetric\"\n[[columns]]\nname = \"b\"\ntype = \"number\"\nbounds = [-1, 1]\n\
         scale = \"symmetric\"\n";

    fn facts(target: &str) -> (Schema, Facts) {
        let schema =
            Schema::from_toml(&TABLE.replace("classes = [\"no\", \"yes\"]", target)).unwrap();
        let loss = match schema.classes() {
            Some(_) => privet_optim::loss::Loss::Logistic,
            None => privet_optim::loss::Loss::SQUARED,
        };
        let method = "gd".parse().unwrap();
        let task = crate::linear::Erm { loss, method };
        let request = Request::new(schema.clone(), 10, Neighbours::ReplaceOne, task);
        (schema.clone(), Facts::of(&request).unwrap())
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(1e300), Just(-1e-300), -2.0..2.0_f64]
    }

    proptest! {
        /// For any model, finite or not, a record adds between 0 and 1 and changes no other record's
        /// score; sparse rows are scored as dense ones are.
        #[test]
        fn a_record_adds_from_zero_to_one(
            rows in prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64, 0..2_usize), 1..12),
            weights in prop::collection::vec(any_number(), 3),
            number in any::<bool>(),
        ) {
            let target = if number { "bounds = [0, 1]" } else { "classes = [\"no\", \"yes\"]" };
            let (schema, facts) = facts(target);
            let label = |label: &usize| if number { ["0", "1"][*label] } else { ["no", "yes"][*label] };
            let text = |rows: &[(f64, f64, usize)]| {
                let lines = rows.iter().map(|(a, b, y)| format!("{a},{b},{}\n", label(y)));
                format!("a,b,y\n{}", lines.collect::<String>())
            };
            let data = read::csv_bytes(text(&rows).as_bytes(), &schema).unwrap();
            let model = LinearWeights::of(vec![weights]);
            let whole = units(&facts, &data, &model).unwrap();
            let mut sum = 0;
            for row in &rows {
                let one = read::csv_bytes(text(&[*row]).as_bytes(), &schema).unwrap();
                let own = units(&facts, &one, &model).unwrap();
                prop_assert!((0..=1 << BITS).contains(&own));
                sum += own;
            }
            prop_assert_eq!(whole, sum);
            let Matrix::Dense(dense) = &data.features else { panic!("dense") };
            let sparse = Dataset { features: Matrix::Csr(compressed(dense)), ..data.clone() };
            prop_assert_eq!(units(&facts, &sparse, &model).unwrap(), whole);
        }
    }

    fn compressed(dense: &DenseMatrix) -> CsrMatrix {
        let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..dense.rows() {
            for (place, value) in dense.row(row).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                places.push(place as u32);
                values.push(*value);
            }
            starts.push(places.len());
        }
        CsrMatrix::new(starts, places, values, dense.columns())
    }

    #[test]
    fn the_noise_pays_for_a_unit() {
        let (_, facts) = facts("classes = [\"no\", \"yes\"]");
        let noise = mechanism(&facts, 1e-6, 0.5);
        assert_eq!(noise.sensitivity, 1.0);
        let mu = gaussian::mu(0.5, 1e-6);
        assert!((noise.sensitivity / noise.noise_scale / mu - SCORE_SHARE).abs() < 1e-12);
    }
}
