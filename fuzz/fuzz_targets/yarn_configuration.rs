//! Any bytes as a configuration of CapacityScheduler.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    headroom_config::exercise_yarn(bytes);
});
