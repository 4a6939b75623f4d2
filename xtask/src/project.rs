//! The project's files, read once and shared by every rule that looks at them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::scan::{Code, Language};

/// Directories that hold nothing a person wrote.
const SKIPPED: [&str; 4] = ["target", "node_modules", "__pycache__", "mutants.out"];

/// Hidden directories that are part of the project all the same.
const HIDDEN_BUT_OURS: [&str; 3] = [".cargo", ".ci", ".github"];

/// Endings of the files whose text the rules read.
const TEXT_ENDINGS: [&str; 14] = [
    "rs", "ts", "tsx", "js", "py", "md", "toml", "yaml", "yml", "sh", "proto", "html", "css",
    "service",
];

/// One file that a person wrote.
pub(crate) struct Text {
    /// Below the project's root, with `/` between the parts.
    pub(crate) path: String,
    /// The content; bytes that are not UTF-8 are replaced.
    pub(crate) content: String,
    /// The same without strings and comments; `None` where we do not know the language.
    pub(crate) code: Option<Code>,
}

impl Text {
    fn new(path: &str, content: String) -> Self {
        let code = Language::of(path).map(|language| Code::new(&content, language, is_test(path)));
        Self { path: path.to_owned(), content, code }
    }

    /// What follows the last dot of the file's name, or nothing.
    pub(crate) fn ending(&self) -> &str {
        ending_of(&self.path)
    }

    /// Whether this is a file of tests.
    pub(crate) fn is_test(&self) -> bool {
        is_test(&self.path)
    }

    /// Whether a program writes this file.
    pub(crate) fn is_generated(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "generated" | "dist"))
    }
}

/// Every file of the project.
pub(crate) struct Tree {
    /// Files and directories, texts or not, so that links can be looked up.
    pub(crate) paths: BTreeSet<String>,
    /// The files that rules read, in the order of their paths.
    pub(crate) texts: Vec<Text>,
}

impl Tree {
    /// Read the project below `root`.
    ///
    /// # Errors
    /// When a directory or a file cannot be read; the path is named.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self { paths: BTreeSet::new(), texts: Vec::new() };
        for path in files_below(root)? {
            let name = slashed(path.strip_prefix(root).unwrap_or(&path));
            tree.add_path(&name);
            if is_text(&name) {
                let bytes =
                    fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                tree.texts.push(Text::new(&name, text));
            }
        }
        Ok(tree)
    }

    /// A project that exists only in a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self { paths: BTreeSet::new(), texts: Vec::new() };
        for (path, text) in files {
            tree.add_path(path);
            tree.texts.push(Text::new(path, (*text).to_owned()));
        }
        tree
    }

    /// The file with exactly this path.
    pub(crate) fn get(&self, path: &str) -> Option<&Text> {
        self.texts.iter().find(|text| text.path == path)
    }

    /// The texts with one of these endings.
    pub(crate) fn with_ending<'a>(
        &'a self,
        endings: &'a [&str],
    ) -> impl Iterator<Item = &'a Text> + 'a {
        self.texts.iter().filter(move |text| endings.contains(&text.ending()))
    }

    fn add_path(&mut self, path: &str) {
        let mut known = Some(path);
        while let Some(path) = known {
            self.paths.insert(path.to_owned());
            known = path.rsplit_once('/').map(|(parent, _)| parent);
        }
    }
}

/// Every file of the project, sorted; what tools produce is left out.
///
/// # Errors
/// When a directory cannot be listed.
pub(crate) fn files_below(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        let entries = fs::read_dir(&directory)
            .with_context(|| format!("cannot list {}", directory.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", directory.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A link may leave the project or close a circle; neither is ours to check.
            let kind = entry.file_type()?;
            if kind.is_dir() && is_ours(&name) {
                waiting.push(entry.path());
            } else if kind.is_file() && name != ".git" {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The directory that holds the workspace's `Cargo.toml`.
///
/// # Errors
/// When neither Cargo nor the current directory leads there.
pub(crate) fn root() -> Result<PathBuf> {
    if let Some(manifest) = env::var_os("CARGO_MANIFEST_DIR")
        && let Some(parent) = Path::new(&manifest).parent()
    {
        return Ok(parent.to_owned());
    }
    let current = env::current_dir().context("there is no current directory")?;
    current
        .ancestors()
        .find(|directory| directory.join("xtask/Cargo.toml").is_file())
        .map(Path::to_owned)
        .context("no directory above this one holds xtask/Cargo.toml; run it inside the project")
}

/// A path as the rules write it, with `/` on every system.
pub(crate) fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

fn is_ours(directory: &str) -> bool {
    let skipped = SKIPPED.iter().any(|name| directory.starts_with(name));
    let hidden = directory.starts_with('.') && !HIDDEN_BUT_OURS.contains(&directory);
    !skipped && !hidden
}

fn is_text(path: &str) -> bool {
    TEXT_ENDINGS.contains(&ending_of(path)) || path == ".ci/run"
}

/// Whether only tests compile this file, going by its place and name.
fn is_test(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    path.contains("/tests/") || stem == "tests" || stem.ends_with("_tests")
}

fn ending_of(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_knows_directories_and_endings() {
        let tree = Tree::of(&[("docs/decisions/README.md", ""), ("crates/a/src/b.rs", "")]);
        assert!(tree.paths.contains("docs/decisions"));
        assert!(tree.paths.contains("crates"));
        let rust: Vec<_> = tree.with_ending(&["rs"]).map(|one| &one.path).collect();
        assert_eq!(rust, ["crates/a/src/b.rs"]);
    }

    #[test]
    fn what_tools_write_is_no_part_of_the_project() {
        for (name, ours) in [
            ("target", false),
            ("mutants.out.old", false),
            (".git", false),
            (".ci", true),
            ("crates", true),
        ] {
            assert_eq!(is_ours(name), ours, "{name}");
        }
    }
}
