//! The races against peers.
