//! All problems of a schema, in one pass.

use super::check::{check_file, check_target, check_unit};
use super::columns::check_alone;
use super::*;

impl Draft {
    /// Every problem that can be reported independently of the others; empty exactly if
    /// [`Draft::check`] accepts the draft. Checks across several keys run only once each key alone is
    /// valid.
    pub fn problems(&self) -> Vec<SchemaError> {
        let mut found = Vec::new();
        let file = check_file(self.file.clone()).map_err(|error| found.push(error)).ok();
        if let Some(file) = &file {
            found.extend(check_target(self.target.clone(), file).err());
            for (place, column) in self.columns.iter().enumerate() {
                found.extend(check_alone(place, column, file).err());
            }
        }
        found.extend(self.unit.clone().and_then(|unit| check_unit(unit).err()));
        if found.is_empty() {
            found.extend(self.clone().check().err());
        }
        found
    }
}

impl Schema {
    /// Every problem of a schema file's text.
    pub fn problems(text: &str) -> Vec<SchemaError> {
        match read_draft(text) {
            Ok(draft) => draft.of_file().problems(),
            Err(error) => vec![error],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SMALL_SCHEMA;

    #[test]
    fn every_problem_is_told_at_once() {
        assert!(Schema::problems(SMALL_SCHEMA).is_empty());
        let text = SMALL_SCHEMA
            .replace("bounds = [0, 120]", "bounds = [120, 0]")
            .replace("hash_buckets = 3", "hash_buckets = 0");
        let words: Vec<String> = Schema::problems(&text).iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), 2, "{words:?}");
        assert!(words[0].contains("age") && words[1].contains("town"), "{words:?}");
        let broken = Schema::problems("bias = true\ncolour = = 3\n");
        let words = broken[0].to_string();
        assert!(broken.len() == 1 && words.contains("line 2") && words.contains('\n'), "{words}");
    }
}
