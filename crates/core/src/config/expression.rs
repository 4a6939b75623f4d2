//! Regular expressions of placement filters, in the dialect of Go, which `YuniKorn` uses.
//!
//! Both dialects come from RE2. Where they differ, the text is translated so that the `regex` crate accepts exactly the
//! same expressions with the same matches: `\d`, `\w`, `\s`, and `\b` match ASCII only.

use alloc::borrow::ToOwned as _;
use alloc::string::{String, ToString as _};
use core::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// Largest compiled expression, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// Largest number in `{n,m}`.
const REPEAT_MAX: u32 = 1_000;

/// Letters after a backslash that have the same meaning in both dialects.
const ESCAPES: &str = "aftnrvxpPAz";

/// Letters of classes that match only ASCII in Go.
const CLASSES: [(char, &str); 6] = [
    ('d', "[0-9]"),
    ('D', "[^0-9]"),
    ('s', r"[\t\n\f\r ]"),
    ('S', r"[^\t\n\f\r ]"),
    ('w', "[0-9A-Za-z_]"),
    ('W', "[^0-9A-Za-z_]"),
];

/// Letters of word boundaries that use only ASCII in Go.
const EDGES: [(char, &str); 2] = [('b', r"(?-u:\b)"), ('B', r"(?-u:\B)")];

/// Characters that make a filter entry a regular expression instead of a name.
const SPECIAL: &[char] = &['^', '$', '*', '+', '?', '(', ')', '[', '{', '}', ']', '|'];

/// Returns whether a filter entry is a regular expression.
pub fn is_meant(text: &str) -> bool {
    text.contains(SPECIAL)
}

/// Reason why a text is not a valid regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// The text ends with a backslash.
    #[error("nothing follows the last backslash")]
    LoneBackslash,
    /// A backslash precedes a letter without an escape meaning.
    #[error("`\\{0}` is not a known escape")]
    Escape(char),
    /// Two repetitions follow each other, such as `a**`.
    #[error("two repetitions follow each other")]
    NestedRepeat,
    /// The counts of a repetition are invalid, such as `a{2,1}` or a number that is too large.
    #[error("the counts of a repetition must ascend, and be at most {REPEAT_MAX}")]
    RepeatCount,
    /// A group has a syntax of another dialect.
    #[error("`(?{0}` is not a known group")]
    Group(char),
    /// Another error of the compiler.
    #[error("{0}")]
    Other(String),
}

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

impl Expression {
    /// Returns whether it matches anywhere in the text.
    pub fn occurs_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Compiles a regular expression.
///
/// # Errors
///
/// Returns an [`ExpressionError`] if the expression is invalid.
pub fn compile(text: &str) -> Result<Expression, ExpressionError> {
    let translated = Translator::default().run(text)?;
    match RegexBuilder::new(&translated).size_limit(COMPILED_BYTES_MAX).build() {
        Ok(regex) => Ok(Expression(regex)),
        Err(error) => {
            // The last line of the report has the reason. The earlier lines show the position.
            let report = error.to_string();
            let last = report.lines().last().unwrap_or_default();
            let reason = last.trim().trim_start_matches("error: ");
            Err(ExpressionError::Other(reason.to_owned()))
        }
    }
}

#[derive(Default)]
struct Translator {
    out: String,
    /// Whether the last output was a repetition.
    repeated: bool,
}

impl Translator {
    fn run(mut self, text: &str) -> Result<String, ExpressionError> {
        let mut rest = text;
        while let Some(one) = rest.chars().next() {
            let behind = &rest[one.len_utf8()..];
            let repeats = core::mem::take(&mut self.repeated);
            rest = match one {
                '\\' => self.escape(behind)?,
                '[' => self.class(behind)?,
                '(' => self.group(behind)?,
                '*' | '+' | '?' => self.repeat(&rest[..1], behind, repeats)?,
                '{' => {
                    if let Some(length) = repetition(rest)? {
                        self.repeat(&rest[..length], &rest[length..], repeats)?
                    } else {
                        self.out.push_str("\\{");
                        behind
                    }
                }
                other => {
                    self.out.push(other);
                    behind
                }
            };
        }
        Ok(self.out)
    }

