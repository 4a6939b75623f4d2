//! Whatever the situation: what is stopped for an ask keeps the law, none of it in vain, and is
//! what the specification gives when every question is answered from scratch.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

mod asking;
mod day;
mod scenes;
mod situation;

use headroom_core::id::{AllocationId, NodeId};
use headroom_core::preempt::{Obstacle, Outcome, VictimBasis, VictimPlan, attempt};
use headroom_core::testkit::{Finding, Question, Who, naive_plan};

use situation::{Kind, Situation};

/// How many situations: `HEADROOM_SITUATIONS`, or enough for every day.
fn count() -> u64 {
    let text = std::env::var("HEADROOM_SITUATIONS").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

/// Seeds of situations; each is tried under both laws.
fn situations(kind: Kind) -> impl Iterator<Item = (u64, Situation)> {
    let all = (0..).filter_map(move |seed| Some((seed, Situation::of(seed, kind)?)));
    all.take(usize::try_from(count()).unwrap())
}

#[test]
fn what_is_stopped_is_what_the_specification_gives_from_scratch() {
    for kind in [Kind::Strict, Kind::Newest, Kind::Shared] {
        let (mut some, mut more, mut free, mut within, mut below) = (0, 0, 0, 0, 0);
        for (seed, at) in situations(kind) {
            let (books, now) = (&at.world.books, at.world.now);
            let ours = attempt(books, at.ask, now, at.nodes_tried);
            let (given_up, theirs) = naive_plan(books, at.ask, now, at.nodes_tried);
            assert_eq!(ours.given_up, given_up, "seed {seed}, {kind:?}");
            assert_eq!(found(ours.outcome), theirs, "seed {seed}, {kind:?}");
            within += u32::from(matches!(theirs, Finding::StopWithin(..)));
            below += u32::from(matches!(theirs, Finding::StopBelow(..)));
            if let Finding::Stop(_, victims)
            | Finding::StopWithin(_, victims)
            | Finding::StopBelow(_, victims) = theirs
            {
                some += 1;
                more += u32::from(victims.len() > 1);
                free += u32::from(!at.nodes_tried);
            }
        }
        println!(
            "{kind:?}: {some} plans, {more} with several victims, {free} for queues, {within} from users of the same leaf, {below} of a lower priority there"
        );
        assert!(some > 50 && more > 10 && free > 10, "too few situations lead to anything");
        assert!(within > 20 || kind != Kind::Shared, "too few users take from each other");
        assert!(below > 10, "too few priorities matter in a leaf");
    }
}

#[test]
fn no_plan_breaks_the_law_and_no_part_of_one_would_do() {
    for (seed, at) in situations(Kind::Strict) {
        let Some(plan) = plan_of(&at) else { continue };
        let question = Question::of(&at.world.books, at.ask, at.world.now);
        let question = match plan.basis {
            VictimBasis::Guarantee | VictimBasis::Share => question,
            VictimBasis::Priority => question.by_priority().expect("its leaf has that"),
        };
        assert!(is_good(question, plan.node, &plan.victims), "seed {seed}: {plan:?}");
        for part in parts(&plan.victims) {
            let suffices = suffices(question, plan.node, &part);
            assert!(!suffices, "seed {seed}: {part:?} of {plan:?} would do");
        }
        follows_the_rules(&at, &plan, seed);
    }
}

/// What is found, without the reason for finding nothing.
fn found(outcome: Result<Outcome, Obstacle>) -> Finding {
    match outcome {
        Ok(Outcome::Stop(plan)) => match plan.basis {
            VictimBasis::Guarantee => Finding::Stop(plan.node, plan.victims),
            VictimBasis::Share => Finding::StopWithin(plan.node, plan.victims),
            VictimBasis::Priority => Finding::StopBelow(plan.node, plan.victims),
        },
        Err(Obstacle::OnItsWay) => Finding::OnItsWay,
        Err(Obstacle::Refused) => Finding::Refused,
        Ok(Outcome::Ask(removals)) => Finding::Ask(removals),
        Err(_) => Finding::Nothing,
    }
}

/// What is to be stopped, where no RM is asked.
fn plan_of(at: &Situation) -> Option<VictimPlan> {
    match attempt(&at.world.books, at.ask, at.world.now, at.nodes_tried).outcome.ok()? {
        Outcome::Stop(plan) => Some(plan),
        Outcome::Ask(removals) => panic!("no RM is to be asked about {removals:?}"),
    }
}

/// What no plan may do: rules that need no look at guarantees.
fn follows_the_rules(at: &Situation, plan: &VictimPlan, seed: u64) {
    let books = &at.world.books;
    let asks = books.allocation(at.ask);
    assert!(!plan.victims.is_empty(), "seed {seed}");
    assert!(books.node(plan.node).schedulable, "seed {seed}");
    for victim in &plan.victims {
        let row = books.allocation(*victim);
        let (mine, theirs) = (asks.application, row.application);
        let is_same = books.application(mine).queue == books.application(theirs).queue;
        if plan.basis == VictimBasis::Priority {
            assert!(is_same && mine != theirs && row.priority < asks.priority, "seed {seed}");
            continue;
        }
        assert!(!is_same, "seed {seed}");
        assert!(row.is_allocated() && row.required_node().is_none(), "seed {seed}");
        assert!(books.resources_of(*victim).shares_type(books.resources_of(at.ask)), "seed {seed}");
        let values = &books.queue(books.application(theirs).queue).settings.values;
        let disabled = headroom_core::config::PreemptionPolicy::Disabled;
        assert_ne!(values.preemption_policy, disabled, "seed {seed}");
    }
}

/// On small clusters all sets of victims can be tried: how far from the fewest is ours?
#[test]
fn the_fewest_victims_beside_ours() {
    let (mut both, mut missed, mut ours_sum, mut best_sum, mut equal) = (0, 0, 0, 0, 0);
    for (seed, at) in situations(Kind::Strict) {
        let by_guarantee = plan_of(&at).filter(|plan| plan.basis == VictimBasis::Guarantee);
        match (by_guarantee, optimum(&at)) {
            (Some(plan), Some(best)) => {
                assert!(plan.victims.len() >= best, "seed {seed}: the optimum is none");
                both += 1;
                ours_sum += plan.victims.len();
                best_sum += best;
                equal += usize::from(plan.victims.len() == best);
            }
            (None, Some(best)) if best > 0 => missed += 1,
            (Some(plan), None) => panic!("seed {seed}: {plan:?} is not among all sets"),
            (None, _) => {}
        }
    }
    println!(
        "{both} plans: {ours_sum} victims, at best {best_sum}; as few as can be in {equal}; \
         {missed} times there was a set that the order of victims does not reach"
    );
    assert!(equal * 10 >= both * 9, "nine of ten plans take as few as can be");
    assert!(missed * 20 <= both, "one of twenty is missed at most");
}

/// The fewest victims that would do on any node.
fn optimum(at: &Situation) -> Option<usize> {
    let books = &at.world.books;
    let question = Question::of(books, at.ask, at.world.now);
    let candidates = question.candidates();
    let mut sets: Vec<Vec<AllocationId>> = parts(&candidates);
    sets.push(candidates);
    sets.sort_by_key(Vec::len);
    let suits = |node: &NodeId| {
        books.node(*node).schedulable
            && books.node(*node).capacity.fits(books.resources_of(at.ask))
            && !(at.nodes_tried && question.fits_node(*node, &[]))
    };
    let nodes: Vec<NodeId> = books.nodes().iter().map(|(id, _)| id).filter(suits).collect();
    let covers = question.remaining(&question.promised(), Who::Queue(leaf_of(at)));
    covers.filter(|left| left.shares_type(books.resources_of(at.ask)))?;
    let good = |set: &&Vec<AllocationId>| nodes.iter().any(|node| is_good(question, *node, set));
    sets.iter().find(good).map(Vec::len)
}

fn leaf_of(at: &Situation) -> headroom_core::id::QueueId {
    let books = &at.world.books;
    books.application(books.allocation(at.ask).application).queue
}

fn suffices(question: Question<'_>, node: NodeId, set: &[AllocationId]) -> bool {
    question.fits_node(node, set) && question.fits_queues(set)
}

/// Whether a set suffices and is lawful: in some order, each comes from above its guarantee.
fn is_good(question: Question<'_>, node: NodeId, set: &[AllocationId]) -> bool {
    suffices(question, node, set) && question.is_lawful(set) && has_order(question, set)
}

/// Whether there is an order in which each victim's queue is above its guarantee when it goes.
fn has_order(question: Question<'_>, set: &[AllocationId]) -> bool {
    fn follow(question: Question<'_>, gone: &mut Vec<AllocationId>, rest: &[AllocationId]) -> bool {
        if rest.is_empty() {
            return true;
        }
        rest.iter().enumerate().any(|(place, id)| {
            let usage = question.imagined(gone);
            if !question.may_lose(&usage, *id) {
                return false;
            }
            let mut others = rest.to_vec();
            others.remove(place);
            gone.push(*id);
            let found = follow(question, gone, &others);
            gone.pop();
            found
        })
    }
    follow(question, &mut Vec::new(), set)
}

/// All proper parts of a set.
fn parts(all: &[AllocationId]) -> Vec<Vec<AllocationId>> {
    let count = 1_usize << all.len();
    let part = |bits: usize| {
        let chosen = all.iter().enumerate().filter(|(place, _)| bits & (1 << place) != 0);
        chosen.map(|(_, id)| *id).collect()
    };
    (0..count - 1).map(part).collect()
}
