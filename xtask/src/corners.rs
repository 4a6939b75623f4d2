//! Corner cases: each entry of `docs/corner-cases.toml`, `docs/corner-cases-scheduling.toml`, and
//! `docs/corner-cases-kubernetes.toml` names the tests that show it; and so does each line of what
//! the two interfaces must show over sockets, in `docs/interfaces.toml`.
//!
//! An entry without a test says why it waits. What is judged here is whether the named
//! functions are there and are tests; whether they show the case is for a person to read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::project::Tree;
use crate::scan::{Code, Function};

/// A list of corner cases: its file, and its subjects. An id is one of these and a number of two
/// digits.
struct List {
    file: &'static str,
    sections: &'static [&'static str],
}

const LISTS: [List; 4] = [
    List {
        file: "docs/corner-cases.toml",
        sections: &["resources", "config", "queues", "acl", "placement", "ugm"],
    },
    List {
        file: "docs/corner-cases-scheduling.toml",
        sections: &[
            "application",
            "gang",
            "queue-tree",
            "node",
            "cycle",
            "preemption",
            "partition",
            "protocol",
        ],
    },
    List {
        file: "docs/corner-cases-kubernetes.toml",
        sections: &[
            "kube-recognition",
            "kube-pods",
            "kube-deferred",
            "kube-foreign",
            "kube-nodes",
            "kube-resources",
            "kube-namespaces",
            "kube-application",
            "kube-gang",
            "kube-bind",
            "kube-conditions",
            "kube-predicates",
            "kube-config",
            "kube-recovery",
            "kube-quota",
        ],
    },
    List { file: "docs/interfaces.toml", sections: &["si", "rest"] },
];

/// What one list says.
pub(crate) struct Corners {
    list: &'static List,
    all: Vec<Corner>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(rename = "case")]
    all: Vec<Corner>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corner {
    id: String,
    /// The case, in a sentence.
    what: String,
    /// Names of the functions that show it.
    #[serde(default)]
    tests: Vec<String>,
    /// Why there is no test yet.
    later: Option<String>,
}

/// Read the lists of the project below `root`.
///
/// # Errors
/// When a list cannot be read.
pub(crate) fn read(root: &Path) -> Result<Vec<Corners>> {
    let lists = LISTS.iter().map(|list| {
        let unread = || format!("cannot read {}", list.file);
        let text = fs::read_to_string(root.join(list.file)).with_context(unread)?;
        Corners::of(list, &text).with_context(unread)
    });
    lists.collect()
}

impl Corners {
    fn of(list: &'static List, text: &str) -> Result<Self> {
        let Cases { all } = toml::from_str(text)?;
        Ok(Self { list, all })
    }

    /// How many there are and are shown, by section, and each that waits.
    pub(crate) fn summary(&self) -> String {
        let shown = |corner: &&Corner| !corner.tests.is_empty();
        let counts = self.list.sections.iter().map(|section| {
            let in_it = |corner: &&Corner| self.list.section_of(&corner.id) == Some(section);
            let of = || self.all.iter().filter(in_it);
            format!("{section} {} of {}", of().filter(shown).count(), of().count())
        });
        let counts = counts.collect::<Vec<String>>().join(", ");
        let (all, good) = (self.all.len(), self.all.iter().filter(shown).count());
        let file = self.list.file;
        let mut text = format!("corner cases with a test, {file}: {good} of {all} ({counts})\n");
        for corner in &self.all {
            if let Some(reason) = &corner.later {
                text.extend(["  ", &*corner.id, " waits: ", reason, "\n"]);
            }
        }
        text
    }

    /// What is wrong with the list, or with the tests that it names.
    pub(crate) fn gaps(&self, tree: &Tree) -> Vec<String> {
        let tests = tests_of(tree);
        let file = self.list.file;
        let mut gaps = Vec::new();
        let mut known = BTreeSet::new();
        for corner in &self.all {
            let Corner { id, what, .. } = corner;
            if self.list.section_of(id).is_none() {
                let example = self.list.sections[0];
                gaps.push(format!("{file}: {id} is no id such as {example}-07"));
            }
            if !known.insert(id) {
                gaps.push(format!("{file}: {id} is listed twice"));
            }
            match (corner.tests.is_empty(), corner.later.as_deref().map(str::trim)) {
                (true, None | Some("")) => {
                    gaps.push(format!("{id} has no test: {what}; write one, or say why later"));
                }
                (false, Some(_)) => {
                    gaps.push(format!("{file}: {id} has tests and waits: keep one of the two"));
                }
                _ => {}
            }
            gaps.extend(corner.tests.iter().filter_map(|name| match tests.get(name) {
                Some(true) => None,
                Some(false) => Some(format!("{file}: {id} names {name}, which is no test")),
                None => Some(format!("{file}: {id} names {name}, and there is no such function")),
            }));
        }
        gaps
    }
}

