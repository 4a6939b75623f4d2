//! The second decoding of names in paths, as forms are decoded. Source: REST API §4.

/// A `%` without two hexadecimal digits behind it, or bytes that are no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// What stands where an escape should.
    #[error("invalid URL escape {0:?}: `%` needs two hexadecimal digits behind it")]
    Escape(String),
    /// The escapes do not spell UTF-8.
    #[error("the escapes of {0:?} are no text in UTF-8")]
    NotText(String),
}

/// Decode a text as a form is: `+` is a blank, `%` and two hexadecimal digits a byte.
pub(crate) fn form(text: &str) -> Result<String, DecodeError> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let digits = bytes.get(at + 1..at + 3).and_then(byte_of);
                let escape = || String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]);
                let byte = digits.ok_or_else(|| DecodeError::Escape(escape().into_owned()))?;
                decoded.push(byte);
                at += 3;
            }
            b'+' => {
                decoded.push(b' ');
                at += 1;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).map_err(|_| DecodeError::NotText(text.to_owned()))
}

fn byte_of(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match digits {
        [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::form;

    #[test]
    fn names_are_decoded_as_forms_are() {
        for (text, expected) in [
            ("root.a", Some("root.a")),
            ("root.a%2Fb", Some("root.a/b")),
            ("a+b", Some("a b")),
            ("%c3%A9", Some("é")),
            ("a%25", Some("a%")),
            ("", Some("")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%é", None),
            ("%ff", None),
        ] {
            assert_eq!(form(text).ok().as_deref(), expected, "decoding {text:?}");
        }
        let said = form("root.%zz").unwrap_err().to_string();
        assert!(said.starts_with("invalid URL escape \"%zz\""), "{said}");
    }
}
