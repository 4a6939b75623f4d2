//! Events of a watch, and pages of a list.

use std::borrow::Cow;
use std::sync::Arc;

use headroom_pods::object::{Labels, Text};
use serde::Deserialize;
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

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Versioned {
    metadata: VersionMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VersionMetadata {
    resource_version: String,
    annotations: Labels,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    #[serde(default)]
    metadata: ListMetadata,
    // A list without objects can be null.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
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
    let Line { kind, object } = json(line)?;
    let text = object.get();
    let event: fn(Arc<T>) -> Event<T> = match &*kind {
        "ADDED" | "MODIFIED" => Event::Applied,
        "DELETED" => Event::Deleted,
        "BOOKMARK" => {
            let Versioned { metadata } = json(text.as_bytes())?;
            let ends_list =
                metadata.annotations.get(LIST_END).is_some_and(|value| *value == *"true");
            return Ok((Event::Bookmark { ends_list }, metadata.resource_version));
        }
        "ERROR" => return Err(Fault::Refused(json::<Status>(text.as_bytes())?.into())),
        kind => return Err(Fault::Unreadable(format!("event of type {kind:?}"))),
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
        Ok(mut object) => {
            let version = std::mem::take(&mut object.metadata_mut().resource_version);
            Some((Arc::new(object), version))
        }
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

fn json<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(text).map_err(|error| Fault::Unreadable(error.to_string()))
}
