//! Catches panics of third-party decoders: some panic on crafted files, which must be reported as
//! damaged data and not end the program.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `decode`, or `None` if it panicked.
pub(super) fn catch_panic<T>(decode: impl FnOnce() -> T) -> Option<T> {
    let before = INSIDE.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(decode));
    INSIDE.set(before);
    outcome.ok()
}

/// True if this thread is decoding inside the fence, where a panic becomes an error. A program's panic
/// hook should then stay silent: the message may repeat a cell's content.
pub fn inside_fence() -> bool {
    INSIDE.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_caught_and_known() {
        assert_eq!(catch_panic(inside_fence), Some(true));
        assert_eq!(catch_panic(|| -> u8 { std::panic::resume_unwind(Box::new("damaged")) }), None);
        assert!(!inside_fence());
    }
}
