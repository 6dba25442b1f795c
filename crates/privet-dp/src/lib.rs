//! The privacy calculus: noise, accounting, mechanisms, the gate and the certificate.
//!
//! | question | module |
//! |---|---|
//! | how is it drawn? | [`noise`]: a file per law; the source of randomness is an argument |
//! | what noise do running sums get? | [`continual`]: correlated noise for streams |
//! | what ε does this cost? | [`account`]: a file per notion of privacy |
//! | who adds the noise? | [`mechanism`]: a file per mechanism |
//! | what may be published? | [`gate`]: private values, the session, releases, certificates |
//!
//! To review what privet lets out, read this crate: nothing else can make a [`gate::Release`].
#![forbid(unsafe_code)]

pub mod account;
pub mod continual;
pub mod gate;
pub mod mechanism;
pub mod noise;
