//! The checks of `[[columns]]`.

use super::{
    basis::check_basis,
    check::{Checked, check_bounds, check_texts, in_range, refuse},
    invalid::check_invalid,
    *,
};
use std::collections::HashSet;

pub(super) fn check_columns(
    drafts: Vec<ColumnDraft>,
    file: &FileFacts,
    target: &TargetFacts,
    unit: Option<&UnitFacts>,
    invalid: Invalid,
) -> Checked<Vec<Column>> {
    let mut seen = HashSet::new();
    let mut columns = Vec::with_capacity(drafts.len());
    for (position, draft) in drafts.into_iter().enumerate() {
        let key = key_of(position, &draft);
        check_name(&key, &draft, file)?;
        if !seen.insert(draft.name.clone()) {
            return refuse(key, "named twice", "each column once");
        }
        let place = match draft.kind {
            ColumnType::Target => Some(("target", target.column.as_str())),
            ColumnType::Unit => Some(("unit", unit.map_or("", |unit| &unit.column))),
            _ => None,
        };
        if let Some((table, name)) = place.filter(|(_, name)| *name != draft.name) {
            let accepted = format!("the name in [{table}], here {name:?}");
            return refuse(key, format!("type = \"{table}\" on another column"), accepted);
        }
        let taken = [Some(target.column.as_str()), unit.map(|unit| unit.column.as_str())];
        let source = draft.date.as_ref().map_or(draft.name.as_str(), |date| &date.column);
        if place.is_none() && (taken.contains(&Some(&draft.name)) || taken.contains(&Some(source)))
        {
            let accepted = "type = \"target\" or \"unit\" to mark its place, or no entry at all";
            return refuse(key, "this is the target or unit column", accepted);
        }
        let kind = check_column(&key, &draft, file)?;
        let invalid = check_invalid(&key, draft.invalid, &kind, invalid)?;
        columns.push(Column { name: draft.name, kind, invalid, date: draft.date });
    }
    if invalid == Invalid::StandIn && columns.iter().all(|column| column.invalid.is_none()) {
        let accepted = "`invalid = NUMBER` or `invalid = { as = \"CATEGORY\" }` in at least one of \
                        [[columns]], or invalid = \"drop\"";
        return refuse("invalid", "no column declares a stand-in", accepted);
    }
    if unit.is_some_and(|unit| unit.column == target.column) {
        return refuse("unit.column", "the same as target.column", "two different columns");
    }
    if file.format == Format::Csv && !file.header {
        for (table, name) in [("target", Some(&target.column)), ("unit", unit.map(|u| &u.column))] {
            if name.is_some_and(|name| !seen.contains(name)) {
                let accepted = format!("an entry with type = \"{table}\" that marks its position");
                return refuse("columns", format!("no place for the {table} column"), accepted);
            }
        }
    }
    Ok(columns)
}

fn key_of(position: usize, draft: &ColumnDraft) -> String {
    let names = match draft.names.as_slice() {
        [] => draft.name.clone(),
        [first, ..] => format!("{first} …"),
    };
    format!("columns[{position}] \"{names}\"")
}

fn check_name(key: &str, draft: &ColumnDraft, file: &FileFacts) -> Checked<()> {
    if draft.name.is_empty() || (file.trim && draft.name.trim_ascii() != draft.name) {
        return refuse(key, "name empty or with blanks around it", "a column's name");
    }
    Ok(())
}

/// Expands each entry into its columns: one for each of `names`, and one for each part of a date.
pub(super) fn expand_columns(drafts: Vec<ColumnDraft>) -> Checked<Vec<ColumnDraft>> {
    let mut columns = Vec::with_capacity(drafts.len());
    for (position, draft) in drafts.into_iter().enumerate() {
        columns.extend(entry(position, &draft)?);
    }
    Ok(columns)
}

fn entry(position: usize, draft: &ColumnDraft) -> Checked<Vec<ColumnDraft>> {
    let key = key_of(position, draft);
    let names = match (draft.name.is_empty(), draft.names.as_slice()) {
        (false, []) => vec![draft.name.clone()],
        (true, [_, ..]) => draft.names.clone(),
        (false, _) => return refuse(key, "both `name` and `names`", "one of them"),
        (true, []) => {
            return refuse(
                key,
                "neither `name` nor `names`",
                "a column's name, or a list of names",
            );
        }
    };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let one = ColumnDraft { name, names: Vec::new(), ..draft.clone() };
        match one.kind {
            ColumnType::Date => columns.extend(dates::parts_of(&key_of(position, &one), &one)?),
            _ => columns.push(one),
        }
    }
    Ok(columns)
}

/// Checks one entry on its own, independently of the others.
pub(super) fn check_alone(position: usize, draft: &ColumnDraft, file: &FileFacts) -> Checked<()> {
    for column in entry(position, draft)? {
        let key = key_of(position, &column);
        check_name(&key, &column, file)?;
        check_column(&key, &column, file)?;
    }
    Ok(())
}

