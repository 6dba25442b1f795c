//! Ctrl-C: stops at once, but never in the middle of writing.
//!
//! Code that writes a file holds [`writing`]'s guard from the moment its temporary file exists until it
//! is renamed or removed. The handler takes the same lock before it ends the process, so that a file is
//! there whole or not at all. Reading and solving leave nothing behind and need no guard; teacher
//! programs have folders with records, which the handler wipes after it has ended them; of rows being
//! encoded it leaves the finished part, where the caller requested that ([`privet_data::block::Cache`]).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The exit code of an interrupted command.
pub const INTERRUPTED: u8 = 130;

static WRITING: Mutex<()> = Mutex::new(());
static ADVICE: Mutex<String> = Mutex::new(String::new());

/// Sets the advice printed after an interruption from now on.
pub fn advise(words: String) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Delays interruptions while it lives.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the handler. If that fails, the system's default handling of Ctrl-C remains.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if WRITING.try_lock().is_err() {
            crate::say!("stopping as soon as the files being written are whole");
        }
        let _nothing_is_being_written = writing();
        privet_learn::votes::command::wipe_all();
        privet_data::block::tidy_all();
        crate::say!("interrupted: nothing is left half-written");
        let advice = ADVICE.lock().unwrap_or_else(PoisonError::into_inner);
        if !advice.is_empty() {
            crate::say!("{advice}");
        }
        std::process::exit(i32::from(INTERRUPTED));
    });
}
