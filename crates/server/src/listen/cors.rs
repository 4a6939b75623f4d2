//! Access of pages of other sites to `/ws/v1` (decision C-7).

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use headroom_api::routes::{Header, Route};

/// Sets the headers of the reference on routes with CORS, if pages of other sites can read answers. Removes these
/// headers from all other routes, even if a handler has set them.
pub(super) fn set(headers: &mut HeaderMap, method: &Method, route: Option<&Route>, may_read: bool) {
    let named = route.is_some_and(|route| route.family_headers().contains(&Header::AllowOrigin));
    if named && may_read {
        let methods = if method == Method::POST { "OPTIONS, POST" } else { "GET, OPTIONS" };
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (ACCESS_CONTROL_ALLOW_METHODS, methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, "X-Requested-With,Content-Type,Accept,Origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    } else if !may_read || route.is_some() {
        for name in [
            ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_ALLOW_METHODS,
            ACCESS_CONTROL_ALLOW_HEADERS,
        ] {
            headers.remove(name);
        }
    }
}
