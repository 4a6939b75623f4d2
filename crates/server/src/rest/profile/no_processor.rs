//! In place of what takes profiles of the processor, where the feature `profiler` was left out.

use axum::http::StatusCode;

use super::super::refusal::{Answer, Refusal};
use super::super::request::RestRequest;

/// Refuses, and names the way to a build that can.
pub(crate) async fn get_cpu_profile(_: RestRequest) -> Answer {
    let why = "this program was built without the feature `profiler`. Build it with `--features profiler`.";
    Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, why))
}
