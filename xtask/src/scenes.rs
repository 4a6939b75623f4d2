//! `scenes`: every scene that the product was asked for is a test that carries its id, and so is
//! every worked example of a list that is complete; corner cases name their tests (`corners.rs`).
//!
//! `docs/scenes.toml` lists the scenes and the subjects of work that build them. A scene is
//! due as soon as one of its subjects is done. Its test has the id as an attribute, such as
//! `#[doc(alias = "SD-24")]`: see `alias.rs`. For a list of examples, the file has its length and
//! what waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::alias::aliases;
use crate::corners;
use crate::project::Tree;
use crate::tally::Tally;

const FILE: &str = "docs/scenes.toml";

/// Worked examples of the specification, rows of its table of what `CapacityScheduler` has, its
/// requirements and scenarios of tenants, and its requirements against starvation, that tests re-enact.
const EXAMPLES: [List; 8] = [
    List { name: "queues", prefix: "queues W", digits: 1 },
    List { name: "scheduling", prefix: "scheduling W", digits: 1 },
    List { name: "kubernetes", prefix: "kubernetes W", digits: 1 },
    List { name: "uh", prefix: "UH-", digits: 2 },
    List { name: "c", prefix: "C", digits: 1 },
    List { name: "tr", prefix: "TR-", digits: 2 },
    List { name: "ts", prefix: "TS-", digits: 2 },
    List { name: "ns", prefix: "NS-", digits: 2 },
];

/// The scenes.
const SCENES: List = List { name: "scene", prefix: "SD-", digits: 2 };

/// Rows of the specification that a test may name. Nothing counts them.
const ROWS: [&str; 5] = ["C-", "D-", "K-", "L-", "M-"];

/// Ids that are numbered.
struct List {
    name: &'static str,
    /// What stands before the number.
    prefix: &'static str,
    /// How many digits a number has at least.
    digits: usize,
}

impl List {
    fn id(&self, number: usize) -> String {
        format!("{}{number:0width$}", self.prefix, width = self.digits)
    }

