//! URL patterns of a host: what their visits brought, and which are doubted.
//!
//! Takes each visit, and the fresh links that it led to; gives the place of a URL in the queue ([`Placing`]). A
//! pattern whose visits bring nothing new, or that goes on for ever, is doubted: its URLs come last, and when
//! they have had their share of the host's visits the rest is set aside, to be taken up again by command.
//! Nothing is refused by its look.

mod active;
mod counts;
mod doubts;
mod evidence;
mod finding;
pub mod hint;
mod judge;
mod labels;
mod learn;
mod learners;
mod naming;
mod novelty;
mod parameters;
mod place;
mod print;
mod row;
mod rows;
mod take_up;
mod text;
mod visit;
mod visited;
mod words;

pub use active::Asked;
pub use counts::HostCounts;
pub use evidence::{Brought, Evidence, EvidenceSettings, Visit};
pub use finding::{Finding, ParameterSettings, State};
pub use hint::HintSettings;
pub use judge::Doubt;
pub use naming::{is_there, look_up};
pub use novelty::{Novelty, Whose};
pub use parameters::{Bare, Parameters, Sessions, has_parameter, stored as stored_parameters};
pub use place::Placing;
pub use print::{Comparison, Likeness, Print};
pub use row::{Change, Counts, Decided, Decision};
pub use rows::CountKey;
pub use take_up::{DoubtedRow, Taking};
pub use text::{Pattern, key_of, twins};
pub use visit::{PageAt, Seen};

pub(crate) use doubts::DOUBT;
pub(crate) use learners::PREFIX as LEARNT;
pub(crate) use parameters::PREFIX as PARAMETERS;
pub(crate) use rows::PREFIX as COUNTS;
