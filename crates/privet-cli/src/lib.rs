//! The `privet` command: parses, runs, maps the outcome to an exit code.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | refused on privacy grounds: certificate, proof or budget |
//! | 2 | bad input or usage, data and model files included |
//! | 3 | the environment: disk, permission |
//! | 130 | interrupted; nothing half-written |
//!
//! Results go to standard output, prose and progress to standard error. A verb is a file of `verbs`;
//! code shared by several verbs is beside it. A library, so that `python -m privet` is the same program;
//! [`page`] draws a model.
#![forbid(unsafe_code)]

mod bad_line;
mod census;
mod cli;
mod disk;
mod failure;
mod family;
mod flow;
mod head;
mod interrupt;
mod keys;
mod lines_in;
mod odds;
mod order;
mod output;
pub mod page;
mod progress;
mod releasing;
mod sentences;
mod settings;
mod spending;
mod usable;
mod verbs;

use std::ffi::OsString;

/// Parts shared with `privet-bench`, a command with the same conventions. They are not a public
/// interface.
#[doc(hidden)]
pub mod shared {
    pub use crate::cli::Everywhere;
    pub use crate::failure::Failure;
    pub use crate::flow::flowing;
    pub use crate::interrupt::{advise, writing};
    pub use crate::output::{
        is_said, number, open, print, print_json, quote_for_shell, report, room, table, write,
    };
    pub use crate::progress::Meter;
    pub use crate::sentences::{wrap_after_margin, wrap_lines};
    pub use crate::settings::range_parser;
}

/// Runs the command line, whose first argument is the program's name, and returns the exit code. It is
/// the whole program: it handles Ctrl-C and panics from here on.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    end_of(|| cli::Cli::read(arguments), cli::Cli::run)
}

/// As [`main`], for another command line.
#[doc(hidden)]
pub fn end_of<Line>(
    read: impl FnOnce() -> Result<Line, clap::Error>,
    run: impl FnOnce(Line) -> Result<(), failure::Failure>,
) -> u8 {
    interrupt::install();
    quiet_inside_fences();
    let outcome = match read() {
        Ok(line) => run(line),
        Err(usage) => {
            // Help and version go to standard output with code 0, mistakes to standard error.
            let code = usage.exit_code();
            if usage.use_stderr() {
                // It may repeat arguments.
                say!("{}", usage.render().to_string().trim_end());
            } else {
                let _ = usage.print();
            }
            return u8::try_from(code).unwrap_or(2);
        }
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            failure.tell();
            failure.code()
        }
    }
}

/// Silences panics that are caught. A decoder that panics on a damaged file is caught by the reader,
/// which reports the fault; the panic's own message could repeat a value of a record. A teacher that
/// panics votes for the first class; a message for each would reveal the number of panics.
fn quiet_inside_fences() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let inside =
            privet_data::read::inside_fence() || privet_learn::votes::teacher::inside_teacher();
        if !inside {
            usual(panic);
        }
    }));
}
