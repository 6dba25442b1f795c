//! A synthetic census table for the demonstration. All people in it are invented.
//!
//! Each person gets an age, schooling, a field of work that depends on the schooling, weekly hours, a
//! household and a region; the income class then follows a logistic law in those. The rows are the same
//! every time.

use privet_dp::noise::{FixedSeed, Source};
use std::fmt::Write;

/// The public schema that goes with the table.
pub const SCHEMA: &str = r#"# What may be known about the table without looking at it. Bounds and categories come from
# the (invented) questionnaire, not from the records.

bias = true                      # an intercept

[file]
missing_values = ["?"]           # this cell means: not answered

[clip]                           # every encoded record is scaled down to this length;
norm = "l2"                      # the noise is proportional to it
radius = 1.0

[target]
column = "income"
classes = ["low", "high"]        # the second is what positive weights speak for

[[columns]]
name = "age"
type = "number"
bounds = [17, 90]                # values outside are moved to the nearest bound

[[columns]]
name = "education"
type = "category"
categories = ["none", "school", "apprenticeship", "bachelor", "master", "doctorate"]

[[columns]]
name = "work"
type = "category"
categories = ["farm", "craft", "service", "sales", "office", "health", "teaching", "engineering", "management"]
unknown = "other"                # a category of its own for whatever is not listed
missing = "category"             # and one for those who did not answer

[[columns]]
name = "hours"
type = "number"
bounds = [0, 80]

[[columns]]
name = "household"
type = "category"
categories = ["single", "couple", "family", "shared"]

[[columns]]
name = "region"
type = "category"
categories = ["north", "east", "south", "west", "capital"]

[[columns]]
name = "owns_home"
type = "binary"
values = ["no", "yes"]
"#;

const EDUCATION: [(&str, f64); 6] = [
    ("none", 0.10),
    ("school", 0.28),
    ("apprenticeship", 0.27),
    ("bachelor", 0.21),
    ("master", 0.11),
    ("doctorate", 0.03),
];

/// Field, its weight at the lowest and at the highest schooling, its effect on income.
const WORK: [(&str, f64, f64, f64); 9] = [
    ("farm", 8.0, 1.0, -1.1),
    ("craft", 22.0, 3.0, -0.2),
    ("service", 25.0, 5.0, -0.9),
    ("sales", 17.0, 9.0, -0.1),
    ("office", 16.0, 20.0, 0.0),
    ("health", 7.0, 16.0, 0.2),
    ("teaching", 1.0, 17.0, 0.1),
    ("engineering", 2.0, 17.0, 1.2),
    ("management", 2.0, 12.0, 1.7),
];

const HOUSEHOLD: [(&str, f64, f64); 4] =
    [("single", 0.32, -0.5), ("couple", 0.30, 0.5), ("family", 0.27, 0.8), ("shared", 0.11, -0.9)];

const REGION: [(&str, f64, f64); 5] = [
    ("north", 0.18, -0.2),
    ("east", 0.17, -0.7),
    ("south", 0.25, 0.2),
    ("west", 0.22, 0.1),
    ("capital", 0.18, 0.7),
];

/// A CSV table of `rows` people; another `seed` gives other people.
pub fn table(rows: usize, seed: u64) -> String {
    let mut dice = Dice(FixedSeed::new(seed));
    let mut text = String::from("age,education,work,hours,household,region,owns_home,income\n");
    for _ in 0..rows {
        person(&mut dice, &mut text);
    }
    text
}

fn person(dice: &mut Dice, text: &mut String) {
    let age = 17 + (73.0 * dice.share() * dice.share().max(dice.share())) as u32;
    let level = dice.pick(EDUCATION.iter().map(|(_, weight)| *weight));
    let long = level as f64 / 5.0;
    let field =
        dice.pick(WORK.iter().map(|(_, short, tall, _)| short * (1.0 - long) + tall * long));
    let centre = if age > 66 { 8.0 } else { 37.0 };
    let hours = (centre + 9.0 * dice.bell()).clamp(0.0, 80.0).round();
    let home = dice.pick(HOUSEHOLD.iter().map(|(_, weight, _)| *weight));
    let region = dice.pick(REGION.iter().map(|(_, weight, _)| *weight));

    let years = f64::from(age) - 48.0;
    let mut score = -0.9 + 0.75 * (level as f64 - 1.5) + 0.075 * (hours - 37.0);
    score += 0.03 * years - 0.0018 * years * years + WORK[field].3;
    score += HOUSEHOLD[home].2 + REGION[region].2;
    let rich = dice.share() < 1.0 / (1.0 + (-1.7 * score).exp());
    let owns = dice.share() < if rich { 0.7 } else { 0.35 };

    let work = match dice.share() {
        share if share < 0.02 => "?",
        share if share < 0.05 => "fishing",
        _ => WORK[field].0,
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "{age},{},{work},{hours},{},{},{},{}",
        EDUCATION[level].0,
        HOUSEHOLD[home].0,
        REGION[region].0,
        if owns { "yes" } else { "no" },
        if rich { "high" } else { "low" },
    );
}

struct Dice(FixedSeed);

impl Dice {
    /// Uniform on [0, 1).
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Approximately normal: the sum of twelve uniforms.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }

    /// An index drawn from a list of weights.
    fn pick(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let mut left = self.share() * weights.clone().sum::<f64>();
        let mut last = 0;
        for (place, weight) in weights.enumerate() {
            last = place;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use privet_data::{Schema, Target, read::csv_bytes};

    #[test]
    fn the_table_fits_its_schema_and_both_classes_are_there() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let data = csv_bytes(table(4000, 1).as_bytes(), &schema).unwrap();
        let Target::Class { codes, .. } = &data.target else { panic!("classes") };
        let high = codes.iter().filter(|code| **code == 1).count();
        assert!((800..1800).contains(&high), "{high} of 4000");
        let unlisted: Vec<&str> = data.report.unknown.iter().map(|u| u.column.as_str()).collect();
        assert_eq!(unlisted, ["work"]);
    }

    #[test]
    fn the_same_seed_gives_the_same_people() {
        assert_eq!(table(50, 7), table(50, 7));
        assert_ne!(table(50, 7), table(50, 8));
    }
}
