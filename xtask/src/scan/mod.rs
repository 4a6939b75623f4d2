//! Just enough reading of source text for the rules: where code ends and strings, comments
//! and tests begin.

mod function;
mod mask;

use std::ops::Range;

pub(crate) use function::Function;

/// The languages whose strings and comments we can tell from code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Rust.
    Rust,
    /// TypeScript and JavaScript.
    Script,
    /// Python.
    Python,
}

impl Language {
    /// The language that a file's ending stands for.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending {
            "rs" => Some(Self::Rust),
            "ts" | "tsx" | "js" => Some(Self::Script),
            "py" => Some(Self::Python),
            _ => None,
        }
    }
}

/// Source text with the inside of strings and all comments replaced by blanks, so that a
/// byte's place and line stay what they were.
pub(crate) struct Code {
    language: Language,
    masked: String,
    /// Byte ranges that are compiled for tests only.
    tests: Vec<Range<usize>>,
}

impl Code {
    /// Read `text`; `is_test` says that the whole file belongs to the tests.
    pub(crate) fn new(text: &str, language: Language, is_test: bool) -> Self {
        let masked = mask::mask(text, language);
        let tests = match (is_test, language) {
            (true, _) => function::everything(&masked),
            (false, Language::Rust) => function::test_regions(&masked),
            (false, Language::Script | Language::Python) => Vec::new(),
        };
        Self { language, masked, tests }
    }

    /// The text without strings and comments.
    pub(crate) fn masked(&self) -> &str {
        &self.masked
    }

    /// Every function, the ones inside others included.
    pub(crate) fn functions(&self) -> Vec<Function> {
        function::functions(&self.masked, self.language)
    }

    /// Whether the byte at `place` is compiled for tests only.
    pub(crate) fn in_tests(&self, place: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&place))
    }

    /// The line of the byte at `place`, counted from 1.
    pub(crate) fn line_of(&self, place: usize) -> usize {
        let before = self.masked.bytes().take(place);
        1 + before.filter(|byte| *byte == b'\n').count()
    }

    /// Where `needle` stands in the code as a word of its own: not as the end of a longer
    /// name, and, when it ends like a name, not as the start of one.
    pub(crate) fn find(&self, needle: &str) -> Vec<usize> {
        self.masked
            .match_indices(needle)
            .map(|(place, _)| place)
            .filter(|place| stands_alone(self.masked.as_bytes(), *place, needle))
            .collect()
    }
}

fn stands_alone(bytes: &[u8], place: usize, needle: &str) -> bool {
    let before = place.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(place + needle.len()).copied();
    let opens = needle.as_bytes().first().copied();
    let closes = needle.as_bytes().last().copied();
    let joined = |one: Option<u8>, two: Option<u8>| {
        one.is_some_and(is_word_byte) && two.is_some_and(is_word_byte)
    };
    !joined(before, opens) && !joined(closes, after)
}

/// Whether this byte may be part of a name.
pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_code_only_and_only_whole() {
        let text = "let std = 1; // std\nlet no_std = \"std\"; use std::fmt;\n";
        let code = Code::new(text, Language::Rust, false);
        let lines: Vec<_> = code.find("std").iter().map(|at| code.line_of(*at)).collect();
        assert_eq!(lines, [1, 2]);
        assert_eq!(code.find("std::").len(), 1);
    }

    #[test]
    fn a_test_file_is_test_code_throughout() {
        let code = Code::new("fn a() {}", Language::Rust, true);
        assert!(code.in_tests(0));
    }
}
