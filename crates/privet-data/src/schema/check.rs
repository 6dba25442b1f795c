//! From a draft to a schema: every key's limits, in one place.

use super::columns::{check_columns, expand_columns};
use super::labels::check_labels;
use super::{basis, fourier::check_fourier, pairs::check_pairs, *};
use privet_core::{Range, UNIT_CAP};
use std::collections::HashSet;

/// Limits on the clipping radius.
pub const RADIUS: Range = Range::from("radius", 1e-6, 1e6);
/// Limits on the number of hashed columns.
pub const HASH_BUCKETS: Range = Range::from("hash_buckets", 1.0, 1_048_577.0);
/// Limits on a sparse file's number of features: with a constant column, no more than a schema may
/// declare.
pub const FEATURES: Range = Range::from("features", 1.0, LARGEST_WIDTH as f64);
/// Limits on the constant column's value.
const BIAS: Range = Range::open("bias", 0.0, 1e6);
/// The largest magnitude of a bound: the difference of two must not overflow.
const LARGEST_BOUND: f64 = 1e150;
/// The largest number of encoded columns of a schema.
const LARGEST_WIDTH: u64 = 1 << 25;

pub(super) type Checked<T> = Result<T, SchemaError>;

pub(super) fn refuse<T>(
    key: impl Into<String>,
    problem: impl Into<String>,
    accepted: impl Into<String>,
) -> Checked<T> {
    Err(SchemaError::Invalid {
        key: key.into(),
        problem: problem.into(),
        accepted: accepted.into(),
    })
}

pub(super) fn in_range(key: impl Into<String>, range: Range, value: f64) -> Checked<f64> {
    let key = key.into();
    range.check(value).or_else(|_| refuse(key, format!("{value}"), range.to_string()))
}

impl Draft {
    /// Checks every key.
    pub fn check(mut self) -> Checked<Schema> {
        self.columns = expand_columns(self.columns)?;
        let file = check_file(self.file)?;
        let clip = ClipFacts {
            norm: self.clip.norm,
            radius: in_range("clip.radius", RADIUS, self.clip.radius)?,
            rows: self.clip.rows.unwrap_or_default(),
        };
        if clip.rows == Rows::Fill && clip.norm != Norm::L2 {
            return refuse("clip.rows", "\"fill\" with another norm than l2", "norm = \"l2\"");
        }
        let open_bias = match &self.bias {
            Some(BiasDraft::Word(word)) if word == "auto" => true,
            Some(BiasDraft::Word(word)) => {
                let accepted = "true, false, a number or \"auto\"";
                return refuse("bias", format!("{word:?}"), accepted);
            }
            _ => false,
        };
        let bias = match self.bias {
            None | Some(BiasDraft::Switch(false) | BiasDraft::Word(_)) => None,
            Some(BiasDraft::Switch(true)) => Some(1.0),
            Some(BiasDraft::Value(value)) => Some(in_range("bias", BIAS, value)?),
        };
        let sparse = file.format == Format::Libsvm;
        let target = check_target(self.target, &file)?;
        let unit = self.unit.map(check_unit).transpose()?;
        let libsvm = check_libsvm(self.libsvm, sparse)?;
        if sparse && unit.is_some() {
            return refuse("unit", "a LIBSVM file has no column for it", "no [unit]");
        }
        if sparse && !self.columns.is_empty() {
            return refuse("columns", "a LIBSVM file has none", "only [libsvm]");
        }
        let invalid = self.invalid.unwrap_or_default();
        if sparse && invalid == Invalid::StandIn {
            let problem = "a LIBSVM file has no columns that could declare one";
            return refuse("invalid", problem, "\"refuse\" or \"drop\"");
        }
        let mut columns = check_columns(self.columns, &file, &target, unit.as_ref(), invalid)?;
        // Bases are open only where rows are clipped in the Euclidean norm and are not images.
        let closed = clip.norm != Norm::L2 || self.image.is_some();
        if closed {
            basis::close(&mut columns);
        }
        let open_bias = open_bias && !closed;
        let pairs = check_pairs(self.pairs, &columns)?;
        let fourier = self.fourier.map(|draft| check_fourier(draft, &columns)).transpose()?;
        let image =
            self.image.map(|image| image.check(&columns, libsvm, clip, bias)).transpose()?;
        if image.is_some() && (!pairs.is_empty() || fourier.is_some()) {
            return refuse("image", "beside pairs or waves", "an image alone");
        }
        let width = columns.iter().map(|column| column.kind.width()).sum::<u64>()
            + pairs.iter().map(|pair| pair.width(&columns)).sum::<u64>()
            + fourier.map_or(0, |facts| u64::from(facts.count))
            + u64::from(bias.is_some())
            + libsvm.map_or(0, |facts| u64::from(facts.features));
        if width == 0 {
            let accepted = "at least one number, category or binary, or a bias";
            return refuse("columns", "no feature", accepted);
        }
        if width > LARGEST_WIDTH {
            let accepted = format!("at most {LARGEST_WIDTH}");
            return refuse("columns", format!("{width} encoded columns"), accepted);
        }
        let storage = self.storage;
        let other_columns = self.other_columns.unwrap_or_default();
        let origin = self.origin.map(Origin::check).transpose()?;
        Ok(Schema {
            file,
            clip,
            bias,
            open_bias,
            invalid,
            other_columns,
            origin,
            storage,
            target,
            unit,
            columns,
            pairs,
            fourier,
            libsvm,
            image,
        })
    }
}

