//! `GET /headroom/v1/openapi.json`: the `OpenAPI` document of all routes.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::Response;
use headroom_api::openapi;

use super::answer;
use super::request::NativeRequest;

/// The document as JSON, with its entity tag. Constant for the lifetime of the process.
static DOCUMENT: LazyLock<(Bytes, String)> = LazyLock::new(|| {
    let bytes = serde_json::to_vec(&openapi()).expect("the document is JSON");
    let tag = answer::tag_of_content(&bytes);
    (bytes.into(), tag)
});

pub(super) async fn document(asked: NativeRequest) -> Response<Body> {
    let (bytes, tag) = &*DOCUMENT;
    answer::document(&asked, tag.clone(), bytes.clone())
}
