//! The reference of the queue file: a documentation page, and a list for the command line.

use std::fmt::Write as _;

use headroom_core::config::property::{PROPERTIES, Property};
use serde::Serialize;

use super::{Block, Holds, Setting, file};

/// A block with the paths at which it occurs, such as `partitions[].queues[].capacity`.
struct Place {
    block: &'static Block,
    paths: Vec<String>,
}

/// Returns all blocks, each once, in the order in which they first occur in the file.
fn places() -> Vec<Place> {
    let mut places = vec![Place { block: file(), paths: Vec::new() }];
    let mut next = 0;
    while let Some(place) = places.get(next) {
        let (block, above) = (place.block, place.paths.first().cloned());
        for setting in block.settings {
            let Some(inner) = setting.holds.block() else { continue };
            let path = path_of(above.as_deref(), setting);
            match places.iter_mut().find(|known| known.block.what == inner.what) {
                Some(known) => known.paths.push(path),
                None => places.push(Place { block: inner, paths: vec![path] }),
            }
        }
        next += 1;
    }
    places
}

fn path_of(above: Option<&str>, setting: &Setting) -> String {
    let key = if setting.key.is_empty() { "<name>" } else { setting.key };
    let mark = if matches!(setting.holds, Holds::List(_)) { "[]" } else { "" };
    match above {
        Some(above) => format!("{above}.{key}{mark}"),
        None => format!("{key}{mark}"),
    }
}

/// Returns what a setting accepts: its kind, and its words or range.
fn accepts(setting: &Setting) -> String {
    match (setting.holds, setting.values) {
        (Holds::Text, values) if !values.is_empty() => values.to_owned(),
        (holds, "") => holds.word().to_owned(),
        (holds, values) => format!("{}: {values}", holds.word()),
    }
}

/// Returns the page `docs/queue-file.md`.
pub fn page() -> String {
    let mut text = String::from(HEAD);
    for Place { block, paths } in places() {
        let heading = paths.first().map_or("The file", |path| path.as_str());
        // Writing into a string cannot fail.
        let _ = write!(text, "\n## {}\n\n{}\n", code(heading, &paths), block.about.trim());
        if let Some((_, others)) = paths.split_first().filter(|(_, others)| !others.is_empty()) {
            let others: Vec<String> = others.iter().map(|path| format!("`{path}`")).collect();
            let _ = write!(text, "\nThe same block occurs at {}.\n", others.join(", "));
        }
        text.push_str("\n| key | values | default | meaning |\n| --- | --- | --- | --- |\n");
        for setting in block.settings {
            let key = if setting.key.is_empty() {
                "*a name*".to_owned()
            } else {
                format!("`{}`", setting.key)
            };
            let own = if setting.own { " Headroom only." } else { "" };
            let default = if setting.default.is_empty() { "–" } else { setting.default };
            let meaning = setting.meaning.trim();
            let _ = writeln!(text, "| {key} | {} | {default} | {meaning}{own} |", accepts(setting));
        }
    }
    let _ = write!(text, "\n## Properties of a queue\n\n{PROPERTIES_HEAD}\n");
    for Property { key, values, default, meaning } in PROPERTIES {
        let _ = writeln!(text, "| `{key}` | {values} | `{default}` | {meaning} |");
    }
    text
}

fn code(heading: &str, paths: &[String]) -> String {
    if paths.is_empty() { heading.to_owned() } else { format!("`{heading}`") }
}

const HEAD: &str = "\
# The queue file

This page lists every key of the queue file. `headroom config keys` prints the same list, and `headroom config keys capacity` prints the keys with that word
in their path. `[]` marks a list. Queues nest: `queues` of a queue has the same keys. \"Headroom only\" marks keys, and blocks of keys, that YuniKorn refuses.

To check a file, see [validate.md](validate.md). For limits and shares, see [limits.md](limits.md). For tenants, see [tenants.md](tenants.md).

<!-- Generated from the table that the reader uses (crates/config/src/raw); a test compares them. -->
";

const PROPERTIES_HEAD: &str = "The block `properties` of a queue or a `childtemplate` has texts by key. The table lists the keys with an effect. Other keys are stored and have no effect.

| key | values | default | meaning |
| --- | --- | --- | --- |";

/// A key in a list, without Markdown.
#[derive(Clone, Debug, Serialize)]
pub struct KeyLine {
    /// Path from the top of the file, such as `partitions[].queues[].capacity.mode`.
    pub key: String,
    /// Accepted values.
    pub values: String,
    /// Value that applies without the key. Empty without a default.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// Meaning of the key.
    pub meaning: String,
}

impl KeyLine {
    fn of(key: String, values: &str, default: &str, meaning: &str) -> Self {
        Self { key, values: plain(values), default: plain(default), meaning: plain(meaning) }
    }
}

/// Returns the settings and properties whose path contains this word. Without a word, returns all of them.
///
/// # Errors
/// If no path contains the word. The error is the nearest key, if a key is near enough.
pub fn keys(word: Option<&str>) -> Result<Vec<KeyLine>, Option<&'static str>> {
    let mut lines = Vec::new();
    for Place { block, paths } in places() {
        for setting in block.settings {
            let all: Vec<String> = if paths.is_empty() {
                vec![path_of(None, setting)]
            } else {
                paths.iter().map(|path| path_of(Some(path), setting)).collect()
            };
            for path in all {
                if word.is_none_or(|word| has_word(&path, word)) {
                    let values = accepts(setting);
                    lines.push(KeyLine::of(path, &values, setting.default, setting.meaning));
                }
            }
        }
    }
    for Property { key, values, default, meaning } in PROPERTIES {
        let path = format!("partitions[].queues[].properties.{key}");
        if word.is_none_or(|word| word == key || has_word(&path, word)) {
            lines.push(KeyLine::of(path, values, default, meaning));
        }
    }
    match word {
        Some(word) if lines.is_empty() => {
            let mut all: Vec<&str> = places().iter().flat_map(|place| place.block.keys()).collect();
            all.extend(PROPERTIES.map(|property| property.key));
            Err(crate::nearest(word, &all))
        }
        _ => Ok(lines),
    }
}

/// Returns whether the keys of `word` are consecutive keys of `path`.
fn has_word(path: &str, word: &str) -> bool {
    let bare = path.replace("[]", "");
    let word = word.replace("[]", "");
    let parts: Vec<&str> = bare.split('.').collect();
    let wanted: Vec<&str> = word.split('.').collect();
    parts.windows(wanted.len()).any(|some| some == wanted)
}

/// Returns a text without Markdown.
fn plain(text: &str) -> String {
    text.trim().replace('`', "")
}
