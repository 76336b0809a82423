//! Scope: the filter at the doors `schedule` and `follow`.
//!
//! Takes a canonical URL; gives "in", or the rule that keeps it out. Compiled once from settings
//! and swapped whole when they change, so a reader never sees half a change.

use std::collections::HashSet;
use std::sync::Arc;

use super::Link;
use super::rules::hosts::Names;
use super::rules::patterns::Patterns;
use crate::canonical::Url;

/// What a URL must share with a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The seed's host, port included.
    Host,
    /// The seed's registered domain.
    Domain,
    /// The seed's URL up to its last slash.
    Prefix,
    /// Nothing.
    Any,
}

/// What the scope is compiled from.
#[derive(Clone, Debug)]
pub struct ScopeSettings {
    pub kind: ScopeKind,
    pub schemes: Vec<String>,
    pub skip_suffixes: Vec<String>,
    /// Where the suffix says nothing of what a URL is: folders (`wiki/`), texts in a file's name (`:`).
    pub page_marks: Vec<String>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub block: Vec<String>,
    /// Folders deep into a site, at most; `None`: no limit.
    pub site_depth: Option<u16>,
}

impl Default for ScopeSettings {
    fn default() -> Self {
        ScopeSettings {
            kind: ScopeKind::Any,
            schemes: vec!["http".into(), "https".into()],
            skip_suffixes: Vec::new(),
            page_marks: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            block: Vec::new(),
            site_depth: None,
        }
    }
}

/// Why a URL is out of scope: the rule, for `gossamer why`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    Scheme,
    Seeds,
    Suffix,
    NotIncluded,
    Excluded,
    Blocked,
    TooDeep,
}

impl OutOfScope {
    /// The rule in words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            OutOfScope::Scheme => "scope.schemes does not name its scheme",
            OutOfScope::Seeds => "scope.kind: it shares nothing with a seed",
            OutOfScope::Suffix => "scope.skip_suffixes names its file suffix",
            OutOfScope::NotIncluded => "scope.include: no expression matches",
            OutOfScope::Excluded => "scope.exclude: an expression matches",
            OutOfScope::Blocked => "scope.block names its host or domain",
            OutOfScope::TooDeep => "limits.site_depth: it lies in more folders",
        }
    }
}

/// The compiled scope. The seeds' hosts, domains and prefixes grow as seeds are added.
#[derive(Clone, Debug)]
pub struct Scope {
    kind: ScopeKind,
    http: bool,
    https: bool,
    skip_suffixes: HashSet<String>,
    page_folders: Vec<String>,
    page_texts: Vec<String>,
    include: Option<Patterns>,
    exclude: Option<Patterns>,
    block: Names<()>,
    site_depth: Option<u16>,
    /// Most roots are shared by all versions of the scope: a crawl may have a million, and gains one with
    /// each redirect of a seed.
    roots: Arc<HashSet<String>>,
    fresh_roots: HashSet<String>,
    prefixes: Vec<String>,
}

/// Roots that a version of the scope has of its own, at most.
const FRESH_ROOTS: usize = 1_024;

/// The longest file suffix that is looked up.
const SUFFIX_LIMIT: usize = 16;

impl Scope {
    /// Whether a link may be visited. Sitemaps are files, so the suffixes that pages must not have
    /// do not bind them.
    #[must_use]
    pub fn admits(&self, link: &Link) -> bool {
        self.judge(link).is_ok()
    }

    /// The same, with the rule that keeps it out.
    pub fn judge(&self, link: &Link) -> Result<(), OutOfScope> {
        match self.check(&link.url) {
            Err(OutOfScope::Suffix | OutOfScope::NotIncluded | OutOfScope::TooDeep)
                if link.sitemap =>
            {
                Ok(())
            }
            verdict => verdict,
        }
    }

