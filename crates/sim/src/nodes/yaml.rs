//! Individual nodes with labels and times.

use std::fmt;
use std::path::Path;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Spanned, UserMessageFormatter};

use crate::workload::TIME_MS_MAX;

use super::{Found, NODES_MAX, NodesError, amounts};

/// Largest size of the file in bytes, enough for more than [`NODES_MAX`] short nodes.
pub(super) const FILE_BYTES_MAX: u64 = 64 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    nodes: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    #[serde(deserialize_with = "resources")]
    resources: Vec<(String, String)>,
    label: Option<String>,
    #[serde(default)]
    from_ms: u64,
    to_ms: Option<u64>,
}

/// Reads all nodes of the file, in order.
pub(super) fn read(text: &str, path: &Path) -> Result<Vec<Found>, NodesError> {
    let file = path.display();
    let wrong = |problem| NodesError::Entry { place: file.to_string(), problem };
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(format!(
            "the file has more than {FILE_BYTES_MAX} bytes, which is the limit. Write equal nodes \
             as N*{{type: amount}} without a file"
        )));
    }
    if text.trim().is_empty() {
        return Err(wrong("the file is empty; expected `nodes:` and a list of nodes".to_owned()));
    }
    let most = text.len().saturating_add(1_000);
    // The default budget ends at about 27,000 nodes. Here, only the size of the file is limited.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2 * most,
            max_nodes: most,
            max_total_scalar_bytes: most,
        },
        emit_comments: false,
    };
    let list: List = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| fault_of(&file.to_string(), &error))?;
    if list.nodes.len() > NODES_MAX {
        return Err(NodesError::TooMany {
            place: file.to_string(),
            found: list.nodes.len() as u64,
        });
    }
    list.nodes
        .into_iter()
        .map(|entry| {
            let place = format!("{file}:{}", entry.name.referenced.line());
            let checked = check(&entry)
                .map_err(|problem| NodesError::Entry { place: place.clone(), problem });
            Ok(Found {
                resources: checked?,
                place,
                name: Some(entry.name.value),
                label: entry.label,
                from_ms: entry.from_ms,
                to_ms: entry.to_ms,
            })
        })
        .collect()
}

/// Returns the error of the parser on one line that begins with file and line.
fn fault_of(file: &str, error: &serde_saphyr::Error) -> NodesError {
    let error = error.without_snippet();
    let place = match error.location() {
        Some(location) => format!("{file}:{}", location.line()),
        None => file.to_owned(),
    };
    let text = error.render_with_formatter(&UserMessageFormatter);
    let problem = text.split(" at line ").next().unwrap_or(&text).to_owned();
    NodesError::Entry { place, problem }
}

fn check(entry: &Entry) -> Result<headroom_core::resource::Amounts, String> {
    if entry.name.value.is_empty() {
        return Err("name is empty, expected the name of the node".to_owned());
    }
    for (key, ms) in [("from_ms", Some(entry.from_ms)), ("to_ms", entry.to_ms)] {
        if let Some(ms) = ms.filter(|ms| *ms > TIME_MS_MAX) {
            return Err(format!("{key} is {ms}, expected at most {TIME_MS_MAX} ms"));
        }
    }
    if let Some(to_ms) = entry.to_ms.filter(|to_ms| *to_ms <= entry.from_ms) {
        return Err(format!("to_ms is {to_ms}, expected a time after from_ms, {}", entry.from_ms));
    }
    let entries = entry.resources.iter();
    amounts(entries.map(|(resource, text)| (resource.as_str(), text.as_str())))
}

/// Returns types and texts in file order. Plain numbers keep their notation.
fn resources<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, String)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a mapping of resource types to amounts")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    from.deserialize_map(Entries)
}
