//! A fast parser for ordinary files: one document without tags, anchors, aliases, merge keys, and repeated keys, within
//! the budgets.
//!
//! This parser reads the events of the parser below `serde-saphyr` directly. It costs half as much as `serde` with
//! places. For all other files, in particular files with faults, `yaml` is used, which reads every file and has all
//! messages. Both parsers must return the same nodes, and tests compare them.

use std::collections::BTreeSet;

use serde_saphyr::granit_parser::{self, Event, Parser, ScalarStyle};

use crate::diagnostic::Span;
use crate::written::place;
use crate::yaml::{DEPTH_MAX, Entry, FILE_BYTES_MAX, Kind, NODES_MAX, Node, Scalar};

/// Returns the document, and the number of steps. `None` leaves the file to `yaml`.
pub(crate) fn read(source: &str) -> Option<(Node, usize)> {
    if source.starts_with('\u{feff}') {
        return None;
    }
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder::new(source);
    let mut events = 0;
    for item in Parser::new_from_str_with_options(source, options) {
        let (event, span) = item.ok()?;
        events += 1;
        let ends = span.start.byte_offset().zip(span.end.byte_offset());
        builder.take(event, ends)?;
    }
    // An empty document can cause messages.
    let document = builder.document.filter(|node| !matches!(node.kind, Kind::Scalar(_)))?;
    Some((document, events + builder.nodes))
}

struct Builder<'s> {
    source: &'s str,
    /// The lists and mappings that contain the next event.
    open: Vec<Open>,
    document: Option<Node>,
    nodes: usize,
    text_bytes: usize,
}

/// A list or mapping that has not ended.
struct Open {
    span: Span,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    /// A mapping, with the key that waits for its value.
    Map(Vec<Entry>, Option<Node>),
}

impl<'s> Builder<'s> {
    fn new(source: &'s str) -> Self {
        Self { source, open: Vec::new(), document: None, nodes: 0, text_bytes: 0 }
    }

    /// Processes the next event, at these bytes. `None` for anything unusual.
    fn take(&mut self, event: Event<'_>, ends: Option<(usize, usize)>) -> Option<()> {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Some(()),
            // A second document causes a message.
            Event::DocumentStart(..) => self.document.is_none().then_some(()),
            Event::Scalar(text, style, 0, None) => {
                let span = self.node_at(ends)?;
                self.text_bytes += text.len();
                if self.text_bytes > FILE_BYTES_MAX {
                    return None;
                }
                let slice = &self.source[span.start..span.end];
                let is_plain = matches!(style, ScalarStyle::Plain);
                // The parser has one spelling for all absent values.
                let text = match &*text {
                    "" | "~" if is_plain => slice.to_owned(),
                    _ => text.into_owned(),
                };
                let quoted = slice.starts_with(['"', '\'']);
                self.add(Node { kind: Kind::Scalar(Scalar { text, quoted, tag: None }), span })
            }
            Event::SequenceStart(_, 0, None) => self.enter(OpenKind::List(Vec::new()), ends),
            Event::MappingStart(_, 0, None) => self.enter(OpenKind::Map(Vec::new(), None), ends),
            Event::SequenceEnd | Event::MappingEnd => {
                let closed = self.open.pop()?;
                self.add(closed.into_node()?)
            }
            _ => None,
        }
    }

    fn enter(&mut self, kind: OpenKind, ends: Option<(usize, usize)>) -> Option<()> {
        let span = self.node_at(ends)?;
        self.open.push(Open { span, kind });
        (self.open.len() <= DEPTH_MAX).then_some(())
    }

    /// Counts a node, and returns its place.
    fn node_at(&mut self, ends: Option<(usize, usize)>) -> Option<Span> {
        self.nodes += 1;
        let (start, end) = ends.filter(|_| self.nodes <= NODES_MAX)?;
        Some(place(self.source, start, end.saturating_sub(start)))
    }

    /// Adds a complete node to its parent.
    fn add(&mut self, node: Node) -> Option<()> {
        match self.open.last_mut() {
            None => self.document = Some(node),
            Some(Open { kind: OpenKind::List(items), .. }) => items.push(node),
            Some(Open { kind: OpenKind::Map(entries, key), .. }) => {
                if let Some(key) = key.take() {
                    entries.push(Entry { key, value: node });
                } else {
                    text_of(&node).filter(|text| *text != "<<")?;
                    *key = Some(node);
                }
            }
        }
        Some(())
    }
}

impl Open {
    /// Returns the list or mapping as a node. `None` if a key is repeated.
    fn into_node(self) -> Option<Node> {
        let kind = match self.kind {
            OpenKind::List(items) => Kind::List(items),
            OpenKind::Map(entries, _) if repeats(&entries) => return None,
            OpenKind::Map(entries, _) => Kind::Map(entries),
        };
        Some(Node::over(kind, self.span))
    }
}

/// Returns whether a key occurs twice. Mappings are usually small, but the time is bounded for large mappings too.
fn repeats(entries: &[Entry]) -> bool {
    const FEW: usize = 12;
    let keys = || entries.iter().map(|entry| text_of(&entry.key));
    if entries.len() <= FEW {
        return keys().enumerate().any(|(at, key)| keys().take(at).any(|before| before == key));
    }
    let mut seen = BTreeSet::new();
    !keys().all(|key| seen.insert(key))
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar(scalar) => Some(&scalar.text),
        Kind::List(_) | Kind::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_usual_is_read() {
        for (text, is_read) in [
            ("a: 1\nb: [x, 'y', \"z\", ~, null]\nc:\n- {d: e}\n-\n", true),
            ("--- # one\na: |\n  'text'\n", true),
            ("a: 1\n---\nb: 2\n", false),
            ("a: &x 1\n", false),
            ("a: !!str 1\n", false),
            ("<<: {a: 1}\n", false),
            ("a: 1\na: 2\n", false),
            ("[a]: 1\n", false),
            ("a: [\n", false),
            ("\u{feff}a: 1\n", false),
            ("text", false),
            ("", false),
        ] {
            assert_eq!(read(text).is_some(), is_read, "{text:?}");
        }
    }
}