    fn repeat<'t>(
        &mut self,
        operator: &str,
        behind: &'t str,
        repeats: bool,
    ) -> Result<&'t str, ExpressionError> {
        if repeats {
            return Err(ExpressionError::NestedRepeat);
        }
        self.repeated = true;
        self.out.push_str(operator);
        match behind.strip_prefix('?') {
            Some(behind) => {
                self.out.push('?');
                Ok(behind)
            }
            None => Ok(behind),
        }
    }

    /// Translates the text after a backslash outside of classes. Returns the rest.
    fn escape<'t>(&mut self, behind: &'t str) -> Result<&'t str, ExpressionError> {
        if let Some(quoted) = behind.strip_prefix('Q') {
            let (literal, behind) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            self.out.push_str(&regex::escape(literal));
            return Ok(behind);
        }
        let one = behind.chars().next().unwrap_or_default();
        if let Some((_, edge)) = EDGES.iter().find(|(letter, _)| *letter == one) {
            self.out.push_str(edge);
            return Ok(&behind[1..]);
        }
        self.escaped(behind)
    }

    fn escaped<'t>(&mut self, behind: &'t str) -> Result<&'t str, ExpressionError> {
        let one = behind.chars().next().ok_or(ExpressionError::LoneBackslash)?;
        if let Some((_, class)) = CLASSES.iter().find(|(letter, _)| *letter == one) {
            self.out.push_str(class);
        } else if ESCAPES.contains(one) {
            self.out.push('\\');
            self.out.push(one);
        } else if one.is_ascii() && !one.is_ascii_alphanumeric() {
            // Writing into a string cannot fail.
            let _ = write!(self.out, "\\x{:02x}", u32::from(one));
        } else {
            return Err(ExpressionError::Escape(one));
        }
        Ok(&behind[one.len_utf8()..])
    }

    /// Translates a class up to its closing bracket. `[`, `&`, and `~` are plain characters in it. Returns the rest.
    fn class<'t>(&mut self, behind: &'t str) -> Result<&'t str, ExpressionError> {
        self.out.push('[');
        let mut rest = behind;
        if let Some(behind) = rest.strip_prefix('^') {
            self.out.push('^');
            rest = behind;
        }
        let mut first = true;
        while let Some(one) = rest.chars().next() {
            let behind = &rest[one.len_utf8()..];
            rest = match one {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(behind);
                }
                '\\' => self.escaped(behind)?,
                '[' if behind.starts_with(':') && behind.contains(":]") => {
                    let length = behind.find(":]").map_or(0, |at| at + 2);
                    self.out.push('[');
                    self.out.push_str(&behind[..length]);
                    &behind[length..]
                }
                '[' | ']' | '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(one);
                    behind
                }
                other => {
                    self.out.push(other);
                    behind
                }
            };
            first = false;
        }
        Ok(rest) // Without a closing bracket; the compiler says so.
    }

    /// Translates the text after an opening parenthesis. Rejects flags that only one dialect has. Returns the rest.
    fn group<'t>(&mut self, behind: &'t str) -> Result<&'t str, ExpressionError> {
        self.out.push('(');
        let Some(flags) = behind.strip_prefix('?') else {
            return Ok(behind);
        };
        if !flags.starts_with(['P', '<']) {
            let foreign = flags
                .chars()
                .take_while(|one| !matches!(one, ':' | ')'))
                .find(|one| !"imsU-".contains(*one));
            if let Some(foreign) = foreign {
                return Err(ExpressionError::Group(foreign));
            }
        }
        self.out.push('?');
        Ok(flags)
    }
}

/// Returns the length of the repetition `{n}`, `{n,}`, or `{n,m}` at the start. `None` for a plain brace.
fn repetition(text: &str) -> Result<Option<usize>, ExpressionError> {
    let Some(end) = text.find('}') else {
        return Ok(None);
    };
    let (low, high) = match text[1..end].split_once(',') {
        Some((low, high)) => (low, Some(high)),
        None => (&text[1..end], None),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(low) || high.is_some_and(|high| !high.is_empty() && !is_number(high)) {
        return Ok(None);
    }
    let count = |text: &str| text.parse().ok().filter(|count: &u32| *count <= REPEAT_MAX);
    let low_count = count(low).ok_or(ExpressionError::RepeatCount)?;
    if let Some(high) = high.filter(|high| !high.is_empty()) {
        let high = count(high).ok_or(ExpressionError::RepeatCount)?;
        if high < low_count {
            return Err(ExpressionError::RepeatCount);
        }
    }
    Ok(Some(end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_of_the_reference_is_understood() {
        for (text, expected) in [
            ("^adm", true),
            ("a{2}", true),
            ("{", true),
            ("a{,2}", true),
            ("a{x}", true),
            ("a{2,1}", false),
            ("a{1001}", false),
            ("a**", false),
            ("a*?", true),
            ("*", false),
            ("[", false),
            ("[a[b]", true),
            ("[[:alpha:]]+", true),
            ("[]a]", true),
            ("\\Qa+\\E$", true),
            ("\\<a$", true),
            ("\\1(a)", false),
            ("(?!x)", false),
            ("(?i)x", true),
            ("(?x)x", false),
            ("(?P<n>a)", true),
            ("a|", true),
            ("(", false),
            (")", false),
            ("[a\\d\\W]", true),
            ("[\\b]", false),
            ("\\b\\B", true),
        ] {
            assert_eq!(compile(text).is_ok(), expected, "compiling {text:?}");
        }
    }

    #[test]
    fn an_expression_is_searched_for_and_its_classes_are_ascii() {
        for (text, name, expected) in [
            ("^adm", "admin1", true),
            ("^adm", "myadm", false),
            ("adm", "myadm", true),
            ("svc$", "mysvc", true),
            ("svc$", "svc\n", false),
            ("(?i)ADM", "adm", true),
            ("ADM", "adm", false),
            ("\\d", "7", true),
            ("\\d", "\u{664}", false),
            ("^[\\w]+$", "h\u{e9}", false),
            ("\\W", "\u{e9}", true),
            ("\\bdev\\b", "my-dev", true),
            ("\\bdev\\b", "mydev", false),
            ("\\s", "\u{a0}", false),
        ] {
            let compiled = compile(text).unwrap();
            assert_eq!(compiled.occurs_in(name), expected, "{text:?} in {name:?}");
        }
    }
}
