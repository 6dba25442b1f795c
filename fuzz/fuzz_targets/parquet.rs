#![no_main]
// The body is privet_fuzz::parquet. Decoders of others are fenced by catch_unwind, so the hook that
// aborts on every panic is taken out; a panic that escapes still aborts.
libfuzzer_sys::fuzz_target!(
    init: drop(std::panic::take_hook()),
    |bytes: &[u8]| {
        privet_fuzz::parquet(bytes);
    }
);
