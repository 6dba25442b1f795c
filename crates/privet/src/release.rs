//! A release of a file, in the one order of every release ([`privet_learn::order`]): of any family that
//! is offered.

use crate::simple::Error;
use privet_core::{DELTA, EPSILON, Neighbours, Relation};
use privet_data::Schema;
use privet_data::read::{ReadOptions, Unchanged, count_records, raw_rows, read};
use privet_dp::noise::{Source, SystemRandom};
use privet_learn::order::{Countable, Inputs, ReleaseDraft};
use privet_learn::pay::NoPayer;
use privet_learn::{
    BudgetOptions, LearnError, OfferedFamily, Plan, RegisteredMethod, Released, SettingInfo, Task,
    plan,
};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Makes one release of a file of records, of whichever family: `words` are names and values as on the
/// command line, without dashes. `epsilon` is needed; `delta`, `neighbours`, `rows`, `method`, the
/// words of the family and the settings of the method may be given.
///
/// Whatever public facts refuse is refused before the file is opened. No ledger pays for it, not even
/// one that lies beside the file: to pay from one, take the same steps ([`privet_learn::order`]) with a
/// payer.
pub fn release<F: OfferedFamily>(
    records: impl AsRef<Path>,
    schema: &Schema,
    words: &[(&str, &str)],
) -> Result<Released<F>, Error> {
    let asked = Asked::<F>::of(words)?;
    let relation = Relation::new(asked.neighbours, schema.unit());
    let file = File::new(records.as_ref(), schema, relation, asked.rows)?;
    released(file, |rows| asked.plan(schema, rows))
}

/// Makes one release of a file, which nobody pays for.
pub(crate) fn released<T: Task>(
    file: File<'_>,
    plan: impl Fn(u64) -> Result<Plan<T>, Error>,
) -> Result<Released<T>, Error> {
    let (path, options) = (file.path, file.options());
    let draft = ReleaseDraft::new(file, plan)?;
    let mut noise = SystemRandom::new().map_err(|error| Error::Randomness(error.to_string()))?;
    let reserved = draft.reserve(NoPayer::new(), noise.origin())?;
    let (ready, rows) = reserved.read(|plan| Ok(read(path, plan.schema(), &options)?))?;
    let (released, settled) = ready.draw(&rows, &mut noise, &AtomicBool::new(false))?.settle();
    settled?;
    Ok(released)
}

/// A file of records, of which nothing was read.
pub(crate) struct File<'a> {
    path: &'a Path,
    schema: &'a Schema,
    rows: Option<u64>,
    count_is_public: bool,
    seen: Option<Unchanged>,
}

impl<'a> File<'a> {
    /// Refuses one whose number of rows is neither declared nor public.
    pub(crate) fn new(
        path: &'a Path,
        schema: &'a Schema,
        relation: Relation,
        rows: Option<u64>,
    ) -> Result<Self, Error> {
        let count_is_public = relation.count_is_public();
        match rows.is_none() && !count_is_public {
            true => Err(Error::RowsArePrivate),
            false => Ok(Self { path, schema, rows, count_is_public, seen: None }),
        }
    }

    fn options(&self) -> ReadOptions<'static> {
        ReadOptions { allow_empty: !self.count_is_public, ..ReadOptions::default() }
    }
}

impl Inputs for File<'_> {
    type Error = Error;

    fn watch(&mut self) -> Result<(), Error> {
        if self.seen.is_none() {
            self.seen = Some(Unchanged::of(self.path)?);
        }
        Ok(())
    }

    fn unchanged(&self) -> Result<(), Error> {
        Ok(self.seen.as_ref().map_or(Ok(()), Unchanged::check)?)
    }

    fn raw_rows(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
        Ok(raw_rows(self.path, Some(self.schema), each)?)
    }
}

impl Countable for File<'_> {
    fn declared_rows(&self) -> Option<u64> {
        self.rows
    }

    fn count(&mut self) -> Result<u64, Error> {
        Ok(count_records(self.path, self.schema, None)?)
    }
}

/// A request in words, before the number of rows is known.
struct Asked<F: OfferedFamily> {
    words: Map<String, Value>,
    method: Option<F::Learner>,
    epsilon: f64,
    delta: Option<f64>,
    neighbours: Neighbours,
    rows: Option<u64>,
}

impl<F: OfferedFamily> Asked<F> {
    fn of(given: &[(&str, &str)]) -> Result<Self, LearnError> {
        let head = ["epsilon", "delta", "neighbours", "rows", "method"];
        let value = |name: &str| given.iter().find(|word| word.0 == name).map(|word| word.1);
        let number = |info: SettingInfo| -> Result<Option<f64>, LearnError> {
            let text = value(info.name).map(|text| info.read(text)).transpose()?;
            Ok(text.and_then(|number| number.as_f64()))
        };
        let missing = || LearnError::InvalidRequest {
            name: "epsilon",
            what: format!("is missing: the privacy budget, {EPSILON}; privet picks none for you"),
        };
        let epsilon = number(SettingInfo::number(EPSILON, ""))?.ok_or_else(missing)?;
        let delta = number(SettingInfo::number(DELTA, ""))?;
        let neighbours = value("neighbours").map_or(Ok(Neighbours::ReplaceOne), str::parse)?;
        let rows = |text: &str| {
            let what = || format!("is '{text}': accepted is a number of rows");
            text.parse::<u64>()
                .map_err(|_| LearnError::InvalidRequest { name: "rows", what: what() })
        };
        let rows = value("rows").map(rows).transpose()?;
        let unknown =
            |name: &str| LearnError::NotASetting { setting: name.into(), method: F::VERB };
        let mut method = match (value("method"), F::Learner::ALL) {
            (None, []) => None,
            (Some(_), []) => return Err(unknown("method")),
            (None, _) => Some(F::Learner::default()),
            (Some(name), _) => {
                Some(F::Learner::by_name(name).ok_or_else(|| LearnError::InvalidRequest {
                    name: "method",
                    what: format!("is '{name}': accepted is one of {}", F::Learner::accepted()),
                })?)
            }
        };
        let mut words = Map::new();
        for (name, text) in given.iter().filter(|(name, _)| !head.contains(name)) {
            if let Some(word) = F::REQUEST_FIELDS.iter().find(|word| word.name == *name) {
                words.insert((*name).into(), word.read(text)?);
            } else {
                let with = method.ok_or_else(|| unknown(name))?.with(name, text)?;
                method = Some(with);
            }
        }
        Ok(Self { words, method, epsilon, delta, neighbours, rows })
    }

    fn plan(&self, schema: &Schema, rows: u64) -> Result<Plan<F>, Error> {
        let (epsilon, delta, neighbours) = (self.epsilon, self.delta, self.neighbours);
        let budget = BudgetOptions { epsilon, delta, neighbours };
        let (words, method) = (self.words.clone(), self.method.clone());
        Ok(plan(&F::of_words(words, method, &budget, (schema, rows))?)?)
    }
}
