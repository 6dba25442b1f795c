#![no_main]
// The body is privet_fuzz::libsvm. Decoders of others are fenced by catch_unwind, so the hook that
// aborts on every panic is taken out; a panic that escapes still aborts.
libfuzzer_sys::fuzz_target!(
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| {
        privet_fuzz::libsvm(bytes);
    }
);
