//! Active choice of the public rows to label next, within one run: those of which a student of the
//! labels so far is least certain.
//!
//! **Claim.** Choosing costs nothing. *Proof.* The next queries are a function of the public rows and of
//! noisy labels. That is by construction: a `ChosenRows` is part of the walk ([`privet_dp::gate::Walk`]),
//! which begins from plain data before records are read, cannot borrow them, and receives noisy answers
//! alone; votes never reach it. Chunks are drawn and teachers trained once, on coins and records that do
//! not depend on any query, and every teacher votes on *all* public rows; only the selection of the
//! votes that are used adapts. So, given the coins and the answers so far, one unit still moves one vote
//! of any next row, and the aggregators that allow this are private for queries that depend on earlier
//! answers:
//! - *`sparse-vector`*: [`privet_dp::mechanism::StableAnswers`] is stated and proved for adaptive
//!   queries; one threshold serves all rounds up to the first query without a stable answer, as in one
//!   batch.
//! - *`gnmax`*: each answer is a Gaussian release of its own, of sensitivity √2 for any row, planned in
//!   number and scale; the curve of such releases holds for adaptive ones.
//!
//! The others read all queries before the first is answered, and are refused. ∎
//!
//! **Rule.** The first round labels the rows in their order. Every later one trains a provisional
//! student (`logistic`) on the labels so far; half of the round goes to the next rows in order, which
//! keeps the labelled rows representative, and half to those of which it is least certain. Ties go to
//! the first: the same rows and labels choose the same rows.

use super::student::{Student, Study};
use super::teacher::Teacher;
use crate::LearnError;
use privet_core::Range;
use privet_data::matrix::{DenseMatrix, Matrix};
use serde::{Deserialize, Serialize};

/// Limits on the number of rounds.
pub const CHOOSE: Range = Range::from("choose", 2.0, 101.0);

/// Upper limit on the number of entries of public rows: the walk holds them.
const ENTRIES: usize = 25_000_000;

/// Public rows, and their labels so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChosenRows {
    rounds: u32,
    queries: u64,
    classes: usize,
    columns: usize,
    /// Entries, row-major.
    #[serde(with = "entries")]
    rows: Vec<f32>,
    /// Number of rounds begun.
    begun: u32,
    /// Indices of the queried rows, in that order.
    places: Vec<u64>,
    /// Answers to the first of them.
    heard: Vec<Option<u32>>,
}

impl ChosenRows {
    /// Choice of `queries` of these rows, in `rounds` rounds.
    pub fn of(rows: &Matrix, rounds: u32, queries: u64, classes: usize) -> Self {
        Self {
            rounds,
            queries,
            classes,
            columns: rows.columns(),
            rows: super::teacher::filled_rows(rows, 0..rows.rows()),
            begun: 0,
            places: Vec::new(),
            heard: Vec::new(),
        }
    }

    /// Refusal of a table of this size; `None` if it is accepted.
    pub fn too_large(rows: u64, columns: usize) -> Option<LearnError> {
        (rows.saturating_mul(columns as u64) > ENTRIES as u64).then(|| LearnError::NotCovered {
            what: format!("a choice among {rows} public rows of {columns} encoded columns"),
            instead: "give fewer public rows, of 25,000,000 entries at most, or ask about the first ones",
        })
    }

    /// Number of rows queried.
    pub fn queried_rows(&self) -> u64 {
        self.places.len() as u64
    }

    /// Receives the answers to the latest queries; missing answers are `None`.
    pub fn hear(&mut self, mut named: Vec<Option<u32>>) {
        named.resize(self.places.len() - self.heard.len(), None);
        self.heard.extend(named);
    }

    /// Indices of the rows of the next round; `None` at the end.
    pub fn next(&mut self) -> Option<Vec<u64>> {
        if self.begun == self.rounds {
            return None;
        }
        self.begun += 1;
        let until = share(self.queries, self.begun, self.rounds);
        let count = until.saturating_sub(self.queried_rows()) as usize;
        let rows = self.rows.len() / self.columns.max(1);
        let mut known = vec![false; rows];
        self.places.iter().for_each(|place| known[*place as usize] = true);
        let mut open: Vec<usize> = (0..rows).filter(|row| !known[*row]).collect();
        let unsure = self.least_sure(&open, count / 2);
        unsure.iter().for_each(|row| known[*row] = true);
        open.retain(|row| !known[*row]);
        open.truncate(count - unsure.len());
        // Rows in order come first: an early end then leaves the others unanswered.
        let chosen: Vec<u64> = open.into_iter().chain(unsure).map(|row| row as u64).collect();
        self.places.extend(&chosen);
        Some(chosen)
    }

