//! Any bytes as a record of the journal.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_journal::exercise(bytes);
});
