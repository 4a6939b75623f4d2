//! The queue file as written: every field with its place, not checked yet.
//!
//! Each block is a table: see [`schema`](crate::schema).

mod fields;
mod partition;
mod queue;
mod sharing;
mod tenants;

pub(crate) use fields::Fields;
pub(crate) use partition::{File, Filter, Partition, Rule};
pub(crate) use queue::{Capacity, LabelPart, Limit, NodeLabels, Queue, Resources, Template};
pub(crate) use sharing::{ApplicationLimits, UserLimits};
pub(crate) use tenants::{Defaults, Tenants, Waiting};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::schema::Rows as _;
use crate::wrapped;
use crate::yaml::Node;

/// A value with its place in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T: PartialEq> PartialEq for At<T> {
    /// Compares the values. The place does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A text. Empty if the key is absent.
pub(crate) type Text = At<String>;

/// A mapping of texts, in file order. An `Option` distinguishes empty from absent.
pub(crate) type Pairs = At<Vec<(Text, Text)>>;

/// Reads a file. Adds faults to `report`, and returns what is readable.
pub(crate) fn read(document: &Node, report: &mut Report) -> File {
    if let Some(fault) = wrapper(document) {
        report.push(fault);
        return File::default();
    }
    File::read(Fields::of(document, File::BLOCK, report))
}

/// Returns the fault of a file that contains a queue file as text.
fn wrapper(document: &Node) -> Option<Diagnostic> {
    let (what, span) = wrapped::of_node(document)?;
    let message = format!("this is {what} that contains a queue file as text");
    let fault = Diagnostic::error(Code::ConfigMap, span, message);
    Some(fault.help(
        "extract the queue file with `headroom convert configmap FILE > queues.yaml`, or check \
         this file directly with `headroom validate FILE`",
    ))
}
