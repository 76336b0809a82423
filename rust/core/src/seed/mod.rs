//! Stage 1, seed: URLs that enter the crawl without a page that links to them.
//!
//! Takes seeds of the command line, of files and of the API, and the entries of sitemaps; gives raw
//! URLs. Guarantee: every seed is taken, or refused with a reason.

pub mod sitemap;
