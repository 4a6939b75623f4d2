//! Valid queue files, edited at random ten thousand times: whatever comes out is read without a
//! panic, within the parser's budget. And the fuzzer's corpus, through the same function.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::fs;
use std::path::{Path, PathBuf};

use headroom_config::exercise;
use headroom_core::config::Configuration;
use headroom_core::resource::Amounts;
use headroom_core::testkit::World;
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit};

/// How many edited files are read.
const FILES: u64 = 10_000;

/// Seed of the edits, which are the same in every run and on every machine.
const SEED: u64 = 0x5eed_2004;

/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `end`, which is above 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What YAML gives a meaning to, and what the queue file does.
const TOKENS: &[&str] = &[
    "&a ",
    "*a",
    "<<: *a",
    "<<: ",
    "!x ",
    "!!str ",
    "- ",
    "? ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "\"",
    "'",
    "#",
    "%",
    "@",
    "`",
    "---\n",
    "...\n",
    "\t",
    "\r\n",
    "\u{feff}",
    "\u{85}",
    "é",
    "~",
    "null",
    "true",
    "'yes'",
    "1e3",
    "0x1F",
    "010",
    "-1",
    ".nan",
    "18446744073709551616",
    "9223372036854775808",
    "8Ei",
    "500m",
    "root",
    "root.",
    ".",
    "*",
    "'*'",
    "^(a|b$",
    "{}",
    "[]",
    "name: ",
    "queues:\n",
    "limits:\n",
    "parent: true\n",
    "maxapplications: 0\n",
    "userlimits: ",
    "userlimits: {minimumuserlimitpercent: 0, formula: yarn27, weights: {ann: 3}}\n",
    "weights: {ann: 1.5}\n",
    "maximumallocation: {vcore: 1}\n",
    "applicationlimits: ",
    "applicationlimits: {maximumapplications: 2, maxparallelapps: 1, maximumdriverresourcepercent: 0.1}\n",
    "maxparallelappsbyuser: {ann: 1}\n",
    "maximumapplicationsperuser: 1\n",
    "maxparallelappsperuser: 1\n",
    "capacity: {mode: percent, value: 100, maximum: 50}\n",
    "capacity: {mode: weight, value: 1}\n",
    "capacity: {mode: absolute}\n",
    "value: 40\n",
];

fn edit(text: &mut Vec<u8>, dice: &mut Dice, others: &[Vec<u8>]) {
    let place = |dice: &mut Dice, text: &[u8]| dice.below(text.len() + 1);
    match dice.below(12) {
        0 if !text.is_empty() => {
            let at = dice.below(text.len());
            text[at] = u8::try_from(dice.below(256)).unwrap();
        }
        1 if !text.is_empty() => {
            let at = dice.below(text.len());
            text[at] ^= 1 << dice.below(8);
        }
        2 => {
            let at = place(dice, text);
            text.truncate(at);
        }
        3..=5 => {
            let at = place(dice, text);
            text.splice(at..at, dice.pick(TOKENS).bytes());
        }
        6 => change_number(text, dice),
        7 => {
            // A piece of another file.
            let other = dice.pick(others);
            let (one, two) = (place(dice, other), place(dice, other));
            let piece = other[one.min(two)..one.max(two)].to_vec();
            let at = place(dice, text);
            text.splice(at..at, piece);
        }
        _ => edit_lines(text, dice),
    }
}

fn change_number(text: &mut Vec<u8>, dice: &mut Dice) {
    let digits: Vec<usize> = (0..text.len()).filter(|at| text[*at].is_ascii_digit()).collect();
    if digits.is_empty() {
        return;
    }
    let at = *dice.pick(&digits);
    let others = ["0", "1", "99", "1e9", "-3", "2.5", "99999999999999999999", ""];
    let other = *dice.pick(&others);
    text.splice(at..=at, other.bytes());
}

