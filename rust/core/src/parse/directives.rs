//! Robots directives in pages and headers: `meta[name=robots]` and `X-Robots-Tag`.
//!
//! What is said to everyone and what is said to our agent hold together: the stricter wins.

/// What the directives forbid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub noindex: bool,
    pub nofollow: bool,
    pub noarchive: bool,
}

/// Directives that carry a value behind a colon; any other word before a colon is an agent.
const WITH_VALUE: [&str; 5] = [
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
    "max-image-size",
];

/// Whether `name`, the product token of a rule, means `agent` (a token or a whole user agent).
#[must_use]
pub fn names_agent(name: &str, agent: &str) -> bool {
    let token = agent.split(['/', ' ', ';']).next().unwrap_or_default();
    !token.is_empty() && name.eq_ignore_ascii_case(token)
}

impl Directives {
    /// Adds the directives of a `content` value.
    pub fn add(&mut self, content: &str) {
        for item in content.split([',', ';']) {
            self.add_one(item.trim());
        }
    }

    fn add_one(&mut self, directive: &str) {
        let is = |name: &str| directive.eq_ignore_ascii_case(name);
        let none = is("none");
        self.noindex |= none || is("noindex");
        self.nofollow |= none || is("nofollow");
        self.noarchive |= is("noarchive");
    }

    /// Adds one value of `X-Robots-Tag`; an agent's name holds until the next one.
    pub fn add_header(&mut self, value: &str, agent: &str) {
        let mut ours = true;
        for item in value.split(',') {
            let mut directive = item.trim();
            if let Some((name, rest)) = directive.split_once(':') {
                let name = name.trim();
                if WITH_VALUE
                    .iter()
                    .any(|known| name.eq_ignore_ascii_case(known))
                {
                    continue;
                }
                ours = name == "*" || names_agent(name, agent);
                directive = rest.trim();
            }
            if ours {
                self.add_one(directive);
            }
        }
    }
}
