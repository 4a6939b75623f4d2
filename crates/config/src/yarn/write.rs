//! Writes the text of a queue file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Source;
use super::note::Note;
use super::xml::shown;

/// Longest line of a mapping that is written on one line.
const LINE: usize = 100;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A text, which is quoted if necessary.
    Text(String),
    /// A number or word that is known to be valid.
    Plain(String),
    Words(Vec<String>),
    Pairs(Pairs),
    Blocks(Vec<Block>),
}

/// A mapping that can be written on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs(Vec<(String, Value)>);

impl Pairs {
    pub(super) fn push(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), Value::Plain(value.into())));
    }

    /// Adds the pairs of another mapping. The new pairs override existing pairs.
    pub(super) fn extend(&mut self, other: Pairs) {
        let keys: BTreeSet<&String> = other.0.iter().map(|(key, _)| key).collect();
        self.0.retain(|(key, _)| !keys.contains(key));
        self.0.extend(other.0);
    }

    pub(super) fn push_text(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), Value::Text(value.into())));
    }

    pub(super) fn push_words(&mut self, key: &str, words: Vec<String>) {
        self.0.push((key.to_owned(), Value::Words(words)));
    }

    /// Adds a mapping, unless it is empty.
    pub(super) fn push_pairs(&mut self, key: &str, pairs: Pairs) {
        if !pairs.is_empty() {
            self.0.push((key.to_owned(), Value::Pairs(pairs)));
        }
    }

    /// Adds amounts by type, unless the list is empty.
    pub(super) fn push_amounts(&mut self, key: &str, amounts: &[(String, String)]) {
        let pair = |(kind, amount): &(String, String)| (kind.clone(), Value::Plain(amount.clone()));
        self.push_pairs(key, Pairs(amounts.iter().map(pair).collect()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text or word of a key.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(one, _)| one == key)?;
        match value {
            Value::Text(text) | Value::Plain(text) => Some(text),
            Value::Words(_) | Value::Pairs(_) | Value::Blocks(_) => None,
        }
    }
}

/// A mapping whose keys are on separate lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// Queue whose notes precede the block.
    queue: Option<String>,
    entries: Vec<(String, Value)>,
}

impl Block {
    /// Returns the block of a queue, by its path in YARN.
    pub(super) fn of(queue: &str) -> Self {
        Self { queue: Some(queue.to_owned()), entries: Vec::new() }
    }

    pub(super) fn push(&mut self, key: &str, text: impl Into<String>) {
        self.entries.push((key.to_owned(), Value::Text(text.into())));
    }

    pub(super) fn push_plain(&mut self, key: &str, text: impl Into<String>) {
        self.entries.push((key.to_owned(), Value::Plain(text.into())));
    }

    /// Adds a mapping, unless it is empty.
    pub(super) fn push_pairs(&mut self, key: &str, pairs: Pairs) {
        if !pairs.is_empty() {
            self.entries.push((key.to_owned(), Value::Pairs(pairs)));
        }
    }

    pub(super) fn push_block(&mut self, key: &str, block: Block) {
        self.push_blocks(key, vec![block]);
    }

    pub(super) fn push_blocks(&mut self, key: &str, blocks: Vec<Block>) {
        if !blocks.is_empty() {
            self.entries.push((key.to_owned(), Value::Blocks(blocks)));
        }
    }

    /// Adds a list of mappings.
    pub(super) fn push_rules(&mut self, key: &str, rules: Vec<Pairs>) {
        let block = |Pairs(entries)| Block { queue: None, entries };
        self.push_blocks(key, rules.into_iter().map(block).collect());
    }
}

/// Returns the whole file: its sources, the notes for all queues, and one partition.
pub(super) fn file(files: &[Source<'_>], partition: Block, notes: &[Note]) -> String {
    let names: Vec<String> = files.iter().map(|file| shown(file.name)).collect();
    let mut writer = Writer { text: String::new(), notes, next: 0 };
    writer.comment(0, &format!("Converted from {} by `headroom convert yarn`.", names.join(", ")));
    writer.comment(
        0,
        "Read the notes below and in the queues, and then check the file with: headroom validate \
         FILE",
    );
    if notes.iter().any(|note| note.queue.is_none()) {
        writer.comment(0, "");
    }
    writer.notes_of(None, 0);
    writer.text.push_str("partitions:\n");
    writer.blocks(&[partition], 0);
    writer.text
}

struct Writer<'n> {
    text: String,
    /// Notes in output order.
    notes: &'n [Note],
    next: usize,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let spaces = depth * 2;
        // Writing into a string cannot fail.
        let _ = writeln!(self.text, "{:spaces$}{text}", "");
    }

    fn comment(&mut self, depth: usize, text: &str) {
        self.line(depth, format!("# {text}").trim_end());
    }

    fn notes_of(&mut self, queue: Option<&str>, depth: usize) {
        while let Some(note) =
            self.notes.get(self.next).filter(|note| note.queue.as_deref() == queue)
        {
            self.comment(depth, &note.to_string());
            self.next += 1;
        }
    }

    /// Writes the entries of a list. Each begins with its first key.
    fn blocks(&mut self, blocks: &[Block], depth: usize) {
        for block in blocks {
            if let Some(queue) = &block.queue {
                self.notes_of(Some(queue), depth);
            }
            let mut dash = "- ";
            for (key, value) in &block.entries {
                self.entry(dash, key, value, depth);
                dash = "  ";
            }
        }
    }

    fn entry(&mut self, lead: &str, key: &str, value: &Value, depth: usize) {
        let key = quoted(key);
        match value {
            Value::Blocks(blocks) => {
                self.line(depth, &format!("{lead}{key}:"));
                self.blocks(blocks, depth + 1);
            }
            Value::Pairs(Pairs(pairs)) => {
                let line = format!("{lead}{key}: {}", flow(value));
                if line.chars().count() + depth * 2 <= LINE {
                    self.line(depth, &line);
                    return;
                }
                self.line(depth, &format!("{lead}{key}:"));
                for (key, value) in pairs {
                    self.entry("  ", key, value, depth + 1);
                }
            }
            Value::Text(_) | Value::Plain(_) | Value::Words(_) => {
                self.line(depth, &format!("{lead}{key}: {}", flow(value)));
            }
        }
    }
}

/// Returns a value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Text(text) => quoted(text),
        Value::Plain(text) => text.clone(),
        Value::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("[{}]", words.join(", "))
        }
        Value::Pairs(Pairs(pairs)) => {
            let pair = |(key, value): &(String, Value)| format!("{}: {}", quoted(key), flow(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        // Lists of queues and rules are never within a line.
        Value::Blocks(_) => "[]".to_owned(),
    }
}

/// Returns a text as YAML, with quotes if necessary.
fn quoted(text: &str) -> String {
    // Words that have another meaning without quotes.
    const WORDS: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan"];
    let is_plain = text.starts_with(|one: char| one.is_ascii_alphabetic())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || "_-./@".contains(one))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            // Characters that break lines or control a terminal, and those that YAML does not allow unescaped.
            _ if one.is_control()
                || matches!(
                    one,
                    '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
                ) =>
            {
                let _ = write!(quoted, "\\u{:04x}", u32::from(one));
            }
            _ => quoted.push(one),
        }
    }
    quoted.push('"');
    quoted
}