    /// The `count` rows of which a student of the labels so far is least certain; empty if there is no
    /// student.
    fn least_sure(&self, open: &[usize], count: usize) -> Vec<usize> {
        let rows = |places: &mut dyn Iterator<Item = usize>| {
            let of = |row: usize| &self.rows[row * self.columns..(row + 1) * self.columns];
            let values: Vec<f32> = places.flat_map(of).copied().collect();
            let rows = values.len() / self.columns.max(1);
            Matrix::Dense(DenseMatrix::new(values, rows, self.columns))
        };
        let study = Study { rounds: 0, ..Study::by(Teacher::Logistic { ridge: None }) };
        let learnt = rows(&mut self.places[..self.heard.len()].iter().map(|row| *row as usize));
        let student = Student::fit(&study, &learnt, &self.heard, self.classes);
        let Ok(Some(student)) = student else { return Vec::new() };
        let Ok(sure) = student.confidence(&rows(&mut open.iter().copied())) else {
            return Vec::new();
        };
        let mut order: Vec<usize> = (0..open.len()).collect();
        order.sort_by(|one, other| sure[*one].total_cmp(&sure[*other]));
        order.into_iter().take(count).map(|place| open[place]).collect()
    }

    /// Indices of the queried rows, and their answers.
    pub fn answers_so_far(&self) -> (Vec<u64>, Vec<Option<u32>>) {
        (self.places.clone(), self.heard.clone())
    }
}

/// Number of queries of the first `begun` rounds.
fn share(queries: u64, begun: u32, rounds: u32) -> u64 {
    (u128::from(queries) * u128::from(begun) / u128::from(rounds.max(1))) as u64
}

/// Reason why these indices cannot be a choice among `rows` rows; `None` if they can.
pub(super) fn refuses(places: &[u64], rows: u64, rounds: u32) -> Option<&'static str> {
    let first = share(places.len() as u64, 1, rounds) as usize;
    if places[..first].iter().enumerate().any(|(at, place)| at as u64 != *place) {
        return Some("its first round is not of the first rows");
    }
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).any(|two| two[0] == two[1]);
    if twice || sorted.last().is_some_and(|last| *last >= rows) {
        return Some("it has labels of a row twice, or of none of the public rows");
    }
    None
}

/// Entries as one hexadecimal string: a JSON number for each would be many times as large.
mod entries {
    use privet_dp::gate::from_hex;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(values: &[f32], to: S) -> Result<S::Ok, S::Error> {
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        let text: String = bytes.flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        to.serialize_str(&text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f32>, D::Error> {
        let bytes = from_hex(&String::deserialize(from)?);
        let bytes = bytes.filter(|bytes| bytes.len() % 4 == 0);
        let bytes = bytes.ok_or_else(|| D::Error::custom("entries in hexadecimal are accepted"))?;
        let value = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Ok(bytes.chunks_exact(4).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes on a line, separated at 0.
    fn line(rows: usize) -> Matrix {
        let at = |row: usize| {
            // In a scrambled order.
            [1.0, ((row * 37) % rows) as f32 / rows as f32 * 2.0 - 1.0]
        };
        Matrix::Dense(DenseMatrix::new((0..rows).flat_map(at).collect(), rows, 2))
    }

    fn walked(mut choosing: ChosenRows, rows: &Matrix) -> Vec<Vec<u64>> {
        let mut rounds = Vec::new();
        while let Some(places) = choosing.next() {
            let label = |place: &u64| Some(u32::from(rows.dense_row(*place as usize)[1] > 0.0));
            choosing.hear(places.iter().map(label).collect());
            // Serialised and read again between any two rounds.
            let text = serde_json::to_string(&choosing).unwrap();
            let read: ChosenRows = serde_json::from_str(&text).unwrap();
            assert_eq!(read, choosing);
            rounds.push(places);
        }
        rounds
    }

    #[test]
    fn later_rounds_ask_about_rows_that_a_student_is_unsure_of() {
        let rows = line(400);
        let rounds = walked(ChosenRows::of(&rows, 4, 40, 2), &rows);
        assert_eq!(rounds, walked(ChosenRows::of(&rows, 4, 40, 2), &rows), "the same every time");
        assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [10; 4]);
        assert_eq!(rounds[0], (0..10).collect::<Vec<_>>());
        let all = rounds.concat();
        assert_eq!(refuses(&all, 400, 4), None);
        // Five in order, and five near the student's decision boundary, which ten labels place to within
        // a fifth; rows are half a unit away from the true one on average.
        let far = |places: &[u64]| {
            let of = |place: &u64| f64::from(rows.dense_row(*place as usize)[1].abs());
            places.iter().map(of).sum::<f64>() / places.len() as f64
        };
        for round in &rounds[1..] {
            assert!(round[..5].is_sorted() && far(&round[5..]) < 0.2, "{round:?}");
        }
    }

    #[test]
    fn without_labels_rows_come_in_order_and_none_comes_twice() {
        let rows = line(9);
        let mut choosing = ChosenRows::of(&rows, 3, 7, 2);
        let mut all = Vec::new();
        while let Some(places) = choosing.next() {
            choosing.hear(Vec::new());
            all.extend(places);
        }
        assert_eq!(all, (0..7).collect::<Vec<_>>());
        assert_eq!(choosing.answers_so_far().1, vec![None; 7]);
    }

    #[test]
    fn places_that_no_run_asks_about_are_refused() {
        assert!(refuses(&[0, 1, 5, 3], 6, 2).is_none());
        assert!(refuses(&[1, 0, 5, 3], 6, 2).is_some());
        assert!(refuses(&[0, 1, 5, 1], 6, 2).is_some());
        assert!(refuses(&[0, 1, 6, 3], 6, 2).is_some());
    }
}
