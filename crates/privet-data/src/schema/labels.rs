//! Labels that count as one class: `"<30"` against the rest.
//!
//! ```toml
//! [target]
//! column = "readmitted"
//! classes = ["late or never", "within 30 days"]
//! labels = { "within 30 days" = ["<30"] }     # what the file writes for a class, beside its own name
//! others = "late or never"                    # every other label; without it, one is refused
//! ```
//!
//! A label's class depends on the label and the schema alone.

use super::check::{Checked, check_texts, refuse};
use super::*;
use std::collections::BTreeMap;

/// Further labels of a file with their classes, beside the names of the classes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Labels {
    /// Further labels, each with the code of its class.
    pub of: Vec<(String, u32)>,
    /// The class of every label that is not listed.
    pub others: Option<u32>,
}

impl Labels {
    /// Returns the keys `labels` and `others` as a schema writes them.
    pub(super) fn draft(
        &self,
        classes: &[String],
    ) -> (Option<BTreeMap<String, Vec<String>>>, Option<String>) {
        let name = |code: &u32| classes.get(*code as usize).cloned().unwrap_or_default();
        let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (label, code) in &self.of {
            labels.entry(name(code)).or_default().push(label.clone());
        }
        (Some(labels).filter(|labels| !labels.is_empty()), self.others.as_ref().map(name))
    }
}

pub(super) fn check_labels(
    labels: Option<BTreeMap<String, Vec<String>>>,
    others: Option<String>,
    kind: &TargetKind,
    file: &FileFacts,
) -> Checked<Labels> {
    let given = labels.is_some() || others.is_some();
    let TargetKind::Classes(classes) = kind else {
        return match given {
            true => refuse("target.labels", "the target is a number", "no such key"),
            false => Ok(Labels::default()),
        };
    };
    let place = |key: &str, class: &str| match classes.iter().position(|known| known == class) {
        Some(place) => Ok(place as u32),
        None => {
            refuse(key, format!("{class:?} is no class"), format!("one of {}", classes.join(", ")))
        }
    };
    let mut of = Vec::new();
    let mut seen = classes.clone();
    for (class, texts) in labels.unwrap_or_default() {
        let code = place("target.labels", &class)?;
        // Labels of a class are sorted below, so that their order in the file does not matter.
        for text in texts.into_iter().filter(|text| *text != class) {
            seen.push(text.clone());
            of.push((text, code));
        }
    }
    check_texts("target.labels", &seen, 2, file)?;
    of.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    let others = others.map(|class| place("target.others", &class)).transpose()?;
    Ok(Labels { of, others })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    const SCHEMA: &str = "[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"again\"\n\
        classes = [\"late\", \"soon\"]\nlabels = { soon = [\"<30\"] }\nothers = \"late\"\n\
        [[columns]]\nname = \"age\"\ntype = \"number\"\nbounds = [0, 100]\n";

    #[test]
    fn one_label_stands_against_the_rest() {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
        let table = b"age,again\n50,<30\n60,>30\n70,NO\n80,soon\n";
        let read = crate::read::csv_bytes(table, &schema).unwrap();
        let Target::Class { codes, .. } = read.target else { panic!("classes") };
        assert_eq!(codes, [1, 0, 0, 1]);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        for (from, to, word) in [
            ("soon = [", "never = [", "no class"),
            ("others = \"late\"", "others = \"never\"", "target.others"),
            ("[\"<30\"]", "[\"<30\", \"<30\"]", "twice"),
            ("[\"<30\"]", "[\"late\"]", "twice"),
            ("classes = [\"late\", \"soon\"]", "bounds = [0, 1]", "a number"),
        ] {
            let refused = Schema::from_toml(&SCHEMA.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(refused.contains(word), "{to}: {refused}");
        }
        let strict = Schema::from_toml(&SCHEMA.replace("others = \"late\"\n", "")).unwrap();
        assert!(crate::read::csv_bytes(b"age,again\n60,>30\n", &strict).is_err());
    }
}
