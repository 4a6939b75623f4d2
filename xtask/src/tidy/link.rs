//! A link into the project leads somewhere.

use super::Violation;
use crate::project::{Text, Tree};

/// Every relative link of a Markdown page names a file or directory of the project.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for page in tree.with_ending(&["md"]) {
        for (line, target) in targets(&page.content) {
            if let Some(path) = resolve(page, &target)
                && !tree.paths.contains(&path)
            {
                let message = format!("the link {target} leads to {path}, which does not exist");
                found.push(Violation::new(page, line, message));
            }
        }
    }
    found
}

/// The targets of all links outside code, each with its line, without `#fragment`.
pub(super) fn targets(markdown: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in markdown.lines().enumerate() {
        let head = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|mark| head.starts_with(mark));
        match (fence, marker) {
            (None, Some(opens)) => fence = Some(opens),
            (Some(open), Some(closes)) if open == closes => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let in_line = targets_in(&without_code(line));
                found.extend(in_line.into_iter().map(|target| (index + 1, target)));
            }
        }
    }
    found
}

fn targets_in(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| {
        let inside = rest
            .strip_prefix('<')
            .map_or_else(|| rest.split([')', ' ']).next(), |rest| rest.split('>').next());
        inside.map(str::to_owned)
    });
    // A definition: `[name]: target`.
    let defined = line
        .strip_prefix('[')
        .filter(|rest| !rest.starts_with('^'))
        .and_then(|rest| rest.split_once("]: "))
        .and_then(|(_, target)| target.split_whitespace().next())
        .map(str::to_owned);
    inline
        .chain(defined)
        .map(|target| match target.split_once('#') {
            Some((path, _)) => path.to_owned(),
            None => target,
        })
        .filter(|target| !target.is_empty())
        .collect()
}

/// Drop what stands between backticks.
fn without_code(line: &str) -> String {
    let pieces: Vec<_> = line.split('`').collect();
    // An odd backtick opens nothing: keep the rest.
    if pieces.len().is_multiple_of(2) {
        return line.to_owned();
    }
    pieces.into_iter().step_by(2).collect()
}

/// Where a target leads, from the project's root; `None` when it leaves the project.
fn resolve(page: &Text, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        folder.split('/').filter(|part| !part.is_empty()).collect()
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // Above the root there is nothing to link to, so such a path exists nowhere.
                if parts.pop().is_none() {
                    return Some(target.to_owned());
                }
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn a_link_to_nothing_is_found() {
        for (text, expected) in [
            ("[a](guide.md)", 0),
            ("[a](guide.md#part)", 0),
            ("[a](../README.md), [b](/docs/guide.md)", 0),
            ("[a](../docs)", 0),
            ("[a](..)", 0),
            ("[a](none.md)", 1),
            ("[a](../../outside.md)", 1),
            ("[a](../../README.md)", 1),
            ("[a]: none.md", 1),
            ("[^1]: A footnote", 0),
            ("[a](https://example.com/none) [b](mailto:a@example.com) [c](#here)", 0),
            ("`[a](none.md)`", 0),
            ("```\n[a](none.md)\n```", 0),
            ("```\n```\n![a](<none.png> \"title\")", 1),
        ] {
            let files = [("README.md", ""), ("docs/guide.md", ""), ("docs/a.md", text)];
            assert_eq!(found(check, &files).len(), expected, "{text}");
        }
    }
}