fn check_column(key: &str, draft: &ColumnDraft, file: &FileFacts) -> Checked<ColumnKind> {
    let given = [
        ("bounds", draft.bounds.is_some()),
        ("scale", draft.scale.is_some()),
        ("transform", draft.transform.is_some()),
        ("basis", draft.basis.is_some()),
        ("categories", draft.categories.is_some()),
        ("hash_buckets", draft.hash_buckets.is_some()),
        ("unknown", draft.unknown.is_some()),
        ("values", draft.values.is_some()),
        ("missing", draft.missing.is_some()),
        ("invalid", draft.invalid.is_some()),
        ("range", draft.range.is_some()),
        ("parts", draft.parts.is_some()),
        ("order", draft.order.is_some()),
        ("date", draft.date.is_some()),
    ];
    if draft.kind == ColumnType::Blank {
        let accepted = "\"number\", \"category\", \"binary\", \"date\" or \"ignore\"";
        return refuse(format!("{key}.type"), "not filled in", accepted);
    }
    let belongs: &[&str] = match draft.kind {
        ColumnType::Number => {
            &["bounds", "scale", "transform", "basis", "missing", "invalid", "date"]
        }
        ColumnType::Category => {
            &["categories", "hash_buckets", "unknown", "missing", "invalid", "date"]
        }
        ColumnType::Ignore => &["date"],
        ColumnType::Binary => &["values", "missing", "invalid"],
        _ => &[],
    };
    let stray = given.iter().find(|(name, given)| *given && !belongs.contains(name));
    if let Some((name, _)) = stray {
        let accepted = match belongs {
            [] | ["date"] => "`name` and `type` only".to_string(),
            keys => format!("`name`, `type`, `{}`", keys.join("`, `")),
        };
        return refuse(key, format!("`{name}` does not belong to its type"), accepted);
    }
    if draft.missing.is_some() && file.missing_values.is_empty() && file.format == Format::Csv {
        let accepted = "file.missing_values = [\"?\", …] as well: which cells count as missing";
        return refuse(key, "`missing` can never apply", accepted);
    }
    match draft.kind {
        ColumnType::Number => check_number(key, draft),
        ColumnType::Category => check_category(key, draft, file),
        ColumnType::Binary => {
            let values = draft.values.clone().unwrap_or_else(|| ["0".into(), "1".into()]);
            check_texts(&format!("{key}.values"), &values, 2, file)?;
            let missing = check_missing(key, draft.missing.as_ref(), &values)?;
            Ok(ColumnKind::Binary { values, missing })
        }
        // A date was expanded into its parts before.
        ColumnType::Ignore | ColumnType::Date | ColumnType::Blank => Ok(ColumnKind::Ignore),
        ColumnType::Target => Ok(ColumnKind::Target),
        ColumnType::Unit => Ok(ColumnKind::Unit),
    }
}

fn check_number(key: &str, draft: &ColumnDraft) -> Checked<ColumnKind> {
    let Some(bounds) = draft.bounds else {
        let problem = match draft.basis {
            Some(BasisDraft::Hats(_)) => "missing, and hats stand between bounds",
            _ => "missing",
        };
        return refuse(format!("{key}.bounds"), problem, "[low, high], public facts");
    };
    let (low, high) = check_bounds(key, bounds)?;
    let missing = match &draft.missing {
        None => Missing::Error,
        Some(MissingDraft::Word(word)) if word == "error" => Missing::Error,
        Some(MissingDraft::Word(word)) if word == "category" => Missing::Category,
        Some(MissingDraft::Number(value)) if low <= *value && *value <= high => Missing::As(*value),
        Some(_) => {
            let accepted = format!("a number in [{low}, {high}], \"category\" or \"error\"");
            return refuse(format!("{key}.missing"), "not one for this column", accepted);
        }
    };
    let scale = draft.scale.unwrap_or(Scale::Unit);
    let basis = check_basis(key, draft.basis.as_ref(), (low, high))?;
    Ok(ColumnKind::Number { low, high, scale, transform: draft.transform, basis, missing })
}

fn check_category(key: &str, draft: &ColumnDraft, file: &FileFacts) -> Checked<ColumnKind> {
    let categories = match (&draft.categories, draft.hash_buckets) {
        (Some(list), None) => {
            check_texts(&format!("{key}.categories"), list, 1, file)?;
            Categories::Listed(list.clone())
        }
        (None, Some(buckets)) => {
            in_range(format!("{key}.hash_buckets"), HASH_BUCKETS, f64::from(buckets))?;
            Categories::Hashed(buckets)
        }
        _ => {
            let accepted = "`categories` (a list) or `hash_buckets` (a number)";
            return refuse(key, "both or neither of categories and hash_buckets", accepted);
        }
    };
    let listed: &[String] = draft.categories.as_deref().unwrap_or_default();
    let unknown = match &draft.unknown {
        None => Unknown::Error,
        Some(_) if draft.hash_buckets.is_some() => {
            let accepted = "no such key: every category has a bucket";
            return refuse(
                format!("{key}.unknown"),
                "hashed categories are never unknown",
                accepted,
            );
        }
        Some(UnknownDraft::Word(word)) if word == "error" => Unknown::Error,
        Some(UnknownDraft::Word(word)) if word == "other" => Unknown::Other,
        Some(UnknownDraft::Word(word)) if word == "none" => Unknown::None,
        Some(UnknownDraft::As(to)) if listed.contains(&to.category) => {
            Unknown::As(to.category.clone())
        }
        Some(_) => {
            let accepted = "\"error\", \"other\", \"none\" or { as = \"A LISTED CATEGORY\" }";
            return refuse(format!("{key}.unknown"), "not one of those known", accepted);
        }
    };
    let missing = check_missing(key, draft.missing.as_ref(), listed)?;
    Ok(ColumnKind::Category { categories, unknown, missing })
}

fn check_missing(
    key: &str,
    draft: Option<&MissingDraft>,
    listed: &[String],
) -> Checked<Missing<String>> {
    match draft {
        None => Ok(Missing::Error),
        Some(MissingDraft::Word(word)) if word == "error" => Ok(Missing::Error),
        Some(MissingDraft::Word(word)) if word == "category" => Ok(Missing::Category),
        Some(MissingDraft::As(to)) if listed.contains(&to.category) => {
            Ok(Missing::As(to.category.clone()))
        }
        Some(_) => {
            let accepted = "\"error\", \"category\" or { as = \"A LISTED ONE\" }";
            refuse(format!("{key}.missing"), "not one for this column", accepted)
        }
    }
}
