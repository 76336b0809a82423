//! The `sitemap` module.
