//! Any bytes as a snapshot of the books.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_engine::snapshot::exercise(bytes);
});
