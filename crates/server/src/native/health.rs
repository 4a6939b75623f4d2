//! `GET /headroom/v1/health`: the identity and the state of this server.

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{
    ClockOffset, JournalHealth, JournalState, ServerHealth, ServerState, WriterHealth,
};
use headroom_core::view::Rate;
use headroom_engine::Health;

use super::answer::json;
use super::request::NativeRequest;
use super::words::{stamp, time};
use crate::live::StreamKind;
use crate::service::Service;

pub(super) async fn health(State(service): State<Service>, asked: NativeRequest) -> Response<Body> {
    // `at_least` is not used, so that the request is answered even if the writer is blocked.
    let view = service.engine.views().latest();
    let engine = service.engine.health();
    let body = ServerHealth {
        stamp: stamp(&service, &view),
        state: state_of(&engine),
        version: service.about.version.to_owned(),
        build: service.about.build.clone(),
        started_at: service.about.started_at,
        leader: true,
        journal: JournalHealth {
            state: if engine.journal_failure.is_some() {
                JournalState::Failed
            } else {
                JournalState::Ok
            },
            last_flush: engine.last_flush.map(time),
            flush_p99_ms: engine.flush_p99.map_or(0.0, |took| took.as_secs_f64() * 1_000.0),
            disk_free: None,
        },
        writer: WriterHealth {
            backlog: engine.backlog as u64,
            steps_per_second: f64::from(u32::try_from(engine.steps_per_second).unwrap_or(u32::MAX)),
        },
        rms: service.live().rms(),
        streams: StreamKind::ALL.map(|kind| service.live().streams(kind)).iter().sum(),
        memory: memory_of_process().unwrap_or(0),
        drift: drift(&service),
        recovering: None,
        clock: service
            .engine
            .clock_offset()
            .map(|both| ClockOffset { system: time(both.system), scheduler: time(both.engine) }),
    };
    json(&asked, &body)
}

fn state_of(engine: &Health) -> ServerState {
    if engine.journal_failure.is_some() {
        ServerState::ReadOnly
    } else if engine.stopped.is_some() {
        ServerState::Stopping
    } else if engine.backlog >= engine.backlog_max {
        ServerState::Overloaded
    } else {
        ServerState::Ready
    }
}

/// Returns the number of checks of the books that failed in the last run, without the checks that count errors of
/// clients.
pub(crate) fn drift(service: &Service) -> u64 {
    let checked = service.engine.checked();
    let checks = checked.iter().flat_map(|checked| checked.checks.iter().skip(OF_CLIENTS));
    checks.filter(|check| !check.succeeded).count() as u64
}

/// Number of checks at the start of the list that count errors of clients: scheduling errors, and nodes that could
/// not join.
const OF_CLIENTS: usize = 2;

/// Converts a count within a minute to a rate per second.
#[expect(clippy::cast_precision_loss, reason = "counts of a minute are far below 2^53")]
pub(super) fn per_second(within_a_minute: u64) -> f64 {
    within_a_minute as f64 / Rate::SECONDS as f64
}

/// Returns the memory of this process in bytes. `None` if the system does not report this size.
fn memory_of_process() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(resident * PAGE)
}

/// Size of a page in bytes, on all supported systems.
const PAGE: u64 = 4_096;