impl ColumnKind {
    /// The number of encoded columns it takes.
    pub(crate) fn width(&self) -> u64 {
        let indicator = |own: bool| u64::from(own);
        match self {
            Self::Number { basis, missing, .. } => {
                let own = match basis {
                    Basis::Hats(hats) => hats.width(),
                    Basis::Linear | Basis::Auto => 1,
                };
                own + indicator(*missing == Missing::Category)
            }
            Self::Binary { missing, .. } => 1 + indicator(*missing == Missing::Category),
            Self::Category { categories, unknown, missing } => {
                let listed = match categories {
                    Categories::Listed(list) => list.len() as u64,
                    Categories::Hashed(buckets) => u64::from(*buckets),
                };
                listed
                    + indicator(*unknown == Unknown::Other)
                    + indicator(*missing == Missing::Category)
            }
            Self::Ignore | Self::Target | Self::Unit => 0,
        }
    }
}

pub(super) fn check_file(draft: FileDraft) -> Checked<FileFacts> {
    let one_byte = |key: &str, text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Ok(*byte),
        _ => refuse(key, format!("{text:?}"), "one ASCII character that does not end a line"),
    };
    let format = draft.format.unwrap_or(Format::Csv);
    let separator = draft.separator.map_or(Ok(b','), |text| one_byte("file.separator", &text))?;
    let quote = match draft.quote.as_deref() {
        None => Some(b'"'),
        Some("") => None,
        Some(text) => Some(one_byte("file.quote", text)?),
    };
    if quote == Some(separator) {
        return refuse("file.quote", "the same as file.separator", "two different characters");
    }
    let trim = draft.trim.unwrap_or(true);
    for text in &draft.missing_values {
        if trim && text.trim_ascii().len() != text.len() {
            let accepted = "texts without blanks around them, or file.trim = false";
            return refuse("file.missing_values", format!("{text:?}"), accepted);
        }
    }
    let header = draft.header.unwrap_or(true);
    Ok(FileFacts { format, separator, quote, header, trim, missing_values: draft.missing_values })
}

pub(super) fn check_bounds(key: &str, bounds: [f64; 2]) -> Checked<(f64, f64)> {
    let [low, high] = bounds;
    let tame = |bound: f64| bound.abs() <= LARGEST_BOUND;
    if tame(low) && tame(high) && low < high {
        Ok((low, high))
    } else {
        refuse(
            format!("{key}.bounds"),
            format!("[{low}, {high}]"),
            format!("[low, high] with low < high, both within ±{LARGEST_BOUND:e}"),
        )
    }
}

