//! Records as JSON in the `ProtoJSON` mapping, with lower camel case fields and the full names of enumeration values.
//!
//! Optional fields without a value are omitted. All other fields are present, also with their default values.
//! Numbers of 64 bits are JSON numbers instead of the strings of `ProtoJSON`, so that `jq` can compare these numbers.
//! Every `ProtoJSON` parser accepts both forms.

use anyhow::{Context as _, Result};
use prost_reflect::{
    DescriptorPool, DynamicMessage, Kind, MapKey, MessageDescriptor, ReflectMessage as _, Value,
};
use serde_json::{Map, Value as Json};

/// The descriptor of a message type.
#[derive(Debug)]
pub(super) struct Messages(MessageDescriptor);

impl Messages {
    /// Returns the descriptor of journal records.
    pub(super) fn records() -> Result<Self> {
        let pool = DescriptorPool::decode(headroom_journal::DESCRIPTORS);
        let pool = pool.context("the descriptors of the journal messages cannot be read")?;
        let record = pool.get_message_by_name("headroom.journal.v1.Record");
        record.map(Self).context("the journal messages have no record")
    }

    /// Returns a message as JSON.
    pub(super) fn json(&self, bytes: &[u8]) -> Result<Json> {
        let message = DynamicMessage::decode(self.0.clone(), bytes);
        Ok(object(&message.context("the record is not a journal message")?))
    }
}

fn object(message: &DynamicMessage) -> Json {
    let descriptor = message.descriptor();
    let fields = descriptor.fields();
    let shown = fields.filter(|field| !field.supports_presence() || message.has_field(field));
    let shown = shown.map(|field| {
        let value = json(&message.get_field(&field), &field.kind());
        (field.json_name().to_owned(), value)
    });
    Json::Object(shown.collect())
}

fn json(value: &Value, kind: &Kind) -> Json {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::I32(number) => (*number).into(),
        Value::I64(number) => (*number).into(),
        Value::U32(number) => (*number).into(),
        Value::U64(number) => (*number).into(),
        Value::F32(number) => float((*number).into()),
        Value::F64(number) => float(*number),
        Value::String(text) => text.as_str().into(),
        // No journal message has bytes.
        Value::Bytes(bytes) => bytes.iter().copied().collect(),
        Value::EnumNumber(number) => word(*number, kind),
        Value::Message(message) => object(message),
        Value::List(values) => values.iter().map(|value| json(value, kind)).collect(),
        Value::Map(entries) => {
            let kind = kind
                .as_message()
                .map_or(kind.clone(), |entry| entry.map_entry_value_field().kind());
            let entries = entries.iter().map(|(key, value)| (name(key), json(value, &kind)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// Returns a number as JSON. Values that JSON numbers cannot express become strings.
fn float(number: f64) -> Json {
    match number {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        number if number.is_nan() => "NaN".into(),
        number => number.into(),
    }
}

fn word(number: i32, kind: &Kind) -> Json {
    let word = kind.as_enum().and_then(|words| words.get_value(number));
    word.map_or_else(|| number.into(), |word| word.name().into())
}

fn name(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => key.clone(),
    }
}