    /// The number as the id has it: what waits is listed by that.
    fn key<'id>(&self, id: &'id str) -> &'id str {
        id.trim_start_matches(self.prefix)
    }

    /// Whether this is an id of the list, as far as its form goes.
    fn has(&self, id: &str) -> bool {
        let number = id.strip_prefix(self.prefix).and_then(|number| number.parse().ok());
        number.is_some_and(|number| self.id(number) == id)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenes {
    /// Subjects whose scenes must all have a test.
    done: BTreeSet<String>,
    /// Lists of worked examples of which all must have a test, by their names.
    #[serde(default)]
    examples: BTreeMap<String, Examples>,
    #[serde(rename = "scene")]
    all: Vec<Scene>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    /// They are numbered from 1 to this.
    #[serde(default)]
    count: usize,
    /// Their numbers, from and to, where there are gaps between them.
    #[serde(default)]
    ranges: Vec<(usize, usize)>,
    /// Why some have no test, by the number as ids have it: `07` of `uh`, or `7` of `c`.
    #[serde(default)]
    pending: BTreeMap<String, String>,
}

impl Examples {
    fn numbers(&self) -> impl Iterator<Item = usize> {
        let ranges = self.ranges.iter().flat_map(|(from, to)| *from..=*to);
        (1..=self.count).chain(ranges)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scene {
    id: String,
    subjects: BTreeSet<String>,
    summary: String,
}

/// Print each scene with its tests. One test of ours: whether there is a gap.
///
/// # Errors
/// When the list or the project cannot be read.
pub(crate) fn run(root: &Path) -> Result<Tally> {
    let path = root.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let scenes: Scenes = toml::from_str(&text).with_context(|| format!("cannot read {FILE}"))?;
    let corners = corners::read(root)?;
    let tree = Tree::read(root)?;
    let tests = tests_of(&tree)?;
    for scene in &scenes.all {
        let found = tests.get(&scene.id).cloned().unwrap_or_default();
        let shown = match (found.is_empty(), scene.is_due(&scenes.done)) {
            (false, _) => found.join(", "),
            (true, true) => "MISSING".to_owned(),
            (true, false) => "not due".to_owned(),
        };
        println!("{}  {}: {shown}", scene.id, scene.summary);
    }
    print!("{}", summary_of_examples(&scenes.examples, &tests));
    for list in &corners {
        print!("{}", list.summary());
    }
    let mut gaps = gaps(&scenes, &tests);
    gaps.extend(gaps_of_examples(&scenes.examples, &tests));
    gaps.extend(corners.iter().flat_map(|list| list.gaps(&tree)));
    for gap in &gaps {
        println!("{gap}");
    }
    Ok(Tally::of(gaps.is_empty()))
}

impl Scene {
    fn is_due(&self, done: &BTreeSet<String>) -> bool {
        !self.subjects.is_disjoint(done)
    }
}

fn gaps(scenes: &Scenes, tests: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut known = BTreeSet::new();
    for scene in &scenes.all {
        if !known.insert(&scene.id) {
            gaps.push(format!("{FILE}: {} is listed twice", scene.id));
        }
        if scene.is_due(&scenes.done) && !tests.contains_key(&scene.id) {
            gaps.push(missing(&scene.id));
        }
    }
    for (id, names) in tests {
        if SCENES.has(id) && !known.contains(id) {
            gaps.push(format!("{}: {FILE} knows no scene {id}", names.join(", ")));
        }
        if !is_id(id) {
            gaps.push(format!("{}: {id:?} is no id such as SD-24 or queues W7", names.join(", ")));
        }
    }
    let subjects: BTreeSet<_> = scenes.all.iter().flat_map(|one| &one.subjects).collect();
    for subject in scenes.done.iter().filter(|one| !subjects.contains(one)) {
        gaps.push(format!("{FILE}: no scene has the done subject {subject:?}"));
    }
    gaps
}

/// Whether an alias has the form of an id.
fn is_id(alias: &str) -> bool {
    SCENES.has(alias)
        || EXAMPLES.iter().any(|list| list.has(alias))
        || ROWS.iter().any(|prefix| alias.starts_with(prefix))
}

fn missing(id: &str) -> String {
    format!("{id} has no test: write one with #[doc(alias = \"{id}\")]")
}

/// How many worked examples have a test, and each that waits.
fn summary_of_examples(
    lists: &BTreeMap<String, Examples>,
    tests: &BTreeMap<String, Vec<String>>,
) -> String {
    let mut waiting = String::new();
    let counts = EXAMPLES.map(|list| {
        let known = tests.keys().filter(|id| list.has(id)).count();
        let Some(listed) = lists.get(list.name) else {
            return format!("{known} of {}…", list.prefix);
        };
        for id in listed.numbers().map(|number| list.id(number)) {
            if let Some(reason) = listed.pending.get(list.key(&id)) {
                waiting.extend(["  ", &*id, " waits: ", reason, "\n"]);
            }
        }
        format!("{known} of {} {}…", listed.numbers().count(), list.prefix)
    });
    format!("worked examples with a test: {}\n{waiting}", counts.join(", "))
}

fn gaps_of_examples(
    lists: &BTreeMap<String, Examples>,
    tests: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut gaps = Vec::new();
    for (name, listed) in lists {
        let Some(list) = EXAMPLES.iter().find(|list| list.name == name) else {
            gaps.push(format!("{FILE}: there is no list of examples {name:?}"));
            continue;
        };
        let ids: BTreeSet<String> = listed.numbers().map(|number| list.id(number)).collect();
        for id in &ids {
            match (tests.contains_key(id), listed.pending.contains_key(list.key(id))) {
                (false, false) => gaps.push(missing(id)),
                (true, true) => gaps.push(format!("{FILE}: {id} has a test and waits no more")),
                _ => {}
            }
        }
        let keys: BTreeSet<&str> = ids.iter().map(|id| list.key(id)).collect();
        let unknown = listed.pending.keys().filter(|number| !keys.contains(&***number));
        gaps.extend(unknown.map(|number| format!("{FILE}: {name} has no example {number}")));
        let of_list = tests.iter().filter(|(id, _)| list.has(id));
        for (id, names) in of_list.filter(|(id, _)| !ids.contains(*id)) {
            gaps.push(format!("{}: {FILE} knows no example {id}", names.join(", ")));
        }
    }
    gaps
}

/// The names of the tests that carry an id, by their ids.
fn tests_of(tree: &Tree) -> Result<BTreeMap<String, Vec<String>>> {
    let mut tests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in tree.with_ending(&["rs"]) {
        let found = aliases(&text.content).with_context(|| format!("cannot read {}", text.path))?;
        for one in found {
            tests.entry(one.id).or_default().push(one.test);
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests_in(code: &str) -> BTreeMap<String, Vec<String>> {
        tests_of(&Tree::of(&[("crates/core/src/a.rs", code)])).unwrap()
    }

    /// One test for each name, with the ids before it.
    fn code_of(tests: &[(&[&str], &str)]) -> String {
        let code = tests.iter().map(|(ids, name)| {
            let aliases = ids.iter().map(|id| format!("#[doc(alias = \"{id}\")] "));
            format!("#[test] {}fn {name}() {{}}\n", aliases.collect::<String>())
        });
        code.collect()
    }

    #[test]
    fn an_id_has_the_form_of_its_list() {
        for (id, list) in [
            ("SD-24", Some("scene")),
            ("SD-2", None),
            ("sd_24", None),
            ("SD-024", None),
            ("SD-x", None),
            ("queues W7", Some("queues")),
            ("queues W07", None),
            ("scheduling W12", Some("scheduling")),
            ("kubernetes W9", Some("kubernetes")),
            ("W12", None),
            ("UH-05", Some("uh")),
            ("C8", Some("c")),
            ("C-8", None),
            ("TR-10", Some("tr")),
            ("TS-01", Some("ts")),
        ] {
            let of = EXAMPLES.iter().chain([&SCENES]).filter(|one| one.has(id));
            let names: Vec<&str> = of.map(|one| one.name).collect();
            assert_eq!(names, list.as_slice(), "{id}");
        }
    }

    #[test]
    fn gaps_are_found_among_what_is_done() {
        let list = "done = [\"books\"]\n\
            [[scene]]\nid = \"SD-01\"\nsubjects = [\"books\", \"server\"]\nsummary = \"a\"\n\
            [[scene]]\nid = \"SD-02\"\nsubjects = [\"server\"]\nsummary = \"b\"\n";
        let scenes: Scenes = toml::from_str(list).unwrap();
        for (code, expected) in [
            (&[][..], &["SD-01 has no test: write one with #[doc(alias = \"SD-01\")]"][..]),
            (&[(&["SD-01"][..], "a")], &[]),
            (&[(&["C-1", "SD-01", "K-27"], "a")], &[]),
            (
                &[(&["SD-01"], "a"), (&["SD-77"], "b"), (&["SD-77"], "c")],
                &["b, c: docs/scenes.toml knows no scene SD-77"],
            ),
            (&[(&["SD-01", "SD_01"], "a")], &["a: \"SD_01\" is no id such as SD-24 or queues W7"]),
        ] {
            let code = code_of(code);
            assert_eq!(gaps(&scenes, &tests_in(&code)), expected, "{code}");
        }
    }

    #[test]
    fn examples_of_a_complete_list_have_a_test_or_a_reason() {
        for (list, code, expected) in [
            ("", &[][..], &[][..]),
            ("[examples.queues]\ncount = 1", &[(&["queues W1"][..], "a")], &[]),
            (
                "[examples.queues]\ncount = 2",
                &[(&["queues W1"], "a"), (&["scheduling W2"], "b")],
                &["queues W2 has no test: write one with #[doc(alias = \"queues W2\")]"],
            ),
            ("[examples.queues]\ncount = 1\npending = { 1 = 'x' }", &[], &[]),
            (
                "[examples.tr]\nranges = [[1, 1], [10, 11]]\npending = { 11 = 'x' }",
                &[(&["TR-01"], "a"), (&["TR-12"], "b")],
                &[
                    "TR-10 has no test: write one with #[doc(alias = \"TR-10\")]",
                    "b: docs/scenes.toml knows no example TR-12",
                ],
            ),
            ("[examples.uh]\ncount = 1\npending = { 01 = 'x' }", &[], &[]),
            (
                "[examples.queues]\ncount = 1\npending = { 1 = 'x', 2 = 'y' }",
                &[(&["queues W1"], "a"), (&["queues W3"], "b")],
                &[
                    "docs/scenes.toml: queues W1 has a test and waits no more",
                    "docs/scenes.toml: queues has no example 2",
                    "b: docs/scenes.toml knows no example queues W3",
                ],
            ),
            (
                "[examples.c]\ncount = 3\npending = { 3 = 'x' }",
                &[(&["C1", "UH-07"], "a"), (&["UH-08"], "b")],
                &["C2 has no test: write one with #[doc(alias = \"C2\")]"],
            ),
            (
                "[examples.ques]\ncount = 1",
                &[],
                &["docs/scenes.toml: there is no list of examples \"ques\""],
            ),
        ] {
            let scenes: Scenes = toml::from_str(&format!("done = []\nscene = []\n{list}")).unwrap();
            let tests = tests_in(&code_of(code));
            assert_eq!(gaps_of_examples(&scenes.examples, &tests), expected, "{list}");
        }
    }

    #[test]
    fn the_summary_says_how_many_examples_there_are_and_what_waits() {
        let list = "done = []\nscene = []\n\
            [examples.queues]\ncount = 2\npending = { 2 = 'not yet' }";
        let scenes: Scenes = toml::from_str(list).unwrap();
        let code =
            code_of(&[(&["queues W1"], "a"), (&["queues W1"], "b"), (&["scheduling W33"], "c")]);
        assert_eq!(
            summary_of_examples(&scenes.examples, &tests_in(&code)),
            "worked examples with a test: 1 of 2 queues W…, 1 of scheduling W…, \
             0 of kubernetes W…, 0 of UH-…, 0 of C…, 0 of TR-…, 0 of TS-…, 0 of NS-…\n  queues W2 waits: not yet\n"
        );
    }

    #[test]
    fn a_done_subject_must_exist() {
        let list = "done = [\"bocks\"]\n\
            [[scene]]\nid = \"SD-01\"\nsubjects = [\"books\"]\nsummary = \"a\"\n";
        let scenes: Scenes = toml::from_str(list).unwrap();
        assert_eq!(gaps(&scenes, &BTreeMap::new()).len(), 1);
    }

    #[test]
    fn a_file_that_is_no_rust_is_an_error() {
        let error = tests_of(&Tree::of(&[("crates/core/src/a.rs", "fn (")])).unwrap_err();
        assert_eq!(error.to_string(), "cannot read crates/core/src/a.rs");
    }
}
