//! See `banqi_fuzz::games`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| banqi_fuzz::games(data));
