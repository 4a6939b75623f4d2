//! Any bytes as method, path, query and headers of a request.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_server::testkit::rest_path(bytes);
});