    /// Compiles the settings; a wrong regular expression is named.
    pub fn new(settings: &ScopeSettings) -> Result<Scope, String> {
        let compile = |what: &str, list: &[String]| {
            let list: Vec<(String, u16)> = list.iter().map(|text| (text.clone(), 0)).collect();
            Patterns::new(&list).map_err(|(_, error)| format!("scope.{what}: {error}"))
        };
        for scheme in &settings.schemes {
            if scheme != "http" && scheme != "https" {
                return Err(format!(
                    "scope.schemes: {scheme:?} is not a scheme that can be visited"
                ));
            }
        }
        let lower = |text: &String| text.trim_start_matches('.').to_ascii_lowercase();
        let mut block = Names::default();
        for name in settings.block.iter().map(lower) {
            block.entry(&name);
        }
        let (folders, texts): (Vec<&String>, Vec<&String>) = settings
            .page_marks
            .iter()
            .partition(|mark| mark.ends_with('/'));
        let folder = |mark: &String| mark.trim_matches('/').to_owned();
        Ok(Scope {
            kind: settings.kind,
            http: settings.schemes.iter().any(|scheme| scheme == "http"),
            https: settings.schemes.iter().any(|scheme| scheme == "https"),
            skip_suffixes: settings.skip_suffixes.iter().map(lower).collect(),
            page_folders: folders.into_iter().map(folder).collect(),
            page_texts: texts.into_iter().cloned().collect(),
            include: compile("include", &settings.include)?,
            exclude: compile("exclude", &settings.exclude)?,
            block,
            site_depth: settings.site_depth,
            roots: Arc::default(),
            fresh_roots: HashSet::new(),
            prefixes: Vec::new(),
        })
    }

    /// Widens the scope by a seed. Returns its root, known or new, for the durable record of roots.
    pub fn add_seed(&mut self, seed: &Url) -> Option<String> {
        let root = match self.kind {
            ScopeKind::Any => return None,
            ScopeKind::Host => seed.host().to_owned(),
            ScopeKind::Domain => domain_of(seed).to_owned(),
            ScopeKind::Prefix => prefix_of(seed.as_str()).to_owned(),
        };
        self.add_root(&root);
        Some(root)
    }

    /// Takes back a root that [`Scope::add_seed`] gave.
    pub fn add_root(&mut self, root: &str) {
        if self.is_root(root) {
            return;
        }
        self.fresh_roots.insert(root.to_owned());
        if self.kind == ScopeKind::Prefix {
            self.prefixes.push(root.to_owned());
        }
        if self.fresh_roots.len() >= FRESH_ROOTS {
            Arc::make_mut(&mut self.roots).extend(self.fresh_roots.drain());
        }
    }

    /// Whether a seed may come in, or which rule keeps it out. It brings a root of its own, so it
    /// need not share anything with the seeds before it.
    pub fn check_seed(&self, url: &Url) -> Result<(), OutOfScope> {
        self.check_scheme(url)?;
        self.check_filters(url)
    }

    /// Whether the URL is in scope, or which rule keeps it out.
    pub fn check(&self, url: &Url) -> Result<(), OutOfScope> {
        self.check_scheme(url)?;
        let inside = match self.kind {
            ScopeKind::Any => true,
            ScopeKind::Host => self.is_root(url.host()),
            ScopeKind::Domain => self.is_root(domain_of(url)),
            ScopeKind::Prefix => self
                .prefixes
                .iter()
                .any(|root| url.as_str().starts_with(root)),
        };
        if !inside {
            return Err(OutOfScope::Seeds);
        }
        self.check_filters(url)
    }

    fn is_root(&self, root: &str) -> bool {
        self.roots.contains(root) || self.fresh_roots.contains(root)
    }

    fn check_scheme(&self, url: &Url) -> Result<(), OutOfScope> {
        let visited = if url.scheme_is_https() {
            self.https
        } else {
            self.http
        };
        visited.then_some(()).ok_or(OutOfScope::Scheme)
    }

    fn check_filters(&self, url: &Url) -> Result<(), OutOfScope> {
        // A blocked name blocks itself and every name below it.
        if !self.block.is_empty() && self.block.above(url.hostname()).next().is_some() {
            return Err(OutOfScope::Blocked);
        }
        if let Some(suffix) = suffix_of(url.path_and_query())
            && self.skips(suffix)
            && !self.is_marked(url.path_and_query())
        {
            return Err(OutOfScope::Suffix);
        }
        if let Some(include) = &self.include
            && !include.is_match(url.as_str())
        {
            return Err(OutOfScope::NotIncluded);
        }
        if let Some(exclude) = &self.exclude
            && exclude.is_match(url.as_str())
        {
            return Err(OutOfScope::Excluded);
        }
        // The last rule, so that where it does not bind (sitemaps) the others still do.
        if let Some(most) = self.site_depth
            && folders(url.path_and_query()) > usize::from(most)
        {
            return Err(OutOfScope::TooDeep);
        }
        Ok(())
    }

    fn skips(&self, suffix: &str) -> bool {
        if self.skip_suffixes.is_empty() {
            return false;
        }
        let mut lower = [0u8; SUFFIX_LIMIT];
        let lower = &mut lower[..suffix.len()];
        lower.copy_from_slice(suffix.as_bytes());
        lower.make_ascii_lowercase();
        std::str::from_utf8(lower).is_ok_and(|suffix| self.skip_suffixes.contains(suffix))
    }

