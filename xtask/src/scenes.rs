//! `scenes`: every scene that the product was asked for is a test that carries its id, and so is
//! every worked example of a list that is complete; corner cases name their tests (`corners.rs`).
//!
//! `docs/scenes.toml` lists the scenes and the subjects of work that build them. A scene is
//! due as soon as one of its subjects is done; its test is a function whose name begins with
//! the id, such as `sd_24_…`. Of a list of examples it says how long it is and what waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::corners;
use crate::project::Tree;
use crate::tally::Tally;

const FILE: &str = "docs/scenes.toml";

/// Prefixes of tests that re-enact a worked example of the specification.
const EXAMPLES: [&str; 2] = ["queues_w", "scheduling_w"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenes {
    /// Subjects whose scenes must all have a test.
    done: BTreeSet<String>,
    /// Lists of worked examples of which all must have a test, by the first word of their ids.
    #[serde(default)]
    examples: BTreeMap<String, Examples>,
    #[serde(rename = "scene")]
    all: Vec<Scene>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    /// They are numbered from 1 to this.
    count: usize,
    /// Why some have no test yet, by number as in `w07`.
    #[serde(default)]
    pending: BTreeMap<String, String>,
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
    let tests = tests_of(&tree);
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
            let prefix = scene.id.to_lowercase().replace('-', "_");
            gaps.push(format!("{} has no test: write fn {prefix}_…", scene.id));
        }
    }
    for (id, names) in tests.iter().filter(|(id, _)| id.starts_with("SD-")) {
        if !known.contains(id) {
            gaps.push(format!("{}: {FILE} knows no scene {id}", names.join(", ")));
        }
    }
    let subjects: BTreeSet<_> = scenes.all.iter().flat_map(|one| &one.subjects).collect();
    for subject in scenes.done.iter().filter(|one| !subjects.contains(one)) {
        gaps.push(format!("{FILE}: no scene has the done subject {subject:?}"));
    }
    gaps
}

/// How many worked examples have a test, and each that waits.
fn summary_of_examples(
    lists: &BTreeMap<String, Examples>,
    tests: &BTreeMap<String, Vec<String>>,
) -> String {
    let mut waiting = String::new();
    let counts = EXAMPLES.map(|prefix| {
        let known = tests.keys().filter(|id| id.starts_with(prefix)).count();
        let Some(list) = lists.get(prefix.trim_end_matches("_w")) else {
            return format!("{known} of {prefix}NN");
        };
        for (number, reason) in &list.pending {
            let id = prefix.replace("_w", "_") + number;
            waiting.extend(["  ", &*id, " waits: ", reason, "\n"]);
        }
        format!("{known} of {} {prefix}NN", list.count)
    });
    format!("worked examples with a test: {}\n{waiting}", counts.join(", "))
}

fn gaps_of_examples(
    lists: &BTreeMap<String, Examples>,
    tests: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut gaps = Vec::new();
    for (name, list) in lists {
        let prefix = format!("{name}_w");
        if !EXAMPLES.contains(&&*prefix) {
            gaps.push(format!("{FILE}: there is no list of examples {name:?}"));
            continue;
        }
        let numbers: BTreeSet<String> =
            (1..=list.count).map(|number| format!("w{number:02}")).collect();
        for number in &numbers {
            let id = format!("{name}_{number}");
            match (tests.contains_key(&id), list.pending.contains_key(number)) {
                (false, false) => gaps.push(format!("{id} has no test: write fn {id}_…")),
                (true, true) => gaps.push(format!("{FILE}: {id} has a test and waits no more")),
                _ => {}
            }
        }
        let unknown = list.pending.keys().filter(|number| !numbers.contains(*number));
        gaps.extend(unknown.map(|number| format!("{FILE}: {name} has no example {number}")));
        for (id, names) in tests.iter().filter(|(id, _)| id.starts_with(&prefix)) {
            if !numbers.contains(&id[name.len() + 1..]) {
                gaps.push(format!("{}: {FILE} knows no example {id}", names.join(", ")));
            }
        }
    }
    gaps
}

/// The functions that carry an id, by their ids.
fn tests_of(tree: &Tree) -> BTreeMap<String, Vec<String>> {
    let mut tests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in tree.with_ending(&["rs"]) {
        let Some(code) = &text.code else { continue };
        for function in code.functions() {
            if let Some(id) = id_of(&function.name) {
                tests.entry(id).or_default().push(function.name);
            }
        }
    }
    tests
}

