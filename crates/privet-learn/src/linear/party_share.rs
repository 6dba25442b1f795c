//! Output perturbation among parties: the mean of their minimisers, each weighted by its rows.
//!
//! **Theorem** (after Wang 2021, Theorem 6.3.1). Party j declares nⱼ of n rows, f = nⱼ/n, and minimises
//! Fⱼ(θ) = Σℓ over its own rows + (fλ/2)‖θ‖² + f·r(θ), with the notation of [`super::output`] and
//! [`super::penalty`], until ‖∇Fⱼ(θ̃ⱼ)‖₂ ≤ γ. Between neighbours Σⱼ fⱼθ̃ⱼ moves by no more than the
//! bound proved there for one table at ridge λ: **2(LR + γ)/λ** under replace-one and **(LR + 2γ)/λ**
//! under add/remove, for any division of the rows.
//!
//! *Proof.* A record lies at one party, j; the others' terms do not depend on it. By that theorem for
//! Fⱼ, whose ridge is fλ, θ̃ⱼ moves by at most 2(LR + γ)/(fλ), or (LR + 2γ)/(fλ), and it counts f times.
//! ∎
//!
//! The weights are public: f is from the agreement's declaration, not from the table, and under
//! add/remove is the same with a record more or less. A party that declares no rows adds nothing. Only
//! the noisy sum is opened ([`privet_dp::mechanism::shares`]).
//!
//! *In finite arithmetic.* f is one `f64`. Its product with λ, and the other single roundings here, are
//! covered by the factor of [`super::output::sensitivity`]. fθ̃ is rounded by u‖fθ̃‖ at most, u = 2⁻⁵³,
//! as if θ̃ were u‖θ̃‖ further from the minimiser: that must fit into γ/(fλ) beside the solver's proved
//! distance ([`PartyShare::scaled_minimiser`]). It does where [`super::tolerance`] admits the plan: with
//! nⱼ ≤ n rows at fλ all that is bounded there is as small as for one table, and of γ/(fλ) a twentieth is
//! left.
//!
//! - Departs from print: there each party counts 1/m and the noise is that of the smallest,
//!   2G/(m·min nⱼ·λ); γ = 0; and noise is Laplace a coordinate, for a sensitivity in ℓ2. ℓ2-Laplace
//!   noise has no exact sampler, and a sum of draws of several servers would have no distribution that
//!   is charged: Gaussian noise alone is offered.
//! - Its price: the mean of minimisers is not the minimiser of all rows. Parties of few rows each lose
//!   accuracy by that, with or without noise; `gd` does not.
//! - A party's time to minimise depends on its rows, and servers can observe it.
//! - Tested by `a_record_moves_the_weighted_minimiser_within_the_bound` and `tests/parties/together.rs`
//!   of `privet-parties`.

use super::minimum::SolverRequest;
use crate::LearnError;
use crate::linear::facts::Facts;
use privet_dp::gate::{GateError, Session};
use privet_optim::solver::{Certified, Penalty};

/// The fraction f of all rows that a party has declared; 1 without parties.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PartyShare(f64);

impl PartyShare {
    /// The fraction of the party that runs this session.
    pub fn of(session: &Session<'_>, facts: &Facts) -> Self {
        let own = session.declared_rows();
        Self(own.map_or(1.0, |own| (own as f64 / facts.rows as f64).min(1.0)))
    }

    /// True if it has declared any rows.
    pub fn is_some(self) -> bool {
        self.0 > 0.0
    }

    /// The request to its solver, given that for one table.
    pub fn ask(self, ask: SolverRequest) -> SolverRequest {
        SolverRequest { ridge: ask.ridge * self.0, ..ask }
    }

    /// Its penalty, given that for one table.
    pub fn penalty(self, penalty: &Penalty) -> Penalty {
        penalty.clone().scale_weights(self.0)
    }