    /// Whether the path is one of those whose files are pages, whatever their suffix.
    fn is_marked(&self, path_and_query: &str) -> bool {
        let path = path_and_query.split('?').next().unwrap_or_default();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.page_texts.iter().any(|text| name.contains(&**text))
            || folders.split('/').any(|folder| {
                self.page_folders
                    .iter()
                    .any(|mark| mark.eq_ignore_ascii_case(folder))
            })
    }
}

fn domain_of(url: &Url) -> &str {
    url.registered_domain().unwrap_or_else(|| url.hostname())
}

/// The URL up to the last slash of its path.
fn prefix_of(url: &str) -> &str {
    let path_end = url.find('?').unwrap_or(url.len());
    url[..path_end]
        .rfind('/')
        .map_or(url, |slash| &url[..=slash])
}

/// How many folders a path lies in: its slashes after the first.
fn folders(path_and_query: &str) -> usize {
    let path = path_and_query.split('?').next().unwrap_or_default();
    path.bytes().skip(1).filter(|byte| *byte == b'/').count()
}

/// The file suffix of the last path segment, without its dot; `None` where there is none.
fn suffix_of(path_and_query: &str) -> Option<&str> {
    let path = path_and_query.split('?').next()?;
    let name = path.rsplit('/').next()?;
    let (stem, suffix) = name.rsplit_once('.')?;
    (!stem.is_empty() && !suffix.is_empty() && suffix.len() <= SUFFIX_LIMIT).then_some(suffix)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::canonical::{Rules, canonical};

    #[test]
    fn a_site_is_visited_so_many_folders_deep() {
        let settings = ScopeSettings {
            site_depth: Some(1),
            exclude: vec!["/no/".to_owned()],
            ..ScopeSettings::default()
        };
        let scope = Scope::new(&settings).unwrap();
        let verdict = |path: &str| {
            let url = canonical(&format!("http://a.test{path}"), None, &Rules::default());
            scope.check(&url.unwrap())
        };
        for path in ["", "/", "/a", "/a/", "/a/b?c=/d/e/f", "/?/a/b/c"] {
            assert_eq!(verdict(path), Ok(()), "{path}");
        }
        for path in ["/a/b/", "/a/b/c", "/a/b/?q"] {
            assert_eq!(verdict(path), Err(OutOfScope::TooDeep), "{path}");
        }
        assert_eq!(verdict("/a/no/b/c"), Err(OutOfScope::Excluded));
        assert_eq!(folders(""), 0);
    }

    #[test]
    fn a_suffix_says_nothing_where_pages_have_names_of_files() {
        let settings = ScopeSettings {
            skip_suffixes: vec!["png".to_owned(), "ZIP".to_owned()],
            page_marks: [":", "%3A", "wiki/", "/blob/"].map(str::to_owned).to_vec(),
            ..ScopeSettings::default()
        };
        let scope = Scope::new(&settings).unwrap();
        let verdict = |path: &str| {
            let url = canonical(&format!("http://a.test{path}"), None, &Rules::default());
            scope.check(&url.unwrap())
        };
        for path in [
            "/wiki/a.png",
            "/Wiki/sub/a.zip?x=1",
            "/x/blob/main/a.png",
            "/w/File:a.png",
            "/File%3Aa.png",
            "/a.js",
            "/a",
        ] {
            assert_eq!(verdict(path), Ok(()), "{path}");
        }
        // A mark is a whole folder, or stands in the name of the file.
        for path in [
            "/a.png",
            "/A.Zip",
            "/mywiki/a.png",
            "/x:y/a.png",
            "/wiki.png",
        ] {
            assert_eq!(verdict(path), Err(OutOfScope::Suffix), "{path}");
        }
    }

    #[test]
    fn roots_are_known_however_many_there_are() {
        let settings = ScopeSettings {
            kind: ScopeKind::Host,
            ..ScopeSettings::default()
        };
        let mut scope = Scope::new(&settings).unwrap();
        let url = |number: usize| {
            canonical(&format!("http://h{number}.test/"), None, &Rules::default()).unwrap()
        };
        for number in 0..3 * FRESH_ROOTS {
            let earlier = scope.clone();
            assert_eq!(earlier.check(&url(number)), Err(OutOfScope::Seeds));
            scope.add_seed(&url(number));
            assert!(scope.fresh_roots.len() < FRESH_ROOTS);
        }
        assert!((0..3 * FRESH_ROOTS).all(|number| scope.check(&url(number)).is_ok()));
    }
}
