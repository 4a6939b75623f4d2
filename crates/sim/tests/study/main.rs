//! The study of the seed's scenes: what it plays, what it works out, and what it says.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod monitor;
mod output;
mod recorded;
mod scenes;
mod tables;

use std::sync::LazyLock;

use headroom_sim::study::{Played, Run, Study};

/// Played once for all tests.
static STUDY: LazyLock<Study> = LazyLock::new(|| Study::new().unwrap());

fn played(id: &str) -> &'static Played {
    STUDY.scenes.iter().find(|scene| scene.id == id).unwrap()
}

fn run(id: &str, formula: &str) -> &'static Run {
    played(id).runs.iter().find(|run| run.formula == formula).unwrap()
}
