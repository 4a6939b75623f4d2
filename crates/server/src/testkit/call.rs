//! A request to a router, and what comes back.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::BodyExt as _;
use tokio::time::timeout;
use tower::ServiceExt as _;

/// How long an answer may take. What is longer is taken for no end at all.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// How long more of an answer without end is waited for.
const MORE_MAX: Duration = Duration::from_millis(1);
/// How long an answer may be, in bytes.
const BYTES_MAX: usize = 32 << 20;

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// It ends.
    Whole,
    /// It goes on as long as somebody listens.
    Endless,
    /// It takes seconds before it begins, so it is not waited for.
    Slow,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// What came of the body, as it was before it was compressed.
    pub(super) body: Vec<u8>,
    /// Whether that is all of it.
    pub(super) is_whole: bool,
}

impl Answered {
    /// A header that is a text.
    pub(super) fn header(&self, name: &header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// What a router answers; none if it is not waited for.
///
/// # Panics
/// When there is no answer.
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

/// What of a body is there by now.
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
