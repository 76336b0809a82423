//! A URL that was found: on its way to `seen`, and as the frontier takes it.

use crate::canonical::Url;
use crate::frontier::{Fresh, Order, Traits};
use crate::links::scope::{OutOfScope, Scope};

/// A URL on its way to `seen`.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub url: Url,
    pub depth: u16,
    pub sitemap: bool,
    pub seed: bool,
}

/// As the frontier takes it, in the band that the order gives it.
pub(super) fn item<'a>(found: &'a Found, from: &'a [u8], order: Order) -> Fresh<'a> {
    let dynamic = found.url.is_dynamic();
    Fresh {
        url: found.url.as_str(),
        host: found.url.host(),
        host_key: found.url.host_key(),
        https: found.url.scheme_is_https(),
        dynamic,
        seed: found.seed,
        sitemap: found.sitemap,
        depth: found.depth,
        from,
        band: order.band(Traits {
            depth: found.depth,
            dynamic,
            seed: found.seed,
        }),
        not_before: 0,
    }
}

/// Sitemaps are files, so the suffixes that pages must not have do not bind them.
pub(super) fn in_site(scope: &Scope, url: &Url) -> bool {
    matches!(
        scope.check(url),
        Ok(()) | Err(OutOfScope::Suffix | OutOfScope::NotIncluded | OutOfScope::TooDeep)
    )
}