impl List {
    /// `config-07` belongs to `config`.
    fn section_of<'id>(&self, id: &'id str) -> Option<&'id str> {
        let (section, number) = id.rsplit_once('-')?;
        let numbered = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
        (numbered && self.sections.contains(&section)).then_some(section)
    }
}

/// Every function by its name, and whether one of that name is a test.
fn tests_of(tree: &Tree) -> BTreeMap<String, bool> {
    let mut tests = BTreeMap::new();
    for code in tree.with_ending(&["rs"]).filter_map(|text| text.code.as_ref()) {
        for function in code.functions() {
            let is_test = is_test(code, &function);
            *tests.entry(function.name).or_default() |= is_test;
        }
    }
    tests
}

/// Whether `#[test]`, or that of an asynchronous one, is among the attributes in front of a function.
fn is_test(code: &Code, function: &Function) -> bool {
    let before = &code.masked()[..function.span.start];
    let start = before.rfind(['{', '}', ';']).map_or(0, |end| end + 1);
    let attributes = &before[start..];
    ["#[test]", "#[tokio::test]", "#[tokio::test("].iter().any(|one| attributes.contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Corners {
        Corners::of(&LISTS[0], text).unwrap()
    }

    fn gaps_of(list: &str) -> Vec<String> {
        let code = "
            #[test] fn shown() {}
            #[test]
            // with a remark
            #[expect(dead_code, reason = \"a; b\")]
            fn furnished() {}
            proptest! { #[test] fn at_random(one in 0..9) {} }
            #[tokio::test] async fn waits() {}
            #[tokio::test(flavor = \"multi_thread\", worker_threads = 2)] async fn waits_much() {}
            fn helper() {}
            // #[test] fn gone() {}
            ";
        first(list).gaps(&Tree::of(&[("crates/core/src/a.rs", code)]))
    }

    #[test]
    fn a_corner_case_without_a_good_test_is_a_gap() {
        for (fields, expected) in [
            ("tests = ['shown']", None),
            ("tests = ['furnished', 'at_random']", None),
            ("tests = ['waits', 'waits_much']", None),
            ("later = 'the queue is not built yet'", None),
            ("", Some("config-01 has no test: a; write one, or say why later")),
            ("tests = []", Some("config-01 has no test: a; write one, or say why later")),
            ("later = ' '", Some("config-01 has no test: a; write one, or say why later")),
            (
                "tests = ['shown']\nlater = 'x'",
                Some("docs/corner-cases.toml: config-01 has tests and waits: keep one of the two"),
            ),
            (
                "tests = ['shown', 'helper']",
                Some("docs/corner-cases.toml: config-01 names helper, which is no test"),
            ),
            (
                "tests = ['gone']",
                Some("docs/corner-cases.toml: config-01 names gone, and there is no such function"),
            ),
        ] {
            let found = gaps_of(&format!("[[case]]\nid = 'config-01'\nwhat = 'a'\n{fields}\n"));
            assert_eq!(found, Vec::from_iter(expected), "{fields}");
        }
    }

    #[test]
    fn ids_are_of_a_known_section_and_listed_once() {
        let entry = |id: &str| format!("[[case]]\nid = '{id}'\nwhat = 'a'\ntests = ['shown']\n");
        let twice = gaps_of(&(entry("ugm-01") + &entry("ugm-01")));
        assert_eq!(twice, ["docs/corner-cases.toml: ugm-01 is listed twice"]);
        for id in ["ugm-1", "ugm", "other-01", "ugm-001", "ugm-0a"] {
            let found = gaps_of(&entry(id));
            let expected = format!("docs/corner-cases.toml: {id} is no id such as resources-07");
            assert_eq!(found, [expected]);
        }
    }

    #[test]
    fn the_summary_counts_by_section_and_names_what_waits() {
        let list = "[[case]]\nid = 'acl-01'\nwhat = 'a'\ntests = ['shown']\n\
            [[case]]\nid = 'acl-02'\nwhat = 'b'\nlater = 'c'\n";
        let expected = "corner cases with a test, docs/corner-cases.toml: 1 of 2 (resources 0 of 0, config 0 of 0, \
            queues 0 of 0, acl 1 of 2, placement 0 of 0, ugm 0 of 0)\n  acl-02 waits: c\n";
        assert_eq!(first(list).summary(), expected);
    }

    #[test]
    fn each_list_has_ids_of_its_own() {
        let text = "[[case]]\nid = 'queue-tree-01'\nwhat = 'a'\ntests = ['shown']\n";
        let tree = Tree::of(&[("crates/core/src/a.rs", "#[test] fn shown() {}")]);
        let gaps = |list| Corners::of(list, text).unwrap().gaps(&tree);
        let elsewhere = "docs/corner-cases.toml: queue-tree-01 is no id such as resources-07";
        assert_eq!(gaps(&LISTS[0]), [elsewhere]);
        assert_eq!(gaps(&LISTS[1]), [""; 0]);
        let sections: Vec<_> = LISTS.iter().flat_map(|list| list.sections).collect();
        assert_eq!(BTreeSet::from_iter(&sections).len(), sections.len());
    }
}
