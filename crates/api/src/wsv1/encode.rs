//! JSON byte by byte as the reference writes it, so that recorded bodies can be compared.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// Returns a body of `/ws/v1` as compact JSON on one line, ended by a newline.
///
/// `<`, `>`, `&`, and the two line separators of Unicode are escaped. Floating-point numbers
/// without a fraction have no decimal point. `YuniKorn` omits the newline only for its
/// configuration.
///
/// # Errors
/// When `body` cannot be written as JSON. The bodies of this module always can.
pub fn to_json<T: Serialize + ?Sized>(body: &T) -> serde_json::Result<Vec<u8>> {
    write(body, CompactFormatter)
}

/// Returns the state dump, indented by two spaces and ended by a newline, otherwise like
/// [`to_json`].
///
/// # Errors
/// Like [`to_json`].
pub fn to_json_indented<T: Serialize + ?Sized>(body: &T) -> serde_json::Result<Vec<u8>> {
    write(body, PrettyFormatter::new())
}

fn write<T: Serialize + ?Sized>(body: &T, layout: impl Formatter) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    body.serialize(&mut Serializer::with_formatter(&mut bytes, Escaping { layout }))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// `layout`, with numbers and texts as the reference has them.
struct Escaping<Layout> {
    layout: Layout,
}

impl<Layout: Formatter> Formatter for Escaping<Layout> {
    fn write_f64<W: Write + ?Sized>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float(value).as_bytes())
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut letters = from.chars();
            if let Some(letter) = letters.next() {
                write!(writer, "\\u{:04x}", u32::from(letter))?;
            }
            rest = letters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_array(writer)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.layout.begin_array_value(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array_value(writer)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object(writer)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object(writer)
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.layout.begin_object_key(writer, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(writer)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object_value(writer)
    }
}

/// Returns the shortest text that reads back as `value`, with an exponent below a millionth and
/// from 10²¹.
fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        if size < 1.0 { text } else { text.replace('e', "e+") }
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{float, to_json, to_json_indented};

    #[test]
    fn floats_have_no_needless_fraction() {
        for (value, expected) in [
            (1.0, "1"),
            (0.0, "0"),
            (-2.0, "-2"),
            (0.5, "0.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (-2.5e-9, "-2.5e-9"),
        ] {
            assert_eq!(float(value), expected);
            assert_eq!(expected.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn markup_and_line_separators_are_escaped_in_names_and_values() {
        let text = to_json(&json!({"a<b": "x > y & \u{2028}\u{2029} \"é\"\n"})).unwrap();
        let expected = "{\"a\\u003cb\":\"x \\u003e y \\u0026 \\u2028\\u2029 \\\"é\\\"\\n\"}\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn the_indented_form_differs_in_white_space_alone() {
        let text = to_json_indented(&json!({"a": [1, {}], "b": []})).unwrap();
        let expected = "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
