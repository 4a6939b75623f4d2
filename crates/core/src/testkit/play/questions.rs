//! Questions to the RM in random histories, and its answers.

use alloc::vec::Vec;

use crate::books::{Books, NodeVerdict, QuestionMode, QuestionSubject};
use crate::command::{Command, Verdicts};
use crate::event::{AllocationEvent, AskEvent, Event};
use crate::id::{AllocationId, NodeId};
use crate::name::Name;

use super::Player;

/// Maximum number of immediate answer rounds of the RM before the next action.
const ROUNDS: usize = 12;

impl Player<'_> {
    /// Answers open questions for the RM. Most of the time this happens before the next action.
    pub(super) fn answer_by_itself(&mut self) {
        let chance = self.world.journal.len();
        match chance % 5 {
            0 => return,
            1 => return self.answer(u8::try_from(chance / 5 % 8).unwrap_or_default()),
            _ => {}
        }
        for _ in 0..ROUNDS {
            let commands = answers(&self.world.books, 0);
            if commands.is_empty() {
                return;
            }
            for command in &commands {
                self.obey(command);
            }
            self.settle();
        }
    }

    /// Answers for the RM in one of several ways: correctly, partially, twice, late, or with unrequested victims.
    pub(super) fn answer(&mut self, number: u8) {
        for command in core::mem::take(&mut self.late) {
            self.count("answered late");
            self.obey(&command);
        }
        for command in answers(&self.world.books, number) {
            if number % 8 == 3 {
                self.late.push(command);
                continue;
            }
            if number % 8 == 2
                && let Some(wrong) = with_too_many(&command)
            {
                self.obey(&wrong);
            }
            self.obey(&command);
            if number % 8 == 4 {
                self.obey(&command);
                self.count("answered twice");
            }
        }
    }

    /// Checks that the RM has accepted a node that the scheduler chose for an ask. Only applies if the RM answers
    /// questions.
    pub(super) fn check_accepted(&self, ask: AllocationId, node: NodeId) {
        let books = &self.world.books;
        if books.members_of(books.allocation(ask).application) > 1 {
            return; // It is asked about no task that starts as a whole.
        }
        if books.partition(books.node(node).partition).questions.is_some() {
            let verdict = books.verdict_on(ask, node, QuestionMode::Allocate);
            let accepted = verdict.is_some_and(|one| one.refusal.is_none());
            assert!(accepted, "{ask} goes to {node}, which the RM has not accepted");
        }
    }

    /// Checks the same for the node of a member that replaces a placeholder. A free part of the node of the placeholder
    /// is not considered.
    pub(super) fn check_place(&self, event: &Event) {
        let books = &self.world.books;
        let Event::Allocation(AllocationEvent::SwapStarted { ask, placeholder, node }) = event
        else {
            return;
        };
        if books.partition(books.node(*node).partition).questions.is_some() {
            let same = books.allocation(*placeholder).node == Some(*node);
            let mode = if same { QuestionMode::Reserve } else { QuestionMode::Allocate };
            let verdict = books.verdict_on(*ask, *node, mode);
            let accepted = verdict.is_some_and(|one| one.refusal.is_none());
            assert!(accepted, "{ask} takes a place on {node}, which the RM has not accepted");
        }
    }

    /// Counts the cases of questions, before they are applied.
    pub(super) fn count_question(&mut self, event: &Event) {
        let books = &self.world.books;
        let what = match event {
            Event::Ask(AskEvent::Placed { ask, node })
                if books.verdict_on(*ask, *node, QuestionMode::Allocate).is_some() =>
            {
                "placed after an answer"
            }
            Event::Ask(AskEvent::Reserved { ask, node })
                if books.verdict_on(*ask, *node, QuestionMode::Reserve).is_some() =>
            {
                "reserved after an answer"
            }
            Event::Allocation(AllocationEvent::SwapStarted { ask, placeholder, node })
                if books.inquires(*ask) =>
            {
                let same = books.allocation(*placeholder).node == Some(*node);
                if same { "swap after an answer" } else { "swap elsewhere after an answer" }
            }
            Event::Ask(AskEvent::Unreserved { ask }) if given_up(books, *ask) => {
                "given up, refused by the RM"
            }
            Event::Ask(AskEvent::Answered { verdicts, .. })
                if verdicts.iter().all(|(_, one)| refuses(one)) =>
            {
                "refused by the RM"
            }
            Event::Ask(AskEvent::Answered { ask, verdicts })
                if wants_more(books, *ask, verdicts) =>
            {
                "more victims wanted by the RM"
            }
            Event::Ask(AskEvent::PreemptionTriggered { ask })
                if books.inquires_about_removals(*ask) =>
            {
                "preempted after an answer"
            }
            Event::Ask(AskEvent::PreemptionTried { ask })
                if books.inquires_about_removals(*ask) =>
            {
                "preempted nobody, refused by the RM"
            }
            Event::Ask(AskEvent::Asked { subject: QuestionSubject::Removals(_), .. }) => {
                "asked about victims"
            }
            Event::Ask(AskEvent::Asked { ask, subject: QuestionSubject::Nodes(mode, nodes) })
                if nodes.iter().any(|node| books.was_judged(*ask, *node, *mode)) =>
            {
                "asked again because a node changed"
            }
            _ => return,
        };
        self.count(what);
    }
}

