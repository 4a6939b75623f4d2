//! Questions to the RM about nodes, and what it answered.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU16;

use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::time::Timestamp;

use super::Books;

/// What the RM of a partition answers: whether a node suits an ask, and maybe more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Questions {
    /// Whether an ask could run on a node once others are stopped there; if not, that is taken
    /// for granted.
    pub victims: bool,
    /// How many questions are open at once. The scheduler waits until half of them are answered
    /// before it looks further for asks of the partition.
    pub at_once: NonZeroU16,
}

impl Questions {
    /// How many questions are open at once if nobody says otherwise.
    pub const AT_ONCE: NonZeroU16 = NonZeroU16::new(64).expect("64 is above zero");
}

/// What the RM is asked about a node and an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionMode {
    /// Whether the ask may run there now.
    Allocate,
    /// Whether it might run there once there is room, which is not looked at.
    Reserve,
}

/// What might be stopped on a node for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Removal {
    /// The node.
    pub node: NodeId,
    /// What is there now, in the order in which it would go. What is being stopped anyway comes
    /// first.
    pub victims: Vec<AllocationId>,
    /// How many of these, from the first on, go at least: with fewer gone the node has no room.
    pub least: usize,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum QuestionSubject {
    /// Whether nodes suit the ask, in the order in which they are wanted.
    Nodes(QuestionMode, Vec<NodeId>),
    /// How many must go on nodes for the ask to run there.
    Removals(Vec<Removal>),
}

/// A question that the RM has not answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Question {
    /// Counts questions, across partitions, from 1.
    pub number: u64,
    /// Since when the answer is awaited.
    pub since: Timestamp,
    /// What is asked.
    pub subject: QuestionSubject,
    /// The version that each node of the subject had when the question was put.
    versions: Vec<u64>,
}

impl Question {
    /// About how many nodes one question is at most.
    pub const NODES_MAX: usize = 64;

    /// About how many nodes one question about victims is at most. Source: scheduling §11.4.
    pub const REMOVALS_MAX: usize = 10;

    /// The nodes that it is about, in the order in which they are wanted.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let (nodes, removals): (&[NodeId], &[Removal]) = match &self.subject {
            QuestionSubject::Nodes(_, nodes) => (nodes, &[]),
            QuestionSubject::Removals(removals) => (&[], removals),
        };
        nodes.iter().copied().chain(removals.iter().map(|one| one.node))
    }

    /// What would go on a node, of a question about victims.
    pub fn removal_on(&self, node: NodeId) -> Option<&Removal> {
        match &self.subject {
            QuestionSubject::Nodes(..) => None,
            QuestionSubject::Removals(removals) => removals.iter().find(|one| one.node == node),
        }
    }
}

/// The RM's verdict on one node. It holds as long as the node has this version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Verdict {
    version: u64,
    /// Why the node does not suit the ask; none if it does.
    pub refusal: Option<Name>,
}

/// What the RM says of a node and an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum NodeVerdict {
    /// The ask may run there; of a removal, once the least that must go has gone.
    Suits,
    /// The ask may run there once as many have gone, from the first of a removal on.
    SuitsWithout(usize),
    /// It may not, for this reason; of a removal, though all go.
    Refused(Name),
}

/// The RM's verdict on a removal. It holds for the same removal while the node has this version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct RemovalVerdict {
    version: u64,
    removal: Removal,
    verdict: NodeVerdict,
}

/// What was asked and answered about one ask.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Inquiry {
    question: Option<Question>,
    /// Some may be of versions that nodes have no more: these count for nothing, and go with the
    /// next question or answer.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::rising"))]
    verdicts: BTreeMap<(QuestionMode, NodeId), Verdict>,
    /// The same for removals.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::rising"))]
    removals: BTreeMap<NodeId, RemovalVerdict>,
}

#[cfg(feature = "snapshot")]
impl Inquiry {
    /// Whether a question is not answered yet.
    pub(super) const fn is_open(&self) -> bool {
        self.question.is_some()
    }

    /// Whether there is something, and each removal has as many victims as must go.
    pub(super) fn is_sound(&self) -> bool {
        let asked = self.question.iter().flat_map(|question| match &question.subject {
            QuestionSubject::Nodes(..) => &[][..],
            QuestionSubject::Removals(removals) => removals,
        });
        let answered = self.removals.values().map(|one| &one.removal);
        let versions = self.question.iter().all(|one| one.nodes().count() == one.versions.len());
        !self.is_empty()
            && versions
            && asked.chain(answered).all(|one| one.least <= one.victims.len())
    }
}

impl Inquiry {
    fn is_empty(&self) -> bool {
        self.question.is_none() && self.verdicts.is_empty() && self.removals.is_empty()
    }

