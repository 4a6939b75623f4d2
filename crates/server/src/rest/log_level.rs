//! `GET` and `PUT /headroom/v1/log-level`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, put};
use axum::{Extension, Json};
use headroom_api::headroomv1::{Code, LogLevel};

use crate::family::{Family, Refusal};
use crate::listen::RequestId;
use crate::log_levels::LogLevels;
use crate::service::Service;

/// Returns the handler of an operation in the table of routes. `None` for operations of other modules. Requests have
/// the levels as an extension.
pub fn handler(operation: &str) -> Option<MethodRouter<Service>> {
    Some(match operation {
        "getLogLevel" => get(read),
        "setLogLevel" => put(replace),
        _ => return None,
    })
}

async fn read(Extension(levels): Extension<Arc<LogLevels>>) -> Json<LogLevel> {
    Json(levels.get())
}

async fn replace(
    Extension(levels): Extension<Arc<LogLevels>>,
    id: Option<Extension<RequestId>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match set(&levels, &headers, &body) {
        Ok(levels) => Json(levels).into_response(),
        Err(refusal) => {
            let id = id.map(|Extension(RequestId(id))| id).unwrap_or_default();
            refusal.response(Family::Headroom, &id)
        }
    }
}

fn set(levels: &LogLevels, headers: &HeaderMap, body: &[u8]) -> Result<LogLevel, Refusal> {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    let kind = media.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let why = format!("the media type of the body is {kind:?}, expected application/json");
        return Err(Refusal::new(Code::UnsupportedMediaType, why));
    }
    let wanted: LogLevel = serde_json::from_slice(body)
        .map_err(|error| Refusal::new(Code::Malformed, format!("the body: {error}")))?;
    let unfit = |error: crate::LogLevelError| Refusal::new(Code::Invalid, error.to_string());
    levels.set(wanted).map_err(unfit)?;
    let now = levels.get();
    tracing::info!(level = ?now.level, targets = now.targets.len(), "log levels changed");
    Ok(now)
}
