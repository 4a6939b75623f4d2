//! Questions to the RM about nodes, and its answers.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU16;

use crate::id::{AllocationId, NodeId, PartitionId};
use crate::name::Name;
use crate::time::Timestamp;

use super::Books;

/// Kinds of questions that the RM of a partition answers. It always answers whether a node is suitable for an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Questions {
    /// Whether it answers how many victims on a node must stop for an ask. If not, the scheduler assumes that its own
    /// selection is sufficient.
    pub victims: bool,
    /// Largest number of open questions. When it is reached, the scheduler waits until half of them are answered before
    /// it checks more asks of the partition.
    pub at_once: NonZeroU16,
}

impl Questions {
    /// Default of the largest number of open questions.
    pub const AT_ONCE: NonZeroU16 = NonZeroU16::new(64).expect("64 is above zero");
}

/// Kind of a question about a node and an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionMode {
    /// Whether the ask can run there now.
    Allocate,
    /// Whether the ask could run there regardless of free capacity.
    Reserve,
}

/// Possible victims on a node for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Removal {
    /// Node of the victims.
    pub node: NodeId,
    /// Allocations on the node, in the order in which they would stop. Those that are already being stopped are first.
    pub victims: Vec<AllocationId>,
    /// Smallest sufficient number of these victims, from the first on.
    pub least: usize,
}

/// Subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum QuestionSubject {
    /// Whether nodes are suitable for the ask, in the order of preference.
    Nodes(QuestionMode, Vec<NodeId>),
    /// Number of victims on these nodes that must stop for the ask.
    Removals(Vec<Removal>),
}

/// An open question to the RM.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Question {
    /// Sequence number across partitions, from 1.
    pub number: u64,
    /// Time of the question.
    pub since: Timestamp,
    /// Subject of the question.
    pub subject: QuestionSubject,
    /// Version of each node of the subject at the time of the question.
    versions: Vec<u64>,
}

impl Question {
    /// Largest number of nodes in one question.
    pub const NODES_MAX: usize = 64;

    /// Number of nodes in the first question about an ask, for each question that the RM accepts at once.
    ///
    /// An RM usually accepts the first node in order, so the verdicts on further nodes are wasted. With several open
    /// questions, their asks see the same order, and each ask must find a node that the others left.
    pub const NODES_FIRST: usize = 8;

    /// Largest number of nodes in one question about victims. Source: scheduling §11.4.
    pub const REMOVALS_MAX: usize = 10;

    /// Returns the nodes of the question, in the order of preference.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let (nodes, removals): (&[NodeId], &[Removal]) = match &self.subject {
            QuestionSubject::Nodes(_, nodes) => (nodes, &[]),
            QuestionSubject::Removals(removals) => (&[], removals),
        };
        nodes.iter().copied().chain(removals.iter().map(|one| one.node))
    }

    /// Returns the possible victims on a node, of a question about victims.
    pub fn removal_on(&self, node: NodeId) -> Option<&Removal> {
        match &self.subject {
            QuestionSubject::Nodes(..) => None,
            QuestionSubject::Removals(removals) => removals.iter().find(|one| one.node == node),
        }
    }
}

/// Verdict of the RM on one node. Valid while the node has this version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Verdict {
    version: u64,
    /// Reason of the rejection. `None` if the node is suitable.
    pub refusal: Option<Name>,
}

/// Verdict of the RM on a node for an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum NodeVerdict {
    /// The ask can run there, for a removal after the smallest number of victims stopped.
    Suits,
    /// The ask can run there after this number of victims stopped, from the first on.
    SuitsWithout(usize),
    /// The ask cannot run there for this reason, for a removal even after all victims stopped.
    Refused(Name),
}

/// Verdict of the RM on a removal. Valid for an equal removal while the node has this version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct RemovalVerdict {
    version: u64,
    removal: Removal,
    verdict: NodeVerdict,
}

