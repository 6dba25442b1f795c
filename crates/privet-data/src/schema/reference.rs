//! The reference page of schema files, made from this list: `privet schema reference`, docs/schema.md.
//!
//! A test compares the list with the keys that each table's own reader accepts, so that it is complete.

use std::fmt::Write;

/// One key: its name, the accepted values, the default, its effect.
struct Key(&'static str, &'static str, &'static str, &'static str);

/// One table of a schema file: its heading, a description, and its keys.
struct Table {
    head: &'static str,
    words: &'static str,
    keys: &'static [Key],
}

const TABLES: &[Table] = &[
    Table {
        head: "Above all tables",
        words: "What holds for the whole table.",
        keys: &[
            Key(
                "bias",
                "`true`, `false`, a number, `\"auto\"`",
                "chosen by the method",
                "an intercept: a constant column inside the clipped record",
            ),
            Key(
                "invalid",
                "`\"refuse\"`, `\"drop\"`, `\"stand-in\"`",
                "`\"refuse\"`",
                "what becomes of a record with a bad cell: the file is refused, the record becomes a row of zeros, or the cell becomes its column's stand-in",
            ),
            Key(
                "other_columns",
                "`\"refuse\"`, `\"ignore\"`",
                "`\"refuse\"`",
                "columns of the file that the schema does not name: refused (a mistyped name shows), or not read",
            ),
            Key(
                "storage",
                "`\"dense\"`, `\"csr\"`",
                "chosen from the columns",
                "how rows are kept in memory",
            ),
            Key("file", "a table", "see there", "how the file is written"),
            Key(
                "clip",
                "a table",
                "must be given",
                "the bound on each record, on which the noise depends",
            ),
            Key("target", "a table", "must be given", "what is predicted"),
            Key(
                "unit",
                "a table",
                "a record is the unit",
                "whose rows belong together: all of them are protected at once",
            ),
            Key("libsvm", "a table", "none", "the features of a sparse file"),
            Key("image", "a table", "none", "rows are pixels of images"),
            Key(
                "origin",
                "a table",
                "none",
                "what bounds and categories were filled in from, where a program did it",
            ),
            Key("columns", "tables", "none", "the columns"),
            Key("pairs", "tables", "none", "two columns whose encodings are multiplied"),
            Key("fourier", "a table", "none", "random waves over all numbers"),
        ],
    },
    Table {
        head: "[file]",
        words: "How the file is written. gzip and Zstandard are recognised.",
        keys: &[
            Key(
                "format",
                "`\"csv\"`, `\"libsvm\"`, `\"parquet\"`",
                "`\"csv\"`",
                "the kind of file",
            ),
            Key(
                "separator",
                "one character",
                "`\",\"`",
                "what stands between cells; `privet schema new` finds it by the header",
            ),
            Key(
                "quote",
                "one character, or `\"\"`",
                "`'\"'`",
                "what stands around cells; nothing switches it off",
            ),
            Key(
                "header",
                "`true`, `false`",
                "`true`",
                "whether the first line names the columns; else they go by position",
            ),
            Key("trim", "`true`, `false`", "`true`", "whether blanks around a cell are dropped"),
            Key(
                "missing_values",
                "a list of texts",
                "none",
                "cells that count as missing, such as `[\"?\", \"\"]`",
            ),
        ],
    },
    Table {
        head: "[clip]",
        words: "The bound on each record. No default: the guarantee rests on it.",
        keys: &[
            Key(
                "norm",
                "`\"l2\"`, `\"linf\"`",
                "must be given",
                "which length is bounded: of the whole record, or of each entry",
            ),
            Key(
                "radius",
                "a number above 0",
                "must be given",
                "the largest length; the noise is in proportion to it",
            ),
            Key(
                "rows",
                "`\"clip\"`, `\"fill\"`",
                "`\"clip\"`",
                "shorter records stay as they are, or are lengthened to the radius",
            ),
        ],
    },
    Table {
        head: "[target]",
        words: "What is predicted: `classes` or `bounds`.",
        keys: &[
            Key("column", "a name", "must be given, but for LIBSVM", "the column"),
            Key(
                "classes",
                "a list of texts or whole numbers",
                "none",
                "the labels, in order; of two, the second is the one whose odds a model gives",
            ),
            Key(
                "labels",
                "`{ CLASS = [LABELS] }`",
                "none",
                "what the file writes for a class, beside its own name",
            ),
            Key(
                "others",
                "a class",
                "other labels are refused",
                "the class of every label that is not listed: one against the rest",
            ),
            Key(
                "weights",
                "a number for each class",
                "all count the same",
                "how much the records of each class count",
            ),
            Key(
                "bounds",
                "`[low, high]`",
                "none",
                "the target is a number between these; values outside are moved to the nearest",
            ),
        ],
    },
    Table {
        head: "[unit]",
        words: "Whom the guarantee protects, where one person has several rows.",
        keys: &[
            Key("column", "a name", "must be given", "the column that says whose a row is"),
            Key(
                "max_records",
                "a whole number",
                "must be given",
                "how many rows of each are used; the noise grows with it",
            ),
            Key(
                "spelling",
                "`\"text\"`, `\"number\"`, `\"nfc\"`",
                "`\"text\"`",
                "when two cells name one person: the same text; the same integer, so that `2`, `2.0`, `02` and `+2` are one, \
                 and a cell that writes none is nobody's; or the same characters however they are composed. The last two \
                 need neighbours `replace-one`",
            ),
        ],
    },
    Table {
        head: "[libsvm]",
        words: "The features of a sparse file, which has no columns.",
        keys: &[
            Key(
                "features",
                "a whole number",
                "must be given",
                "how many there are; indices run from 1",
            ),
            Key(
                "bounds",
                "`[low, high]` with 0 between",
                "none",
                "values are moved within these and divided by the larger",
            ),
        ],
    },
    Table {
        head: "[image]",
        words: "Rows are images; a fixed public encoder makes features of them.",
        keys: &[
            Key("width", "a whole number", "must be given", "columns of pixels"),
            Key("height", "a whole number", "must be given", "rows of pixels"),
            Key("channels", "a whole number", "`1`", "numbers for each pixel"),
            Key("encoder", "`\"scattering\"`", "`\"scattering\"`", "which encoder"),
            Key(
                "features",
                "a whole number",
                "as many as suit the size",
                "how many features are kept",
            ),
        ],
    },
    Table {
        head: "[origin]",
        words: "Written by `privet schema new` (`--public`, `--epsilon`) and `privet schema narrow`; every certificate carries it.",
        keys: &[
            Key(
                "public",
                "a text",
                "none",
                "where anybody can find the table that bounds and categories were taken from",
            ),
            Key("sha256", "64 hexadecimal digits", "none", "the digest of that file"),
            Key(
                "paid",
                "a table",
                "none",
                "the private release that bounds and categories were bought by, and what it cost",
            ),
        ],
    },
    Table {
        head: "[origin.paid]",
        words: "What a private release cost. A plan is refused where its events do not prove that.",
        keys: &[
            Key("epsilon", "a number above 0", "must be given", "its ε"),
            Key("delta", "a number from 0, below 1", "must be given", "its δ"),
            Key(
                "neighbours",
                "`\"replace-one\"`, `\"add-remove\"`",
                "must be given",
                "which tables must look alike",
            ),
            Key(
                "unit",
                "`{ kind = \"record\" }`, `{ kind = \"user\", max_records = K }`",
                "must be given",
                "whose data change",
            ),
            Key(
                "whose",
                "a name",
                "records are protected one by one",
                "the column that said whose a record is",
            ),
            Key(
                "trim",
                "`true`, `false`",
                "`true`",
                "whether blanks around cells were left out, which decides who is one person",
            ),
            Key(
                "spelling",
                "`\"text\"`, `\"number\"`, `\"nfc\"`",
                "`\"text\"`",
                "when two identifiers were one person",
            ),
            Key("certificate", "a text", "must be given", "the digest of its certificate"),
            Key("events", "a text", "must be given", "what it did, as the accountant is told it"),
        ],
    },
    Table {
        head: "[[columns]]",
        words: "One entry a column, or several alike. Which keys belong depends on the type.",
        keys: &[
            Key("name", "a name", "must be given, or `names`", "the column's name in the header"),
            Key("names", "a list of names", "none", "several columns of which the same holds"),
            Key(
                "type",
                "`\"number\"`, `\"category\"`, `\"binary\"`, `\"date\"`, `\"ignore\"`, `\"target\"`, `\"unit\"`",
                "must be given",
                "what it holds; the last two mark a place in files without a header",
            ),
            Key(
                "bounds",
                "`[low, high]`",
                "must be given (number)",
                "values outside are moved to the nearest; public, never taken from the records",
            ),
            Key(
                "scale",
                "`\"unit\"`, `\"symmetric\"`, `\"none\"`",
                "chosen by the method",
                "a number becomes 0 to 1, −1 to 1, or stays as it is",
            ),
            Key(
                "transform",
                "`\"log1p\"`",
                "none",
                "ln(1 + value − low) before scaling, for long tails",
            ),
            Key(
                "basis",
                "`\"linear\"`, `\"auto\"`, `{ hats = K, … }`",
                "chosen by the method",
                "what a number is expanded in (a piecewise-linear basis), so that a model can bend",
            ),
            Key(
                "categories",
                "a list of texts or whole numbers",
                "must be given (category), or `hash_buckets`",
                "the list; public, never taken from the records",
            ),
            Key(
                "hash_buckets",
                "a whole number",
                "none",
                "in place of a list: every text has one of so many places",
            ),
            Key(
                "unknown",
                "`\"error\"`, `\"other\"`, `\"none\"`, `{ as = CATEGORY }`",
                "`\"error\"`",
                "what a category that is not listed becomes",
            ),
            Key("values", "two texts", "`[\"0\", \"1\"]`", "what means no and yes (binary)"),
            Key(
                "missing",
                "`\"error\"`, `\"category\"`, a number, `{ as = CATEGORY }`",
                "`\"error\"`",
                "what stands in for a missing cell; `\"category\"` is a column of its own",
            ),
            Key(
                "invalid",
                "a number, `{ as = CATEGORY }`",
                "the record becomes a row of zeros",
                "what stands in for a bad cell, with `invalid = \"stand-in\"` above",
            ),
            Key(
                "range",
                "two days",
                "must be given (date with years)",
                "the first and the last day that may be met, such as `[\"2010-01-01\", \"2025-12-31\"]`",
            ),
            Key(
                "parts",
                "some of `\"year\"`, `\"month\"`, `\"weekday\"`, `\"hour\"`",
                "`[\"year\", \"month\", \"weekday\"]`",
                "what is taken from a date; each becomes a column such as `admitted.month`",
            ),
            Key(
                "order",
                "`\"ymd\"`, `\"dmy\"`, `\"mdy\"`",
                "`\"ymd\"`",
                "how a date is written; a time of day may follow",
            ),
            Key(
                "date",
                "`{ column = NAME, part = PART }`",
                "none",
                "how a part of a date is written down in certificates",
            ),
        ],
    },
    Table {
        head: "basis = { … }",
        words: "Functions of a number that bend at knots.",
        keys: &[
            Key("hats", "a whole number from 2", "as many as knots are listed", "how many knots"),
            Key(
                "knots",
                "`\"even\"`, `\"log\"`, a list of numbers",
                "`\"even\"`",
                "where they are",
            ),
            Key(
                "cyclic",
                "`true`, `false`",
                "`false`",
                "the upper bound is the lower one again: hours, months",
            ),
            Key("weight", "a number above 0", "`1`", "what their entries are multiplied by"),
        ],
    },
    Table {
        head: "[[pairs]]",
        words: "Two columns whose encodings are multiplied.",
        keys: &[
            Key("columns", "two names", "must be given", "two numbers, or a category and a number"),
            Key("hats", "a whole number", "none", "knots of each number of a pair of numbers"),
            Key("weight", "a number above 0", "`1`", "what the entries are multiplied by"),
        ],
    },
    Table {
        head: "[fourier]",
        words: "Random waves over all numbers together.",
        keys: &[
            Key("count", "a whole number", "must be given", "how many waves"),
            Key(
                "width",
                "a number above 0",
                "must be given",
                "how far apart two records are before waves tell them apart",
            ),
            Key("weight", "a number above 0", "`1`", "what the entries are multiplied by"),
        ],
    },
];

