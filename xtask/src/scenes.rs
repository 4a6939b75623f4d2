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

/// Worked examples of the specification, rows of its table of what `CapacityScheduler` has, and its
/// requirements and scenarios of tenants, that tests re-enact.
const EXAMPLES: [List; 6] = [
    List { name: "queues", prefix: "queues_w", digits: 2 },
    List { name: "scheduling", prefix: "scheduling_w", digits: 2 },
    List { name: "uh", prefix: "uh_", digits: 2 },
    List { name: "c", prefix: "c", digits: 1 },
    List { name: "tr", prefix: "tr_", digits: 2 },
    List { name: "ts", prefix: "ts_", digits: 2 },
];

/// Examples that are numbered.
struct List {
    name: &'static str,
    /// What stands before the number in names of tests.
    prefix: &'static str,
    /// How many digits a number has at least.
    digits: usize,
}

impl List {
    fn id(&self, number: usize) -> String {
        format!("{}{number:0width$}", self.prefix, width = self.digits)
    }

    /// The number with what stands between the name of the list and it: what waits is listed by that.
    fn key<'id>(&self, id: &'id str) -> &'id str {
        id.trim_start_matches(self.name).trim_start_matches('_')
    }

    /// The id that a name of a test begins with, and what follows it.
    fn begin<'name>(&self, name: &'name str) -> Option<(String, &'name str)> {
        let (number, rest) = number_of(name.strip_prefix(self.prefix)?, self.digits)?;
        Some((format!("{}{number}", self.prefix), rest))
    }
}

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
    #[serde(default)]
    count: usize,
    /// Their numbers, from and to, where there are gaps between them.
    #[serde(default)]
    ranges: Vec<(usize, usize)>,
    /// Why some have no test, by number as in `w07`, `28` of `uh`, or `9` of `c`.
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
    let counts = EXAMPLES.map(|list| {
        let known = tests.keys().filter(|id| list.begin(&format!("{id}_")).is_some()).count();
        let Some(listed) = lists.get(list.name) else {
            return format!("{known} of {}NN", list.prefix);
        };
        for id in listed.numbers().map(|number| list.id(number)) {
            if let Some(reason) = listed.pending.get(list.key(&id)) {
                waiting.extend(["  ", &*id, " waits: ", reason, "\n"]);
            }
        }
        format!("{known} of {} {}NN", listed.numbers().count(), list.prefix)
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
                (false, false) => gaps.push(format!("{id} has no test: write fn {id}_…")),
                (true, true) => gaps.push(format!("{FILE}: {id} has a test and waits no more")),
                _ => {}
            }
        }
        let keys: BTreeSet<&str> = ids.iter().map(|id| list.key(id)).collect();
        let unknown = listed.pending.keys().filter(|number| !keys.contains(&***number));
        gaps.extend(unknown.map(|number| format!("{FILE}: {name} has no example {number}")));
        let of_list = tests.iter().filter(|(id, _)| list.begin(&format!("{id}_")).is_some());
        for (id, names) in of_list.filter(|(id, _)| !ids.contains(*id)) {
            gaps.push(format!("{}: {FILE} knows no example {id}", names.join(", ")));
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
            for id in ids_of(&function.name) {
                tests.entry(id).or_default().push(function.name.clone());
            }
        }
    }
    tests
}

/// `sd_24_nodes` carries `SD-24`; `queues_w07_deep` carries `queues_w07`; `c8_uh_31_sizes` carries `c8`
/// and `uh_31`.
fn ids_of(name: &str) -> Vec<String> {
    let (mut ids, mut rest) = (Vec::new(), name);
    while let Some((id, behind)) = id_of(rest) {
        ids.push(id);
        rest = behind;
    }
    ids
}

/// The id that a name begins with, and what follows it.
fn id_of(name: &str) -> Option<(String, &str)> {
    if let Some(rest) = name.strip_prefix("sd_") {
        let (number, rest) = number_of(rest, 2)?;
        return Some((format!("SD-{number}"), rest));
    }
    EXAMPLES.iter().find_map(|list| list.begin(name))
}

/// As many digits or more before an underscore, and what follows that.
fn number_of(rest: &str, digits: usize) -> Option<(&str, &str)> {
    let (number, behind) = rest.split_once('_')?;
    let is_number = number.len() >= digits && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((number, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_carries_its_id() {
        for (name, expected) in [
            ("sd_24_nodes_come_and_go", &["SD-24"][..]),
            ("sd_2_short", &[]),
            ("sd_24", &[]),
            ("queues_w07_deep", &["queues_w07"]),
            ("scheduling_w12_gang", &["scheduling_w12"]),
            ("uh_05_tiny", &["uh_05"]),
            ("uh_5_tiny", &[]),
            ("c8_uh_31_sizes", &["c8", "uh_31"]),
            ("c12_states", &["c12"]),
            ("tr_10_tr_11_ts_01_sd_60_a_quota", &["tr_10", "tr_11", "ts_01", "SD-60"]),
            ("copies_c8_twice", &[]),
            ("other", &[]),
        ] {
            assert_eq!(ids_of(name), expected, "{name}");
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
                "[examples.tr]\nranges = [[1, 1], [10, 11]]\npending = { 11 = 'x' }",
                "fn tr_01_a() {} fn tr_12_b() {}",
                &[
                    "tr_10 has no test: write fn tr_10_…",
                    "tr_12_b: docs/scenes.toml knows no example tr_12",
                ],
            ),
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
                "[examples.c]\ncount = 3\npending = { 3 = 'x' }",
                "fn c1_uh_07_a() {} fn uh_08_b() {}",
                &["c2 has no test: write fn c2_…"],
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
            "worked examples with a test: 1 of 2 queues_wNN, 1 of scheduling_wNN, 0 of uh_NN, \
             0 of cNN, 0 of tr_NN, 0 of ts_NN\n  queues_w02 waits: not yet\n"
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
