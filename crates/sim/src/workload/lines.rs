//! Reads lines of untrusted text, with a limit of the size of a line.

use std::io::{self, BufRead};

/// Longest line in bytes, without its line end.
///
/// The longest valid lines (node lists of large jobs) have about ten thousand bytes.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;

/// A reader of lines. It stores one line in memory, and nothing of a line that is too long.
pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Returns a reader before the first line.
    pub(crate) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), number: 0 }
    }

    /// Returns the number of the last line, from 1. 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the next line without its end (`\n` or `\r\n`), or its fault. `None` at the end.
    ///
    /// # Errors
    /// Returns the I/O error of the input.
    pub(crate) fn next(&mut self) -> io::Result<Option<Result<&str, String>>> {
        self.buffer.clear();
        let mut overlong = false;
        let mut seen = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                break;
            }
            seen = true;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(chunk.len());
            overlong |= self.buffer.len() + part > LINE_BYTES_MAX;
            if !overlong {
                self.buffer.extend_from_slice(&chunk[..part]);
            }
            self.input.consume(end.map_or(part, |end| end + 1));
            if end.is_some() {
                break;
            }
        }
        if !seen {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(if overlong {
            Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"))
        } else {
            text_of(&self.buffer, self.number)
        }))
    }
}

fn text_of(bytes: &[u8], number: u64) -> Result<&str, String> {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if let Some(position) = bytes.iter().position(|byte| *byte == 0) {
        return Err(format!(
            "byte {} is NUL, so the file is binary or damaged; expected text",
            position + 1
        ));
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        format!("byte {} is not valid UTF-8; expected text in UTF-8", error.valid_up_to() + 1)
    })?;
    // Spreadsheets write a byte order mark before the header.
    Ok(match number {
        1 => text.strip_prefix('\u{feff}').unwrap_or(text),
        _ => text,
    })
}

/// Splits a line of an RFC 4180 file. Fields cannot contain line ends.
///
/// # Errors
/// If a quotation mark is never closed.
pub(crate) fn split_csv(line: &str) -> Result<Vec<String>, String> {
    if !line.contains('"') {
        return Ok(line.split(',').map(|field| field.trim().to_owned()).collect());
    }
    if !line.matches('"').count().is_multiple_of(2) {
        return Err("a quotation mark is not closed within the line".to_owned());
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    match reader.records().next() {
        Some(Ok(record)) => Ok(record.iter().map(|field| field.trim().to_owned()).collect()),
        Some(Err(error)) => Err(error.to_string()),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> Vec<Result<String, String>> {
        let mut lines = Lines::new(io::BufReader::with_capacity(7, input));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(line.map(str::to_owned));
        }
        found
    }

    #[test]
    fn lines_end_with_or_without_carriage_return_and_at_the_end_of_input() {
        for (input, expected) in [
            ("", vec![]),
            ("\n", vec![""]),
            ("a", vec!["a"]),
            ("\u{feff}a\r\n\nlonger than seven\n", vec!["a", "", "longer than seven"]),
        ] {
            let found: Vec<_> = all(input.as_bytes()).into_iter().map(Result::unwrap).collect();
            assert_eq!(found, expected, "{input:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_reported_and_reading_goes_on_behind_it() {
        let mut input = b"a\0b\n\xff\n".to_vec();
        input.extend(vec![b'x'; LINE_BYTES_MAX + 1]);
        input.extend(b"\ngood");
        assert_eq!(
            all(&input),
            [
                Err("byte 2 is NUL, so the file is binary or damaged; expected text".to_owned()),
                Err("byte 1 is not valid UTF-8; expected text in UTF-8".to_owned()),
                Err("the line is longer than 1048576 bytes".to_owned()),
                Ok("good".to_owned()),
            ]
        );
    }

    #[test]
    fn csv_fields_may_be_quoted() {
        assert_eq!(split_csv("a, b ,").unwrap(), ["a", "b", ""]);
        assert_eq!(split_csv(r#""a,b","c""d""#).unwrap(), ["a,b", "c\"d"]);
        let open = Err("a quotation mark is not closed within the line".to_owned());
        assert_eq!(split_csv("\"a"), open);
    }
}