/// Renders the page in Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Schema files\n\n\
         A schema says what may be known of a table without looking at it, in TOML. `privet schema new` writes a \
         first one from a table's header, `privet schema check` finds what is wrong with it. Everything that \
         decides a guarantee follows from it, so nothing in it may be taken from private records.\n\n\
         Made by `privet schema reference`.\n",
    );
    for table in TABLES {
        let head = match table.head.starts_with(['[', 'b']) {
            true => format!("`{}`", table.head),
            false => table.head.into(),
        };
        let _ = write!(page, "\n## {head}\n\n{}\n\n", table.words);
        page.push_str("| key | accepted | if left out | what it does |\n|---|---|---|---|\n");
        for Key(name, accepted, default, words) in table.keys {
            let _ = writeln!(page, "| `{name}` | {accepted} | {default} | {words} |");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::*;
    use serde::de::DeserializeOwned;

    /// The keys that a table's own reader accepts: its error on an unknown key lists them.
    fn known<T: DeserializeOwned>() -> Vec<String> {
        let refused = serde_json::from_str::<T>("{\"no such key\": 0}").err().unwrap().to_string();
        let listed = refused.split("expected one of ").nth(1).or(refused.split("expected ").nth(1));
        let listed = listed.unwrap_or_default();
        let quoted = listed.split('`').enumerate().filter(|(place, _)| place % 2 == 1);
        quoted.map(|(_, key)| key.to_string()).collect()
    }

    #[test]
    fn every_key_is_on_the_page_and_no_other() {
        let readers: Vec<(&str, Vec<String>)> = vec![
            ("Above all tables", known::<Draft>()),
            ("[file]", known::<FileDraft>()),
            ("[clip]", known::<ClipDraft>()),
            ("[target]", known::<TargetDraft>()),
            ("[unit]", known::<UnitDraft>()),
            ("[libsvm]", known::<LibsvmDraft>()),
            ("[image]", known::<ImageDraft>()),
            ("[origin]", known::<Origin>()),
            ("[origin.paid]", known::<Paid>()),
            ("[[columns]]", known::<ColumnDraft>()),
            ("basis = { … }", known::<HatsDraft>()),
            ("[[pairs]]", known::<PairDraft>()),
            ("[fourier]", known::<FourierDraft>()),
        ];
        assert_eq!(readers.len(), TABLES.len());
        for ((head, mut keys), table) in readers.into_iter().zip(TABLES) {
            assert_eq!(head, table.head);
            let mut listed: Vec<String> = table.keys.iter().map(|key| key.0.into()).collect();
            keys.sort();
            listed.sort();
            assert_eq!(listed, keys, "{head}");
        }
    }

    #[test]
    fn the_page_in_the_documentation_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
        if !std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).exists() {
            return; // as a crate of its own
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(page, reference(), "privet schema reference > docs/schema.md");
    }
}
