//! Which of our crates may use which: the table of the layout. A new edge is a decision.

use toml::{Table, Value};

use super::Violation;
use crate::project::{Text, Tree};

/// Each crate with those of ours that it may depend on.
const TABLE: [(&str, &[&str]); 10] = [
    ("headroom-core", &[]),
    ("headroom-config", &["headroom-core"]),
    ("headroom-journal", &["headroom-core"]),
    ("headroom-engine", &["headroom-core", "headroom-config", "headroom-journal"]),
    ("headroom-api", &[]),
    ("headroom-pods", &[]),
    ("headroom-server", OUTER),
    ("headroom-kubernetes", CLUSTER),
    ("headroom-sim", &["headroom-core", "headroom-config", "headroom-journal"]),
    ("headroom", ALL),
];

const OUTER: &[&str] = &["headroom-api", "headroom-engine", "headroom-core", "headroom-config"];

const CLUSTER: &[&str] = &[
    "headroom-pods",
    "headroom-api",
    "headroom-server",
    "headroom-engine",
    "headroom-core",
    "headroom-config",
];

const ALL: &[&str] = &[
    "headroom-core",
    "headroom-config",
    "headroom-journal",
    "headroom-engine",
    "headroom-api",
    "headroom-pods",
    "headroom-server",
    "headroom-kubernetes",
    "headroom-sim",
    // Only a benchmark of the binary does; see decision 19.
    "headroom-benches",
];

/// Every `Cargo.toml` under `crates/` keeps to the table, tests and build scripts included.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    tree.texts
        .iter()
        .filter(|text| text.path.starts_with("crates/") && text.path.ends_with("/Cargo.toml"))
        .flat_map(check_manifest)
        .collect()
}

fn check_manifest(text: &Text) -> Vec<Violation> {
    let manifest: Table = match text.content.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Violation::new(text, 1, format!("not TOML: {error}"))],
    };
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some((_, allowed)) = TABLE.iter().find(|(one, _)| *one == name) else {
        let message = format!("crate {name:?} is not in the crate table of the house");
        return vec![Violation::new(text, 1, message)];
    };
    let mut used = Vec::new();
    dependencies_of(&manifest, &mut used);
    used.retain(|one| *one != name && is_ours(one) && !allowed.contains(&&**one));
    used.dedup();
    used.iter()
        .map(|one| {
            let message = format!(
                "{name} may not depend on {one}: a new edge needs a decision page and a line in the table"
            );
            Violation::new(text, line_of(text, one), message)
        })
        .collect()
}

/// Collect the packages of all `dependencies` tables, those of single targets included.
fn dependencies_of(table: &Table, used: &mut Vec<String>) {
    for (key, value) in table {
        let Value::Table(inner) = value else { continue };
        if key.ends_with("dependencies") {
            used.extend(inner.iter().map(|(name, value)| package_of(name, value)));
        } else {
            dependencies_of(inner, used);
        }
    }
}

/// A dependency may be renamed; its package is what counts.
fn package_of(name: &str, value: &Value) -> String {
    let renamed = value.get("package").and_then(Value::as_str);
    renamed.unwrap_or(name).to_owned()
}

fn is_ours(package: &str) -> bool {
    package == "headroom" || package.starts_with("headroom-")
}

fn line_of(text: &Text, needle: &str) -> usize {
    let line = text.content.lines().position(|line| line.contains(needle));
    line.map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\n{rest}")
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_found() {
        for (name, rest, expected) in [
            ("headroom-sim", "[dependencies]\nheadroom-core = {}", 0),
            ("headroom-core", "[dependencies]\nheadroom-config = {}", 1),
            ("headroom-core", "[dev-dependencies]\nheadroom-core = {}", 0),
            ("headroom-core", "[dev-dependencies]\nheadroom-sim = {}", 1),
            ("headroom-core", "[dependencies]\nserde = \"1\"", 0),
            (
                "headroom-api",
                "[target.'cfg(unix)'.dependencies]\nbooks = { package = \"headroom-core\" }",
                1,
            ),
            ("headroom-config", "[dependencies.headroom-sim]\npath = \"\"", 1),
            ("headroom-extra", "", 1),
        ] {
            let text = manifest(name, rest);
            let files = [("crates/one/Cargo.toml", &*text)];
            assert_eq!(found(check, &files).len(), expected, "{name} with {rest}");
        }
    }

    #[test]
    fn the_line_of_the_edge_is_named() {
        let text = manifest("headroom-core", "[dependencies]\nheadroom-sim = {}");
        assert_eq!(
            found(check, &[("crates/core/Cargo.toml", &text)]),
            ["crates/core/Cargo.toml:4"]
        );
    }
}
