//! The RM says who has to go on a node: what is stopped is what it accepts, and what the
//! specification gives from scratch, question by question.

use headroom_core::books::{NodeVerdict, Questions, Removal};
use headroom_core::id::NodeId;
use headroom_core::preempt::{VictimBasis, VictimPlan, attempt};
use headroom_core::testkit::{Finding, Question, naive_plan};
use headroom_core::{AskEvent, Command, Event, Name, Verdicts};

use super::situation::{Chance, Kind, Situation};
use super::{found, situations};

/// Answers of the RM about nodes, and how many allocations must be removed there if it accepts them.
type Replies = Vec<(NodeId, Option<usize>)>;

#[test]
fn what_is_stopped_is_what_the_rm_accepts_and_the_specification_gives() {
    for kind in [Kind::Strict, Kind::Newest, Kind::Shared] {
        let (mut plans, mut more, mut refused, mut again) = (0, 0, 0, 0);
        for (seed, mut at) in situations(kind) {
            let mut chance = Chance::of(seed ^ 0xA5C3);
            let mut replies = Replies::new();
            let mut rounds = 0;
            set_questions(&mut at);
            let finding = loop {
                let now = at.world.now;
                let ours = found(attempt(&at.world.books, at.ask, now, at.nodes_tried).outcome);
                let (_, theirs) = naive_plan(&at.world.books, at.ask, now, at.nodes_tried);
                assert_eq!(ours, theirs, "seed {seed}, {kind:?}");
                let Finding::Ask(removals) = ours else { break ours };
                rounds += 1;
                assert!(rounds <= 10, "seed {seed}: asked again and again");
                answer(&mut at, &mut chance, removals, &mut replies);
            };
            again += u32::from(rounds > 1);
            match finding {
                Finding::Stop(node, victims) => {
                    plans += 1;
                    more += u32::from(is_more(
                        &at,
                        &VictimPlan { node, victims, basis: VictimBasis::Guarantee },
                        &replies,
                        seed,
                    ));
                }
                _ => refused += u32::from(rounds > 0),
            }
        }
        println!(
            "{kind:?}: {plans} plans, {more} with more victims than make room, {refused} times nothing that the RM accepts, {again} asked twice or more"
        );
        assert!(plans > 50 && more > 5 && refused > 5, "too few situations lead to anything");
    }
}

fn set_questions(at: &mut Situation) {
    let questions = Some(Questions { victims: true, at_once: Questions::AT_ONCE });
    let partition = Name::new("default");
    at.world.command(&Command::SetQuestions { partition, questions }).unwrap();
}

/// Put a question, and answer it by chance.
fn answer(at: &mut Situation, chance: &mut Chance, removals: Vec<Removal>, replies: &mut Replies) {
    assert!(removals.len() <= 10, "{} at once", removals.len());
    let mut verdicts = Vec::new();
    for removal in &removals {
        let last = removal.victims.len();
        let count = match chance.below(4) {
            0 => None,
            1 => Some(last.min(removal.least + 1)),
            _ => Some(removal.least),
        };
        replies.push((removal.node, count));
        let verdict = count.map(NodeVerdict::SuitsWithout);
        let verdict = verdict.unwrap_or_else(|| NodeVerdict::Refused(Name::new("taint")));
        verdicts.push((at.world.books.node(removal.node).name.clone(), verdict));
    }
    let subject = headroom_core::books::QuestionSubject::Removals(removals);
    at.world.apply(&Event::Ask(AskEvent::Asked { ask: at.ask, subject }));
    let question = at.world.books.questions_put();
    let key = at.world.books.allocation(at.ask).key.clone();
    let partition = Name::new("default");
    let answer = Verdicts { partition, key, question, verdicts };
    at.world.command(&Command::Verdicts(answer)).unwrap();
}

/// Checks a plan against the answers of the RM. Returns whether more are stopped than would be necessary.
fn is_more(at: &Situation, plan: &VictimPlan, replies: &Replies, seed: u64) -> bool {
    let books = &at.world.books;
    // It may have been asked of the node before, for what another claim would stop there.
    let mine = replies.iter().rfind(|(node, _)| *node == plan.node);
    let (_, count) = mine.expect("nobody goes where the RM was not asked");
    let count = count.expect("nobody goes where the RM refuses the ask");
    let here =
        |id: &&headroom_core::id::AllocationId| books.allocation(**id).node == Some(plan.node);
    let on_node = plan.victims.iter().filter(here).count();
    let stopping = books.allocations_on(plan.node);
    let stopping =
        stopping.filter(|(_, row)| row.mark == headroom_core::books::StopRequest::Preempted);
    assert!(on_node + stopping.count() >= count, "seed {seed}: fewer go than the RM wants");
    let question = Question::of(books, at.ask, at.world.now);
    let strict = books.partitions().values().all(|one| one.settings.preemption.strict_guarantee);
    if strict {
        // By its part of what there is, or where that comes to nothing by its guarantee.
        let is_good = |question: Question<'_>| {
            question.is_lawful(&plan.victims) && question.fits_queues(&plan.victims)
        };
        let is_either = is_good(question) || is_good(question.by_guarantee());
        assert!(is_either, "seed {seed}: {plan:?} breaks the law, or is not enough");
        assert!(question.fits_node(plan.node, &plan.victims), "seed {seed}: {plan:?}");
    }
    let mut fewer = plan.victims.clone();
    fewer.truncate(plan.victims.len().saturating_sub(1));
    question.fits_node(plan.node, &fewer) && question.fits_queues(&fewer)
}
