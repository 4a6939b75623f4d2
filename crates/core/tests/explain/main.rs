//! Why asks wait, in full: stories, and what must hold on random histories.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that writes the texts adds them")]

mod histories;
mod lifted;
mod never;
mod order;
mod preemption;
mod remedies;
mod scenes;
mod shown;
mod supposed;
mod turns;
