//! Text of events: the kind for programs, the names of the objects, and a sentence for people.
//!
//! The server, the logs, and `decisions.csv` of the simulator use the same texts.

mod kind;
mod names;
mod sentence;
pub use kind::kind_of;
pub use names::{EventNames, TenantPath, named, subjects, task_states};
pub use sentence::{reason_of, text_of};
