//! A family of releases added from outside the crate: the private mean of one column, in one file.
//! Request, plan, session, certificate, file, verification and attack are those of every other family;
//! for its files to be recognised it would need one more line in `families.rs`.

#[path = "../toys/mean.rs"]
mod mean;

use mean::Mean;
use privet_core::{Budget, Neighbours};
use privet_data::{Schema, read};
use privet_dp::gate::seal;
use privet_dp::noise::{FixedSeed, Source, SystemRandom};
use privet_learn::file::{Seal, from_json, to_json};
use privet_learn::{
    FamilyVisitor, OfferedFamily, Released, Request, declaration, each_offered, plan, verify,
};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

const SCHEMA: &str = "[clip]\nnorm = \"linf\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
                      [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n";

fn released(source: &mut dyn Source) -> Released<Mean> {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let text: String = (0..1000).map(|row| format!("{},0.5\n", row % 100)).collect();
    let data = read::csv_bytes(format!("age,y\n{text}").as_bytes(), &schema).unwrap();
    let request = Request::new(schema, 1000, Neighbours::AddRemove, Mean {});
    let planned = plan(&request.with_budget(Budget::new(1.0, 0.0).unwrap())).unwrap();
    let again = plan(planned.request()).unwrap();
    assert_eq!((again.request(), again.events()), (planned.request(), planned.events()));
    let release = planned.run(&data, source, &AtomicBool::new(false)).unwrap();
    let text = to_json(&Released::<Mean>::from_release(release).unwrap(), None).unwrap();
    from_json(text.as_bytes(), Seal::Required).unwrap()
}

#[test]
fn a_new_family_goes_the_one_way() {
    let mean = released(&mut FixedSeed::new(1)).artefact().sum() / 1000.0;
    assert!((mean - 0.495).abs() < 0.02, "{mean}");

    let released = released(&mut SystemRandom::new().unwrap());
    let verdict = verify(&released);
    assert!(verdict.valid, "{:?}", verdict.checks);
    assert_eq!(verdict.guarantee.unwrap().epsilon, 1.0);
    let document: Value = serde_json::from_str(&to_json(&released, None).unwrap()).unwrap();
    assert_eq!(
        (&document["kind"], &document["certificate"]["request"]["task"]),
        (&json!("sum"), &json!("mean"))
    );
    let lies: [&dyn Fn(&mut Value); 3] = [
        &|file| file["body"]["sums"] = json!([0.1]),
        &|file| file["certificate"]["request"]["noise"][0] = json!(0.5),
        &|file| file["certificate"]["guarantee"]["epsilon"] = json!(0.5),
    ];
    for (number, lie) in lies.iter().enumerate() {
        let mut forged = document.clone();
        lie(&mut forged);
        let text = seal::seal_document(forged, None).unwrap().to_string();
        let forged: Released<Mean> = from_json(text.as_bytes(), Seal::Required).unwrap();
        assert!(!verify(&forged).valid, "lie {number}");
    }
}

/// What Python makes its class of: of every family that is offered, and of the toy, which is not listed.
#[test]
fn a_family_declares_itself() {
    struct Declared(Vec<Value>);
    impl FamilyVisitor for Declared {
        fn family<F: OfferedFamily>(&mut self) {
            self.0.push(declaration::<F>());
        }
    }
    let mut all = Declared(vec![]);
    each_offered(&mut all);
    all.family::<Mean>();
    let verbs: Vec<_> = all.0.iter().map(|family| family["verb"].as_str().unwrap()).collect();
    assert!(["describe", "select", "mean"].iter().all(|verb| verbs.contains(verb)), "{verbs:?}");
    let mean = all.0.last().unwrap();
    assert_eq!((&mean["task"], &mean["method"]), (&json!("mean"), &Value::Null));
    assert_eq!((&mean["words"], &mean["methods"]), (&json!([]), &json!([])));
    assert_eq!(mean["about"], Mean::HELP_LINE);
}
