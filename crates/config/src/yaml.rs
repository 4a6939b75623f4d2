//! Parses text to a tree of nodes with places.
//!
//! `serde-saphyr` parses the text, within budgets. A scalar is stored as text, and its field determines its meaning, in
//! `scalar.rs`. `YuniKorn`'s YAML library works the same way, and differs from other libraries in many details.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    DefaultMessageFormatter, DuplicateKeyPolicy, Error, MergeKeyPolicy, MessageFormatter,
    NonFiniteFloatPolicy, Options,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::events;
use crate::written::{self, Written};

/// Largest file in bytes. A Kubernetes `ConfigMap` can have one eighth of that.
pub const FILE_BYTES_MAX: usize = 8 << 20;
/// Maximum number of scalars, lists, and mappings of a file, including those from aliases.
pub const NODES_MAX: usize = 500_000;
/// Deepest nesting of lists and mappings. Each level of queues needs two.
pub const DEPTH_MAX: usize = 500;
/// Maximum number of parts of nodes from aliases.
pub const ALIAS_EVENTS_MAX: usize = 200_000;

/// A scalar, list or mapping with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A scalar as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scalar {
    /// Text without quotes, with escapes resolved.
    pub(crate) text: String,
    /// Whether the scalar is quoted.
    pub(crate) quoted: bool,
    /// Explicit tag in long form. `None` without a tag.
    pub(crate) tag: Option<String>,
}

impl Node {
    /// Returns a node with its place. A block list or mapping has no opening mark, so its place is the place of its
    /// first item.
    pub(crate) fn over(kind: Kind, span: Span) -> Self {
        let first = match &kind {
            Kind::List(items) => items.first().map(|item| item.span),
            Kind::Map(entries) => entries.first().map(|entry| entry.key.span),
            Kind::Scalar(_) => None,
        };
        let span = first.filter(|_| span.start == span.end).unwrap_or(span);
        Self { kind, span }
    }
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Node,
    pub(crate) value: Node,
}

/// Parses the first document. `None` if the text has no document, or if `report` has the reason.
pub(crate) fn parse(source: &str, report: &mut Report) -> Option<Node> {
    if let Some(fault) = unreadable(source) {
        report.push(fault);
        return None;
    }
    if let Some((document, steps)) = events::read(source) {
        report.steps = steps;
        return Some(document);
    }
    parse_any(source, report)
}

/// Returns whether both parsers agree on a text. If the fast parser accepts the text, both must return the same nodes
/// with the same number of steps, and the complete parser must have no findings.
pub(crate) fn both_ways_agree(source: &str) -> bool {
    let short = unreadable(source).is_none().then(|| events::read(source)).flatten();
    short.is_none_or(|(node, steps)| {
        let mut report = Report::default();
        let long = parse_any(source, &mut report);
        long == Some(node) && report.steps == steps && report.finish(source).is_empty()
    })
}

/// Parses the first document, whatever its content.
fn parse_any(source: &str, report: &mut Report) -> Option<Node> {
    if source.starts_with('\u{feff}') {
        let warning =
            lenient(Span::default(), "the file begins with a byte order mark, which is ignored");
        report.push(warning.help("save the file as UTF-8 without a byte order mark"));
    }
    let mut document = None;
    let events = Rc::new(Cell::new(0));
    let options = options().with_budget_report({
        let events = Rc::clone(&events);
        move |counted| events.set(counted.events)
    });
    let outcome = serde_saphyr::with_deserializer_from_str_with_options(source, options, |de| {
        document = Some(written::read(de)?);
        Ok(())
    });
    report.steps = events.get();
    match (document, outcome) {
        (Some(document), outcome) => {
            if let Err(behind) = outcome {
                let message = "text after the first document is ignored";
                let warning = lenient(span_of(&behind, source), message);
                report.push(warning.help("remove the text, or move it to a separate file"));
            }
            Converter { source, report }.node(document)
        }
        (None, Err(error)) => {
            report.push(explain(&error, source));
            None
        }
        (None, Ok(())) => None,
    }
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: NODES_MAX * 3,
            max_nodes: NODES_MAX,
            max_depth: DEPTH_MAX,
            flow_nesting_limit: DEPTH_MAX,
            max_total_scalar_bytes: FILE_BYTES_MAX,
            max_recorded_anchor_events: NODES_MAX,
            max_recorded_anchor_bytes: FILE_BYTES_MAX,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: ALIAS_EVENTS_MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
        emit_comments: false,
    }
}

/// Returns the fault of a text that needs no parsing: too large, or with characters that YAML forbids.
fn unreadable(source: &str) -> Option<Diagnostic> {
    if source.len() > FILE_BYTES_MAX {
        let message = format!(
            "the file has {} bytes, but a queue file can have at most {FILE_BYTES_MAX}",
            source.len()
        );
        let fault = Diagnostic::error(Code::Yaml, Span::default(), message);
        return Some(fault.help("check that this is the intended file, and make it smaller"));
    }
    let is_usual = |one: u8| matches!(one, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if source.bytes().all(is_usual) {
        return None;
    }
    let (start, found) = source.char_indices().find(|(_, one)| is_forbidden(*one))?;
    let span = Span { start, end: start + found.len_utf8() };
    let message = format!(
        "the file contains the control character U+{:04X}, which is not allowed",
        u32::from(found)
    );
    Some(Diagnostic::error(Code::Yaml, span, message).help("remove the character"))
}

fn is_forbidden(one: char) -> bool {
    match one {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => true,
        _ => false,
    }
}

fn explain(error: &Error, source: &str) -> Diagnostic {
    let cause = match error.without_snippet() {
        Error::AliasError { error: cause, .. } => cause.without_snippet(),
        other => other,
    };
    let message = match cause {
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } => {
                format!("lists and mappings nest deeper than {DEPTH_MAX} levels")
            }
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
                format!("the file has more than {NODES_MAX} values")
            }
            other => format!("the file exceeds a limit for queue files: {other:?}"),
        },
        Error::AliasReplayLimitExceeded { .. } | Error::AliasReplayStackDepthExceeded { .. } => {
            format!("aliases repeat more values than the limit of {ALIAS_EVENTS_MAX}")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an alias refers to a value that contains the alias".to_owned()
        }
        other => DefaultMessageFormatter.format_message(other).into_owned(),
    };
    let fault = Diagnostic::error(Code::Yaml, span_of(error, source), message);
    let help = match cause {
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "check that this is the intended file, and make it smaller"
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => "write the value instead of the alias",
        _ if fault.message.contains("tabs") => "indent with spaces",
        _ => "check the indentation, quotes, and brackets in this line and in the previous line",
    };
    fault.help(help)
}

