//! Any bytes as what callers say of themselves.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_server::testkit::token(bytes);
});
