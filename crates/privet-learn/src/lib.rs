//! The private learners.
