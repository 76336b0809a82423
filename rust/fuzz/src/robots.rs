//! A path and a `robots.txt`, through the rules.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gossamer_core::frontier::robots::fuzz::fuzz_robots(data));
