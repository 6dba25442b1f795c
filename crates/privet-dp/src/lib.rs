//! The privacy calculus: noise, accounting, mechanisms, the gate and the certificate.
//!
//! | subject | module |
//! |---|---|
//! | sampling of noise | [`noise`]: a file per law; the source of randomness is an argument |
//! | noise of running sums | [`continual`]: correlated noise for streams |
//! | the (ε, δ) of an event | [`account`]: a file per notion of privacy |
//! | mechanisms, which add the noise | [`mechanism`]: a file per mechanism |
//! | publication | [`gate`]: private values, the session, releases, certificates |
//!
//! To review everything that privet publishes, read this crate: nothing else can make a [`gate::Release`].
#![forbid(unsafe_code)]

pub mod account;
pub mod continual;
pub mod gate;
pub mod mechanism;
pub mod noise;
