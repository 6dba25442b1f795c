//! Membership inference.

use privet_audit::membership::audit;
use privet_audit::pairs;
use privet_core::Neighbours;
use privet_data::{Dataset, read};
use privet_dp::noise::{FixedSeed, Source};
use privet_learn::linear::model::Model;
use privet_learn::{Calibration, Erm, Request, plan};
use privet_optim::loss::Loss;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

/// Labels are coins: a model can know them only from its own rows.
fn coins(rows: usize, columns: usize, seed: u64) -> Dataset {
    let mut source = FixedSeed::new(seed);
    let mut text: String = (0..columns).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for _ in 0..rows {
        for _ in 0..columns {
            let _ = write!(text, "{},", source.bits(20) as f64 / 524_288.0 - 1.0);
        }
        text.push_str(if source.bits(1) == 1 { "yes\n" } else { "no\n" });
    }
    read::csv_bytes(text.as_bytes(), &pairs::schema(columns, "l2", true).unwrap()).unwrap()
}

#[test]
fn a_model_that_knows_its_rows_is_found_out() {
    let (members, others) = (coins(60, 40, 1), coins(500, 40, 2));
    let request = Request {
        schema: pairs::schema(40, "l2", true).unwrap(),
        rows: 60,
        budget: None,
        neighbours: Neighbours::ReplaceOne,
        calibration: Calibration::Sound,
        noise: vec![],
        among: None,
        prior_fits: vec![],
        task: Erm { loss: Loss::Logistic, method: "non-private".parse().unwrap() },
    };
    let release = plan(&request)
        .unwrap()
        .run(&members, &mut FixedSeed::new(1), &AtomicBool::new(false))
        .unwrap();
    let model = Model::from_release(release).unwrap();
    let finding = audit(&model, &members, Some(&others), 1).unwrap();
    assert!(finding.auc > 0.65, "{finding:?}");
    // Rows of neither table have the same law.
    let blind = audit(&model, &coins(400, 40, 3), Some(&others), 1).unwrap();
    assert!((blind.auc - 0.5).abs() < 0.1 && blind.tpr_at_fpr_0_001 < 0.05, "{blind:?}");
    let stand_ins = audit(&model, &members, None, 1).unwrap();
    assert_eq!(stand_ins.non_members, 60);
    assert!(audit(&model, &members.select(&[]), None, 1).is_err());
}
