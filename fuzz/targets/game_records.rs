//! See `banqi_fuzz::game_records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| banqi_fuzz::game_records(data));
