//! Keeps what happened in order, and gives it back whole after a crash.

mod exercise;
mod record;
mod wire;

#[doc(hidden)]
pub use exercise::exercise;
pub use record::{DecodeError, FORMAT, LEVELS_MAX, Origin, Record, TooDeep, What};

/// The messages, as `proto/headroom/journal/v1` defines them.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
pub mod proto {
    include!(concat!(env!("OUT_DIR"), "/headroom.journal.v1.rs"));
}
