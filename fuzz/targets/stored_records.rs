//! See `banqi_fuzz::stored_records`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| banqi_fuzz::stored_records(data));
