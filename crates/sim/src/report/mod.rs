//! What a run was like, for people and for programs.
//!
//! | output | for | call |
//! | --- | --- | --- |
//! | HTML | people | [`html::page`] |
//! | JSON | programs, and [`compare`] | [`json::render`] |
//! | CSV | checks that know nothing of ours | [`csv::write_all`], [`csv::DecisionsCsv`] |
//! | table | the terminal | [`table::render`] |
//!
//! Everything but the speed in the terminal table depends on the run alone: the same run
//! gives the same bytes.

pub mod compare;
pub mod csv;
mod header;
pub mod html;
mod inputs;
pub mod json;
pub mod pretty;
pub mod table;
mod verdict;
mod words;

pub use header::{Curves, Input, RunHeader};
pub use inputs::inputs;
pub use words::blocker as blocker_in_words;
