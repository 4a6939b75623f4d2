//! Parser for one shape of JSON: a resource in a tag, in the format of the RM protocol.
//!
//! `{"resources": {"memory": {"value": 500}}}`, with amounts in core units. As in YuniKorn, keys are matched ignoring
//! case, unknown members are skipped, the last of equal members counts, and `null` is empty.

use alloc::string::String;
use alloc::vec::Vec;

use crate::resource::{Amounts, Quantity, ResourceTypes};

/// Largest nesting depth of skipped values.
const DEPTH_MAX: usize = 10_000;

/// Returns the amounts of the text. `None` if it is not JSON of this shape.
pub(super) fn read_resource(text: &str) -> Option<Amounts> {
    let mut reader = Reader { text, at: 0 };
    let mut amounts = Amounts::EMPTY;
    if !reader.null() {
        reader.members(|reader, key| {
            if key.eq_ignore_ascii_case("resources") {
                reader.amounts(&mut amounts)
            } else {
                reader.skip()
            }
        })?;
    }
    reader.blanks();
    (reader.at == text.len()).then_some(amounts)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn amounts(&mut self, amounts: &mut Amounts) -> Option<()> {
        if self.null() {
            *amounts = Amounts::EMPTY;
            return Some(());
        }
        self.members(|reader, name| {
            let mut amount = Quantity::ZERO;
            if !reader.null() {
                reader.members(|reader, key| {
                    if !key.eq_ignore_ascii_case("value") {
                        return reader.skip();
                    }
                    if !reader.null() {
                        amount = Quantity::of(reader.number()?.parse().ok()?);
                    }
                    Some(())
                })?;
            }
            // One type more than the limit is sufficient to reject all of them.
            if amounts.len() <= ResourceTypes::LIMIT {
                amounts.set(name, amount);
            }
            Some(())
        })
    }

    /// Parses an object. `each` parses the value of a key.
    fn members(&mut self, mut each: impl FnMut(&mut Self, String) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            each(self, key)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Skips any value. Iterative, because the nesting depth is not trusted.
    fn skip(&mut self) -> Option<()> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            if open.len() > DEPTH_MAX {
                return None;
            }
            if self.take(b'{') {
                if !self.take(b'}') {
                    self.key()?;
                    open.push(b'}');
                    continue;
                }
            } else if self.take(b'[') {
                if !self.take(b']') {
                    open.push(b']');
                    continue;
                }
            } else {
                self.scalar()?;
            }
            // After a value, its container continues or ends too.
            while let Some(closing) = open.last().copied() {
                if self.take(b',') {
                    if closing == b'}' {
                        self.key()?;
                    }
                    break;
                }
                self.expect(closing)?;
                open.pop();
            }
            if open.is_empty() {
                return Some(());
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.expect(b':')
    }

    fn scalar(&mut self) -> Option<()> {
        self.blanks();
        match self.text.as_bytes().get(self.at)? {
            b'"' => self.string().map(drop),
            b't' => self.word("true").then_some(()),
            b'f' => self.word("false").then_some(()),
            b'n' => self.word("null").then_some(()),
            _ => self.number().map(drop),
        }
    }

    /// Returns the text of a number in JSON syntax.
    fn number(&mut self) -> Option<&str> {
        self.blanks();
        let start = self.at;
        self.one_of(b"-");
        if !self.one_of(b"0") {
            self.digits()?;
        }
        if self.one_of(b".") {
            self.digits()?;
        }
        if self.one_of(b"eE") {
            self.one_of(b"+-");
            self.digits()?;
        }
        Some(&self.text[start..self.at])
    }

    fn digits(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn string(&mut self) -> Option<String> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let one = self.text[self.at..].chars().next()?;
            self.at += one.len_utf8();
            match one {
                '"' => return Some(out),
                '\\' => out.push(self.escaped()?),
                '\0'..='\u{1f}' => return None,
                other => out.push(other),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let one = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(match one {
            b'"' | b'\\' | b'/' => char::from(one),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex()?;
                let behind = self.at;
                // The second half of a surrogate pair follows as a separate escape.
                if (0xd800..0xdc00).contains(&high) && self.word("\\u") {
                    let low = self.hex()?;
                    if (0xdc00..0xe000).contains(&low) {
                        let both = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        return char::from_u32(both);
                    }
                    self.at = behind;
                }
                char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
    }

    fn null(&mut self) -> bool {
        self.blanks();
        self.word("null")
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn one_of(&mut self, bytes: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at).is_some_and(|byte| bytes.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        self.one_of(&[byte])
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn blanks(&mut self) {
        while self.one_of(b" \t\n\r") {}
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_resource_in_a_tag_has_one_shape() {
        for (text, expected) in [
            (r#"{"resources":{"memory":{"value":500}}}"#, Some("{memory: 500 B}")),
            (r#" { "resources" : { "a" : { "value" : -1 } , "b":{} } } "#, Some("{a: -1, b: 0}")),
            (r#"{"Resources":{"a":{"VALUE":1}}}"#, Some("{a: 1}")),
            (r#"{"resources":{"a":{"value":1},"a":{"value":2}}}"#, Some("{a: 2}")),
            (r#"{"resources":{"a":{"value":1,"value":2}}}"#, Some("{a: 2}")),
            (
                r#"{"resources":{"a":{"value":1}},"resources":{"b":{"value":2}}}"#,
                Some("{a: 1, b: 2}"),
            ),
            (r#"{"resources":{"a":{"value":1}},"resources":null}"#, Some("{}")),
            (r#"{"resources":{"a":null,"b":{"value":null}}}"#, Some("{a: 0, b: 0}")),
            (r#"{"x":[1,{"y":[]},"\"",true,null,-0.5e+3],"resources":{}}"#, Some("{}")),
            (r#"{"resources":{"\u0061\ud83d\ude00\n":{"value":1}}}"#, Some("{a😀\n: 1}")),
            (r#"{"resources":{"\ud800":{"value":1}}}"#, Some("{\u{fffd}: 1}")),
            ("null", Some("{}")),
            ("{}", Some("{}")),
            ("", None),
            ("[]", None),
            ("5", None),
            ("nullx", None),
            ("{} {}", None),
            (r#"{"resources":[]}"#, None),
            (r#"{"resources":{"a":5}}"#, None),
            (r#"{"resources":{"a":{"value":"5"}}}"#, None),
            (r#"{"resources":{"a":{"value":5.0}}}"#, None),
            (r#"{"resources":{"a":{"value":5e2}}}"#, None),
            (r#"{"resources":{"a":{"value":05}}}"#, None),
            (r#"{"resources":{"a":{"value":9223372036854775808}}}"#, None),
            (r#"{"resources":{"a":{"value":5},}}"#, None),
            (r#"{"resources":{"a":{"value":5}}"#, None),
            (r#"{"x":[1,],"resources":{}}"#, None),
            (r#"{"x":tru}"#, None),
            ("{\"a\nb\":1}", None),
            (r#"{"\x":1}"#, None),
        ] {
            let found = read_resource(text).map(|amounts| amounts.to_string());
            assert_eq!(found.as_deref(), expected, "reading {text}");
        }
    }

    #[test]
    fn nesting_is_bounded_and_needs_no_stack() {
        for (depth, expected) in [(9_000, true), (1_000_000, false)] {
            let text = format!("{{\"x\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(read_resource(&text).is_some(), expected, "{depth} levels");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in any::<String>(),
            bits in proptest::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24),
        ) {
            let _ = read_resource(&text);
            let _ = read_resource(&bits.concat());
        }

        #[test]
        fn what_is_written_is_read(
            entries in proptest::collection::btree_map("[a-z\\\\\"é]{0,6}", any::<i64>(), 0..6),
        ) {
            let written: Vec<String> = entries
                .iter()
                .map(|(name, amount)| {
                    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                    format!("\"{name}\": {{\"value\": {amount}}}")
                })
                .collect();
            let text = format!("{{\"resources\": {{{}}}}}", written.join(", "));
            let expected: Amounts =
                entries.iter().map(|(name, amount)| (&**name, Quantity::of(*amount))).collect();
            prop_assert_eq!(read_resource(&text), Some(expected));
        }
    }

    /// Building blocks of texts with nearly the correct form.
    const PIECES: [&str; 16] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"resources\"",
        "\"value\"",
        "\"a\"",
        "1",
        "-",
        "null",
        "\\",
        "\"",
        "\\u12",
        "é",
    ];
}
