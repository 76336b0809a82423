//! Why a link of a page was not followed, and how many for each reason.
//!
//! The one list of reasons is here; what each means for people, and what would change it, is said in
//! Python (`src/gossamer/policy/rules/left_out.py`), and a test compares the two lists.

use super::scope::OutOfScope;
use crate::canonical::Refusal;

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Why a link was not followed. `as_str` gives the spelling used in logs and the API.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Reason { $($(#[$doc])* $variant,)* }

        impl Reason {
            /// Every reason, in the order of their numbers.
            pub const ALL: &'static [Reason] = &[$(Reason::$variant,)*];

            /// The spelling used in logs and the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Reason::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    /// The link, or its whole page, says `nofollow`.
    NoFollow = "nofollow",
    /// It shares nothing with a seed.
    OtherSite = "other_site",
    /// Neither `http` nor `https`, or one of them that is not followed.
    Scheme = "scheme",
    /// Its file suffix stands for something that is not wanted.
    Suffix = "suffix",
    /// None of the expressions that a URL must match.
    NotIncluded = "not_included",
    /// An expression that no URL may match.
    Excluded = "excluded",
    /// Its host or domain is blocked.
    Blocked = "blocked",
    /// It lies in too many folders of its site.
    TooDeep = "too_deep",
    /// The text is no URL that could be fetched.
    UrlRefused = "url_refused",
    /// A `<link>` whose relation leads to no page: a feed, a short link, an interface for programs.
    Relation = "relation",
    /// The links before it took all the memory that those of one page may have.
    Cut = "cut",
    /// A rule says that the page's links are not followed.
    Rule = "rule",
    /// The page is of a type that is not read for links.
    PageType = "page_type",
    /// The page is a copy of another, and links of copies are not followed.
    Copy = "copy",
    /// The target of a redirect, after too many from a seed.
    Redirects = "redirects",
    /// It was followed without a parameter that changes nothing on its host.
    Parameter = "parameter",
}

impl From<OutOfScope> for Reason {
    fn from(rule: OutOfScope) -> Reason {
        match rule {
            OutOfScope::Scheme => Reason::Scheme,
            OutOfScope::Seeds => Reason::OtherSite,
            OutOfScope::Suffix => Reason::Suffix,
            OutOfScope::NotIncluded => Reason::NotIncluded,
            OutOfScope::Excluded => Reason::Excluded,
            OutOfScope::Blocked => Reason::Blocked,
            OutOfScope::TooDeep => Reason::TooDeep,
        }
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Reason {
        match refusal {
            Refusal::Scheme => Reason::Scheme,
            _ => Reason::UrlRefused,
        }
    }
}

/// How many links were left out for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut([u32; Reason::ALL.len()]);

impl LeftOut {
    pub fn add(&mut self, reason: impl Into<Reason>, links: u32) {
        let reason: Reason = reason.into();
        let count = &mut self.0[reason as usize];
        *count = count.saturating_add(links);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    #[must_use]
    pub fn get(&self, reason: Reason) -> u32 {
        self.0[reason as usize]
    }

    /// The reasons that there were, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u32)> {
        let all = Reason::ALL.iter().copied().zip(self.0);
        all.filter(|(_, count)| *count > 0)
    }
}
