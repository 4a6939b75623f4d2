//! Integers in bodies with any spelling. In JSON Schema, and therefore in the `OpenAPI` document, `3.0` and `3e0` are
//! integers. Some languages write only such numbers.

use std::borrow::Cow;

/// From this value on, a float cannot represent every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns a body in which all whole numbers are written as integers. The rest is unchanged, and invalid JSON stays
/// invalid.
pub(super) fn whole_numbers(body: &[u8]) -> Cow<'_, [u8]> {
    let (mut written, mut copied, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => at = behind_text(body, at),
            b'-' | b'0'..=b'9' => {
                let rest = &body[at..];
                let is_part =
                    |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                if let Some(integer) = whole(&rest[..length]) {
                    written.extend_from_slice(&body[copied..at]);
                    written.extend_from_slice(integer.to_string().as_bytes());
                    copied = at + length;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    written.extend_from_slice(&body[copied..]);
    Cow::Owned(written)
}

/// Returns the end of the string that begins here.
fn behind_text(body: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    body.len()
}

/// Returns the value of a number that is whole, but not written as an integer.
fn whole(number: &[u8]) -> Option<i64> {
    if !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return None;
    }
    // Other numbers are left to the JSON parser, which is stricter about their spelling.
    let float: f64 = serde_json::from_slice(number).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and exact")]
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use super::whole_numbers;

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        for (written, expected) in [
            (r#"{"a":751.0,"b":[-2.0,1e3,0.5,2E+0,-0.0]}"#, r#"{"a":751,"b":[-2,1000,0.5,2,0]}"#),
            (r#"{"a":"1.0","b\"2.0":"\\","c":3.0}"#, r#"{"a":"1.0","b\"2.0":"\\","c":3}"#),
            (r#"{"a":7,"b":-1,"c":9007199254740993}"#, r#"{"a":7,"b":-1,"c":9007199254740993}"#),
            ("1e300 1e16 0.1", "1e300 1e16 0.1"),
            ("9007199254740992.0", "9007199254740992"),
            // Invalid JSON stays invalid.
            ("01.0 1. 1.e3 --1.0 1e", "01.0 1. 1.e3 --1.0 1e"),
            (r#"{"a":1.0,"a":2.0}"#, r#"{"a":1,"a":2}"#),
            (r#""1.0"#, r#""1.0"#),
            (r#""\"#, r#""\"#),
            ("", ""),
        ] {
            let found = whole_numbers(written.as_bytes());
            assert_eq!(str::from_utf8(&found), Ok(expected), "{written}");
        }
    }
}
