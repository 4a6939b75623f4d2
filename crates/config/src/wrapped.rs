//! Queue files inside other files: a Kubernetes `ConfigMap`, the values of a Helm chart, or a part of either.
//!
//! `YuniKorn` reads the entry `<policy group>.yaml` of its `ConfigMap`, by default `queues.yaml`. Large files are in
//! `binaryData`, compressed. Helm's values have the same entries below `yunikornDefaults`.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;

use crate::FILE_BYTES_MAX;
use crate::diagnostic::{Report, Span};
use crate::yaml::{self, Entry, Kind, Node};

/// A queue file inside another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// Key of the queue file without `.gz`, such as `queues.yaml`.
    pub key: String,
    /// Parent of the key, such as `data` or `yunikornDefaults`. Empty at the top.
    pub within: String,
    /// Line of the key, from 1.
    pub line: usize,
    /// Whether the text begins on the next line, so that its lines are lines of the outer file.
    pub in_lines: bool,
    /// The queue file, or the reason why it cannot be read.
    pub text: Result<Vec<u8>, String>,
}

/// Content of a file that contains queue files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Kind of the file, such as `a ConfigMap of Kubernetes`.
    pub what: &'static str,
    /// Queue files in the order of the file.
    pub files: Vec<Wrapped>,
    /// Other keys.
    pub others: Vec<String>,
}

/// Returns the content of a text that is a `ConfigMap`, the values of a chart, or a part of either. `None` for any
/// other text. Searches every document of the text.
pub fn wrapped(text: &str) -> Option<Wrapper> {
    let mut found: Option<Wrapper> = None;
    let mut first_line = 0;
    for document in documents(text) {
        let node = yaml::parse(document, &mut Report::default());
        let inner = node.and_then(|node| Search::of(document, first_line).document(&node));
        match (&mut found, inner) {
            (Some(all), Some(inner)) => {
                all.files.extend(inner.files);
                all.others.extend(inner.others);
            }
            (None, inner) => found = inner,
            (Some(_), None) => {}
        }
        first_line += document.lines().count();
    }
    found
}

/// Returns the kind of a document that contains a queue file, and the key of the first queue file. `None` for any other
/// document.
pub(crate) fn of_node(document: &Node) -> Option<(&'static str, Span)> {
    let found = Search::of("", 0).document(document)?;
    let Kind::Map(entries) = &document.kind else { return None };
    let marks = |entry: &&Entry| {
        let key = text_of(&entry.key).unwrap_or_default();
        matches!(key, "kind" | "data" | "binaryData" | "items" | DEFAULTS | OLD_VALUE)
            || is_yaml(key)
    };
    let marked = entries.iter().find(marks).or(entries.first())?;
    let is_kind = text_of(&marked.key) == Some("kind");
    Some((found.what, if is_kind { marked.value.span } else { marked.key.span }))
}

/// Splits a text into its documents. Their concatenation is the whole text.
fn documents(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut begin, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if at > begin && line.trim_end() == "---" {
            all.push(&text[begin..at]);
            begin = at;
        }
        at += line.len();
    }
    all.push(&text[begin..]);
    all
}

/// Key with the entries of `YuniKorn`'s `ConfigMap` in its chart. `OLD_VALUE` is the key of the queue file in earlier
/// versions.
const DEFAULTS: &str = "yunikornDefaults";
const OLD_VALUE: &str = "configuration";
/// Deepest searched nesting of Kubernetes lists, or of charts within charts.
const DEPTH_MAX: usize = 3;

struct Search<'s> {
    source: &'s str,
    /// Number of lines before the document.
    lines_before: usize,
    files: Vec<Wrapped>,
    others: Vec<String>,
}

impl<'s> Search<'s> {
    const fn of(source: &'s str, lines_before: usize) -> Self {
        Self { source, lines_before, files: Vec::new(), others: Vec::new() }
    }

    fn document(mut self, node: &Node) -> Option<Wrapper> {
        let what = self.object(node, 0)?;
        Some(Wrapper { what, files: self.files, others: self.others })
    }

