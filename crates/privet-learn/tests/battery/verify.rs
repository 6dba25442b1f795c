//! The release, certificate and claim are those of the request.

use crate::common::nearly;
use crate::subject::Subject;
use privet_dp::gate::Certificate;
use privet_learn::file::{Seal, any_from_json, to_json};
use privet_learn::{Plan, Task, plan, verify};

/// Trained, written, read and verified, it claims exactly the request's budget; a fixed seed claims
/// nothing.
pub fn verifies<T: Task>(subject: &Subject<T>) {
    let (name, asked) = (&subject.name, subject.asked.budget.unwrap());
    let verdict = verify(&subject.released);
    assert!(verdict.valid, "{name}: {:?}", verdict.checks);
    let claimed = verdict.guarantee.unwrap();
    assert_eq!((claimed.epsilon, claimed.delta), (asked.epsilon(), asked.delta()), "{name}");
    assert_eq!(claimed.neighbours, subject.asked.neighbours, "{name}");
    assert_eq!(claimed.unit, subject.asked.schema.unit(), "{name}");
    assert_eq!(subject.plan.guarantee(), Some(&claimed), "{name}");
    assert_eq!(verdict.arithmetic, Some(subject.plan.arithmetic()), "{name}");
    let certificate = subject.released.certificate();
    charges_what_was_planned(name, &subject.plan, certificate);
    assert_eq!(subject.released.request(), subject.plan.request(), "{name}");
    // The file names the family, and is written again byte by byte.
    let any = any_from_json(subject.text.as_bytes(), Seal::Required).unwrap();
    assert!(any.verify().valid, "{name}");
    assert_eq!(to_json(&subject.released, None).unwrap(), subject.text, "{name}");
}

/// A certificate states the events of its plan; if they are chosen adaptively, their limit.
pub fn charges_what_was_planned<T: Task>(name: &str, plan: &Plan<T>, certificate: &Certificate) {
    assert_eq!(certificate.filter.as_ref(), plan.limit(), "{name}");
    if plan.limit().is_none() {
        assert_eq!(certificate.events.as_ref(), plan.events(), "{name}");
    }
}

/// Planned again from the settled request nothing is added and nothing changes.
pub fn stays_settled<T: Task>(subject: &Subject<T>) {
    let (name, planned) = (&subject.name, &subject.plan);
    let again = plan(planned.request()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(again.request(), planned.request(), "{name}");
    let [one, two] = [&again, planned].map(|plan| serde_json::to_value(plan.events()).unwrap());
    // A range is one over its scale.
    assert!(nearly(&one, &two, 1e-12), "{name}: {two} became {one}");
    assert_eq!(again.guarantee(), planned.guarantee(), "{name}");
    assert_eq!(again.arithmetic(), planned.arithmetic(), "{name}");
    assert!(!planned.request().noise.is_empty(), "{name} settles no noise");
}

/// Without noise there is still a file, which claims nothing.
pub fn claims_nothing<T: Task>(subject: &Subject<T>) {
    let verdict = verify(&subject.released);
    assert!(!verdict.valid && verdict.guarantee.is_none(), "{}", subject.name);
    let certificate = subject.released.certificate();
    assert!(certificate.guarantee.is_none() && certificate.events.is_none(), "{}", subject.name);
    assert_eq!(plan(subject.plan.request()).unwrap().request(), subject.plan.request());
}
