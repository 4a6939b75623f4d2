//! Any bytes as messages of a resource manager.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_server::testkit::protobuf(bytes);
});
