//! The pure model of the web.
//! Takes: options. Gives: every host, path, link and behaviour as a function of its number.
//! Guarantees: deterministic; memory O(hosts), whatever the number of pages.

mod blocks;
pub mod change;
pub mod hash;
pub mod hosts;
pub mod html;
pub mod kind;
pub mod links;
pub mod node;
pub mod path;
pub mod robots;
mod shape;
mod sheet;
pub mod sitemap;
pub mod text;
pub mod traps;

#[cfg(test)]
mod tests;

use crate::options::{BadOption, Options};
use hash::{Draw, Purpose};
pub use hosts::Hosts;
pub use node::Node;
use text::Pools;

/// A page, by its host and its number on that host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    pub host: u32,
    pub page: u64,
}

/// The web that follows from some options.
#[derive(Debug)]
pub struct Model {
    pub options: Options,
    pub hosts: Hosts,
    pub(crate) pools: Pools,
}

impl Model {
    pub fn new(options: Options) -> Result<Model, BadOption> {
        let hosts = Hosts::new(&options);
        let pools = Pools::new(options.seed, options.charsets > 0.0);
        Ok(Model {
            options,
            hosts,
            pools,
        })
    }

    #[inline]
    pub(crate) fn draw(&self, purpose: Purpose, host: u32, page: u64) -> Draw {
        Draw::new(self.options.seed, purpose, u64::from(host), page)
    }

    /// The start page.
    #[must_use]
    pub fn start_url(&self) -> String {
        format!("http://{}/", self.hosts.authority(0))
    }

    /// The page of a number in `0..pages`.
    #[must_use]
    pub fn place(&self, id: u64) -> Place {
        self.hosts.place(id)
    }

    /// Pages of the host that links may lead to; the orphans follow them.
    #[inline]
    #[must_use]
    pub fn linked_pages(&self, host: u32) -> u64 {
        let pages = self.hosts.pages(host);
        if pages < 3 {
            return pages;
        }
        pages - (pages as f64 * self.options.orphans) as u64
    }

    /// Pages that others hang below: their behaviour never cuts the web apart.
    #[inline]
    #[must_use]
    pub fn is_structural(&self, place: Place) -> bool {
        holds_others(place.page, self.linked_pages(place.host))
    }

    /// The page has no link to it.
    #[inline]
    #[must_use]
    pub fn is_orphan(&self, place: Place) -> bool {
        place.page >= self.linked_pages(place.host)
    }

    /// The page whose bytes are served at this place, still under the place's own host.
    #[must_use]
    pub fn original(&self, place: Place) -> Place {
        match self.kind(place) {
            kind::Kind::Duplicate { of } | kind::Kind::NearDuplicate { of } => Place {
                host: place.host,
                page: of,
            },
            _ => place,
        }
    }
}

/// Other pages hang below this one of a host with so many linked pages.
#[inline(always)]
fn holds_others(page: u64, linked: u64) -> bool {
    page == 0 || page * links::BRANCH + 1 < linked
}