/// Questions and answers about one ask.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Inquiry {
    question: Option<Question>,
    /// Verdicts on nodes. Those for older versions of nodes are ignored, and removed with the next question or answer.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::rising"))]
    verdicts: BTreeMap<(QuestionMode, NodeId), Verdict>,
    /// Verdicts on removals, with the same validity.
    #[cfg_attr(feature = "snapshot", serde(with = "crate::stored::rising"))]
    removals: BTreeMap<NodeId, RemovalVerdict>,
}

#[cfg(feature = "snapshot")]
impl Inquiry {
    /// Returns whether a question is open.
    pub(super) const fn is_open(&self) -> bool {
        self.question.is_some()
    }

    /// Returns whether the record is not empty, and each removal has at least as many victims as must stop.
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

    /// Stores a verdict on a node of a question.
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

/// Open questions to the RM of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct OpenQuestions {
    /// Number of open questions.
    pub count: u32,
    /// Whether the largest number was reached, and more than half of the questions are still open. No question is sent
    /// until then.
    pub full: bool,
}

impl OpenQuestions {
    /// Counts a new question. `most` is the largest number of open questions.
    fn open(&mut self, most: NonZeroU16) {
        self.count += 1;
        self.full |= self.count >= u32::from(most.get());
    }

    /// Removes an answered or dropped question from the count.
    fn close(&mut self, most: NonZeroU16) {
        self.count -= 1;
        self.full &= self.count > u32::from(most.get()) / 2;
    }
}

impl Books {
    /// Returns whether the RM of any partition answers questions.
    #[inline]
    pub const fn has_questions(&self) -> bool {
        self.asking
    }

    /// Returns the number of questions so far, which is the number of the last question.
    pub const fn questions_put(&self) -> u64 {
        self.questions
    }

    /// Returns whether the RM of this partition answers questions about nodes.
    #[inline]
    pub fn asks_about_nodes(&self, partition: PartitionId) -> bool {
        self.asking && self.partition(partition).questions.is_some()
    }

    /// Returns whether the RM of this partition answers questions about victims.
    pub fn asks_about_victims(&self, partition: PartitionId) -> bool {
        self.partition(partition).questions.is_some_and(|one| one.victims)
    }

    /// Returns whether the RM of this partition has so many open questions that no more are sent.
    #[inline]
    pub fn has_asked_enough(&self, partition: PartitionId) -> bool {
        self.asking && self.partition(partition).open_questions.full
    }

    /// Returns whether no ask is checked in a partition: its RM has too many open questions or is disconnected, or
    /// nodes have not reported.
    pub fn is_paused(&self, partition: PartitionId) -> bool {
        self.has_asked_enough(partition) || self.is_held(partition)
    }

    /// Returns the open question about an ask.
    pub fn question_of(&self, ask: AllocationId) -> Option<&Question> {
        self.allocations[ask].inquiry()?.question.as_ref()
    }

    /// Returns the verdict of the RM on a node for an ask, while it is valid.
    pub fn verdict_on(
        &self,
        ask: AllocationId,
        node: NodeId,
        mode: QuestionMode,
    ) -> Option<&Verdict> {
        let verdict = self.allocations[ask].inquiry()?.verdicts.get(&(mode, node))?;
        (self.nodes.get(node)?.version == verdict.version).then_some(verdict)
    }

    /// Returns the nodes with a valid verdict of the RM for an ask, with that verdict.
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

    /// Returns the largest number of nodes in the next question about nodes with enough free capacity for an ask.
    pub fn nodes_to_ask_about(&self, ask: AllocationId) -> usize {
        if self.verdicts_of(ask, QuestionMode::Allocate).next().is_some() {
            return Question::NODES_MAX;
        }
        let partition = self.partition(self.partition_of(ask));
        let at_once = partition.questions.map_or(Questions::AT_ONCE, |one| one.at_once);
        (Question::NODES_FIRST * usize::from(at_once.get())).min(Question::NODES_MAX)
    }

