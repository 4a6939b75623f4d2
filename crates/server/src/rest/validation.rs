//! The verdict on a queue file, which is not applied.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use headroom_config::review_bytes;

use crate::convert::validation::validation;

use super::refusal::{Answer, Refusal};
use super::request::Asked;
use super::respond::{blocking, json};

pub(crate) async fn validate_config(_: Asked, body: Result<Bytes, BytesRejection>) -> Answer {
    let bytes = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than the server takes")
        }
        _ => Refusal::bad(error.body_text()),
    })?;
    blocking(move || {
        let review = review_bytes(&bytes);
        json(&validation(&review, review.diagnostics.source()))
    })
    .await
}
