//! The learner's half of a session: what to ask next, given noised answers alone.
//!
//! A [`Walk`] begins from plain data that the session was opened with ([`super::Session::start_walking`]), before
//! any record is at hand: whoever asks the records is lent the session and cannot make a walk of its own,
//! only take up the one that is there ([`super::Session::begin`]). It cannot borrow (`'static`) and can be
//! written down whole (`Serialize`). The session puts its questions to the records and hands back what
//! came out under noise. Whatever a walk says it knows from noised
//! answers, each charged in full: its artefact is post-processing.
//!
//! ```text
//!  Walk ──question──► Session ──charge, draw──► records + noise ──► noised answer ──► Walk … ──► artefact
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a walk does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next<Q, A> {
    /// Puts a question, plain data.
    Ask(Q),
    /// Has something to release. A walk may go on after it.
    Release(A),
    /// Is at its end.
    End,
}

/// The learner's half of a session.
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
///     type Question = ();
///     type Answer = ();
///     type Artefact = f64;
///     fn begin(_: ()) -> Self { Self(&[]) }
///     fn next(&mut self, _: Option<()>) -> Next<(), f64> { Next::Release(self.0[0]) }
/// }
/// ```
/// nor be handed to a session by whoever holds them:
/// ```compile_fail,E0451
/// use privet_dp::gate::Walking;
/// fn smuggle<W>(walk: W) -> Walking<W> { Walking { walk, session: 1 } }
/// ```
pub trait Walk: Serialize + DeserializeOwned + Send + 'static {
    /// What it begins from: plain data, of the plan.
    type Start: DeserializeOwned;
    /// What it asks: plain data.
    type Question: Serialize;
    /// What it is told, under noise.
    type Answer;
    /// What it releases.
    type Artefact;

    /// At the start.
    fn begin(start: Self::Start) -> Self;

    /// Goes on, with the answer to its last question if it asked one.
    fn next(&mut self, answer: Option<Self::Answer>) -> Next<Self::Question, Self::Artefact>;
}

/// A walk that is told something public whenever its session is taken up again: the questions of a batch.
pub trait Informed: Walk {
    /// What it is told: plain data that depends on no record.
    type News: Serialize + 'static;

    /// Hears of it, before anything is asked.
    fn told(&mut self, news: Self::News);
}

/// A walk that a session began or took up again. Only those go on: a walk that was made elsewhere could
/// hold anything.
#[derive(Debug)]
pub struct Walking<W> {
    pub(super) walk: W,
    pub(super) session: u64,
}
