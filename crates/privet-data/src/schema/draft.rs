//! A schema as written, before any check.

use super::*;
use serde::Deserializer;
use std::collections::BTreeMap;

/// A schema file's keys. Unknown keys are refused.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The constant column: `true` (value 1), `false`, or its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<BiasDraft>,
    /// Treatment of an invalid record; refused by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<Invalid>,
    /// Treatment of the file's columns that are not named here; refused by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_columns: Option<OtherColumns>,
    /// Dense or sparse rows; chosen from the columns by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// The layout of the file.
    #[serde(default)]
    pub file: FileDraft,
    /// The bound on each record. No default: it decides privacy.
    pub clip: ClipDraft,
    /// The target.
    pub target: TargetDraft,
    /// The privacy unit, where one user has several rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<UnitDraft>,
    /// A sparse file's features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libsvm: Option<LibsvmDraft>,
    /// The shape of the images, where rows are images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageDraft>,
    /// The public table or private release that a program filled this schema in from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnDraft>,
    /// Columns whose encodings are multiplied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairDraft>,
    /// Random Fourier features over all numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fourier: Option<FourierDraft>,
}

/// The key `bias`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "`bias` must be true, false, a number or \"auto\"")]
pub enum BiasDraft {
    /// On with value 1, or off.
    Switch(bool),
    /// On with this value.
    Value(f64),
    /// `"auto"`: left to the planner; none otherwise.
    Word(String),
}

/// The table `[file]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDraft {
    /// `"csv"`, `"libsvm"` or `"parquet"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// One ASCII character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<String>,
    /// One ASCII character, or empty for no quoting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// True if the first row names the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// True if blanks around a cell are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<bool>,
    /// Cells that count as missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_values: Vec<String>,
}

/// The table `[clip]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipDraft {
    /// `"l2"` or `"linf"`.
    pub norm: Norm,
    /// The largest norm.
    pub radius: f64,
    /// Treatment of rows of a smaller norm; left as they are unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
}

impl Default for ClipDraft {
    fn default() -> Self {
        Self { norm: Norm::L2, radius: 1.0, rows: None }
    }
}

/// The table `[target]`: `classes` or `bounds`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetDraft {
    /// The column; not for LIBSVM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Two or more labels in order.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "texts")]
    pub classes: Option<Vec<String>>,
    /// Further labels of the file for each class, beside the class's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, Vec<String>>>,
    /// The class of every other label; refused by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<String>,
    /// The weight of each class, in the same order; equal unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// A number's bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// The table `[unit]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitDraft {
    /// The column that names the user.
    pub column: String,
    /// The number of rows kept for each user.
    pub max_records: u32,
    /// The rule by which two cells name the same user; the same text unless given.
    #[serde(default, skip_serializing_if = "Spelling::is_text")]
    pub spelling: Spelling,
}

/// The table `[libsvm]`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibsvmDraft {
    /// The number of features.
    pub features: u32,
    /// Bounds that contain zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

/// The types of column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// A bounded number.
    Number,
    /// One of a list.
    Category,
    /// One of two.
    Binary,
    /// A date, split into parts.
    Date,
    /// Not filled in yet, as `privet schema new` leaves it.
    #[serde(rename = "")]
    Blank,
    /// Not read.
    #[default]
    Ignore,
    /// Marks the position of the target.
    Target,
    /// Marks the position of the unit's column.
    Unit,
}

/// One entry of `[[columns]]`. The keys allowed depend on the type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDraft {
    /// The column's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// In place of `name`: several columns declared alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// `number`: low and high.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// `number`: the range it is mapped to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// `number`: applied before scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Transform>,
    /// `number`: its expansion in a piecewise-linear basis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<BasisDraft>,
    /// `category`: the list; integers may be written as such.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "texts")]
    pub categories: Option<Vec<String>>,
    /// `category`: the number of hashed columns, in place of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_buckets: Option<u32>,
    /// `category`: the treatment of an unlisted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<UnknownDraft>,
    /// `binary`: the texts of 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "two_texts")]
    pub values: Option<[String; 2]>,
    /// The treatment of a missing cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingDraft>,
    /// The substitute for a bad cell, with `invalid = "stand-in"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<InvalidDraft>,
    /// `date`: the first and the last possible day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[String; 2]>,
    /// `date`: the parts to read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<DatePart>>,
    /// `date`: the order in which it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<DateOrder>,
    /// The date that this column is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<DateReading>,
}

/// A text, or an integer read as the text it prints as.
#[derive(Deserialize)]
#[serde(untagged, expecting = "texts in quotes, or whole numbers, are accepted")]
enum Text {
    Text(String),
    Whole(i64),
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        match text {
            Text::Text(text) => text,
            Text::Whole(number) => number.to_string(),
        }
    }
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let found: Option<Vec<Text>> = Option::deserialize(deserializer)?;
    Ok(found.map(|texts| texts.into_iter().map(String::from).collect()))
}

fn two_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[String; 2]>, D::Error> {
    let found: Option<[Text; 2]> = Option::deserialize(deserializer)?;
    Ok(found.map(|texts| texts.map(String::from)))
}

/// The table `{ as = "…" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// A listed category or value.
    #[serde(rename = "as")]
    pub category: String,
}