    /// Store a verdict on a node of a question.
    fn note(&mut self, question: &Question, (node, version): (NodeId, u64), verdict: NodeVerdict) {
        match &question.subject {
            QuestionSubject::Nodes(mode, _) => {
                let refusal = match verdict {
                    NodeVerdict::Refused(reason) => Some(reason),
                    NodeVerdict::Suits | NodeVerdict::SuitsWithout(_) => None,
                };
                self.verdicts.insert((*mode, node), Verdict { version, refusal });
            }
            QuestionSubject::Removals(_) => {
                if let Some(removal) = question.removal_on(node).cloned() {
                    self.removals.insert(node, RemovalVerdict { version, removal, verdict });
                }
            }
        }
    }
}

/// The questions that the RM of a partition has not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct OpenQuestions {
    /// How many there are.
    pub count: u32,
    /// Whether they are as many as may be, and half of them are not answered yet: none is put
    /// before.
    pub full: bool,
}

impl OpenQuestions {
    /// One more is put, of at most so many.
    fn open(&mut self, most: NonZeroU16) {
        self.count += 1;
        self.full |= self.count >= u32::from(most.get());
    }

    /// One is answered or forgotten.
    fn close(&mut self, most: NonZeroU16) {
        self.count -= 1;
        self.full &= self.count > u32::from(most.get()) / 2;
    }
}

impl Books {
    /// Whether the RM of any partition answers questions.
    #[inline]
    pub const fn has_questions(&self) -> bool {
        self.asking
    }

    /// How many questions were put so far; the last has this number.
    pub const fn questions_put(&self) -> u64 {
        self.questions
    }

    /// Whether the RM of this partition answers questions about nodes.
    #[inline]
    pub fn asks_about_nodes(&self, partition: PartitionId) -> bool {
        self.asking && self.partition(partition).questions.is_some()
    }

    /// Whether the RM of this partition answers questions about victims.
    pub fn asks_about_victims(&self, partition: PartitionId) -> bool {
        self.partition(partition).questions.is_some_and(|one| one.victims)
    }

    /// Whether the RM of this partition has so many questions to answer that it is asked nothing
    /// more for now.
    #[inline]
    pub fn has_asked_enough(&self, partition: PartitionId) -> bool {
        self.asking && self.partition(partition).open_questions.full
    }

    /// Whether nothing new is looked at in a partition: its RM has enough to answer or is away, or nodes have yet to
    /// report.
    pub fn is_paused(&self, partition: PartitionId) -> bool {
        self.has_asked_enough(partition) || self.is_held(partition)
    }

    /// The question about an ask that is not answered yet.
    pub fn question_of(&self, ask: AllocationId) -> Option<&Question> {
        self.allocations[ask].inquiry()?.question.as_ref()
    }

    /// The RM's verdict on a node for an ask, while it holds.
    pub fn verdict_on(
        &self,
        ask: AllocationId,
        node: NodeId,
        mode: QuestionMode,
    ) -> Option<&Verdict> {
        let verdict = self.allocations[ask].inquiry()?.verdicts.get(&(mode, node))?;
        (self.nodes.get(node)?.version == verdict.version).then_some(verdict)
    }

    /// The nodes for which the RM gave a verdict on an ask that still holds, with that verdict.
    pub fn verdicts_of(
        &self,
        ask: AllocationId,
        mode: QuestionMode,
    ) -> impl Iterator<Item = (NodeId, &Verdict)> {
        let verdicts = self.allocations[ask].inquiry().into_iter().flat_map(|one| &one.verdicts);
        let mine = verdicts.filter(move |((of, _), _)| *of == mode);
        mine.map(|((_, node), verdict)| (*node, verdict))
            .filter(|(node, one)| self.has_version(*node, one.version))
    }

    /// The RM's verdict on a removal for an ask, while it holds. It never allows fewer to go than
    /// the least.
    pub fn removal_verdict(&self, ask: AllocationId, removal: &Removal) -> Option<&NodeVerdict> {
        let verdict = self.allocations[ask].inquiry()?.removals.get(&removal.node)?;
        let holds = self.has_version(removal.node, verdict.version) && verdict.removal == *removal;
        holds.then_some(&verdict.verdict)
    }

    /// How many verdicts are remembered for an ask, those included that hold no more.
    pub fn verdicts_remembered(&self, ask: AllocationId) -> usize {
        let inquiry = self.allocations[ask].inquiry();
        inquiry.map_or(0, |one| one.verdicts.len() + one.removals.len())
    }

    /// Whether anything was asked about an ask.
    #[cfg(feature = "testkit")]
    pub(crate) fn inquires(&self, ask: AllocationId) -> bool {
        self.allocations[ask].inquiry().is_some()
    }

    /// Whether a verdict of the RM on a removal is stored for an ask; it may no longer hold.
    #[cfg(feature = "testkit")]
    pub(crate) fn inquires_about_removals(&self, ask: AllocationId) -> bool {
        self.allocations[ask].inquiry().is_some_and(|one| !one.removals.is_empty())
    }

