//! A link and the base it was found under, through the canonical form.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gossamer_core::canonical::fuzz::fuzz_url(data));
