//! Comments cite sections of the specification, and each cited section exists.

use std::collections::BTreeMap;

use super::Violation;
use crate::project::{Text, Tree};

const FOLDER: &str = "docs/spec/";

/// The section sign. The escape keeps this file free of citations.
const SIGN: char = '\u{a7}';

/// The numbers of the headings of each page, by the name of the page.
type Pages<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Every section sign in a Rust file follows the name of a page of `docs/spec/`, and the page has
/// a heading with the number. Further signs of the sentence belong to the same page.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let pages = pages(tree);
    tree.with_ending(&["rs"]).flat_map(|text| check_text(text, &pages)).collect()
}

fn pages(tree: &Tree) -> Pages<'_> {
    let found = tree.with_ending(&["md"]).filter_map(|page| {
        let name = page.path.strip_prefix(FOLDER)?.strip_suffix(".md")?;
        (name != "README").then(|| (name, headings(&page.content)))
    });
    found.collect()
}

/// The numbers with which headings outside code begin.
fn headings(markdown: &str) -> Vec<&str> {
    let mut in_code = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        in_code ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        if !in_code && title.len() < line.len() {
            let (number, _) = number_at(title.trim_start());
            found.extend(number);
        }
    }
    found
}

fn check_text(text: &Text, pages: &Pages<'_>) -> Vec<Violation> {
    if !text.content.contains(SIGN) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for block in blocks(&text.content) {
        let mut page = None;
        let mut end = 0;
        for (at, _) in block.words.match_indices(SIGN) {
            let before = &block.words[end..at];
            page = match (page_before(before, pages), page) {
                (Some(named), _) => Some(named),
                (None, Some(known)) if !ends_sentence(before) => Some(known),
                (None, _) => None,
            };
            let (first, rest) = number_at(&block.words[at + SIGN.len_utf8()..]);
            let (last, rest) = range_end(rest);
            end = block.words.len() - rest.len();
            let line = block.line_of(at);
            let Some((name, sections)) = page else {
                let message = format!("{SIGN} without a page of {FOLDER}: write `page {SIGN}1.2`");
                found.push(Violation::new(text, line, message));
                continue;
            };
            for number in [first.or(Some("")), last].into_iter().flatten() {
                if !sections.contains(&number) {
                    let message = format!("{FOLDER}{name}.md has no section {SIGN}{number}");
                    found.push(Violation::new(text, line, message));
                }
            }
        }
    }
    found
}

/// Comment lines that follow each other, or one line of code.
#[derive(Default)]
struct Block {
    /// The lines without their marks, each after a blank.
    words: String,
    /// For each line its number, counted from 1, and where it begins in `words`.
    lines: Vec<(usize, usize)>,
}

impl Block {
    fn push(&mut self, line: usize, words: &str) {
        self.lines.push((line, self.words.len()));
        self.words.push(' ');
        self.words.push_str(words);
    }

    fn line_of(&self, place: usize) -> usize {
        let begun = self.lines.iter().rev().find(|(_, begins)| *begins <= place);
        begun.map_or(1, |(line, _)| *line)
    }
}

fn blocks(content: &str) -> Vec<Block> {
    let mut found = vec![Block::default()];
    let mut in_comment = false;
    for (index, line) in content.lines().enumerate() {
        let line = line.trim();
        let is_comment = line.starts_with("//");
        if !(is_comment && in_comment) {
            found.push(Block::default());
        }
        in_comment = is_comment;
        let words = if is_comment { line.trim_start_matches(['/', '!']) } else { line };
        if let Some(block) = found.last_mut() {
            block.push(index + 1, words.trim());
        }
    }
    found
}

/// The page whose name stands at the end of `before`, in any case, with hyphens or blanks.
fn page_before<'a, 'p>(before: &str, pages: &'p Pages<'a>) -> Option<(&'a str, &'p [&'a str])> {
    let words: Vec<_> = before.split_whitespace().collect();
    let mut end = words.join("-").to_lowercase();
    end.retain(|mark| mark != '`');
    let end = end.trim_end_matches(".md");
    let named = pages.iter().filter(|(name, _)| {
        let before = end.strip_suffix(**name);
        before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    });
    let longest = named.max_by_key(|(name, _)| name.len());
    longest.map(|(name, sections)| (*name, &**sections))
}

/// Whether a sentence ends here: a full stop before a blank.
fn ends_sentence(text: &str) -> bool {
    text.contains(". ")
}

/// A number such as `4`, `6.5` or `6.5a` at the start, and what follows it.
fn number_at(text: &str) -> (Option<&str>, &str) {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if end == 0 {
        return (None, text);
    }
    while text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let letters = text[end..].bytes().take_while(u8::is_ascii_lowercase).count();
    end += usize::from(letters == 1);
    (Some(&text[..end]), &text[end..])
}

/// The last number of a range such as `9–11`, of which the first was read.
fn range_end(rest: &str) -> (Option<&str>, &str) {
    match rest.strip_prefix(['–', '-']).map(number_at) {
        Some((Some(last), rest)) => (Some(last), rest),
        _ => (None, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{SIGN, check};

    const PAGES: [(&str, &str); 3] = [
        ("docs/spec/README.md", "# 1. Index\n"),
        (
            "docs/spec/queues-and-limits.md",
            "# Queues\n\n## 2. Files\n\n### 2.1 Rules\n\n```sh\n# 5. code\n```\n\n## 10. End\n",
        ),
        ("docs/spec/tenants.md", "## 1. Model\n### 3.1a Bodies\n## 7. Lower\n"),
    ];

    /// What is found in a file with this text, in which `$` stands for the sign.
    fn found_in(text: &str) -> Vec<String> {
        let text = text.replace('$', &SIGN.to_string());
        let files = [PAGES[0], PAGES[1], PAGES[2], ("crates/core/src/a.rs", &*text)];
        found(check, &files)
    }

    #[test]
    fn a_section_that_exists_is_cited() {
        for text in [
            "//! Source: tenants $1.",
            "/// Tenants $3.1a, $7.",
            "// queues and limits $2 to $10",
            "/// Queues-and-limits $2–10, and the rest.",
            "// `queues-and-limits.md` $2.1: rules",
            "//! What a tenant may use. Tenants $1 (rule 2) and $7; queues and limits $2.",
            "//! A long line that ends with queues and\n//! limits $2.1. More.",
            "    /// Source: tenants\n    /// $1, $7.",
            "#[expect(lint, reason = \"tenants $7\")]",
            "fn a() {} // tenants $1",
            "//! Nothing is cited here.",
        ] {
            assert_eq!(found_in(text).len(), 0, "{text}");
        }
    }

    #[test]
    fn a_section_that_does_not_exist_is_found() {
        for (text, line) in [
            ("//! Source: tenants $2.", 1),
            ("// tenants $1, $4", 1),
            ("// tenants $1–9", 1),
            ("// tenants $3.1", 1),
            ("// queues and limits $5", 1),
            ("// tenants $", 1),
            ("//! Tenants.\n//! Source: tenants\n//! $1 and\n//! $2", 4),
        ] {
            assert_eq!(found_in(text), [format!("crates/core/src/a.rs:{line}")], "{text}");
        }
    }

    #[test]
    fn a_section_without_a_page_is_found() {
        for text in [
            "/// $1: a model",
            "// README $1",
            "// subtenants $1",
            "// limits $2",
            "// Tenants $1. The rest is $7.",
            "// tenants $1\nfn a() {}\n// $7",
            "// tenants, $1",
        ] {
            assert_eq!(found_in(text).len(), 1, "{text}");
        }
    }
}
