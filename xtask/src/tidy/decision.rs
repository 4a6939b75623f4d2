//! A decision that the index does not name is soon taken again.

use super::Violation;
use super::link;
use crate::project::Tree;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";

/// Every page of `docs/decisions/` is linked from its README.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let index = tree.get(INDEX).map_or("", |index| &*index.content);
    let listed: Vec<_> = link::targets(index).into_iter().map(|(_, to)| to).collect();
    let mut found = Vec::new();
    for page in tree.with_ending(&["md"]) {
        let Some(name) = page.path.strip_prefix(FOLDER) else {
            continue;
        };
        if page.path != INDEX && !listed.iter().any(|target| target == name) {
            let message = format!("{INDEX} does not link to {name}");
            found.push(Violation::new(page, 1, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::{INDEX, check};

    #[test]
    fn a_page_that_the_index_does_not_link_is_found() {
        let page = ("docs/decisions/0001-journal.md", "");
        assert_eq!(found(check, &[page]).len(), 1);
        assert_eq!(found(check, &[page, (INDEX, "0001-journal.md")]).len(), 1);
        assert_eq!(found(check, &[page, (INDEX, "[1](0001-journal.md)")]).len(), 0);
    }
}
