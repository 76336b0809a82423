//! A sitemap or feed, through its reader.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gossamer_core::seed::sitemap::fuzz::fuzz_sitemap(data));