    /// Returns the verdict of the RM on a removal for an ask, while it is valid. It never allows fewer victims than the
    /// smallest number.
    pub fn removal_verdict(&self, ask: AllocationId, removal: &Removal) -> Option<&NodeVerdict> {
        let verdict = self.allocations[ask].inquiry()?.removals.get(&removal.node)?;
        let holds = self.has_version(removal.node, verdict.version) && verdict.removal == *removal;
        holds.then_some(&verdict.verdict)
    }

    /// Returns the number of stored verdicts for an ask, including invalid ones.
    pub fn verdicts_remembered(&self, ask: AllocationId) -> usize {
        let inquiry = self.allocations[ask].inquiry();
        inquiry.map_or(0, |one| one.verdicts.len() + one.removals.len())
    }

    /// Returns whether the RM was asked about an ask: a question is open, or an answer is stored. The node of a stored
    /// answer can have changed since.
    pub(crate) fn inquires(&self, ask: AllocationId) -> bool {
        self.allocations[ask].inquiry().is_some()
    }

    /// Returns whether a verdict on a removal is stored for an ask. It might be invalid.
    #[cfg(feature = "testkit")]
    pub(crate) fn inquires_about_removals(&self, ask: AllocationId) -> bool {
        self.allocations[ask].inquiry().is_some_and(|one| !one.removals.is_empty())
    }

    /// Returns whether a verdict on a node is stored for an ask. It might be invalid.
    #[cfg(feature = "testkit")]
    pub(crate) fn was_judged(&self, ask: AllocationId, node: NodeId, mode: QuestionMode) -> bool {
        let inquiry = self.allocations[ask].inquiry();
        inquiry.is_some_and(|one| one.verdicts.contains_key(&(mode, node)))
    }

    fn has_version(&self, node: NodeId, version: u64) -> bool {
        self.nodes.get(node).is_some_and(|node| node.version == version)
    }

    /// Records a question.
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

    /// Records the answer to a question, for each of its nodes.
    pub(super) fn answer(&mut self, ask: AllocationId, verdicts: &[(NodeId, NodeVerdict)]) {
        let Some(mut inquiry) = self.take_inquiry(ask) else { return };
        if let Some(question) = inquiry.question.take() {
            // Equal reasons share one text.
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

    /// Removes verdicts on removals after allocations were preempted for an ask, because it preempts only once.
    pub(super) fn forget_removals(&mut self, ask: AllocationId) {
        if self.allocations[ask].inquiry().is_none_or(|one| one.removals.is_empty()) {
            return;
        }
        let Some(mut inquiry) = self.take_inquiry(ask) else { return };
        inquiry.removals.clear();
        self.put_back(ask, inquiry);
    }

    /// Removes all questions and answers about an ask that changed or no longer waits.
    pub(super) fn forget_inquiry(&mut self, ask: AllocationId) {
        self.take_inquiry(ask);
    }

    /// Sets the questions that the RM of a partition answers. Removes earlier questions and answers.
    pub(super) fn set_questions(&mut self, partition: PartitionId, questions: Option<Questions>) {
        let asks: Vec<AllocationId> =
            self.partition(partition).allocations.iter().map(|(_, id)| *id).collect();
        for ask in asks {
            self.forget_inquiry(ask);
        }
        self.partition_mut(partition).questions = questions;
        self.note_questions();
    }

    /// Removes and returns the questions and answers about an ask. Its question no longer counts as open.
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

    /// Stores the questions and answers about an ask, unless they are empty. The caller counts an open question in it.
    fn put_back(&mut self, ask: AllocationId, inquiry: Box<Inquiry>) {
        if !inquiry.is_empty() {
            self.allocations[ask].special_mut().inquiry = Some(inquiry);
        }
    }

    fn partition_of(&self, ask: AllocationId) -> PartitionId {
        self.application(self.allocation(ask).application).partition
    }

    /// Removes verdicts on nodes that changed or were removed.
    fn drop_old(&self, inquiry: &mut Inquiry) {
        inquiry.verdicts.retain(|(_, node), one| self.has_version(*node, one.version));
        inquiry.removals.retain(|node, one| self.has_version(*node, one.version));
    }
}