/// `sd_24_nodes` carries `SD-24`; `queues_w07_deep` carries `queues_w07`.
fn id_of(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("sd_") {
        return Some(format!("SD-{}", number_of(rest)?));
    }
    let prefix = EXAMPLES.iter().find(|prefix| name.starts_with(**prefix))?;
    let number = number_of(&name[prefix.len()..])?;
    Some(format!("{prefix}{number}"))
}

/// The two or more digits before an underscore.
fn number_of(rest: &str) -> Option<&str> {
    let (number, _) = rest.split_once('_')?;
    let digits = number.len() >= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_carries_its_id() {
        for (name, expected) in [
            ("sd_24_nodes_come_and_go", Some("SD-24")),
            ("sd_2_short", None),
            ("sd_24", None),
            ("queues_w07_deep", Some("queues_w07")),
            ("scheduling_w12_gang", Some("scheduling_w12")),
            ("other", None),
        ] {
            assert_eq!(id_of(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn gaps_are_found_among_what_is_done() {
        let list = "done = [\"books\"]\n\
            [[scene]]\nid = \"SD-01\"\nsubjects = [\"books\", \"server\"]\nsummary = \"a\"\n\
            [[scene]]\nid = \"SD-02\"\nsubjects = [\"server\"]\nsummary = \"b\"\n";
        let scenes: Scenes = toml::from_str(list).unwrap();
        for (code, expected) in [
            ("", &["SD-01 has no test: write fn sd_01_…"][..]),
            ("// fn sd_01_a() {}", &["SD-01 has no test: write fn sd_01_…"]),
            ("fn sd_01_a() {}", &[]),
            (
                "fn sd_01_a() {} fn sd_77_b() {}",
                &["sd_77_b: docs/scenes.toml knows no scene SD-77"],
            ),
        ] {
            let tests = tests_of(&Tree::of(&[("crates/core/src/a.rs", code)]));
            assert_eq!(gaps(&scenes, &tests), expected, "{code}");
        }
    }

    #[test]
    fn examples_of_a_complete_list_have_a_test_or_a_reason() {
        for (list, code, expected) in [
            ("", "", &[][..]),
            ("[examples.queues]\ncount = 1", "fn queues_w01_a() {}", &[]),
            (
                "[examples.queues]\ncount = 2",
                "fn queues_w01_a() {} fn scheduling_w02_b() {}",
                &["queues_w02 has no test: write fn queues_w02_…"],
            ),
            ("[examples.queues]\ncount = 1\npending = { w01 = 'x' }", "", &[]),
            (
                "[examples.queues]\ncount = 1\npending = { w01 = 'x', w02 = 'y' }",
                "fn queues_w01_a() {} fn queues_w03_b() {}",
                &[
                    "docs/scenes.toml: queues_w01 has a test and waits no more",
                    "docs/scenes.toml: queues has no example w02",
                    "queues_w03_b: docs/scenes.toml knows no example queues_w03",
                ],
            ),
            (
                "[examples.ques]\ncount = 1",
                "",
                &["docs/scenes.toml: there is no list of examples \"ques\""],
            ),
        ] {
            let scenes: Scenes = toml::from_str(&format!("done = []\nscene = []\n{list}")).unwrap();
            let tests = tests_of(&Tree::of(&[("crates/core/src/a.rs", code)]));
            assert_eq!(gaps_of_examples(&scenes.examples, &tests), expected, "{list}");
        }
    }

    #[test]
    fn the_summary_says_how_many_examples_there_are_and_what_waits() {
        let list = "done = []\nscene = []\n\
            [examples.queues]\ncount = 2\npending = { w02 = 'not yet' }";
        let scenes: Scenes = toml::from_str(list).unwrap();
        let code = "fn queues_w01_a() {} fn queues_w01_b() {} fn scheduling_w33_c() {}";
        let tests = tests_of(&Tree::of(&[("crates/core/src/a.rs", code)]));
        assert_eq!(
            summary_of_examples(&scenes.examples, &tests),
            "worked examples with a test: 1 of 2 queues_wNN, 1 of scheduling_wNN\n  \
             queues_w02 waits: not yet\n"
        );
    }

    #[test]
    fn a_done_subject_must_exist() {
        let list = "done = [\"bocks\"]\n\
            [[scene]]\nid = \"SD-01\"\nsubjects = [\"books\"]\nsummary = \"a\"\n";
        let scenes: Scenes = toml::from_str(list).unwrap();
        assert_eq!(gaps(&scenes, &BTreeMap::new()).len(), 1);
    }
}
