//! Any bytes as a queue file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_config::exercise(bytes);
});
