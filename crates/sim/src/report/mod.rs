//! Reports of a run, for people and for programs.
//!
//! | output | for | call |
//! | --- | --- | --- |
//! | HTML | people | [`html::page`] |
//! | JSON | programs, and [`compare`] | [`json::render`] |
//! | CSV | checks by independent programs | [`csv::write_all`], [`csv::DecisionsCsv`] |
//! | table | the terminal | [`table::render`] |
//!
//! Everything except the speed in the terminal table depends only on the run: the same run gives the same bytes.

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
