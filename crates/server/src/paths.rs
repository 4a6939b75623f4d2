//! Paths that match no route exactly: other spellings of a route, and paths with an empty parameter.

use std::borrow::Cow;

use headroom_api::routes;
use percent_encoding::percent_decode_str;

/// Result of a search for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No route matches.
    Nothing,
    /// A route matches whose parameter of this name is empty.
    Empty(&'static str),
    /// A route matches this corrected path.
    At(String),
}

/// Finds a route for clients of `YuniKorn` by a path that no route has exactly. The path can differ in the case of
/// its fixed parts, have extra slashes, or unnecessary escapes.
pub(crate) fn find(path: &str) -> Found {
    let exact: Vec<&str> = path.split('/').skip(1).collect();
    let templates = || {
        let paths = routes::all().map(|route| route.path);
        paths.filter(|path| path.starts_with("/ws/") || path.starts_with("/debug/"))
    };
    // An empty segment between two slashes is an empty name, if a route fits. At the end, it is an extra slash, if a
    // route fits without it.
    let empty = || templates().find_map(|template| empty_parameter(template, &exact));
    let ends_empty = exact.last().is_some_and(|last| last.is_empty());
    if let Some(parameter) = empty().filter(|_| !ends_empty) {
        return Found::Empty(parameter);
    }
    let cleaned: Vec<&str> = exact.iter().copied().filter(|one| !one.is_empty()).collect();
    if let Some(at) = templates().find_map(|template| spelled_as(template, &cleaned)) {
        return if at == path { Found::Nothing } else { Found::At(at) };
    }
    empty().map_or(Found::Nothing, Found::Empty)
}

/// Returns this path in the spelling of the template. `None` if the path does not match the template.
fn spelled_as(template: &str, segments: &[&str]) -> Option<String> {
    let ends_in_slash = template.ends_with('/');
    let parts: Vec<&str> = template.split('/').filter(|part| !part.is_empty()).collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut path = String::new();
    for (part, segment) in parts.iter().zip(segments) {
        path.push('/');
        if part.starts_with('{') {
            path.push_str(segment);
        } else if part.eq_ignore_ascii_case(&without_escapes(segment)) {
            path.push_str(part);
        } else {
            return None;
        }
    }
    if ends_in_slash {
        path.push('/');
    }
    Some(path)
}

/// Returns the first parameter of the template that is empty in the path. `None` if another part does not match.
fn empty_parameter(template: &'static str, segments: &[&str]) -> Option<&'static str> {
    let parts: Vec<&'static str> = template.split('/').skip(1).collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut empty = None;
    for (part, segment) in parts.iter().zip(segments) {
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) if segment.is_empty() => empty = empty.or(Some(name)),
            Some(_) => {}
            None if part == segment => {}
            None => return None,
        }
    }
    empty
}

/// Returns the value in a path of a parameter of the template, which the path fits.
pub(crate) fn parameter(template: &str, path: &str, name: &str) -> Option<String> {
    let mut parts = template.split('/').zip(path.split('/'));
    let is_it =
        |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(name);
    parts.find(|(part, _)| is_it(part)).map(|(_, segment)| without_escapes(segment).into_owned())
}

/// Decodes the escapes of a segment of a path, as the router does.
fn without_escapes(segment: &str) -> Cow<'_, str> {
    percent_decode_str(segment).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::{Found, find, parameter};

    #[test]
    fn a_parameter_is_found_by_its_name() {
        let template = "/headroom/v1/tenants/{tenant}/waiting/{task}";
        let path = "/headroom/v1/tenants/%61-b/waiting/t1";
        for (name, expected) in [("tenant", Some("a-b")), ("task", Some("t1")), ("node", None)] {
            assert_eq!(parameter(template, path, name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn other_spellings_of_a_path_are_found() {
        let at = |path: &str| Found::At(path.to_owned());
        for (path, expected) in [
            ("/ws/v1/partitions/", at("/ws/v1/partitions")),
            ("/WS/v1/Partitions", at("/ws/v1/partitions")),
            ("//ws/v1//partitions", at("/ws/v1/partitions")),
            ("/ws/v1/%70artitions", at("/ws/v1/partitions")),
            ("/ws/v1/partition/GPU/Queues", at("/ws/v1/partition/GPU/queues")),
            ("/ws/v1/partition/a%2Fb/queues/", at("/ws/v1/partition/a%2Fb/queues")),
            ("/debug/pprof", at("/debug/pprof/")),
            ("/ws/v1/partition//queues", Found::Empty("partition")),
            ("/ws/v1/partition/default/node/", Found::Empty("node")),
            ("/ws/v1/partition/default/usage/user/", Found::Empty("user")),
            ("/ws/v1/partition/default/queue//applications", Found::Empty("queue")),
            (
                "/ws/v1/partition/default/queue/root/applications/",
                at("/ws/v1/partition/default/queue/root/applications"),
            ),
            ("/ws/v1/nothing", Found::Nothing),
            ("/ws/v1/%", Found::Nothing),
            ("/ws/v1/loglevel", Found::Nothing),
            ("/", Found::Nothing),
            ("", Found::Nothing),
            ("*", Found::Nothing),
            ("/ws/v1/partitions", Found::Nothing),
        ] {
            assert_eq!(find(path), expected, "{path}");
        }
    }
}
