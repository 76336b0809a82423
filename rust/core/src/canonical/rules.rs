//! The settings of the canonical form, compiled once per crawl.

/// Query parameters that only say where a visitor came from.
pub const TRACKING_PARAMS: &[&str] = &[
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "ysclid",
    "twclid",
    "ttclid",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "hsctatracking",
    "mkt_tok",
    "oly_anon_id",
    "oly_enc_id",
    "vero_id",
    "wickedid",
    "_openstat",
    "s_cid",
    "rb_clickid",
    "srsltid",
    "cvid",
    "oicd",
    "ml_subscriber",
    "ml_subscriber_hash",
    "pk_campaign",
    "pk_kwd",
    "piwik_*",
    "matomo_*",
    "mtm_*",
    "epik",
    "li_fat_id",
    "_branch_match_id",
];

/// Parameters, in the query or after `;` in the path, that only name a visitor's session where their value is a token.
pub const SESSION_PARAMS: &[&str] = &[
    "jsessionid",
    "phpsessid",
    "sid",
    "sessionid",
    "session_id",
    "sessid",
    "aspsessionid*",
    "asp.net_sessionid",
    "cfid",
    "cftoken",
    "zenid",
    "oscsid",
    "osessionid",
    "s_sessionid",
];

/// The shortest session id in use: 64 bits in hexadecimal digits.
pub const SESSION_TOKEN: usize = 16;

/// Which hosts stay together in one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// General crawl: the host itself.
    #[default]
    Host,
    /// Site crawl: the first label of the host name (an address counts as one label).
    FirstLabel,
}

/// A set of names: exact ones and `prefix*`, ASCII case not counted.
#[derive(Clone, Debug, Default)]
pub struct Names {
    exact: Vec<Box<[u8]>>,
    prefixes: Vec<Box<[u8]>>,
    /// First bytes that occur, in both cases: most parameters are passed over by this alone.
    first: [u64; 4],
    everything: bool,
}

impl Names {
    /// Compiles `patterns`; an empty pattern is passed over.
    pub fn new<S: AsRef<str>>(patterns: impl IntoIterator<Item = S>) -> Self {
        let mut names = Names::default();
        for pattern in patterns {
            let lower = pattern.as_ref().trim().to_ascii_lowercase();
            let (text, prefix) = match lower.strip_suffix('*') {
                Some(stem) => (stem, true),
                None => (lower.as_str(), false),
            };
            match text.as_bytes().first() {
                Some(&byte) => {
                    names.mark(byte);
                    names.mark(byte.to_ascii_uppercase());
                }
                None => names.everything |= prefix,
            }
            if !text.is_empty() {
                let list = if prefix {
                    &mut names.prefixes
                } else {
                    &mut names.exact
                };
                list.push(text.as_bytes().into());
            }
        }
        names.exact.sort_unstable();
        names.exact.dedup();
        names
    }

    fn mark(&mut self, byte: u8) {
        self.first[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Whether no name is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.prefixes.is_empty() && !self.everything
    }

    /// Whether `name` is in the set.
    #[must_use]
    pub fn contains(&self, name: &[u8]) -> bool {
        let Some(&byte) = name.first() else {
            return false;
        };
        if self.everything {
            return true;
        }
        if self.first[usize::from(byte >> 6)] & (1 << (byte & 63)) == 0 {
            return false;
        }
        let same = |stem: &[u8], text: &[u8]| text.eq_ignore_ascii_case(stem);
        self.exact.iter().any(|stem| same(stem, name))
            || self
                .prefixes
                .iter()
                .any(|stem| name.get(..stem.len()).is_some_and(|head| same(stem, head)))
    }
}

/// What the canonical form removes and refuses.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Query parameters to remove wherever they stand.
    pub strip_params: Names,
    /// Session ids to remove from the query and from path parameters (`;jsessionid=…`), if their values are tokens …
    pub strip_session: Names,
    /// … of at least so many characters.
    pub session_token: usize,
    /// The longest canonical URL, in bytes.
    pub max_length: usize,
    /// Which hosts share a partition.
    pub grouping: Grouping,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            strip_params: Names::new(TRACKING_PARAMS),
            strip_session: Names::new(SESSION_PARAMS),
            session_token: SESSION_TOKEN,
            max_length: 2048,
            grouping: Grouping::Host,
        }
    }
}

impl Rules {
    /// Rules that remove nothing: the WHATWG form and the fixed additions.
    #[must_use]
    pub fn plain() -> Self {
        Rules {
            strip_params: Names::default(),
            strip_session: Names::default(),
            ..Rules::default()
        }
    }
}