    /// Returns the kind of an object, and collects its queue files. `None` if the object contains no queue file.
    fn object(&mut self, node: &Node, depth: usize) -> Option<&'static str> {
        let Kind::Map(entries) = &node.kind else { return None };
        let value = |key: &str| {
            entries.iter().find(|one| text_of(&one.key) == Some(key)).map(|entry| &entry.value)
        };
        if depth > DEPTH_MAX || value("partitions").is_some() {
            return None;
        }
        let kind = value("kind").and_then(text_of);
        if let (Some("List" | "ConfigMapList"), Some(Kind::List(items))) =
            (kind, value("items").map(|items| &items.kind))
        {
            let found: Vec<_> =
                items.iter().filter_map(|item| self.object(item, depth + 1)).collect();
            return (!found.is_empty()).then_some("a list of Kubernetes objects");
        }
        let holds = |key: &str| value(key).is_some_and(has_file);
        if kind == Some("ConfigMap") || kind.is_none() && (holds("data") || holds("binaryData")) {
            for (key, packed) in [("data", false), ("binaryData", true)] {
                if let Some(Kind::Map(inner)) = value(key).map(|inner| &inner.kind) {
                    self.entries(inner, (key, packed));
                }
            }
            return Some("a Kubernetes ConfigMap");
        }
        if kind.is_some() {
            return None;
        }
        if let Some(Kind::Map(inner)) = value(DEFAULTS).map(|inner| &inner.kind) {
            self.entries(inner, (DEFAULTS, false));
            return Some("a Helm values file");
        }
        self.values(entries, depth)
    }

    /// Searches the values of a chart, which can include the values of `YuniKorn`, or entries without their parents.
    fn values(&mut self, entries: &[Entry], depth: usize) -> Option<&'static str> {
        let of_old = |entry: &&Entry| {
            text_of(&entry.key) == Some(OLD_VALUE)
                && text_of(&entry.value).is_some_and(|text| text.contains("partitions"))
        };
        if let Some(entry) = entries.iter().find(of_old) {
            self.file(entry, ("", false));
            return Some("a Helm values file");
        }
        if entries.iter().any(is_file) {
            self.entries(entries, ("", false));
            return Some("an excerpt of a ConfigMap");
        }
        let mut found = entries.iter().filter_map(|entry| self.object(&entry.value, depth + 1));
        found.next()
    }

    fn entries(&mut self, entries: &[Entry], within: (&str, bool)) {
        for entry in entries {
            if is_file(entry) {
                self.file(entry, within);
            } else if let Some(key) = text_of(&entry.key) {
                self.others.push(key.to_owned());
            }
        }
    }

    fn file(&mut self, entry: &Entry, (within, packed): (&str, bool)) {
        let written = text_of(&entry.key).unwrap_or_default();
        let value = text_of(&entry.value).unwrap_or_default();
        let text = match written.strip_suffix(".gz") {
            Some(_) if packed => unpacked(value),
            _ if packed => Err(format!(
                "the scheduler reads only the keys of binaryData that end with .gz. Rename the key \
                 to {written}.gz"
            )),
            _ => Ok(value.as_bytes().to_vec()),
        };
        let start = entry.key.span.start.min(self.source.len());
        let line = self.source[..start].lines().count().max(1);
        let whole = self.source[..start].rfind('\n').map_or(0, |end| end + 1);
        let of_key = self.source[whole..].lines().next().unwrap_or_default();
        let ends = of_key.trim_end().rsplit(' ').next().unwrap_or_default();
        self.files.push(Wrapped {
            key: written.strip_suffix(".gz").unwrap_or(written).to_owned(),
            within: within.to_owned(),
            line: self.lines_before + line,
            in_lines: !packed && ends.starts_with('|'),
            text,
        });
    }
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar(scalar) => Some(&scalar.text),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

fn is_yaml(key: &str) -> bool {
    let key = key.strip_suffix(".gz").unwrap_or(key);
    let name = key.strip_suffix(".yaml").or_else(|| key.strip_suffix(".yml"));
    name.is_some_and(|name| !name.is_empty())
}

/// Returns whether an entry is a queue file: text under the name of a YAML file.
fn is_file(entry: &Entry) -> bool {
    text_of(&entry.key).is_some_and(is_yaml) && text_of(&entry.value).is_some()
}

fn has_file(node: &Node) -> bool {
    match &node.kind {
        Kind::Map(entries) => entries.iter().any(is_file),
        Kind::Scalar(_) | Kind::List(_) => false,
    }
}

/// Decodes base64 text and decompresses it with gzip. Stops after one byte more than the limit of a queue file, which
/// is enough to refuse it.
fn unpacked(value: &str) -> Result<Vec<u8>, String> {
    let letters: String = value.split_whitespace().collect();
    let packed = STANDARD.decode(letters).map_err(|error| {
        format!(
            "the value is not base64 ({error}). Compress the file with gzip \
                                  and encode it in base64 again"
        )
    })?;
    let most = u64::try_from(FILE_BYTES_MAX).map_or(u64::MAX, |bytes| bytes + 1);
    let mut text = Vec::new();
    MultiGzDecoder::new(&packed[..]).take(most).read_to_end(&mut text).map_err(|error| {
        format!(
            "the value is not compressed with gzip ({error}). Compress the \
                                  file with gzip and encode it in base64 again"
        )
    })?;
    Ok(text)
}