/// Checks a list of at least `least` different texts that a cell can hold.
pub(super) fn check_texts(
    key: &str,
    texts: &[String],
    least: usize,
    file: &FileFacts,
) -> Checked<()> {
    if texts.len() < least {
        return refuse(key, format!("{} entries", texts.len()), format!("at least {least}"));
    }
    let mut seen = HashSet::new();
    for text in texts {
        if !seen.insert(text.as_str()) {
            return refuse(key, format!("{text:?} twice"), "each text once");
        }
        if file.format == Format::Csv && file.trim && text.trim_ascii().len() != text.len() {
            let accepted = "texts without blanks around them, or file.trim = false";
            return refuse(key, format!("{text:?} can never be met"), accepted);
        }
        if file.missing_values.contains(text) {
            let accepted = "texts that are not in file.missing_values";
            return refuse(key, format!("{text:?} counts as missing"), accepted);
        }
    }
    Ok(())
}

pub(super) fn check_target(draft: TargetDraft, file: &FileFacts) -> Checked<TargetFacts> {
    let sparse = file.format == Format::Libsvm;
    let column = match (draft.column, sparse) {
        (Some(name), false) if !name.is_empty() => name,
        (None, true) => String::new(),
        (Some(_), true) => {
            return refuse("target.column", "LIBSVM labels have no name", "no such key");
        }
        (_, false) => return refuse("target.column", "missing or empty", "a column's name"),
    };
    let kind = match (draft.classes, draft.bounds) {
        (Some(classes), None) => {
            check_texts("target.classes", &classes, 2, file)?;
            TargetKind::Classes(classes)
        }
        (None, Some(bounds)) => {
            let (low, high) = check_bounds("target", bounds)?;
            TargetKind::Number { low, high }
        }
        _ => {
            let accepted = "`classes` (labels in order) or `bounds` (of a number)";
            return refuse("target", "both or neither of classes and bounds", accepted);
        }
    };
    let weights = draft.weights.map(|weights| check_weights(weights, &kind)).transpose()?;
    let weights = weights.filter(|weights| weights.iter().any(|weight| *weight != 1.0));
    let labels = check_labels(draft.labels, draft.others, &kind, file)?;
    Ok(TargetFacts { column, kind, weights, labels })
}

/// Checks class weights and scales them so that the largest is 1: no record then weighs more than
/// without weights.
fn check_weights(weights: Vec<f64>, kind: &TargetKind) -> Checked<Vec<f64>> {
    let accepted = "a number from 1e-3 to 1e3 for each class, in the order of classes";
    let TargetKind::Classes(classes) = kind else {
        return refuse("target.weights", "the target is a number", "no such key");
    };
    if weights.len() != classes.len() {
        return refuse("target.weights", "not one for each class", accepted);
    }
    if !weights.iter().all(|weight| CLASS_WEIGHTS.contains(weight)) {
        return refuse("target.weights", "out of range", accepted);
    }
    let largest = weights.iter().fold(0.0, |a: f64, b| a.max(*b));
    Ok(weights.iter().map(|weight| weight / largest).collect())
}

/// The range of a class weight.
const CLASS_WEIGHTS: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

pub(super) fn check_unit(draft: UnitDraft) -> Checked<UnitFacts> {
    in_range("unit.max_records", UNIT_CAP, f64::from(draft.max_records))?;
    if draft.column.is_empty() {
        return refuse("unit.column", "empty", "a column's name");
    }
    let UnitDraft { column, max_records, spelling } = draft;
    Ok(UnitFacts { column, max_records, spelling })
}

