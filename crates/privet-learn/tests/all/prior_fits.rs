//! Prior fits: a fact of the request that nothing checks, stated as a condition of the claim.

use privet_core::Neighbours;
use privet_data::Schema;
use privet_learn::statistics::describe::Describe;
use privet_learn::{LearnError, Plan, Request, plan};

const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\nbounds = [0, 1]\n\
     [[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1]\n";

fn request(prior_fits: &[&str]) -> Request<Describe> {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let budget = (1.0, Some(1e-6));
    let request = Describe::default().request(&schema, 100, Neighbours::ReplaceOne, budget);
    request.unwrap().after_fits(prior_fits.iter().map(ToString::to_string).collect())
}

fn planned(prior_fits: &[&str]) -> Result<Plan<Describe>, LearnError> {
    plan(&request(prior_fits))
}

#[test]
fn what_was_fitted_before_is_a_condition() {
    let planned = planned(&["StandardScaler", "sklearn.decomposition.PCA"]).unwrap();
    let note = planned.notes().iter().find(|note| note.contains("outside the budget")).unwrap();
    assert!(note.contains("StandardScaler, sklearn.decomposition.PCA"), "{note}");
    let written = serde_json::to_value(planned.request()).unwrap();
    assert_eq!(written["prior_fits"][0], "StandardScaler");
    let read: Request<Describe> = serde_json::from_value(written).unwrap();
    assert_eq!(read.prior_fits.len(), 2);
}

/// Files without prior fits are unchanged.
#[test]
fn where_nothing_was_fitted_nothing_is_written() {
    let planned = planned(&[]).unwrap();
    assert!(planned.notes().iter().all(|note| !note.contains("outside the budget")));
    assert!(serde_json::to_value(planned.request()).unwrap().get("prior_fits").is_none());
}

/// They are printed as part of our own sentence.
#[test]
fn a_sentence_is_no_name() {
    let long = "n".repeat(121);
    let many = vec!["Scaler"; 65];
    for odd in [&["nothing: safe to publish"][..], &[""], &["A\n"], &["a, b"], &[&long], &many] {
        let error = planned(odd).unwrap_err().to_string();
        assert!(error.starts_with("prior_fits are not names; accepted"), "{error}");
        assert!(!error.contains("safe"), "{error}");
    }
}
