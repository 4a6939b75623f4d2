//! A real API server for tests, and a stand-in for faults that a real one cannot be made to show.
//!
//! `HEADROOM_KUBERNETES` names the folder of the tools that start a cluster: `start.sh DIR PORT --kwok N`, which prints
//! the path of a kubeconfig, and `stop.sh DIR [PART]`. Without the variable, tests that need a cluster are skipped.
#![allow(clippy::print_stdout, dead_code, unreachable_pub)]

pub mod cluster;
pub mod stand_in;
pub mod tools;
