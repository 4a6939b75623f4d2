//! The second decoding of names in paths, by the rules of form encoding. Source: REST API §4.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A `%` without two hexadecimal digits after it, or bytes that are not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// An invalid escape, with its text.
    #[error("invalid URL escape {0:?}: two hexadecimal digits must follow `%`")]
    Escape(String),
    /// The unescaped bytes are not UTF-8.
    #[error("the escapes of {0:?} do not decode to UTF-8 text")]
    NotText(String),
}

/// Decodes form encoding: `+` is a blank, and `%` with two hexadecimal digits is a byte.
pub(crate) fn form(text: &str) -> Result<String, DecodeError> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    // The library leaves an invalid escape unchanged, but the reference refuses it.
    if let Some((at, _)) = text.match_indices('%').find(|(at, _)| !is_escape(*at)) {
        let escape = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
        return Err(DecodeError::Escape(escape.into_owned()));
    }
    let decoded = percent_decode_str(&text.replace('+', " ")).decode_utf8().map(Cow::into_owned);
    decoded.map_err(|_| DecodeError::NotText(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{DecodeError, form};

    #[test]
    fn names_are_decoded_as_forms_are() {
        let escape = |text: &str| DecodeError::Escape(text.to_owned());
        let not_text = |text: &str| DecodeError::NotText(text.to_owned());
        for (text, expected) in [
            ("root.a", Ok("root.a")),
            ("root.a%2Fb", Ok("root.a/b")),
            ("a+b", Ok("a b")),
            ("a%2Bb", Ok("a+b")),
            ("%c3%A9", Ok("é")),
            ("a%25", Ok("a%")),
            ("a%2541", Ok("a%41")),
            ("", Ok("")),
            ("%", Err(escape("%"))),
            ("%4", Err(escape("%4"))),
            ("%zz", Err(escape("%zz"))),
            ("%2%41", Err(escape("%2%"))),
            ("%+5", Err(escape("%+5"))),
            ("%é", Err(escape("%é"))),
            ("%4é", Err(escape("%4\u{fffd}"))),
            ("a+%ff", Err(not_text("a+%ff"))),
        ] {
            assert_eq!(form(text).as_deref(), expected.as_ref().copied(), "decoding {text:?}");
        }
        let error = form("root.%zz").unwrap_err().to_string();
        assert!(error.starts_with("invalid URL escape \"%zz\""), "{error}");
    }
}
