//! Checks that an answer is documented in the table of routes.

use axum::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use headroom_api::routes::{self, Answer, Header, Route, Shape};
use headroom_api::wsv1::message;

use super::call::{Answered, Length};

/// Entries of the table of routes for a path.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// Route of the method. `None` if the path does not have the method, or no route has the path.
    pub(super) route: Option<&'static Route>,
    /// Whether a route has the path.
    has_path: bool,
}

/// Statuses of a path without a route. It can be the page, a redirect, a path with an empty name, or unknown. A
/// caller without authentication or rights gets no information about it.
const ELSEWHERE: [u16; 10] = [200, 301, 304, 308, 400, 401, 403, 404, 405, 421];
/// Statuses of a method that a path does not have. `OPTIONS` is answered on every path.
const OTHER_METHOD: [u16; 3] = [200, 405, 421];

impl Expected {
    /// Returns the entries for a method and a path.
    pub(super) fn of(method: &str, path: &str) -> Self {
        let of_path: Vec<&Route> = of_path(path);
        let route = of_path.iter().find(|route| route.method.as_str() == method).copied();
        Self { route, has_path: !of_path.is_empty() }
    }

    /// Returns the expected extent of the answer.
    pub(super) fn length(&self) -> Length {
        let Some(route) = self.route else { return Length::Whole };
        let bodies = route.own_answers.iter().flat_map(|answer| answer.bodies);
        if matches!(route.operation, "getCpuProfile" | "profile") {
            Length::Slow
        } else if bodies.clone().any(|body| matches!(body.shape, Shape::Stream(_))) {
            Length::Endless
        } else {
            Length::Whole
        }
    }

    /// Checks that an answer is documented, and has the documented type.
    ///
    /// # Panics
    /// If it does not.
    pub(super) fn judge(&self, asked: &str, method: &str, answered: &Answered) {
        let status = answered.status.as_u16();
        let Some(route) = self.route else {
            let known: &[u16] = if self.has_path { &OTHER_METHOD } else { &ELSEWHERE };
            assert!(known.contains(&status), "{asked}: {status}, which no path has: {answered:?}");
            judge_other(asked, answered);
            return;
        };
        let all = route.answers();
        let answers: Vec<&Answer> = all.iter().filter(|one| one.status == status).collect();
        assert!(!answers.is_empty(), "{asked}: {status} is not documented: {answered:?}");
        judge_body(asked, method, &answers, answered);
        let has = |header: Header| answers.iter().all(|one| one.headers.contains(&header));
        for (header, name) in [(Header::Location, LOCATION), (Header::RetryAfter, RETRY_AFTER)] {
            let is_there = answered.headers.contains_key(&name);
            assert!(is_there || !has(header), "{asked}: {status} without {name}");
        }
    }
}

/// Returns the routes of a path, as the router finds them: a fixed part takes precedence over a parameter.
fn of_path(path: &str) -> Vec<&'static Route> {
    let exact: Vec<&'static Route> = routes::all().filter(|route| route.path == path).collect();
    if !exact.is_empty() {
        return exact;
    }
    routes::all().filter(|route| fits(route.path, path)).collect()
}

fn fits(template: &str, path: &str) -> bool {
    let (mut parts, mut segments) = (template.split('/'), path.split('/'));
    loop {
        match (parts.next(), segments.next()) {
            (None, None) => return true,
            (Some(part), Some(segment)) if part.starts_with('{') && !segment.is_empty() => {}
            (Some(part), Some(segment)) if part == segment => {}
            _ => return false,
        }
    }
}

fn judge_body(asked: &str, method: &str, answers: &[&Answer], answered: &Answered) {
    let Answered { status, body, is_whole, .. } = answered;
    let media = answered.header(&CONTENT_TYPE).split(';').next().unwrap_or_default();
    if answers.iter().all(|one| one.bodies.is_empty()) {
        assert!(body.is_empty(), "{asked}: {status} has no body, here is one: {answered:?}");
        return;
    }
    let mut bodies = answers.iter().flat_map(|one| one.bodies);
    let found = bodies.find(|body| body.media == media);
    let found = found.unwrap_or_else(|| {
        panic!("{asked}: {status} as {media:?}, which is not documented: {answered:?}")
    });
    let is_json = media.ends_with("json") && !matches!(found.shape, Shape::Text | Shape::Bytes);
    if matches!(found.shape, Shape::Stream(_)) {
        judge_stream(asked, media, body);
    } else if is_json && *is_whole && method != "HEAD" {
        let value: Result<serde_json::Value, _> = serde_json::from_slice(body);
        let value = value.unwrap_or_else(|error| panic!("{asked}: no JSON, {error}: {answered:?}"));
        let fits = match found.shape {
            Shape::List(_) => value.is_array(),
            _ => value.is_object(),
        };
        assert!(fits, "{asked}: another shape than {:?}: {value}", found.shape);
    } else if media.starts_with("text/") {
        assert!(std::str::from_utf8(body).is_ok(), "{asked}: no text: {answered:?}");
    }
}

/// Checks that each complete line of a stream is valid.
fn judge_stream(asked: &str, media: &str, body: &[u8]) {
    let text = std::str::from_utf8(body);
    let text = text.unwrap_or_else(|error| panic!("{asked}: no text: {error}"));
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let data = lines.filter_map(|line| match media {
        "text/event-stream" => line.strip_prefix("data:"),
        _ => Some(line),
    });
    for line in data.filter(|line| !line.trim().is_empty()) {
        let value: Result<serde_json::Value, _> = serde_json::from_str(line);
        assert!(value.is_ok(), "{asked}: no JSON: {line}");
    }
}

/// Checks that a request outside the table is refused in one of the known ways.
fn judge_other(asked: &str, answered: &Answered) {
    let text = String::from_utf8_lossy(&answered.body);
    let media = answered.header(&CONTENT_TYPE);
    // The answer to `HEAD` has no body.
    if media.contains("json") && !asked.starts_with("HEAD ") {
        let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
        assert!(value.is_ok(), "{asked}: no JSON: {text}");
    }
    if matches!(answered.status.as_u16(), 301 | 308) {
        assert!(answered.headers.contains_key(LOCATION), "{asked}: elsewhere, and not where");
    }
    if answered.status.as_u16() == 404 {
        let known = media.contains("json") || text.trim() == message::NO_SUCH_PATH.trim();
        assert!(known || text.is_empty(), "{asked}: {text}");
    }
}
