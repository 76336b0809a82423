//! A body and its headers, through the parser.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gossamer_core::parse::fuzz::fuzz_html(data));
