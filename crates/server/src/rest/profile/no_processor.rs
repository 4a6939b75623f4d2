//! Replaces the processor profile in builds without the feature `profiler`.

use axum::http::StatusCode;

use super::super::refusal::{Answer, Refusal};
use super::super::request::RestRequest;

/// Rejects the request. The message names the build that supports it.
pub(crate) async fn get_cpu_profile(_: RestRequest) -> Answer {
    let why = "this program was built without the feature `profiler`. Build it with `--features profiler`.";
    Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, why))
}
