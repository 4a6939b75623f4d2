//! A request to a router, and its response.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use tokio::time::timeout;
use tower::ServiceExt as _;

/// Longest duration of an answer. A longer one counts as endless.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Longest wait for the next part of an endless answer.
const MORE_MAX: Duration = Duration::from_millis(1);
/// Largest size of an answer, in bytes.
const BYTES_MAX: usize = 32 << 20;

/// Expected extent of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The answer ends.
    Whole,
    /// The answer continues as long as the client reads.
    Endless,
    /// The answer takes seconds before it begins, so the test does not wait for it.
    Slow,
}

/// A response.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The received body, after decompression.
    pub(super) body: Vec<u8>,
    /// Whether the body is complete.
    pub(super) is_whole: bool,
}

impl Answered {
    /// Returns a header as text. Empty if it is absent.
    pub(super) fn header(&self, name: &header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Returns the response of a router. `None` if the test does not wait for it.
///
/// # Panics
/// If there is no response.
pub(super) async fn call(router: &Router, request: Request, length: Length) -> Option<Answered> {
    let asked = format!("{} {}", request.method(), request.uri());
    let most = if length == Length::Slow { MORE_MAX } else { ANSWER_MAX };
    let response = match timeout(most, router.clone().oneshot(request)).await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) if length == Length::Slow => return None,
        Err(late) => panic!("{asked}: there is no answer: {late}"),
    };
    let (parts, body) = response.into_parts();
    let is_endless = length == Length::Endless && parts.status == StatusCode::OK;
    let (body, is_whole) = if is_endless {
        (begun(body).await, false)
    } else {
        let all = timeout(ANSWER_MAX, whole(body)).await;
        (all.unwrap_or_else(|_| panic!("{asked}: the answer has no end")), true)
    };
    let mut answered = Answered { status: parts.status, headers: parts.headers, body, is_whole };
    if answered.headers.get(header::CONTENT_ENCODING) == Some(&HeaderValue::from_static("gzip")) {
        answered.body = unpacked(&answered.body);
    }
    Some(answered)
}

async fn whole(mut body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.expect("the answer does not break off");
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
        assert!(bytes.len() <= BYTES_MAX, "the answer is too long");
    }
    bytes
}

/// Returns the part of a body that has arrived so far.
async fn begun(mut body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(Ok(frame))) = timeout(MORE_MAX, body.frame()).await {
        if let Ok(data) = frame.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read as _;

    let mut unpacked = Vec::new();
    let most = u64::try_from(BYTES_MAX).expect("it is small");
    let read = flate2::read::GzDecoder::new(bytes).take(most).read_to_end(&mut unpacked);
    read.expect("what is compressed can be read");
    unpacked
}
