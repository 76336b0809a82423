//! Robots rules: what a site lets us visit, by RFC 9309.
//!
//! Takes the body of `robots.txt` and our product token, gives [`Robots`]: the rules of our group
//! only, compact, to be kept with the host. Guarantees:
//!
//! * longest match, `*` and `$`, merged groups, `Allow` wins a tie, `/robots.txt` is always allowed;
//! * a rule holds for every spelling of a path: raw, escaped, with blanks in the rule;
//! * at least the first 500 KiB are read, every line that can be understood counts;
//! * reading is linear in the body, matching in rules × path: no pattern makes it worse;
//! * a body that is no text at all allows everything, as the RFC has it.

#[doc(hidden)]
pub mod fuzz;
mod lines;
mod meaning;
mod pattern;
mod rules;

#[cfg(test)]
mod tests;

pub use lines::{Field, Line, lines, product_token, readable};
pub use meaning::{MAX_REDIRECTS, Meaning, meaning, refusal};
pub use rules::{Robots, Rule};

/// How much of a `robots.txt` is read: RFC 9309 asks for at least this.
pub const MAX_BODY: usize = 500 * 1024;
