//! What the tests share that play recorded histories through a service: the engine that goes by hand, the recorded
//! requests as messages, and the recorded queue files. See `tests/replay`, and the package `conformance-pods`.

mod by_hand;
pub mod messages;
mod queue_file;

pub use by_hand::{ByHand, START};
pub use queue_file::without_strict_guarantee;
