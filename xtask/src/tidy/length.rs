//! Files and functions that may hide two subjects. This is advice; it fails nothing.

use super::Violation;
use crate::project::Tree;
use crate::scan::{Code, Function};

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 100;

/// A table of examples is read row by row, so a test that holds one may be longer.
const TABLE_LINES_MAX: usize = 150;

/// No source file is longer than 800 lines, its tests included.
pub(super) fn files(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in tree.with_ending(&["rs", "ts", "tsx", "py"]) {
        let lines = text.content.lines().count();
        if lines > FILE_LINES_MAX && !text.is_generated() {
            let message =
                format!("{lines} lines, more than {FILE_LINES_MAX}: has it more than one subject?");
            found.push(Violation::new(text, FILE_LINES_MAX + 1, message));
        }
    }
    found
}

/// No function is longer than 100 lines from its keyword to its closing brace; a test that
/// holds a table may have 150.
pub(super) fn functions(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in &tree.texts {
        let Some(code) = text.code.as_ref().filter(|_| !text.is_generated()) else {
            continue;
        };
        for function in code.functions() {
            let lines = lines_of(code, &function);
            let most = lines_max(code, &function);
            if lines > most {
                let message = format!(
                    "fn {} has {lines} lines, more than {most}: has it more than one step?",
                    function.name
                );
                let line = code.line_of(function.span.start);
                found.push(Violation::new(text, line, message));
            }
        }
    }
    found
}

fn lines_of(code: &Code, function: &Function) -> usize {
    code.masked()[function.span.clone()].lines().count()
}

fn lines_max(code: &Code, function: &Function) -> usize {
    let mut lines = code.masked()[function.span.clone()].lines();
    let has_table = lines.any(|line| line.trim_end().ends_with('['));
    if has_table && code.in_tests(function.span.start) {
        TABLE_LINES_MAX
    } else {
        FUNCTION_LINES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_file_of_801_lines_is_worth_a_look() {
        for (path, lines, expected) in [
            ("crates/core/src/a.rs", 800, 0),
            ("crates/core/src/a.rs", 801, 1),
            ("web/dist/a.ts", 801, 0),
            ("docs/a.md", 801, 0),
        ] {
            let text = "\n".repeat(lines);
            let files = [(path, &*text)];
            assert_eq!(found(super::files, &files).len(), expected, "{path} {lines}");
        }
    }

    fn rust(head: &str, body: &str, lines: usize) -> String {
        format!("{head}fn long() {{\n{body}{}}}\n", "    a();\n".repeat(lines - 3))
    }

    #[test]
    fn a_function_of_101_lines_is_worth_a_look() {
        for (text, expected) in [
            (rust("", "\n", 100), 0),
            (rust("", "\n", 101), 1),
            (rust("#[test] ", "\n", 101), 1),
            (rust("#[test] ", "for row in [\n", 101), 0),
            (rust("#[test] ", "for row in [\n", 151), 1),
            (rust("", "for row in [\n", 101), 1),
        ] {
            let files = [("crates/core/src/a.rs", &*text)];
            assert_eq!(found(functions, &files).len(), expected, "{text}");
        }
    }

    #[test]
    fn python_counts_too() {
        let text = format!("def long():\n{}", "    a()\n".repeat(100));
        assert_eq!(found(functions, &[("clients/python/a.py", &text)]), ["clients/python/a.py:1"]);
    }
}
