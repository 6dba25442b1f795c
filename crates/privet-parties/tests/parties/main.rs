//! Tests of parties and servers: whole runs, in memory and over TLS, and every failure.

mod cheating;
mod common;
mod joint;
mod lying;
mod many_parties;
mod network;
mod phases;
mod restart;
mod together;
mod view;
mod waits;
