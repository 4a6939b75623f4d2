//! Events of a watch, and pages of a list.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use headroom_pods::object::{Labels, Text};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::client::{Fault, Status};

use super::{Object, Source};

/// Annotation of the bookmark after the last object of a streaming list.
const LIST_END: &str = "k8s.io/initial-events-end";

/// An event of a watch.
pub(super) enum Event<T> {
    /// An object was created or changed.
    Applied(Arc<T>),
    /// An object was deleted.
    Deleted(Arc<T>),
    /// An object of an unexpected shape, which is left out.
    Unreadable,
    /// Only a new version.
    Bookmark {
        /// Whether this is the end of a streaming list.
        ends_list: bool,
    },
}

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The usual line: an object that was created, changed, or deleted, with the kind before the object. It is read in one
/// pass.
struct Usual<T> {
    event: fn(Arc<T>) -> Event<T>,
    object: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Usual<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UsualVisitor(PhantomData))
    }
}

struct UsualVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for UsualVisitor<T> {
    type Value = Usual<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a kind of change and its object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Usual<T>, A::Error> {
        let other = || A::Error::custom("another line");
        let (Some("type"), kind) = (map.next_key()?, map.next_value::<Cow<'_, str>>()?) else {
            return Err(other());
        };
        let event = event_of(&kind).ok_or_else(other)?;
        let Some("object") = map.next_key()? else { return Err(other()) };
        let object = map.next_value()?;
        if map.next_key::<&str>()?.is_some() {
            return Err(other());
        }
        Ok(Usual { event, object })
    }
}

/// Returns the event of a line of this kind. `None` for a line without an object of the list.
fn event_of<T>(kind: &str) -> Option<fn(Arc<T>) -> Event<T>> {
    match kind {
        "ADDED" | "MODIFIED" => Some(Event::Applied),
        "DELETED" => Some(Event::Deleted),
        _ => None,
    }
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Versioned {
    metadata: VersionMetadata,
}

#[derive(Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VersionMetadata {
    resource_version: String,
    annotations: Labels,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    #[serde(default)]
    metadata: ListMetadata,
    // A list without objects can be null.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    r#continue: String,
}

/// Reads a line of a watch. Returns the version after the event too.
pub(super) fn read_line<T: Object>(
    line: &[u8],
    source: &Source,
) -> Result<(Event<T>, String), Fault> {
    if let Ok(Usual { event, object }) = serde_json::from_slice::<Usual<T>>(line) {
        let (object, version) = with_version(object);
        return Ok((event(object), version.as_str().to_owned()));
    }
    let Line { kind, object } = json(line)?;
    let text = object.get();
    let Some(event) = event_of(&kind) else {
        return match &*kind {
            "BOOKMARK" => {
                let Versioned { metadata } = json(text.as_bytes())?;
                let ends_list =
                    metadata.annotations.get(LIST_END).is_some_and(|value| *value == *"true");
                Ok((Event::Bookmark { ends_list }, metadata.resource_version))
            }
            "ERROR" => Err(Fault::Refused(json::<Status>(text.as_bytes())?.into())),
            kind => Err(Fault::Unreadable(format!("event of type {kind:?}"))),
        };
    };
    if let Some((object, version)) = read_object(text, source) {
        return Ok((event(object), version.as_str().to_owned()));
    }
    let Versioned { metadata } = json(text.as_bytes())?;
    Ok((Event::Unreadable, metadata.resource_version))
}

/// What a page of a list has besides its objects.
pub(super) struct Page {
    /// Version of the list.
    pub(super) version: String,
    /// Position of the next page. Empty after the last one.
    pub(super) rest: String,
}

/// Reads a page of a list.
pub(super) fn read_page<T: Object>(
    text: &[u8],
    source: &Source,
    mut take: impl FnMut(Arc<T>),
) -> Result<Page, Fault> {
    let List { metadata, items } = json(text)?;
    for item in items.unwrap_or_default() {
        if let Some((object, _)) = read_object(item.get(), source) {
            take(object);
        }
    }
    Ok(Page { version: metadata.resource_version, rest: metadata.r#continue })
}

/// Reads an object. Returns its version too.
fn read_object<T: Object>(text: &str, source: &Source) -> Option<(Arc<T>, Text)> {
    match serde_json::from_str::<T>(text) {
        Ok(object) => Some(with_version(object)),
        Err(error) => {
            let (name, start) = (&source.name, text.chars().take(200).collect::<String>());
            tracing::warn!(
                kind = name,
                "an object is left out, because it is unreadable: {error}: {start}"
            );
            None
        }
    }
}

/// Returns an object without its version, and the version.
fn with_version<T: Object>(mut object: T) -> (Arc<T>, Text) {
    let version = std::mem::take(&mut object.metadata_mut().resource_version);
    (Arc::new(object), version)
}

fn json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(text).map_err(|error| Fault::Unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use headroom_pods::object::Namespace;

    use super::super::Need;
    use super::*;

    const NAMESPACE: &str =
        r#"{"kind":"Namespace","metadata":{"name":"a","uid":"u","resourceVersion":"7"}}"#;

    fn read(line: &str) -> Result<(Event<Namespace>, String), Fault> {
        read_line(line.as_bytes(), &Source::new("/api/v1/namespaces", Need::Required))
    }

    #[test]
    fn changes_are_read_with_their_keys_in_any_order() {
        for (kind, is_deleted) in [("ADDED", false), ("MODIFIED", false), ("DELETED", true)] {
            for line in [
                format!("{{\"type\":\"{kind}\",\"object\":{NAMESPACE}}}\n"),
                format!("{{ \"object\": {NAMESPACE}, \"type\": \"{kind}\" }}"),
                format!("{{\"type\":\"{kind}\",\"object\":{NAMESPACE},\"more\":[1]}}"),
                format!("{{\"ty\\u0070e\":\"{kind}\",\"object\":{NAMESPACE}}}"),
            ] {
                let (event, version) = read(&line).expect("it is a change");
                let object = match event {
                    Event::Applied(object) if !is_deleted => object,
                    Event::Deleted(object) if is_deleted => object,
                    _ => panic!("another event in {line}"),
                };
                assert_eq!((&*object.metadata.name, version.as_str()), ("a", "7"), "{line}");
                assert!(object.metadata.resource_version.is_empty(), "it is stored once");
            }
        }
    }

    #[test]
    fn an_object_of_another_shape_is_left_out_and_its_version_counts() {
        let line = r#"{"type":"ADDED","object":{"metadata":{"name":[],"resourceVersion":"8"}}}"#;
        let (event, version) = read(line).expect("the version is readable");
        assert!(matches!(event, Event::Unreadable));
        assert_eq!(version, "8");
    }

    #[test]
    fn other_lines_are_bookmarks_and_faults() {
        let line = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",
            "annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        let (event, version) = read(line).expect("it is a bookmark");
        assert!(matches!(event, Event::Bookmark { ends_list: true }));
        assert_eq!(version, "9");
        let line = r#"{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"old"}}"#;
        assert!(matches!(read(line), Err(Fault::Refused(_))));
        for line in ["", "{}", "[]", r#"{"type":"ADDED"}"#, r#"{"type":"LATER","object":{}}"#] {
            assert!(matches!(read(line), Err(Fault::Unreadable(_))), "{line}");
        }
    }
}
