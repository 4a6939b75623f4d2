//! No path that exists on one person's machine only.

use super::Violation;
use crate::project::{Text, Tree};

/// Beginnings of such paths; put together here so that this file holds none.
const HOMES: [&str; 5] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\Us", "ers\\"),
];

/// No text names a directory of somebody's machine.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts.iter().flat_map(check_text).collect()
}

fn check_text(text: &Text) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.content.lines().enumerate() {
        for home in HOMES {
            let mut places = line.match_indices(home).map(|(place, _)| place);
            if places.any(|place| begins_path(&line[..place])) {
                let message = format!("{home}… exists on one machine only: use a relative path");
                found.push(Violation::new(text, index + 1, message));
            }
        }
    }
    found
}

/// Whether a path may begin after this text: inside an address or a relative path it may not.
fn begins_path(before: &str) -> bool {
    let last = before.chars().next_back();
    last.is_none_or(|mark| !mark.is_alphanumeric() && !"./_-~}>".contains(mark))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found() {
        for (before, expected) in [
            ("", 1),
            ("see `", 1),
            ("path=", 1),
            ("https://example.com", 0),
            ("..", 0),
            ("${dir}", 0),
        ] {
            let text = format!("first\n{before}{}ann/file", HOMES[1]);
            let found = found(check, &[("docs/a.md", &text)]);
            assert_eq!(found.len(), expected, "{text}");
        }
    }
}
