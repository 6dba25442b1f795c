//! The `privet-bench` command. Its code is in the library beside it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(privet_bench::command::main(std::env::args_os()))
}
