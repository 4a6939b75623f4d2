//! Namespaces, priority classes, and config maps.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::metadata::Metadata;
use super::text::{Labels, Map, Text};

/// A namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Namespace {
    /// Name, labels, and annotations.
    pub metadata: Metadata,
}

/// A priority class. Its annotations tell whether its pods allow preemption.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PriorityClass {
    /// Name and annotations.
    pub metadata: Metadata,
    /// Priority of its pods.
    pub value: i32,
}

/// A config map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ConfigMap {
    /// Name and namespace.
    pub metadata: Metadata,
    /// Entries of text.
    pub data: Labels,
    /// Entries of bytes.
    pub binary_data: Map<Binary>,
}

/// Bytes, which JSON has as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binary(pub Box<[u8]>);

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        decode_base64(&text)
            .map(|bytes| Self(bytes.into_boxed_slice()))
            .ok_or_else(|| D::Error::custom("a binary entry is not base64"))
    }
}

/// Decodes padded base64 of the standard alphabet. Line breaks are skipped.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let body = bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(&bytes);
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let (mut decoded, mut bits, mut count) = (Vec::with_capacity(body.len() * 3 / 4), 0_u32, 0);
    for byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_entries_are_base64() {
        let read = |text: &str| serde_json::from_str::<ConfigMap>(text);
        let map =
            read(r#"{"data":{"a":"b"},"binaryData":{"k":"aGk=","l":"","m":"aGlq","n":"aA=="}}"#)
                .unwrap();
        let bytes = |key: &str| map.binary_data.get(key).map(|binary| &*binary.0);
        assert_eq!(bytes("k"), Some(&b"hi"[..]));
        assert_eq!(bytes("l"), Some(&b""[..]));
        assert_eq!(bytes("m"), Some(&b"hij"[..]));
        assert_eq!(bytes("n"), Some(&b"h"[..]));
        assert!(read(r#"{"binaryData":{"k":"a"}}"#).is_err());
        assert!(read(r#"{"binaryData":{"k":"a b="}}"#).is_err());
    }
}
