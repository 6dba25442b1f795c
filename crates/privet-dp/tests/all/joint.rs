//! Joint privacy: the public release and the part of one unit are never mistaken for each other.

use privet_core::{Neighbours, Unit};
use privet_dp::account::{self, AccountError, Guarantee, SeenBy};
use privet_dp::gate::{
    Arithmetic, Certificate, CertificateError, GateError, Private, Session, Statement,
};
use privet_dp::mechanism::Gaussian;
use privet_dp::noise::SystemRandom;
use serde_json::json;

const UNITS: [f64; 3] = [0.25, -0.5, 1.0];

fn gaussian() -> Gaussian {
    Gaussian {
        neighbours: Neighbours::AddRemove,
        unit: Unit::Record,
        sensitivity: 1.0,
        noise_scale: 4.0,
        coordinates: 1,
    }
}

fn claim() -> Guarantee {
    account::guarantee(&gaussian().event().unwrap(), 1e-6).unwrap()
}

fn statement(claim: Guarantee) -> Statement {
    Statement::new(claim, Arithmetic::Finite, json!({}))
}

#[test]
fn each_unit_is_told_its_own_part_once_with_a_certificate_of_its_own() {
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(gaussian().event().unwrap(), &mut source);
    let total = Private::new(vec![UNITS.iter().sum::<f64>()]);
    let noisy = gaussian().run(total, &mut session).unwrap();
    let units = UNITS.map(Private::new).into();
    let part = |public: &Vec<f64>, own: f64| public[0] - own;
    let (release, mut parts) =
        session.settle_jointly(noisy, units, part, statement(claim())).unwrap();
    let public = release.certificate();
    assert_eq!(public.recheck().unwrap(), Some(claim()), "what everyone sees");
    assert_eq!((parts.units(), format!("{parts:?}")), (3, "Parts(withheld)".into()));
    let mut ids = vec![public.made.clone().unwrap().id];
    for (place, own) in UNITS.iter().enumerate() {
        let told = parts.take(place).unwrap();
        assert_eq!(*told.value(), release.value()[0] - own);
        let (_, certificate) = told.into_parts();
        let actual = certificate.recheck().unwrap().unwrap();
        assert_eq!(actual, Guarantee { seen_by: SeenBy::AllButTheUnit, ..claim() });
        assert_eq!(actual.for_everyone(), Err(AccountError::NotForEveryone));
        assert!(certificate.notes.iter().any(|note| note.contains("person concerned alone")));
        ids.push(certificate.made.unwrap().id);
        assert!(parts.take(place).is_none(), "once");
    }
    assert!(parts.take(UNITS.len()).is_none());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4, "no two certificates are the same");
}

#[test]
fn no_release_that_everyone_sees_claims_less() {
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(gaussian().event().unwrap(), &mut source);
    let noisy = gaussian().run(Private::new(vec![1.0]), &mut session).unwrap();
    let weak = Guarantee { seen_by: SeenBy::AllButTheUnit, ..claim() };
    let refused = Some(GateError::Account(AccountError::NotForEveryone));
    assert_eq!(session.emit(noisy, statement(weak)).err(), refused);
    assert_eq!(session.abort(statement(weak)).err(), refused);
}

/// Older files, without an audience, read and write as before, byte by byte.
#[test]
fn everyone_is_not_written() {
    let text = serde_json::to_string(&claim()).unwrap();
    assert!(!text.contains("seen_by"), "{text}");
    assert_eq!(serde_json::from_str::<Guarantee>(&text).unwrap(), claim());
    let weak = Guarantee { seen_by: SeenBy::AllButTheUnit, ..claim() };
    let text = serde_json::to_string(&weak).unwrap();
    assert!(text.contains(r#""seen_by":"all-but-the-unit""#), "{text}");
    assert_eq!(serde_json::from_str::<Guarantee>(&text).unwrap(), weak);
    assert!(SeenBy::Everyone < SeenBy::AllButTheUnit, "the later is the weaker");
}

/// Certificates of format 1 have no audience.
#[test]
fn format_1_is_for_everyone() {
    let mut source = SystemRandom::new().unwrap();
    let mut session = Session::start(gaussian().event().unwrap(), &mut source);
    let noisy = gaussian().run(Private::new(vec![1.0]), &mut session).unwrap();
    let release = session.settle(noisy, statement(claim())).unwrap();
    let mut old: Certificate = release.certificate().clone();
    old.format = "privet-certificate-1".into();
    assert_eq!(old.recheck(), Ok(Some(claim())));
    old.guarantee = Some(Guarantee { seen_by: SeenBy::AllButTheUnit, ..claim() });
    assert_eq!(old.recheck(), Err(CertificateError::Account(AccountError::NotForEveryone)));
}
