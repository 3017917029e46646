//! See `banqi_fuzz::texts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| banqi_fuzz::texts(data));
