//! The learner's part of a session: it chooses the next query from noisy answers alone.
//!
//! A [`Walk`] begins from plain data that the session was opened with
//! ([`super::Session::start_walking`]), before any record is available: the code that queries the
//! records borrows the session and cannot make a walk of its own, only begin the session's
//! ([`super::Session::begin`]). A walk cannot borrow (`'static`) and can be written down whole
//! (`Serialize`). The session passes its queries to the records and returns noisy answers. All that a
//! walk knows comes from noisy answers, each charged in full: its artefact is post-processing.
//!
//! ```text
//!  Walk ──question──► Session ──charge, draw──► records + noise ──► noised answer ──► Walk … ──► artefact
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The next step of a walk.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<Q, A> {
    /// A query, as plain data.
    Ask(Q),
    /// A value to release. A walk may continue after it.
    Release(A),
    /// The end of the walk.
    End,
}

/// The learner's part of a session.
///
/// It cannot hold records by reference:
/// ```compile_fail,E0478
/// use privet_dp::gate::{Next, Walk};
/// struct Peeking<'a>(&'a [f64]);
/// impl<'a> serde::Serialize for Peeking<'a> {
///     fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> { s.serialize_unit() }
/// }
/// impl<'a, 'de> serde::Deserialize<'de> for Peeking<'a> {
///     fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> { Ok(Self(&[])) }
/// }
/// impl<'a> Walk for Peeking<'a> {
///     type Start = ();
///     type Query = ();
///     type Answer = ();
///     type Artefact = f64;
///     fn begin(_: ()) -> Self { Self(&[]) }
///     fn next(&mut self, _: Option<()>) -> Next<(), f64> { Next::Release(self.0[0]) }
/// }
/// ```
/// nor be passed to a session by code that holds them:
/// ```compile_fail,E0451
/// use privet_dp::gate::RunningWalk;
/// fn smuggle<W>(walk: W) -> RunningWalk<W> { RunningWalk { walk, session: 1 } }
/// ```
pub trait Walk: Serialize + DeserializeOwned + Send + 'static {
    /// The initial state: plain data of the plan.
    type Start: DeserializeOwned;
    /// A query: plain data.
    type Query: Serialize;
    /// The noisy answer to a query.
    type Answer;
    /// The released value.
    type Artefact;

    /// Returns the walk at its beginning.
    fn begin(start: Self::Start) -> Self;

    /// Returns the next step, given the answer to the last query, if there was one.
    fn next(&mut self, answer: Option<Self::Answer>) -> Next<Self::Query, Self::Artefact>;
}

/// A walk that receives public data whenever its session is resumed: the queries of a batch.
pub trait ReceivingWalk: Walk {
    /// The public data: plain, and independent of all records.
    type News: Serialize + 'static;

    /// Receives the data, before the next query.
    fn receive(&mut self, news: Self::News);
}

/// A walk that a session began or resumed. A session runs no others: a walk from elsewhere could hold
/// anything.
#[derive(Debug)]
pub struct RunningWalk<W> {
    pub(super) walk: W,
    pub(super) session: u64,
}
