//! Snapshots: what was written can be read, today and by later versions; what is damaged is
//! refused.

mod application_limits;
mod damage;
mod fields;
mod golden;
mod story;
mod user_limits;

use headroom_core::books::Books;
use headroom_engine::snapshot::{self, SnapshotError};

fn written<T: serde::Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    snapshot::write(value, &mut bytes).expect("memory takes everything");
    bytes
}

fn read<T: serde::de::DeserializeOwned>(mut bytes: &[u8]) -> Result<T, SnapshotError> {
    snapshot::read(&mut bytes, 1 << 24)
}

fn books() -> Books {
    headroom_core::testkit::tell_world(story::STORY).books
}
