//! Candidates for tuning: grids of settings, from words or from a file.
//!
//! ```toml
//! [[candidates]]
//! method = "gd"
//! steps = [10, 40]          # a list makes a candidate of each
//! ridge = [1, 30]           # and lists multiply: four here
//!
//! [[candidates]]
//! method = "amp"
//! ```

use crate::LearnError;
use crate::linear::learners::Method;

/// Upper bound on the number of candidates.
pub const MOST_CANDIDATES: usize = 64;

/// Every combination of these values of a method's settings.
pub fn grid(
    method: &Method,
    settings: &[(String, Vec<String>)],
) -> Result<Vec<Method>, LearnError> {
    let mut all = vec![method.clone()];
    for (name, values) in settings {
        if values.is_empty() {
            return Err(invalid(format!("'{}' has no value", privet_core::printable(name))));
        }
        let mut next = Vec::new();
        for (method, value) in all.iter().flat_map(|one| values.iter().map(move |v| (one, v))) {
            next.push(method.with(name, value)?);
            if next.len() > MOST_CANDIDATES {
                return Err(too_many());
            }
        }
        all = next;
    }
    Ok(all)
}

/// The candidates of a file.
pub fn candidates_of_toml(text: &str) -> Result<Vec<Method>, LearnError> {
    let broken = |why: String| invalid(format!("are not TOML of [[candidates]]: {why}"));
    let mut table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| broken(one_line(&error.to_string())))?;
    let listed = match table.remove("candidates") {
        Some(toml::Value::Array(listed)) if table.is_empty() => listed,
        _ => return Err(broken("accepted are tables [[candidates]] and nothing else".into())),
    };
    let mut all = Vec::new();
    for one in listed {
        let toml::Value::Table(mut one) = one else {
            return Err(broken("a candidate is a table".into()));
        };
        let Some(toml::Value::String(method)) = one.remove("method") else {
            return Err(broken("a candidate names its method: method = \"gd\"".into()));
        };
        let settings = one
            .into_iter()
            .map(|(name, value)| Ok((name, values(value).map_err(broken)?)))
            .collect::<Result<Vec<_>, LearnError>>()?;
        all.extend(grid(&method.parse()?, &settings)?);
        if all.len() > MOST_CANDIDATES {
            return Err(too_many());
        }
    }
    Ok(all)
}

/// A value, or each value of a list, as a word.
fn values(value: toml::Value) -> Result<Vec<String>, String> {
    let one = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(truth) => Ok(truth.to_string()),
        _ => Err("a setting is a word, a number or a list of them".to_string()),
    };
    match &value {
        toml::Value::Array(list) => list.iter().map(one).collect(),
        value => one(value).map(|value| vec![value]),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Refuses lists of candidates that cannot be tuned over.
pub(super) fn check(candidates: &[Method]) -> Result<(), LearnError> {
    if candidates.is_empty() {
        return Err(invalid("are missing: give at least one method, better several".into()));
    }
    if candidates.len() > MOST_CANDIDATES {
        return Err(too_many());
    }
    for method in candidates {
        match method {
            Method::NonPrivate(_) => return Err(not_private(method)),
            Method::DpslKt(_) => {
                return Err(invalid(format!("cannot be of method {method}: it needs public rows")));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn not_private(method: &Method) -> LearnError {
    invalid(format!("cannot be of method {method}: it adds no noise"))
}

fn too_many() -> LearnError {
    invalid(format!("are more than {MOST_CANDIDATES}: give fewer values"))
}

fn invalid(what: String) -> LearnError {
    LearnError::InvalidRequest { name: "candidates", what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_multiply() {
        let text = "[[candidates]]\nmethod = \"gd\"\nsteps = [10, 40]\nridge = [1, 30.5]\n\
                    [[candidates]]\nmethod = \"amp\"\n";
        let found = candidates_of_toml(text).unwrap();
        assert_eq!(found.len(), 5);
        let gd: Method = "gd".parse().unwrap();
        assert_eq!(found[1], gd.with("ridge", "1").unwrap().with("steps", "40").unwrap());
        check(&found).unwrap();
    }

    #[test]
    fn what_is_no_candidate_is_refused_in_words() {
        for (text, word) in [
            ("nonsense", "TOML"),
            ("[candidates]\n", "[[candidates]]"),
            ("[[candidates]]\nsteps = 3\n", "names its method"),
            ("[[candidates]]\nmethod = \"gdd\"\n", "gdd"),
            ("[[candidates]]\nmethod = \"gd\"\nstep = 3\n", "step"),
            ("[[candidates]]\nmethod = \"gd\"\nsteps = []\n", "no value"),
            ("[[candidates]]\nmethod = \"gd\"\nsteps = [[1]]\n", "a setting is"),
            ("x = 1\n[[candidates]]\nmethod = \"gd\"\n", "nothing else"),
        ] {
            let refused = candidates_of_toml(text).unwrap_err().to_string();
            assert!(refused.contains(word), "{text}: {refused}");
        }
        let gd: Method = "gd".parse().unwrap();
        let plain: Method = "non-private".parse().unwrap();
        for bad in [vec![], vec![plain], vec![gd.clone(); MOST_CANDIDATES + 1]] {
            assert!(check(&bad).is_err());
        }
        let many: Vec<String> = (1..100).map(|steps| steps.to_string()).collect();
        assert!(grid(&gd, &[("steps".into(), many)]).is_err());
    }
}
