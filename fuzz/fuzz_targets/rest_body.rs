//! Any bytes as the body of a request that takes one.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_server::testkit::rest_body(bytes);
});
