//! Values with tags and places, as the YAML parser returns them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Spanned, Tagged};

use crate::diagnostic::Span;

/// A value with its explicit tag and its place.
pub(crate) struct Written {
    value: Value,
    tag: Option<String>,
    /// First byte and length. The parser's own places have more data, and would use most of the memory.
    start: usize,
    length: usize,
}

/// A value as the parser interprets it.
pub(crate) enum Value {
    /// No value.
    Null,
    /// A scalar with the form of a boolean or a number. Its text is in the source.
    Inferred,
    /// Any other scalar.
    Text(String),
    /// A list.
    List(Vec<Written>),
    /// A mapping, with its keys in order, including repeated keys.
    Map(Vec<(Written, Written)>),
}

/// Reads one document.
///
/// # Errors
/// The error of the parser, if the text is not YAML, or exceeds a budget.
pub(crate) fn read(de: serde_saphyr::Deserializer<'_, '_>) -> Result<Written, Error> {
    Written::deserialize(de)
}

impl Written {
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value and its tag.
    pub(crate) fn into_parts(self) -> (Value, Option<String>) {
        (self.value, self.tag)
    }

    /// Returns the place at which the value is written, without trailing white space. For an alias, this is the place
    /// of the anchor.
    pub(crate) fn span(&self, source: &str) -> Span {
        place(source, self.start, self.length)
    }
}

/// Returns the place of `length` bytes, without trailing white space.
pub(crate) fn place(source: &str, start: usize, length: usize) -> Span {
    let end = (start + length).min(source.len());
    let start = start.min(source.len());
    match source.get(start..end) {
        Some(slice) => Span { start, end: start + slice.trim_end().len() },
        None => Span::default(),
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Tagged(spanned, tag): Tagged<Spanned<Value>> = Tagged::deserialize(deserializer)?;
        let span = spanned.defined.span();
        let bytes = |count: Option<u64>| count.and_then(|count| usize::try_from(count).ok());
        let start = bytes(span.byte_offset()).unwrap_or(0);
        let length = bytes(span.byte_len()).unwrap_or(0);
        Ok(Self { value: spanned.value, tag, start, length })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Inferred)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Inferred)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Inferred)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Inferred)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Value::Text(text.to_owned())),
            Err(_) => Err(E::custom("the value is binary data, but it must be text")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
