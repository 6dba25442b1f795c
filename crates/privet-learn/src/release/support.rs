//! The support of a plan's released weights.
//!
//! A verifier has no records, but it can recognise weights that no run of the plan could have released:
//! numbers off the grid of the noise added last, outside the ball to which every point is projected, or
//! no sum of the chosen columns.

use privet_dp::noise::GridGaussian;

/// A set that contains the released weights, whatever the records and the draws.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Support {
    /// Any finite numbers.
    Anywhere,
    /// Multiples of this power of two: the grid of the noise added last.
    Grid(f64),
    /// Within this distance of 0, all problems taken as one vector.
    Ball(f64),
    /// For each problem the sum of this many signed columns, each with its coefficient.
    Choices(Vec<f64>),
}

/// Relative rounding error of the norm of a mean of points in a ball.
const ROUNDING: f64 = 1e-9;
/// Upper bound, in coefficients, on the rounding error of a sum of this many of them: each addition errs
/// by half a unit in the last place of at most all of them; and a little more, since coefficients are
/// rounded themselves.
fn rounded_sum(choices: f64) -> f64 {
    4.0 * f64::EPSILON * choices * choices + ROUNDING * choices
}

impl Support {
    /// The support of a value with Gaussian noise of this scale.
    pub fn gaussian(noise_scale: f64) -> Self {
        match GridGaussian::new(noise_scale) {
            Ok(law) => Self::Grid(law.step()),
            Err(_) => Self::Anywhere,
        }
    }

    /// The reason why these weights are outside the support, if they are.
    pub fn refuses(&self, weights: &[Vec<f64>]) -> Option<&'static str> {
        match self {
            Self::Anywhere => None,
            Self::Grid(step) => {
                // Exact: the step is a power of two. A quotient that overflows is a multiple as well.
                let off = |weight: &f64| (weight / step).fract().abs() > 0.0;
                let off = step.is_normal() && weights.iter().flatten().any(off);
                off.then_some("a weight is off the grid of the noise")
            }
            Self::Ball(radius) => {
                let largest = weights.iter().flatten().fold(0.0_f64, |a, w| a.max(w.abs()));
                let scaled = weights.iter().flatten().map(|w| (w / largest).powi(2)).sum::<f64>();
                let outside = largest > 0.0 && largest * scaled.sqrt() > radius * (1.0 + ROUNDING);
                outside.then_some("the weights lie outside the ball that every point is kept in")
            }
            Self::Choices(coefficients) => {
                let unreachable = weights.iter().any(|row| !reachable(row, coefficients));
                unreachable.then_some("the weights are no sum of the signed columns chosen")
            }
        }
    }
}

/// True if a row is Σ cₜ·sₜ·e_{jₜ} for some signs and columns. All coefficients are nearly the same, for
/// the path that shrinks as well: C/(t + 2) times the (s + 1)/(s + 2) of all later steps is C/(T + 1).
fn reachable(row: &[f64], coefficients: &[f64]) -> bool {
    let Some(each) = coefficients.first().copied().filter(|each| *each > 0.0) else {
        return row.iter().all(|weight| *weight == 0.0);
    };
    let choices = coefficients.len() as f64;
    if coefficients.iter().any(|other| (other - each).abs() > ROUNDING * each) {
        let total: f64 = coefficients.iter().sum();
        return row.iter().map(|weight| weight.abs()).sum::<f64>() <= total * (1.0 + ROUNDING);
    }
    let mut left = choices;
    for weight in row {
        let times = weight.abs() / each;
        if (times - times.round()).abs() > rounded_sum(choices) {
            return false;
        }
        left -= times.round();
    }
    // Choices beyond the visible ones have cancelled in pairs.
    left >= 0.0 && left % 2.0 == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(support: &Support, weights: &[f64]) -> bool {
        support.refuses(&[weights.to_vec()]).is_none()
    }

    #[test]
    fn multiples_of_the_step_are_on_the_grid() {
        let grid = Support::Grid(2_f64.powi(-40));
        assert!(fits(&grid, &[0.0, -3.0 * 2_f64.powi(-40), 1e300, -5.5]));
        assert!(!fits(&grid, &[2_f64.powi(-41)]) && !fits(&grid, &[0.1]));
    }

    #[test]
    fn the_ball_is_that_of_all_problems_together() {
        let ball = Support::Ball(5.0);
        assert!(ball.refuses(&[vec![3.0], vec![-4.0]]).is_none());
        assert!(ball.refuses(&[vec![3.0], vec![4.001]]).is_some());
        assert!(fits(&ball, &[0.0, 0.0]) && !fits(&ball, &[1e200, 1e200]));
    }

    #[test]
    fn sums_of_columns_have_the_parity_of_their_number() {
        let choices = Support::Choices(vec![0.1; 5]);
        for good in [[0.1, 0.0], [0.3, -0.2], [0.0, 0.5], [-0.1 - 0.1 - 0.1, 0.0]] {
            assert!(fits(&choices, &good), "{good:?}");
        }
        for bad in [[0.0, 0.0], [0.2, 0.2], [0.3, -0.4], [0.15, 0.0], [0.7, 0.0]] {
            assert!(!fits(&choices, &bad), "{bad:?}");
        }
    }
}
