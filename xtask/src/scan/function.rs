//! Finding functions, and the parts of a Rust file that only tests compile.

use std::iter;
use std::ops::Range;

use super::{Language, is_word_byte};

/// One function that has a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its name, or `(closure)`.
    pub(crate) name: String,
    /// From its keyword to the end of its body, in bytes.
    pub(crate) span: Range<usize>,
}

/// Every function of a text whose strings and comments are blanked.
pub(super) fn functions(masked: &str, language: Language) -> Vec<Function> {
    match language {
        Language::Rust => keyword_functions(masked, "fn"),
        Language::Script => {
            let mut all = keyword_functions(masked, "function");
            all.extend(arrow_functions(masked));
            all
        }
        Language::Python => indented_functions(masked),
    }
}

/// The ranges under `#[test]` or under a `#[cfg(…)]` that holds only for tests.
pub(super) fn test_regions(masked: &str) -> Vec<Range<usize>> {
    if masked.contains("#![cfg(test)]") {
        return everything(masked);
    }
    let mut regions = Vec::new();
    for (start, _) in masked.match_indices("#[") {
        let Some(end) = closing(masked.as_bytes(), start + 1) else {
            continue;
        };
        if is_test_attribute(&masked[start + 2..end]) {
            let item_end = body_after(masked, end + 1).map_or(end, |body| body.end);
            regions.push(start..item_end);
        }
    }
    regions
}

/// The one range that covers the whole text.
pub(super) fn everything(masked: &str) -> Vec<Range<usize>> {
    iter::once(0..masked.len()).collect()
}

fn is_test_attribute(attribute: &str) -> bool {
    let names_test = attribute
        .split(|mark: char| mark != '_' && !mark.is_alphanumeric())
        .any(|word| word == "test");
    attribute == "test"
        || attribute.starts_with("cfg(") && names_test && !attribute.contains("not(")
}

fn keyword_functions(masked: &str, keyword: &str) -> Vec<Function> {
    let bytes = masked.as_bytes();
    let mut found = Vec::new();
    for (start, _) in masked.match_indices(keyword) {
        let after = start + keyword.len();
        let opens = start == 0 || !is_word_byte(bytes[start - 1]);
        let spaced = bytes.get(after).is_some_and(u8::is_ascii_whitespace);
        let name = word_at(masked[after..].trim_start());
        if !opens || !spaced || name.is_empty() {
            continue;
        }
        if let Some(body) = body_after(masked, after) {
            found.push(Function { name: name.to_owned(), span: start..body.end });
        }
    }
    found
}

fn arrow_functions(masked: &str) -> Vec<Function> {
    let arrows = masked.match_indices("=> {");
    arrows
        .filter_map(|(start, arrow)| {
            let end = closing(masked.as_bytes(), start + arrow.len() - 1)? + 1;
            Some(Function { name: "(closure)".to_owned(), span: start..end })
        })
        .collect()
}

fn indented_functions(masked: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut place = 0;
    for line in masked.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let head = line.trim_start();
        let head = head.strip_prefix("async ").unwrap_or(head);
        if let Some(rest) = head.strip_prefix("def ") {
            let start = place + indent;
            found.push(Function {
                name: word_at(rest).to_owned(),
                span: start..indented_end(masked, place + line.len(), indent),
            });
        }
        place += line.len();
    }
    found
}

/// Where the lines end that are indented deeper than `indent`; a closing bracket of the
/// signature may stand less deep.
fn indented_end(masked: &str, from: usize, indent: usize) -> usize {
    let mut end = from;
    let mut place = from;
    for line in masked[from..].split_inclusive('\n') {
        place += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        if depth <= indent && !line.trim_start().starts_with(')') {
            break;
        }
        end = place;
    }
    end
}

/// The braces of the item whose signature begins at `from`; `None` when it has no body.
fn body_after(masked: &str, from: usize) -> Option<Range<usize>> {
    let bytes = masked.as_bytes();
    let mut depth = 0_usize;
    for (place, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => return None,
            b'{' if depth == 0 => return closing(bytes, place).map(|end| place..end + 1),
            _ => {}
        }
    }
    None
}

/// Where the bracket that opens at `open` is closed; counts only brackets of its kind.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let (opens, closes) = match bytes.get(open)? {
        b'{' => (b'{', b'}'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    let mut depth = 0_usize;
    for (place, byte) in bytes.iter().enumerate().skip(open) {
        if *byte == opens {
            depth += 1;
        } else if *byte == closes {
            depth -= 1;
            if depth == 0 {
                return Some(place);
            }
        }
    }
    None
}

fn word_at(text: &str) -> &str {
    let end = text.bytes().take_while(|byte| is_word_byte(*byte)).count();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, language: Language) -> Vec<(String, usize)> {
        functions(text, language)
            .into_iter()
            .map(|one| (one.name, text[one.span].lines().count()))
            .collect()
    }

    #[test]
    fn rust_functions_are_measured_from_keyword_to_brace() {
        let text = "trait T {\n fn none(&self) -> [u8; 3];\n}\n\
                    fn outer(f: fn(u8)) -> [u8; 3] {\n    fn inner() {}\n    loop {}\n}\n";
        let expected = [("outer".to_owned(), 4), ("inner".to_owned(), 1)];
        assert_eq!(names(text, Language::Rust), expected);
    }

    #[test]
    fn scripts_have_functions_and_arrows() {
        let text = "function a() {\n}\nconst b = () => {\n\n};\n";
        let expected = [("a".to_owned(), 2), ("(closure)".to_owned(), 3)];
        assert_eq!(names(text, Language::Script), expected);
    }

    #[test]
    fn python_functions_end_with_their_indentation() {
        let text = "def a(\n    x,\n):\n    y = 1\n\n    return y\n\n\nb = a\n";
        assert_eq!(names(text, Language::Python), [("a".to_owned(), 6)]);
    }

    #[test]
    fn test_code_is_told_apart() {
        for (text, expected) in [
            ("fn a() {} #[cfg(test)] mod t { x }", 1),
            ("#[cfg(all(test, unix))] mod t { x }", 1),
            ("#[test] fn a() {}", 1),
            ("#[cfg(not(test))] mod t { x }", 0),
            ("#[cfg(feature = \"\")] mod t { x }", 0),
            ("#[derive(Debug)] struct A {}", 0),
        ] {
            assert_eq!(test_regions(text).len(), expected, "reading {text:?}");
        }
        let text = "#[cfg(test)] mod t { fn a() {} } fn b() {}";
        assert!(text[test_regions(text)[0].clone()].ends_with("} }"));
    }
}