    /// fθ̃, if θ̃ with the rounding of that product is proved to be within γ/(fλ) of the minimiser.
    /// `ask` is the request to its solver.
    pub fn scaled_minimiser(
        self,
        solved: Certified,
        ask: SolverRequest,
    ) -> Result<Vec<f64>, LearnError> {
        let distance = solved.distance_bound();
        let mut theta = solved.into_theta();
        // A product with 1 is exact.
        let norm = theta.iter().map(|x| x * x).sum::<f64>().sqrt();
        let rounding = if self.0 == 1.0 { 0.0 } else { f64::EPSILON * norm };
        // Asks "within?", never "beyond?", so that NaN is refused.
        if distance + rounding <= ask.tolerance / ask.ridge {
            theta.iter_mut().for_each(|x| *x *= self.0);
            Ok(theta)
        } else {
            Err(GateError::NotCertified.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::minimum::solve;
    use super::super::output::sensitivity;
    use super::super::testing::{COLUMNS, request, table};
    use super::*;
    use privet_core::Neighbours;
    use privet_optim::loss::Loss;
    use proptest::prelude::*;

    /// The weighted minimiser of a party with this table, of `all` rows in all.
    fn counted(
        facts: &Facts,
        own: u64,
        table: &privet_data::Dataset,
        ask: SolverRequest,
    ) -> Vec<f64> {
        let part = PartyShare(own as f64 / facts.rows as f64);
        let ask = part.ask(ask);
        let never = std::sync::atomic::AtomicBool::new(false);
        let solved = solve(facts, table, 0, ask, &Penalty::None, None, &never).unwrap();
        part.scaled_minimiser(solved, ask).unwrap()
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// A last line: all cells at this corner or at zero, and a label.
    fn line(corner: i32, label: &str) -> String {
        format!("{},{label}\n", vec![corner.to_string(); COLUMNS].join(","))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// For parties of any size, down to a single row, with extreme and with random records replaced,
        /// added or removed.
        #[test]
        fn a_record_moves_the_weighted_minimiser_within_the_bound(
            own in prop_oneof![Just(1_u64), 2..60_u64, Just(400_u64)],
            seed in 0..1000_u64,
            corners in (-1..=1_i32, -1..=1_i32),
            labels in (0..2_usize, 0..2_usize),
            ridge in prop_oneof![Just(0.5), 0.5..50.0_f64],
            replace: bool,
        ) {
            let neighbours = if replace { Neighbours::ReplaceOne } else { Neighbours::AddRemove };
            let asked = request("classes = [\"a\", \"b\"]", "output".parse().unwrap(), (500, None), neighbours);
            let facts = crate::plan(&asked).unwrap().facts().clone();
            let asked = crate::plan(&asked).unwrap().request().clone();
            let ask = SolverRequest { ridge, tolerance: facts.default_tolerance(), linear_norm: 0.0 };
            let most = sensitivity(&facts, ridge, ask.tolerance);
            let names = ["a", "b"];
            let others = own as usize - 1;
            let one = table(&asked, 0..others, seed, &line(corners.0, names[labels.0]));
            // Under add/remove the neighbour has one row fewer, and the declared number stays.
            let other = match replace {
                true => table(&asked, 0..others, seed, &line(corners.1, names[labels.1])),
                false if others == 0 => return Ok(()),
                false => table(&asked, 0..others, seed, ""),
            };
            let (a, b) = (counted(&facts, own, &one, ask), counted(&facts, own, &other, ask));
            let moved = distance(&a, &b);
            prop_assert!(moved <= most, "{moved} > {most}");
        }
    }

    /// The bound is attained, for parties of any size: rows in the linear part of the loss, with one
    /// label flipped.
    #[test]
    fn the_bound_is_attained() {
        let target = "classes = [\"a\", \"b\"]";
        let request =
            request(target, "output".parse().unwrap(), (500, None), Neighbours::ReplaceOne);
        let planned = crate::plan(&request.with_loss(Loss::HuberSvm { h: 0.1 })).unwrap();
        let (facts, request) = (planned.facts().clone(), planned.request().clone());
        let ask =
            SolverRequest { ridge: 1e6, tolerance: facts.default_tolerance(), linear_norm: 0.0 };
        let most = sensitivity(&facts, ask.ridge, ask.tolerance);
        for own in [1, 20, 400] {
            let of = |label| table(&request, 0..own as usize - 1, 7, &line(1, label));
            let (a, b) = (counted(&facts, own, &of("a"), ask), counted(&facts, own, &of("b"), ask));
            let moved = distance(&a, &b) / most;
            assert!((0.99..=1.0).contains(&moved), "{own}: {moved} of the bound");
        }
    }
}