    /// Whether a verdict of the RM on a node is stored for an ask; it may no longer hold.
    #[cfg(feature = "testkit")]
    pub(crate) fn was_judged(&self, ask: AllocationId, node: NodeId, mode: QuestionMode) -> bool {
        let inquiry = self.allocations[ask].inquiry();
        inquiry.is_some_and(|one| one.verdicts.contains_key(&(mode, node)))
    }

    fn has_version(&self, node: NodeId, version: u64) -> bool {
        self.nodes.get(node).is_some_and(|node| node.version == version)
    }

    /// A question is put.
    pub(super) fn ask_rm(&mut self, now: Timestamp, ask: AllocationId, subject: &QuestionSubject) {
        self.questions += 1;
        let (number, subject) = (self.questions, subject.clone());
        let mut question = Question { number, since: now, subject, versions: Vec::new() };
        question.versions = question.nodes().map(|id| self.nodes[id].version).collect();
        let mut inquiry = self.take_inquiry(ask).unwrap_or_default();
        self.drop_old(&mut inquiry);
        inquiry.question = Some(question);
        self.put_back(ask, inquiry);
        let partition = self.partition_of(ask);
        let row = self.partition_mut(partition);
        row.open_questions.open(row.questions.map_or(Questions::AT_ONCE, |one| one.at_once));
    }

    /// A question is answered, for each of its nodes.
    pub(super) fn answer(&mut self, ask: AllocationId, verdicts: &[(NodeId, NodeVerdict)]) {
        let Some(mut inquiry) = self.take_inquiry(ask) else { return };
        if let Some(question) = inquiry.question.take() {
            // Equal reasons are one text.
            let mut reasons = BTreeSet::new();
            for (node, verdict) in verdicts {
                let mut asked = question.nodes().zip(&question.versions);
                let Some((_, version)) = asked.find(|(one, _)| one == node) else { continue };
                let verdict = match verdict {
                    NodeVerdict::Refused(reason) => {
                        reasons.insert(reason.clone());
                        NodeVerdict::Refused(reasons.get(reason).cloned().unwrap_or_default())
                    }
                    other @ (NodeVerdict::Suits | NodeVerdict::SuitsWithout(_)) => other.clone(),
                };
                inquiry.note(&question, (*node, *version), verdict);
            }
        }
        self.drop_old(&mut inquiry);
        self.put_back(ask, inquiry);
    }

    /// Others have been stopped for an ask: nobody asks again what would have to be.
    pub(super) fn forget_removals(&mut self, ask: AllocationId) {
        if self.allocations[ask].inquiry().is_none_or(|one| one.removals.is_empty()) {
            return;
        }
        let Some(mut inquiry) = self.take_inquiry(ask) else { return };
        inquiry.removals.clear();
        self.put_back(ask, inquiry);
    }

    /// Forget what was asked and answered about an ask: it is another by now, or waits no more.
    pub(super) fn forget_inquiry(&mut self, ask: AllocationId) {
        self.take_inquiry(ask);
    }

    /// The RM of a partition answers other questions from now on. Earlier questions and answers are
    /// forgotten.
    pub(super) fn set_questions(&mut self, partition: PartitionId, questions: Option<Questions>) {
        let asks: Vec<AllocationId> =
            self.partition(partition).allocations.iter().map(|(_, id)| *id).collect();
        for ask in asks {
            self.forget_inquiry(ask);
        }
        self.partition_mut(partition).questions = questions;
        self.note_questions();
    }

    /// Take out what was asked and answered about an ask: its question is open no more.
    fn take_inquiry(&mut self, ask: AllocationId) -> Option<Box<Inquiry>> {
        let row = &mut self.allocations[ask];
        let inquiry = row.special.as_mut()?.inquiry.take()?;
        row.settle();
        if inquiry.question.is_some() {
            let partition = self.partition_of(ask);
            let row = self.partition_mut(partition);
            row.open_questions.close(row.questions.map_or(Questions::AT_ONCE, |one| one.at_once));
        }
        Some(inquiry)
    }

    /// Store what was asked and answered about an ask, if there is anything. The caller counts a
    /// question that it holds.
    fn put_back(&mut self, ask: AllocationId, inquiry: Box<Inquiry>) {
        if !inquiry.is_empty() {
            self.allocations[ask].special_mut().inquiry = Some(inquiry);
        }
    }

    fn partition_of(&self, ask: AllocationId) -> PartitionId {
        self.application(self.allocation(ask).application).partition
    }

    /// Drop what nodes make void that are gone or have changed.
    fn drop_old(&self, inquiry: &mut Inquiry) {
        inquiry.verdicts.retain(|(_, node), one| self.has_version(*node, one.version));
        inquiry.removals.retain(|node, one| self.has_version(*node, one.version));
    }
}
