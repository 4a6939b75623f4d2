//! An event in words: its kind for programs, whom it is about, and its sentence for people.
//!
//! There is one text for each event. The events of the server, the logs and `decisions.csv` of the simulator read it.

mod kind;
mod names;
mod sentence;
pub use kind::kind_of;
pub use names::{EventNames, TenantPath, named, subjects, task_states};
pub use sentence::{reason_of, text_of};
