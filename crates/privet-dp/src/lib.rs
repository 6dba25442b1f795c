//! The privacy calculus: noise, accounting, mechanisms, the gate and the certificate.
//!
//! | question | module |
//! |---|---|
//! | how is it drawn? | [`noise`]: a file per law; the source of randomness is an argument |
//! | what ε does this cost? | [`account`]: a file per notion of privacy |
#![forbid(unsafe_code)]

pub mod account;
pub mod noise;
