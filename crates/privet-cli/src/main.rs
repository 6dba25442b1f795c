//! The `privet` command.
fn main() {}