fn edit_lines(text: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> =
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let at = dice.below(lines.len());
    match dice.below(6) {
        0 => {
            lines.remove(at);
        }
        1 => {
            let times = 1 + dice.below(40);
            let line = lines[at].clone();
            lines.splice(at..at, std::iter::repeat_n(line, times));
        }
        2 => {
            let other = dice.below(lines.len());
            lines.swap(at, other);
        }
        3 => {
            let spaces = vec![b' '; 1 + dice.below(4)];
            lines[at].splice(0..0, spaces);
        }
        4 => {
            let blanks = lines[at].iter().take_while(|byte| **byte == b' ').count();
            let less = dice.below(blanks + 1);
            lines[at].drain(..less);
        }
        _ => {
            // A value behind an anchor, and an alias further down.
            if let Some(colon) = lines[at].windows(2).position(|pair| pair == b": ") {
                lines[at].splice(colon + 2..colon + 2, *b"&a ");
                let other = at + dice.below(lines.len() - at);
                lines[other].splice(0..0, *b"*a ");
            }
        }
    }
    *text = lines.concat();
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn seeds() -> Vec<Vec<u8>> {
    let mut files = files_in(&home().join("tests/cases"));
    files.extend(files_in(&home().join("../../examples")));
    files.push(home().join("tests/queues.yaml"));
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// One cluster over which every accepted file comes into force.
#[derive(Default)]
struct Live {
    world: World,
    number: u64,
    applied: u64,
    refused: u64,
}

impl Live {
    /// Take a file into force and go on working; a refused one changes nothing at all.
    fn reload(&mut self, configuration: Configuration) {
        let before = self.world.books.clone();
        match self.world.command(&Command::Configure(Box::new(configuration))) {
            Ok(_) => self.applied += 1,
            Err(refusal) => {
                assert_eq!(self.world.books, before, "{refusal}");
                self.refused += 1;
            }
        }
        self.world.settle();
        self.work();
        self.world.now = self.world.now + Millis::from_secs(7);
        self.world.command(&Command::Tick).unwrap();
        self.world.books.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    }

    /// Submit an application wherever one can be, and let it ask for more than there may be.
    fn work(&mut self) {
        self.number += 1;
        let books = &self.world.books;
        let Some((_, queue)) = books.queues().iter().filter(|(_, queue)| queue.leaf).last() else {
            return;
        };
        let partition = books.partition(queue.partition).name.clone();
        let (queue, application) = (queue.path.clone(), Name::from(format!("a{}", self.number)));
        let capacity = Amounts::from([("vcore", 500_000), ("memory", 1 << 40)]);
        let node = Name::new("n1");
        // Mostly it is there already, and then an application may have been rejected.
        let add = AddNode {
            partition: partition.clone(),
            node,
            capacity,
            schedulable: true,
            ..AddNode::default()
        };
        if let Err(refusal) = self.world.command(&Command::AddNode(add)) {
            assert_eq!(refusal.code().as_str(), "DUPLICATE_NODE");
        }
        let user = Name::new(["ann", "bob", "svc-1"][usize::try_from(self.number % 3).unwrap()]);
        let (partition, groups) = (partition, vec![Name::new("dev")]);
        let submit = Submit {
            partition: partition.clone(),
            application: application.clone(),
            queue,
            user,
            groups,
            ..Submit::default()
        };
        self.world.command(&Command::Submit(submit)).unwrap();
        let key = Name::from(format!("k{}", self.number));
        let resources = Amounts::from([("vcore", 1_000), ("memory", 1 << 30)]);
        let ask = Ask { partition, application, key, resources, ..Ask::default() };
        if let Err(refusal) = self.world.command(&Command::Ask(ask)) {
            assert_eq!(refusal.code().as_str(), "UNKNOWN_APPLICATION");
        }
        self.world.settle();
    }
}

#[test]
fn edited_files_are_read_within_the_budget_and_without_a_panic() {
    let seeds = seeds();
    assert!(seeds.len() > 60, "{} files to begin with", seeds.len());
    let (mut accepted, mut steps_max) = (0, 0);
    let mut live = Live::default();
    for file in 0..FILES {
        let mut dice = Dice(SEED ^ (file << 32));
        let mut text = dice.pick(&seeds).clone();
        for _ in 0..=dice.below(6) {
            edit(&mut text, &mut dice, &seeds);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let read = std::panic::catch_unwind(|| {
            let steps = exercise(text.as_bytes());
            (steps, headroom_config::read(&text).ok())
        });
        let Ok((steps, loaded)) = read else {
            panic!("file {file} of seed {SEED:#x} panics:\n{text}");
        };
        steps_max = steps_max.max(steps);
        if let Some(loaded) = loaded {
            accepted += 1;
            live.reload(loaded.configuration);
        }
    }
    // Edits that broke every file, or none, would test little.
    assert!((FILES / 50..FILES / 2).contains(&accepted), "{accepted} of {FILES} were accepted");
    assert!(steps_max > 1_000, "the largest file took {steps_max} steps");
    println!("{} came into force, {} were refused by live books", live.applied, live.refused);
    assert!(live.applied > FILES / 50 && live.refused > 0);
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let files = files_in(&home().join("../../fuzz/corpus/queue_file"));
    assert!(files.len() > 60, "{} files", files.len());
    for file in files {
        exercise(&fs::read(&file).unwrap());
    }
}
