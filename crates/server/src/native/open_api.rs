//! `GET /headroom/v1/openapi.json`: the document of all routes.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::Response;
use headroom_api::openapi;
use serde_json::Value;

use super::answer::json;
use super::asked::Asked;

/// It does not change while the process lives.
static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(openapi()).expect("the document is JSON"));

pub(super) async fn document(asked: Asked) -> Response<Body> {
    json(&asked, &*DOCUMENT)
}