fn check_libsvm(draft: Option<LibsvmDraft>, sparse: bool) -> Checked<Option<LibsvmFacts>> {
    match (draft, sparse) {
        (None, false) => Ok(None),
        (None, true) => refuse("libsvm", "missing", "[libsvm] with `features = N`"),
        (Some(_), false) => {
            refuse("libsvm", "the format is another", "file.format = \"libsvm\", or no [libsvm]")
        }
        (Some(draft), true) => {
            in_range("libsvm.features", FEATURES, f64::from(draft.features))?;
            let bounds = draft.bounds.map(|b| check_bounds("libsvm", b)).transpose()?;
            if bounds.is_some_and(|(low, high)| low > 0.0 || high < 0.0) {
                let accepted = "bounds that contain 0, the value of what is not written";
                return refuse("libsvm.bounds", "0 is outside", accepted);
            }
            Ok(Some(LibsvmFacts { features: draft.features, bounds }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        bias = true
        [file]
        missing_values = ["?"]
        [clip]
        norm = "l2"
        radius = 1.0
        [target]
        column = "income"
        classes = ["low", "high"]
        [unit]
        column = "person"
        max_records = 3
        [[columns]]
        name = "age"
        type = "number"
        bounds = [0, 120]
        missing = 38.5
        [[columns]]
        name = "work"
        type = "category"
        categories = ["private", "public"]
        unknown = { as = "public" }
        missing = "category"
        [[columns]]
        name = "town"
        type = "category"
        hash_buckets = 8
        [[columns]]
        name = "smokes"
        type = "binary"
        values = ["no", "yes"]
    "#;

    #[test]
    fn a_schema_survives_toml_and_json_exactly() {
        let schema = Schema::from_toml(GOOD).unwrap();
        assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        assert_eq!(schema.unit(), Unit::User { max_records: 3 });
    }

    #[test]
    fn weights_are_on_a_scale_where_the_largest_is_one() {
        let with = |weights: &str| {
            let line = format!("column = \"income\"\nweights = {weights}");
            let schema =
                Schema::from_toml(&GOOD.replacen("column = \"income\"", &line, 1)).unwrap();
            assert_eq!(Schema::from_toml(&schema.to_toml()).unwrap(), schema);
            schema.class_weights().map(<[f64]>::to_vec)
        };
        assert_eq!(with("[1, 4]"), Some(vec![0.25, 1.0]));
        assert_eq!(with("[7.0, 7.0]"), None, "equal weights are none");
    }

    /// Each edit breaks one key; the message must name the key and the accepted values.
    #[test]
    fn every_broken_key_is_named_with_what_is_accepted() {
        let broken: &[(&str, &str, &[&str])] = &[
            ("radius = 1.0", "radius = 0.0", &["clip.radius", "accepted"]),
            ("radius = 1.0", "radius = nan", &["clip.radius"]),
            ("radius = 1.0", "radius = 1.0\ncolour = 3", &["colour", "norm"]),
            ("norm = \"l2\"", "norm = \"l7\"", &["l7", "linf"]),
            ("bias = true", "bias = -1.0", &["bias", "above 0"]),
            ("bias = true", "bias = \"x\"", &["bias", "true, false, a number"]),
            ("bounds = [0, 120]", "bounds = [5, 5]", &["age", "low < high"]),
            ("bounds = [0, 120]", "bounds = [0, inf]", &["age", "low < high"]),
            ("bounds = [0, 120]", "bounds = [nan, 1]", &["age", "low < high"]),
            ("bounds = [0, 120]", "", &["age", "bounds", "[low, high]"]),
            ("missing = 38.5", "missing = 121.0", &["age", "missing", "[0, 120]"]),
            ("missing = 38.5", "missing = \"maybe\"", &["age", "missing", "category"]),
            ("missing = 38.5", "categories = [\"a\"]", &["age", "categories", "bounds"]),
            ("[\"private\", \"public\"]", "[]", &["work", "categories", "at least 1"]),
            ("[\"private\", \"public\"]", "[\"public\", \"public\"]", &["work", "twice"]),
            ("{ as = \"public\" }", "{ as = \"x\" }", &["work", "unknown", "LISTED"]),
            ("{ as = \"public\" }", "\"perhaps\"", &["work", "unknown", "other"]),
            ("hash_buckets = 8", "hash_buckets = 0", &["town", "hash_buckets", "from 1"]),
            ("hash_buckets = 8", "", &["town", "categories", "hash_buckets"]),
            ("name = \"town\"", "name = \"age\"", &["age", "twice"]),
            ("name = \"town\"", "name = \"income\"", &["income", "target"]),
            ("name = \"town\"", "name = \"\"", &["name"]),
            ("[\"low\", \"high\"]", "[\"low\"]", &["target.classes", "at least 2"]),
            ("[\"low\", \"high\"]", "[\"low\", \"low\"]", &["target.classes", "twice"]),
            ("column = \"income\"", "", &["target.column"]),
            ("column = \"income\"", "column = \"income\"\nweights = [1]", &["target.weights"]),
            ("column = \"income\"", "column = \"income\"\nweights = [1, 0]", &["each class"]),
            ("max_records = 3", "max_records = 0", &["unit.max_records", "from 1"]),
            ("column = \"person\"", "column = \"income\"", &["unit.column"]),
            ("missing_values = [\"?\"]", "", &["missing", "missing_values"]),
            ("missing_values = [\"?\"]", "separator = \"ab\"", &["separator", "one ASCII"]),
            ("missing_values = [\"?\"]", "quote = \",\"", &["file.quote"]),
            ("missing_values = [\"?\"]", "header = false\nmissing_values = [\"?\"]", &["target"]),
            ("missing_values = [\"?\"]", "format = \"libsvm\"", &["target.column"]),
            ("[\"private\", \"public\"]", "[\"public\", \" x\"]", &["work", "never be met"]),
            ("[\"private\", \"public\"]", "[\"public\", \"?\"]", &["work", "counts as missing"]),
            ("type = \"binary\"", "type = \"bool\"", &["bool", "binary"]),
            ("bias = true", "invalid = \"skip\"", &["skip", "stand-in"]),
            ("bias = true", "invalid = \"stand-in\"", &["invalid", "no column declares"]),
            ("missing = 38.5", "invalid = 38.5", &["age", "invalid", "stand-in"]),
            ("missing = 38.5", "basis = \"bent\"", &["age", "basis", "hats"]),
            ("missing = 38.5", "basis = { hats = 1 }", &["age", "hats", "from 2"]),
            ("missing = 38.5", "basis = { cyclic = true }", &["age", "neither hats nor knots"]),
            ("missing = 38.5", "basis = { knots = [0, 200] }", &["age", "knots", "0 to 120"]),
            ("missing = 38.5", "basis = { knots = [9, 3] }", &["age", "knots", "rising"]),
            ("missing = 38.5", "basis = { hats = 3, knots = [0, 9] }", &["age", "hats = 2"]),
            ("missing = 38.5", "basis = { hats = 2, cyclic = true }", &["age", "from 3"]),
            ("missing = 38.5", "basis = { hats = 4, weight = 0 }", &["age", "weight", "above 0"]),
            ("bounds = [0, 120]", "basis = { hats = 4 }", &["age", "bounds", "hats"]),
            (
                "bounds = [0, 120]\n        missing = 38.5",
                "bounds = [-1, 9]\n        basis = { hats = 4, knots = \"log\" }",
                &["age", "log", "below 0"],
            ),
            (
                "bounds = [0, 120]\n        missing = 38.5",
                "bounds = [1e9, 1000000000.1]\n        basis = { hats = 900 }",
                &["age", "900 knots are more than the bounds allow"],
            ),
            ("categories = [\"private\", \"public\"]", "basis = \"linear\"", &["work", "basis"]),
            ("[target]", "[[pairs]]\ncolumns = [\"age\", \"x\"]\n[target]", &["pairs[0]", "\"x\""]),
            (
                "[target]",
                "[[pairs]]\ncolumns = [\"age\", \"age\"]\n[target]",
                &["pairs[0]", "twice"],
            ),
            (
                "[target]",
                "[[pairs]]\ncolumns = [\"work\", \"age\"]\nhats = 3\n[target]",
                &["pairs[0].hats", "slope"],
            ),
            ("[target]", "[fourier]\ncount = 0\nwidth = 1\n[target]", &["fourier.count", "from 1"]),
            (
                "[target]",
                "[fourier]\ncount = 9\nwidth = 0\n[target]",
                &["fourier.width", "above 0"],
            ),
            ("radius = 1.0", "radius = 1.0\nrows = \"stretch\"", &["stretch", "fill"]),
            ("norm = \"l2\"", "norm = \"linf\"\nrows = \"fill\"", &["clip.rows", "l2"]),
        ];
        for (from, to, words) in broken {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from} is not in the schema");
            let message = Schema::from_toml(&text).unwrap_err().to_string();
            for word in *words {
                assert!(message.contains(word), "{from} → {to}: {message}");
            }
        }
    }

    #[test]
    fn a_file_cannot_smuggle_a_schema_past_the_check() {
        let json = serde_json::to_string(&Schema::from_toml(GOOD).unwrap()).unwrap();
        let bad = json.replacen("\"radius\":1.0", "\"radius\":-1.0", 1);
        assert_ne!(bad, json);
        assert!(serde_json::from_str::<Schema>(&bad).is_err());
    }
}