/// The key `unknown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`unknown` must be \"error\", \"other\", \"none\" or { as = \"CATEGORY\" }"
)]
pub enum UnknownDraft {
    /// `"error"`, `"other"` or `"none"`.
    Word(String),
    /// A listed category.
    As(StandIn),
}

/// The key `missing`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "`missing` must be a number, \"error\", \"category\" or { as = \"CATEGORY\" }"
)]
pub enum MissingDraft {
    /// A number.
    Number(f64),
    /// `"error"` or `"category"`.
    Word(String),
    /// A listed category.
    As(StandIn),
}

impl From<Schema> for Draft {
    /// Writes only values that differ from the defaults.
    fn from(schema: Schema) -> Self {
        let FileFacts { format, separator, quote, header, trim, missing_values } = schema.file;
        let file = FileDraft {
            format: Some(format),
            separator: (separator != b',').then(|| char::from(separator).to_string()),
            quote: (quote != Some(b'"')).then(|| quote.map(char::from).into_iter().collect()),
            header: (!header).then_some(false),
            trim: (!trim).then_some(false),
            missing_values,
        };
        let (classes, bounds) = match schema.target.kind {
            TargetKind::Classes(classes) => (Some(classes), None),
            TargetKind::Number { low, high } => (None, Some([low, high])),
        };
        let (labels, others) = schema.target.labels.draft(classes.as_deref().unwrap_or_default());
        let column = (format != Format::Libsvm).then_some(schema.target.column);
        Self {
            bias: match schema.bias {
                Some(value) => Some(BiasDraft::Value(value)),
                None => schema.open_bias.then(|| BiasDraft::Word("auto".into())),
            },
            invalid: Some(schema.invalid).filter(|invalid| *invalid != Invalid::Refuse),
            other_columns: Some(schema.other_columns).filter(|kept| *kept != OtherColumns::Refuse),
            origin: schema.origin,
            storage: schema.storage,
            file,
            clip: ClipDraft {
                norm: schema.clip.norm,
                radius: schema.clip.radius,
                rows: (schema.clip.rows != Rows::Clip).then_some(schema.clip.rows),
            },
            target: TargetDraft {
                column,
                classes,
                labels,
                others,
                weights: schema.target.weights,
                bounds,
            },
            unit: schema.unit.map(|UnitFacts { column, max_records, spelling }| UnitDraft {
                column,
                max_records,
                spelling,
            }),
            libsvm: schema.libsvm.map(|facts| LibsvmDraft {
                features: facts.features,
                bounds: facts.bounds.map(|(low, high)| [low, high]),
            }),
            image: schema.image.map(ImageDraft::from),
            columns: schema.columns.into_iter().map(ColumnDraft::from).collect(),
            pairs: schema.pairs.into_iter().map(PairDraft::from).collect(),
            fourier: schema.fourier.map(FourierDraft::from),
        }
    }
}

impl From<Column> for ColumnDraft {
    fn from(column: Column) -> Self {
        let invalid = column.invalid.map(|stand_in| match stand_in {
            InvalidCell::Number(value) => InvalidDraft::Number(value),
            InvalidCell::Text(category) => InvalidDraft::As(StandIn { category }),
        });
        let draft = Self { name: column.name, invalid, date: column.date, ..Self::default() };
        match column.kind {
            ColumnKind::Number { low, high, scale, transform, basis, missing } => Self {
                kind: ColumnType::Number,
                bounds: Some([low, high]),
                scale: Some(scale),
                transform,
                basis: basis.into(),
                missing: match missing {
                    Missing::Error => None,
                    Missing::Category => Some(MissingDraft::Word("category".into())),
                    Missing::As(value) => Some(MissingDraft::Number(value)),
                },
                ..draft
            },
            ColumnKind::Category { categories, unknown, missing } => {
                let (categories, hash_buckets) = match categories {
                    Categories::Listed(list) => (Some(list), None),
                    Categories::Hashed(buckets) => (None, Some(buckets)),
                };
                let unknown = match unknown {
                    Unknown::Error => None,
                    Unknown::Other => Some(UnknownDraft::Word("other".into())),
                    Unknown::None => Some(UnknownDraft::Word("none".into())),
                    Unknown::As(category) => Some(UnknownDraft::As(StandIn { category })),
                };
                let missing = missing_text(missing);
                Self {
                    kind: ColumnType::Category,
                    categories,
                    hash_buckets,
                    unknown,
                    missing,
                    ..draft
                }
            }
            ColumnKind::Binary { values, missing } => Self {
                kind: ColumnType::Binary,
                values: Some(values),
                missing: missing_text(missing),
                ..draft
            },
            ColumnKind::Ignore => Self { kind: ColumnType::Ignore, ..draft },
            ColumnKind::Target => Self { kind: ColumnType::Target, ..draft },
            ColumnKind::Unit => Self { kind: ColumnType::Unit, ..draft },
        }
    }
}

fn missing_text(missing: Missing<String>) -> Option<MissingDraft> {
    match missing {
        Missing::Error => None,
        Missing::Category => Some(MissingDraft::Word("category".into())),
        Missing::As(category) => Some(MissingDraft::As(StandIn { category })),
    }
}
