//! `GET /headroom/v1/health`: which server this is, and how it fares.

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{
    JournalHealth, JournalState, ServerHealth, ServerState, WriterHealth,
};
use headroom_core::view::Rate;

use super::answer::json;
use super::asked::Asked;
use super::words::stamp;
use crate::live::StreamKind;
use crate::service::Service;

pub(super) async fn health(State(service): State<Service>, asked: Asked) -> Response<Body> {
    // Not `at_least`: this is answered whatever the writer does.
    let view = service.engine.views().latest();
    let stopped = service.engine.stopped().is_some();
    let now = service.clock.now();
    let decisions = view.tally.partitions.values();
    let decisions: u64 = decisions.map(|one| one.decisions.within_a_minute(now)).sum();
    let body = ServerHealth {
        stamp: stamp(&service, &view),
        state: if stopped { ServerState::ReadOnly } else { ServerState::Ready },
        version: service.about.version.to_owned(),
        build: service.about.build.clone(),
        started_at: service.about.started_at,
        leader: true,
        journal: JournalHealth {
            state: if stopped { JournalState::Failed } else { JournalState::Ok },
            ..JournalHealth::default()
        },
        writer: WriterHealth { backlog: 0, steps_per_second: per_second(decisions) },
        rms: service.live().rms(),
        streams: StreamKind::ALL.map(|kind| service.live().streams(kind)).iter().sum(),
        memory: memory_of_process().unwrap_or(0),
        drift: 0,
        recovering: None,
    };
    json(&asked, &body)
}

/// What happened so often within a minute, per second.
#[expect(clippy::cast_precision_loss, reason = "counts of a minute are far below 2^53")]
pub(super) fn per_second(within_a_minute: u64) -> f64 {
    within_a_minute as f64 / Rate::SECONDS as f64
}

/// Memory of this process that is in use, bytes; none where the system does not say.
fn memory_of_process() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(resident * PAGE)
}

/// Bytes of a page, on all systems that this is built for.
const PAGE: u64 = 4_096;
