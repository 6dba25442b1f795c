//! From a file of records to a model with its certificate, and from the model to answers.
//!
//! `cargo run -p privet --example visits`

use privet::{Budget, Model, Schema};
use std::error::Error;

const SCHEMA: &str = r#"
[clip]
norm = "l2"
radius = 1.0
[target]
column = "readmitted"
classes = ["no", "yes"]
[[columns]]
name = "age"
type = "number"
bounds = [18, 100]
[[columns]]
name = "ward"
type = "category"
categories = ["surgery", "medicine", "ear"]
"#;

/// Runs it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("privet-visits-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (table, file) = (folder.join("visits.csv"), folder.join("model.json"));
    std::fs::write(&table, invented(5000))?;

    let schema = Schema::from_toml(SCHEMA)?;
    let model = privet::train(&table, &schema, Budget::new(1.0, 1e-8)?)?;
    let _ = model.save(&file)?;

    let model = Model::load(&file)?;
    let verdict = privet::verify(&model);
    assert!(verdict.valid, "{:?}", verdict.checks);
    let labels = privet::predict(&model, &table)?;
    let yes = labels.iter().filter(|label| *label == "yes").count();
    println!("{yes} of {} visits are predicted to end in another", labels.len());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Invented visits: older people, and those after surgery, come back.
fn invented(rows: usize) -> String {
    let mut text = String::from("age,ward,readmitted\n");
    for row in 0..rows {
        let (age, ward) = (18 + row * 37 % 78, ["surgery", "medicine", "ear"][row * 7 % 3]);
        let risk = age + if ward == "surgery" { 25 } else { 0 } + row * 11 % 20;
        text += &format!("{age},{ward},{}\n", if risk > 80 { "yes" } else { "no" });
    }
    text
}
