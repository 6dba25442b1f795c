//! Ctrl-C: stops at once, but never in the middle of writing.
//!
//! Whoever writes a file holds [`writing`]'s guard from the moment its temporary file exists until
//! it is renamed or removed. The handler takes the same lock before it ends the process, so that a
//! file is there whole or not at all. Reading and solving leave nothing behind and need no guard;
//! programs that teach have folders with records, which the handler wipes after it has ended them; of rows that are being
//! encoded it leaves what was finished, where that was asked for ([`privet_data::block::Cache`]).

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The exit code of an interrupted command.
pub const INTERRUPTED: u8 = 130;

static WRITING: Mutex<()> = Mutex::new(());
static ADVICE: Mutex<String> = Mutex::new(String::new());

/// What to tell whoever interrupts from now on.
#[cfg(feature = "bench")]
pub fn advise(words: String) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Holds off an interruption while it lives.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the handler. Where that is impossible, the system's own way of stopping remains.
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
