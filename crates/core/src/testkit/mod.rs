//! Utilities for tests of this and other crates: builders, stories, random histories, and a slow scheduler to compare
//! with.

mod build;
mod effect;
mod moves;
mod naive;
mod naive_claim;
mod naive_law;
mod naive_preempt;
mod naive_victims;
mod part;
mod play;
mod random;
mod random_parts;
mod script;
mod story;
mod watch;
mod world;

pub use build::{amounts, leaf, limit, parent, partition, vector};
pub use moves::{Move, tell_moves};
pub use naive::{evictions as naive_evictions, next as naive_next, wrong_hold as naive_wrong_hold};
pub use naive_claim::Who;
pub use naive_preempt::{Finding, Question, Usage, plan as naive_plan};
pub use naive_victims::{NaiveCost, Unit};
pub use play::{Counts, play};
pub use random::{Op, history, lending_history, lending_tree, tree};
pub use story::{tell, tell_records, tell_world};
pub use world::World;
