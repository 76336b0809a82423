//! URL patterns of a host: what their visits brought, and which are doubted.
//!
//! Takes each visit, and the fresh links that it led to; gives the place of a URL in the queue ([`Placing`]). A
//! pattern whose visits bring nothing new, or that goes on for ever, is doubted: its URLs come last, and when
//! they have had their share of the host's visits the rest is set aside, to be taken up again by command.
//! Nothing is refused by its look.

mod counts;
mod evidence;
mod finding;
pub mod hint;
mod labels;
mod learn;
mod learners;
mod novelty;
mod parameters;
mod print;
mod row;
mod take_up;
mod text;
mod visited;
mod words;

pub use counts::{Asked, CountKey, Doubt, HostCounts, PageAt, Placing, Seen, look_up};
pub use evidence::{Brought, Evidence, EvidenceSettings, Visit};
pub use finding::{Finding, ParameterSettings, State};
pub use hint::HintSettings;
pub use novelty::{Novelty, Whose};
pub use parameters::{Bare, Parameters, Sessions, has_parameter, stored as stored_parameters};
pub use print::{Comparison, Likeness, Print};
pub use row::{Change, Counts, Decided, Decision};
pub use take_up::{DoubtedRow, Taking};
pub use text::{Pattern, key_of};

pub(crate) use counts::{DOUBT, PREFIX as COUNTS};
pub(crate) use learners::PREFIX as LEARNT;
pub(crate) use parameters::PREFIX as PARAMETERS;
