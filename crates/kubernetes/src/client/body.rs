//! Bodies of requests and of answers.

use std::fmt::Display;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::Fault;

/// Body of a request.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// No body.
    None,
    /// An object.
    Json(&'a Value),
    /// A patch that replaces fields, and removes those that are null.
    MergePatch(&'a Value),
    /// A patch that merges lists by their keys.
    StrategicPatch(&'a Value),
}

impl Content<'_> {
    /// Returns the media type.
    pub(super) fn kind(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Json(_) => Some("application/json"),
            Self::MergePatch(_) => Some("application/merge-patch+json"),
            Self::StrategicPatch(_) => Some("application/strategic-merge-patch+json"),
        }
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Json(value) | Self::MergePatch(value) | Self::StrategicPatch(value) => {
                value.to_string().into_bytes()
            }
        }
    }
}

/// Body of an answer.
pub(super) trait Readable: http_body::Body<Data = Bytes, Error: Display> + Unpin {}

impl<B: http_body::Body<Data = Bytes, Error: Display> + Unpin> Readable for B {}

/// Reads an answer of at most `limit` bytes.
pub(super) async fn read(mut body: impl Readable, limit: usize) -> Result<Bytes, Fault> {
    let mut text = BytesMut::new();
    while let Some(part) = part(&mut body).await? {
        if text.len() + part.len() > limit {
            return Err(Fault::TooLarge(limit));
        }
        text.extend_from_slice(&part);
    }
    Ok(text.freeze())
}

/// Returns the next part of an answer, or nothing at its end.
pub(super) async fn part(body: &mut impl Readable) -> Result<Option<Bytes>, Fault> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => return Err(Fault::Unreachable(error.to_string())),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