/// Returns the place of one character at the position of the error.
fn span_of(error: &Error, source: &str) -> Span {
    let Some(location) = error.location() else {
        return Span::default();
    };
    let line = usize::try_from(location.line()).unwrap_or(1).max(1);
    let column = usize::try_from(location.column()).unwrap_or(1).max(1);
    let line_start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = &source[line_start..];
    let offset: usize = rest.chars().take(column - 1).map(char::len_utf8).sum();
    let start = line_start + offset;
    let width = source[start..].chars().next().map_or(0, char::len_utf8);
    Span { start, end: start + width }
}

fn lenient(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(Code::YamlLenient, span, message)
}

struct Converter<'a> {
    source: &'a str,
    report: &'a mut Report,
}

impl Converter<'_> {
    /// Converts a value. `None` for an absent document: no text at all.
    fn node(&mut self, from: Written) -> Option<Node> {
        let span = from.span(self.source);
        if matches!(from.value(), written::Value::Null) && span.start >= self.source.len() {
            return None;
        }
        Some(self.convert(from))
    }

    fn convert(&mut self, from: Written) -> Node {
        self.report.steps += 1;
        let span = from.span(self.source);
        let (value, tag) = from.into_parts();
        let kind = match value {
            written::Value::List(items) => {
                Kind::List(items.into_iter().map(|item| self.convert(item)).collect())
            }
            written::Value::Map(entries) => Kind::Map(self.entries(entries)),
            scalar => Kind::Scalar(self.scalar(scalar, tag, span)),
        };
        Node::over(kind, span)
    }

    fn scalar(&mut self, value: written::Value, tag: Option<String>, span: Span) -> Scalar {
        if let Some(tag) = &tag
            && !tag.starts_with("tag:yaml.org,2002:")
            && tag != "!"
        {
            let message = format!("the tag {tag} has no meaning in a queue file and is ignored");
            self.report.push(lenient(span, message).help("remove the tag"));
        }
        let slice = &self.source[span.start..span.end];
        let quoted = slice.starts_with(['"', '\'']);
        let text = match value {
            written::Value::Text(text) => text,
            // The parser has interpreted this as a number, but its spelling counts.
            _ => slice.trim_matches(['"', '\'']).to_owned(),
        };
        Scalar { text, quoted, tag }
    }

    fn entries(&mut self, written: Vec<(Written, Written)>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::with_capacity(written.len());
        let mut merges = Vec::new();
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for (key, value) in written {
            let (key, value) = (self.convert(key), self.convert(value));
            if let Kind::Scalar(scalar) = &key.kind {
                if let Some(first) = seen.get(&scalar.text) {
                    let message = format!("the key `{}` occurs twice", scalar.text);
                    let fault = Diagnostic::error(Code::YamlDuplicate, key.span, message)
                        .label("second entry")
                        .also(*first, "first entry")
                        .help("remove one of the two entries");
                    self.report.push(fault);
                    continue;
                }
                seen.insert(scalar.text.clone(), key.span);
                if scalar.text == "<<" && !scalar.quoted {
                    merges.push(Entry { key, value });
                    continue;
                }
            }
            entries.push(Entry { key, value });
        }
        for merge in merges {
            self.merge(&mut entries, merge);
        }
        entries
    }

    /// Adds the entries of `<<` whose keys are not written here.
    fn merge(&mut self, entries: &mut Vec<Entry>, merge: Entry) {
        let message = "the merge key `<<` copies keys from another mapping";
        let warning = lenient(merge.key.span, message);
        self.report.push(
            warning.help("write the copied keys, because not every YAML reader supports `<<`"),
        );
        let sources = match merge.value.kind {
            Kind::Map(source) => vec![source],
            Kind::List(items) if items.iter().all(|item| matches!(item.kind, Kind::Map(_))) => {
                let maps = items.into_iter().filter_map(|item| match item.kind {
                    Kind::Map(source) => Some(source),
                    Kind::Scalar(_) | Kind::List(_) => None,
                });
                maps.collect()
            }
            Kind::Scalar(_) | Kind::List(_) => {
                let message = "the value of `<<` must be a mapping or a list of mappings";
                let fault = Diagnostic::error(Code::YamlType, merge.value.span, message);
                self.report.push(fault.help("write the alias of a mapping, such as `<<: *name`"));
                return;
            }
        };
        let text_of = |entry: &Entry| match &entry.key.kind {
            Kind::Scalar(scalar) => Some(scalar.text.clone()),
            Kind::List(_) | Kind::Map(_) => None,
        };
        let mut known: BTreeSet<Option<String>> = entries.iter().map(text_of).collect();
        for entry in sources.into_iter().flatten() {
            if known.insert(text_of(&entry)) {
                entries.push(entry);
            }
        }
    }
}
