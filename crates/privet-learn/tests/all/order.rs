//! The order of every release: what a later step may still change.

use crate::common::Case;
use privet_core::Budget;
use privet_dp::noise::Origin;
use privet_learn::order::{Countable, Inputs, ReadPlan, ReleaseDraft};
use privet_learn::pay::NoPayer;
use privet_learn::{Erm, LearnError, Plan, Request, plan};

/// A table that is at hand.
struct AtHand;

impl Inputs for AtHand {
    type Error = LearnError;

    fn raw_rows(&mut self, _each: &mut dyn FnMut(&[u8])) -> Result<(), LearnError> {
        Ok(())
    }
}

impl Countable for AtHand {
    fn declared_rows(&self) -> Option<u64> {
        Some(200)
    }

    fn count(&mut self) -> Result<u64, LearnError> {
        Ok(200)
    }
}

fn ready(planned: &Plan) -> ReadPlan<Erm, NoPayer> {
    let draft = ReleaseDraft::new(AtHand, |_| Ok(planned.clone())).unwrap();
    let reserved = draft.reserve(NoPayer::new(), Origin::OperatingSystem).unwrap();
    reserved.read(|_| Ok(())).unwrap().0
}

/// What is spent, what is claimed and whose the records are stay as they were reserved.
#[test]
fn a_price_that_was_reserved_stays() {
    let planned = Case::of("gd").rows(200).plan();
    let with = |other: Plan| ready(&planned).with(|_| Ok::<_, LearnError>(other)).map(drop);
    with(planned.clone().noting("a note")).unwrap();
    // The same noise, and a weaker claim.
    let budget = Some(Budget::new(1.001, 1e-6).unwrap());
    let weaker = plan(&Request { budget, ..planned.request().clone() }).unwrap();
    assert_eq!(weaker.events(), planned.events());
    for other in [weaker, Case::of("gd").rows(200).budget(2.0, 1e-6).plan()] {
        let refused = with(other).unwrap_err().to_string();
        assert!(refused.contains("not the one that was reserved"), "{refused}");
    }
}