/// Whether the RM refuses the reserved node of an ask.
fn given_up(books: &Books, ask: AllocationId) -> bool {
    let reservation = books.allocation(ask).reservation();
    let verdict = reservation
        .and_then(|reservation| books.verdict_on(ask, reservation.node, QuestionMode::Allocate));
    verdict.is_some_and(|one| one.refusal.is_some())
}

/// Returns the answers to all open questions.
fn answers(books: &Books, number: u8) -> Vec<Command> {
    let open = books.allocations().iter().filter(|(_, row)| row.is_pending());
    let open = open.filter_map(|(id, row)| Some((id, row, books.question_of(id)?)));
    let answer = |(id, row, question): (
        AllocationId,
        &crate::books::Allocation,
        &crate::books::Question,
    )| {
        let there = question.nodes().filter(|node| books.nodes().get(*node).is_some());
        let answered = there.enumerate().filter(|(place, _)| number % 8 != 5 || place % 2 == 0);
        let with_verdict =
            |node: NodeId| (books.node(node).name.clone(), verdict(books, (id, node), question));
        let mut verdicts: Vec<(Name, NodeVerdict)> =
            answered.map(|(_, node)| with_verdict(node)).collect();
        if number % 8 == 6 {
            verdicts.push((Name::new("n-nowhere"), NodeVerdict::Suits));
            verdicts.extend(books.nodes().iter().map(|(node, _)| with_verdict(node)));
        }
        let application = books.application(row.application);
        Command::Verdicts(Verdicts {
            partition: books.partition(application.partition).name.clone(),
            key: row.key.clone(),
            question: question.number + u64::from(number % 8 == 7) * 1_000_000,
            verdicts,
        })
    };
    open.map(answer).collect()
}

/// Returns the answer with more victims than the question has. `None` for answers without victims.
fn with_too_many(answer: &Command) -> Option<Command> {
    let Command::Verdicts(answer) = answer else { return None };
    let mut wrong = answer.clone();
    for (_, verdict) in &mut wrong.verdicts {
        *verdict = NodeVerdict::SuitsWithout(1_000);
    }
    Some(Command::Verdicts(wrong))
}

/// Returns the verdict of the RM about a node.
fn verdict(
    books: &Books,
    (ask, node): (AllocationId, NodeId),
    question: &crate::books::Question,
) -> NodeVerdict {
    let removal = match &question.subject {
        QuestionSubject::Nodes(mode, _) => {
            let refusal = refusal(books, (ask, node), *mode);
            return refusal.map_or(NodeVerdict::Suits, NodeVerdict::Refused);
        }
        QuestionSubject::Removals(_) => question.removal_on(node),
    };
    let Some(removal) = removal else { return NodeVerdict::Suits };
    match (books.node(node).version + question.number) % 6 {
        0 => NodeVerdict::Refused(Name::new("taint")),
        1 => NodeVerdict::Suits,
        more => {
            let more = usize::try_from(more - 2).unwrap_or_default();
            NodeVerdict::SuitsWithout((removal.least + more).min(removal.victims.len()))
        }
    }
}

fn refuses(verdict: &NodeVerdict) -> bool {
    matches!(verdict, NodeVerdict::Refused(_))
}

/// Whether the RM requires more victims on a node than necessary for the free capacity.
fn wants_more(books: &Books, ask: AllocationId, verdicts: &[(NodeId, NodeVerdict)]) -> bool {
    let least = |node| Some(books.question_of(ask)?.removal_on(node)?.least);
    verdicts.iter().any(|(node, verdict)| match verdict {
        NodeVerdict::SuitsWithout(count) => least(*node).is_some_and(|least| *count > least),
        NodeVerdict::Suits | NodeVerdict::Refused(_) => false,
    })
}

/// Returns the reason for which the RM refuses a node. It changes with the version of the node.
fn refusal(books: &Books, (ask, node): (AllocationId, NodeId), mode: QuestionMode) -> Option<Name> {
    let digits = |name: &Name| name.bytes().map(u64::from).sum::<u64>();
    let (row, on) = (books.allocation(ask), books.node(node));
    match (digits(&row.key) + digits(&on.name) + on.version) % 4 {
        0 if mode == QuestionMode::Reserve && row.created.as_millis() % 3 > 0 => None,
        0 => Some(Name::new("taint")),
        1 if row.priority > 0 => Some(Name::new("affinity")),
        _ => None,
    }
}
