//! Modules of the core use only modules of their own layer and of layers below.

use super::Violation;
use crate::project::Tree;

/// The modules of the core from the bottom up. What decides comes before what explains.
const LAYERS: [(&str, &[&str]); 6] = [
    (
        "values",
        &["codes", "config", "id", "name", "ordered", "resource", "table", "time", "userlimit"],
    ),
    (
        "state",
        &[
            "books",
            "bounds",
            "command",
            "event",
            "invariant",
            "letter",
            "placement",
            "possible",
            "rejection",
            "stored",
            "wait",
        ],
    ),
    ("rules", &["rules"]),
    ("schedule", &["schedule"]),
    ("insight", &["event_text", "explain", "fork", "plan", "record", "view"]),
    ("tests", &["testkit"]),
];

/// Uses of a higher layer that are meant, with the reason.
const ALLOWED: [(&str, &str, &str); 1] = [(
    "crates/core/src/rules/mod.rs",
    "schedule",
    "the command ScanOutstanding asks a scheduler of its own what waits",
)];

const CORE: &str = "crates/core/src/";

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

/// No module of the core names a module of a higher layer, outside tests; each module has a layer.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in &tree.texts {
        let Some(path) = text.path.strip_prefix(CORE) else { continue };
        let Some(code) = &text.code else { continue };
        let module = path.split(['/', '.']).next().unwrap_or_default();
        if module == "lib" {
            continue; // It names all modules.
        }
        let Some(own) = layer_of(module) else {
            let message =
                format!("module {module} has no layer; add it to xtask/src/tidy/layer.rs");
            found.push(Violation::new(text, 1, message));
            continue;
        };
        for (start, _) in code.masked().match_indices("crate::") {
            let rest = &code.masked()[start + "crate::".len()..];
            let used: String =
                rest.chars().take_while(|one| one.is_ascii_lowercase() || *one == '_').collect();
            let Some(layer) = layer_of(&used).filter(|layer| *layer > own) else { continue };
            let is_allowed =
                ALLOWED.iter().any(|(file, one, _)| *file == text.path && *one == used);
            if !is_allowed && !code.in_tests(start) {
                let (above, below) = (LAYERS[layer].0, LAYERS[own].0);
                let message =
                    format!("{module} ({below}) uses {used} ({above}), which is a higher layer");
                found.push(Violation::new(text, code.line_of(start), message));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_module_uses_only_what_is_below_it() {
        for (path, text, expected) in [
            ("crates/core/src/schedule/a.rs", "use crate::rules::linked;", 0),
            ("crates/core/src/schedule/a.rs", "use crate::explain::Explanation;", 1),
            ("crates/core/src/books/a.rs", "fn a() { crate::schedule::b(); }", 1),
            ("crates/core/src/books/a.rs", "// crate::schedule explains it.", 0),
            (
                "crates/core/src/books/a.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::testkit::a;\n}",
                0,
            ),
            ("crates/core/src/rules/mod.rs", "use crate::schedule::Scheduler;", 0),
            ("crates/core/src/rules/quota.rs", "use crate::schedule::Scheduler;", 1),
            ("crates/core/src/unknown.rs", "", 1),
            ("crates/core/src/lib.rs", "use crate::testkit;", 0),
            ("crates/engine/src/books.rs", "use crate::schedule::a;", 0),
        ] {
            assert_eq!(found(check, &[(path, text)]).len(), expected, "{path}: {text}");
        }
    }
}
