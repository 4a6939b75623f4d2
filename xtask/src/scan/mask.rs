//! Replacing strings and comments by blanks.

use super::{Language, is_word_byte};

/// `text` with blanks in place of comments and of what stands inside quotes. Newlines stay,
/// and so does the number of bytes.
pub(super) fn mask(text: &str, language: Language) -> String {
    let mut masker = Masker { bytes: text.as_bytes(), at: 0, out: Vec::with_capacity(text.len()) };
    while masker.at < masker.bytes.len() {
        match language {
            Language::Rust => masker.rust(),
            Language::Script => masker.script(),
            Language::Python => masker.python(),
        }
    }
    // Whole characters are either copied or blanked, so nothing is lost here.
    String::from_utf8_lossy(&masker.out).into_owned()
}

struct Masker<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
}

impl Masker<'_> {
    fn rust(&mut self) {
        if self.starts(b"//") {
            self.blank_line();
        } else if self.starts(b"/*") {
            self.blank_block(true);
        } else if let Some(hashes) = self.raw_string() {
            self.blank_raw(hashes);
        } else if self.starts(b"\"") {
            self.blank_quoted(b"\"");
        } else if self.starts(b"'") && self.is_char_literal() {
            self.blank_quoted(b"'");
        } else {
            self.keep();
        }
    }

    fn script(&mut self) {
        if self.starts(b"//") {
            self.blank_line();
        } else if self.starts(b"/*") {
            self.blank_block(false);
        } else if let Some(quote) = self.one_of(&[b"\"", b"'", b"`"]) {
            self.blank_quoted(quote);
        } else {
            self.keep();
        }
    }

    fn python(&mut self) {
        if self.starts(b"#") {
            self.blank_line();
        } else if let Some(quote) = self.one_of(&[b"\"\"\"", b"'''", b"\"", b"'"]) {
            self.blank_quoted(quote);
        } else {
            self.keep();
        }
    }

    fn starts(&self, with: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(with)
    }

    fn one_of<'q>(&self, quotes: &[&'q [u8]]) -> Option<&'q [u8]> {
        quotes.iter().copied().find(|quote| self.starts(quote))
    }

    fn keep(&mut self) {
        self.out.push(self.bytes[self.at]);
        self.at += 1;
    }

    fn blank(&mut self) {
        let byte = self.bytes[self.at];
        self.out.push(if byte == b'\n' { b'\n' } else { b' ' });
        self.at += 1;
    }

    fn blank_line(&mut self) {
        while self.at < self.bytes.len() && !self.starts(b"\n") {
            self.blank();
        }
    }

    fn blank_block(&mut self, nests: bool) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            if self.starts(b"/*") && (nests || depth == 0) {
                depth += 1;
                self.blank();
            } else if self.starts(b"*/") {
                depth -= 1;
                self.blank();
                if depth == 0 {
                    self.blank();
                    return;
                }
            }
            self.blank();
        }
    }

    /// Keep the quotes, blank what they hold. A backslash guards the byte after it.
    fn blank_quoted(&mut self, quote: &[u8]) {
        for _ in quote {
            self.keep();
        }
        while self.at < self.bytes.len() && !self.starts(quote) {
            if self.starts(b"\\") && self.at + 1 < self.bytes.len() {
                self.blank();
            }
            self.blank();
        }
        for _ in 0..quote.len().min(self.bytes.len() - self.at) {
            self.keep();
        }
    }

    /// How many `#` a raw string that begins here has.
    fn raw_string(&self) -> Option<usize> {
        let fresh = self.at == 0 || {
            let before = self.bytes[self.at - 1];
            // `br"…"` and `cr"…"` begin with a letter that was kept already.
            !is_word_byte(before) || matches!(before, b'b' | b'c')
        };
        if !fresh || !self.starts(b"r") {
            return None;
        }
        let rest = &self.bytes[self.at + 1..];
        let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
        (rest.get(hashes) == Some(&b'"')).then_some(hashes)
    }

    fn blank_raw(&mut self, hashes: usize) {
        let end: Vec<u8> = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
        for _ in 0..hashes + 2 {
            self.keep();
        }
        while self.at < self.bytes.len() && !self.starts(&end) {
            self.blank();
        }
        for _ in 0..end.len().min(self.bytes.len() - self.at) {
            self.keep();
        }
    }

    /// Tell `'a'` from the lifetime `'a`.
    fn is_char_literal(&self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        match rest.first() {
            Some(b'\\') => true,
            Some(first) => rest.get(length_of(*first)) == Some(&b'\''),
            None => false,
        }
    }
}

/// How many bytes the UTF-8 character takes that begins with this byte.
fn length_of(first: u8) -> usize {
    match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_blanked_and_nothing_else() {
        use Language::{Python, Rust, Script};
        for (language, text, expected) in [
            (Rust, "a \"}\" b", "a \" \" b"),
            (Rust, r#""\"{" b"#, r#""   " b"#),
            (Rust, "r#\"{\"#;", "r#\" \"#;"),
            (Rust, "br\"{\\\";", "br\"  \";"),
            (Rust, "br#\"\"{\"#", "br#\"  \"#"),
            (Rust, "r#fn", "r#fn"),
            (Rust, "'{' 'a '\\'' '€'", "' ' 'a '  ' '   '"),
            (Rust, "a // {\nb", "a     \nb"),
            (Rust, "/* /* { */ } */b", "               b"),
            (Rust, "\"open", "\"    "),
            (Script, "`{` '{' // {", "` ` ' '     "),
            (Python, "'''\n{''' # {", "'''\n '''    "),
        ] {
            assert_eq!(mask(text, language), expected, "masking {text:?}");
        }
    }

    #[test]
    fn the_number_of_bytes_stays() {
        let text = "let ä = \"ü\"; // é\n/* ß";
        assert_eq!(mask(text, Language::Rust).len(), text.len());
    }
}
