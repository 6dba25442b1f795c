//! Learning from answers: private predictions for public questions.

pub mod neighbours;
