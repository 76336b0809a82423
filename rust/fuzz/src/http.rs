//! What a server sends, through a whole exchange and the decoders.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gossamer_core::fetch::fuzz::fuzz_http(data));
