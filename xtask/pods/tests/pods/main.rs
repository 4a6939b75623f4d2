//! Recorded histories as pods: the queue file is a config map, nodes are nodes, and asks are pods of a real API server.
//! The Kubernetes scheduler runs in this process, and its engine goes by hand. Each step is compared with the record,
//! with the same list of deviations as the core alone.
//!
//! The clock of the engine begins in the year 2000, as recorded. The API server creates pods later, and the core takes
//! an ask from the future as created now, so each ask has its recorded time.
//!
//! The test needs `HEADROOM_KUBERNETES`, and is skipped without it.
#![allow(clippy::print_stdout, reason = "a test prints what it played")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod extent;
mod objects;
mod player;
mod ruled;
#[path = "../../../../crates/kubernetes/tests/support/tools.rs"]
mod tools;
mod world;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use xtask::conformance::{
    self,
    scenario::{History, Played},
};

use extent::{Beyond, Extent};
use player::Player;
use ruled::Ruled;
use tools::TOOLS;
use world::World;

/// How many histories are played, or `all`.
const HISTORIES: &str = "HEADROOM_POD_HISTORIES";
/// How many are played without the variable.
const HISTORIES_DEFAULT: usize = 50;

/// Tags of which a played history must have each.
const TOPICS: [&str; 12] = [
    "config-reload",
    "dynamic-queue",
    "fair-sort",
    "fifo-sort",
    "group-limit",
    "max-applications",
    "priority",
    "queue-max",
    "template",
    "user-limit",
    "user-tracking",
    "wildcard-limit",
];

#[test]
fn recorded_histories_go_the_same_way_as_pods() {
    let Some(tools) = std::env::var_os(TOOLS) else {
        return println!("skipped: {TOOLS} names no folder of tools that start a cluster");
    };
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let histories = conformance::histories(&recorded).unwrap();
    let mut plan = Plan::of(&histories);
    plan.print(histories.len());
    let world = World::start(Path::new(&tools));
    let begin = Instant::now();
    let mut tally = Tally::default();
    for (history, extent) in plan.chosen() {
        let name = history.name();
        let played = play(&world, history, extent);
        match &played {
            Ok(Played::Equal | Played::Deviates) => {}
            Ok(Played::ByRule { step }) => println!("  by rule {name} from step {step}"),
            Ok(Played::Differs { step, what }) => println!("  failed {name}: step {step}: {what}"),
            Err(error) => println!("  failed {name}: {error:#}"),
        }
        tally.count(history, &played);
    }
    tally.print(begin);
    assert_eq!(tally.failed, 0, "see the list above; the logs were in {}", world.logs().display());
    tally.check_topics();
}

fn play(world: &World, history: &History, extent: Extent) -> anyhow::Result<Played> {
    let end = extent.end;
    let mut player = Player::start(world, history.config(), extent)?;
    history.play(&mut player, &mut Ruled::start(history.config()), end)
}

/// Which histories can be played.
struct Plan<'h> {
    /// Those with a recorded placement in the steps that pods can express.
    applicable: Vec<(&'h History, Extent)>,
    /// Number of the other ones, by reason.
    inapplicable: BTreeMap<Option<Beyond>, usize>,
}

impl<'h> Plan<'h> {
    fn of(histories: &'h [History]) -> Self {
        let mut plan = Self { applicable: Vec::new(), inapplicable: BTreeMap::new() };
        for history in histories {
            let extent = Extent::of(history).unwrap();
            if extent.placements > 0 {
                plan.applicable.push((history, extent));
            } else {
                *plan.inapplicable.entry(extent.beyond).or_default() += 1;
            }
        }
        plan
    }

    fn print(&self, all: usize) {
        let of = |extent: &Extent| extent.beyond;
        let mut parts: BTreeMap<Beyond, usize> = BTreeMap::new();
        for beyond in self.applicable.iter().filter_map(|(_, extent)| of(extent)) {
            *parts.entry(beyond).or_default() += 1;
        }
        let (applicable, in_part) = (self.applicable.len(), parts.values().sum::<usize>());
        println!("{all} histories, of which pods can express {}", applicable - in_part);
        println!("  the beginning of {in_part} more, with a placement:");
        for (beyond, count) in parts {
            println!("    {count:3} until {}", beyond.sentence());
        }
        println!("  no placement of {}:", all - applicable);
        for (beyond, count) in &self.inapplicable {
            let why =
                beyond.map_or("nothing is placed, or the record goes wrong", Beyond::sentence);
            println!("    {count:3} because {why}");
        }
    }

    /// Returns the histories to play, spread over all files.
    fn chosen(&mut self) -> Vec<(&'h History, Extent)> {
        let all = std::mem::take(&mut self.applicable);
        let wanted = match std::env::var(HISTORIES) {
            Ok(text) if text == "all" => all.len(),
            Ok(text) => match text.parse() {
                Ok(number) => number,
                // A part of a name, to work on one history.
                Err(_) => {
                    return all.into_iter().filter(|(one, _)| one.name().contains(&text)).collect();
                }
            },
            Err(_) => HISTORIES_DEFAULT,
        };
        let (count, wanted) = (all.len(), wanted.clamp(1, all.len()));
        let is_chosen = |number: usize| number * wanted / count != (number + 1) * wanted / count;
        let numbered = all.into_iter().enumerate();
        numbered.filter(|(number, _)| is_chosen(*number)).map(|(_, one)| one).collect()
    }
}

#[derive(Default)]
struct Tally<'h> {
    played: usize,
    equal: usize,
    deviating: usize,
    by_rule: usize,
    failed: usize,
    /// Tags of the played histories, with their number.
    topics: BTreeMap<&'h str, usize>,
}

impl<'h> Tally<'h> {
    fn count(&mut self, history: &'h History, played: &anyhow::Result<Played>) {
        self.played += 1;
        match played {
            Ok(Played::Equal) => self.equal += 1,
            Ok(Played::Deviates) => self.deviating += 1,
            Ok(Played::ByRule { .. }) => self.by_rule += 1,
            Ok(Played::Differs { .. }) | Err(_) => self.failed += 1,
        }
        for topic in history.covers() {
            *self.topics.entry(topic).or_default() += 1;
        }
    }

    fn print(&self, begin: Instant) {
        let Self { played, equal, deviating, by_rule, failed, topics } = self;
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "{played} histories as pods in {seconds:.1} s: {equal} equal, {deviating} deviating, {by_rule} by rule, \
             {failed} failed"
        );
        println!("  {topics:?}");
    }

    fn check_topics(&self) {
        if std::env::var_os(HISTORIES).is_none() {
            let lacking: Vec<_> =
                TOPICS.iter().filter(|topic| !self.topics.contains_key(**topic)).collect();
            assert!(lacking.is_empty(), "no history about {lacking:?}");
        }
    }
}
