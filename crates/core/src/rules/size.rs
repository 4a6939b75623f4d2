//! Sizes of commands, checked before everything else.
//!
//! [`judge`] limits what a command can add to the journal and to memory. It reads only lengths in one pass over the
//! command. A hostile command is therefore rejected before its asks are created.

use crate::books::NodeVerdict;
use crate::command::{
    AddNode, Ask, Command, RejectApplication, SetForeign, SetTenant, Submit, SubmitTask, Verdicts,
};
use crate::config::TenantSettings;
use crate::name::Name;
use crate::rejection::Rejection;
use crate::resource::Amounts;

/// Largest size of one command, as [`Command::size`] counts it: 1 MiB.
pub const COMMAND_BYTES_MAX: usize = 1 << 20;

/// Overhead of a name or an amount in bytes, in the journal or in memory.
const ENTRY_BYTES: usize = 16;

/// Rejects a command whose record would be too large.
pub(super) fn judge(command: &Command) -> Result<(), Rejection> {
    let (bytes, limit) = (command.size(), COMMAND_BYTES_MAX);
    if bytes > limit { Err(Rejection::CommandTooLarge { bytes, limit }) } else { Ok(()) }
}

impl Command {
    /// Returns the approximate size in bytes of the command and its events in the journal, without creating the events.
    /// A task counts the asks of all its members. A queue file counts as 0, because its reader limits its size.
    pub fn size(&self) -> usize {
        let size = match self {
            Self::SubmitTask(task) => return task.size(),
            Self::Submit(submit) => of_submit(submit),
            Self::Ask(ask) => of_ask(ask),
            Self::AddNode(AddNode { partition, node, capacity, attributes, schedulable: _ }) => {
                let attributes = attributes.iter();
                let attributes =
                    attributes.map(|(key, value)| name(key).saturating_add(name(value)));
                names([partition, node])
                    .saturating_add(amounts(capacity))
                    .saturating_add(attributes.fold(0, usize::saturating_add))
            }
            Self::SetForeign(SetForeign { partition, key, node, resources, preemptable: _ }) => {
                names([partition, key, node]).saturating_add(amounts(resources))
            }
            Self::SetTenant(set) => of_tenant(set),
            Self::SetTenantDefaults { partition, defaults, expects: _ } => {
                name(partition).saturating_add(amounts(&defaults.quota))
            }
            Self::Verdicts(Verdicts { partition, key, verdicts, question: _ }) => {
                let verdicts = verdicts.iter().map(|(node, verdict)| match verdict {
                    NodeVerdict::Refused(reason) => name(node).saturating_add(name(reason)),
                    NodeVerdict::Suits | NodeVerdict::SuitsWithout(_) => name(node),
                });
                names([partition, key]).saturating_add(verdicts.fold(0, usize::saturating_add))
            }
            Self::RejectApplication(rejected) => {
                let RejectApplication { application, queue, message, user, groups, .. } =
                    &**rejected;
                names([application, queue, message, user]).saturating_add(names(groups))
            }
            Self::ResizeNode { capacity, .. } => amounts(capacity),
            Self::ReportDrift { drift, .. } => drift.len().saturating_mul(8 * ENTRY_BYTES),
            // The names in these commands have their own limits, and the reader limits a queue file.
            Self::Configure(_)
            | Self::SetSchedulable { .. }
            | Self::RemoveNode { .. }
            | Self::Release { .. }
            | Self::RemoveApplication { .. }
            | Self::ReleaseForeign { .. }
            | Self::SetQuestions { .. }
            | Self::SetManagerAway { .. }
            | Self::VoidVerdicts { .. }
            | Self::ScanQuotas { .. }
            | Self::ScanOutstanding { .. }
            | Self::Tick
            | Self::RemoveTenant { .. }
            | Self::Recover { .. }
            | Self::ChangeTask { .. } => 0,
        };
        // Everything is written twice: in the command and in the events.
        size.saturating_mul(2)
    }
}

impl SubmitTask {
    /// Returns the size of the submission with its ask in the command, and of the ask of each member in the events.
    fn size(&self) -> usize {
        let members = usize::try_from(self.members()).unwrap_or(usize::MAX);
        let asks = of_ask(&self.ask).saturating_mul(members.saturating_add(1));
        of_submit(&self.submit).saturating_mul(2).saturating_add(asks)
    }
}

fn of_submit(submit: &Submit) -> usize {
    let Submit {
        partition, application, queue, tenant, user, groups, tags, placeholder_ask, ..
    } = submit;
    let tags = tags.iter().map(|(key, value)| name(key).saturating_add(name(value)));
    names([partition, application, queue, tenant, user])
        .saturating_add(names(groups))
        .saturating_add(tags.fold(0, usize::saturating_add))
        .saturating_add(amounts(placeholder_ask))
}

/// Returns the size of one ask in an event. Names that it shares with its task are written once.
fn of_ask(ask: &Ask) -> usize {
    names([&ask.key, &ask.task_group, &ask.required_node, &ask.node_label])
        .saturating_add(names(&ask.blocked_nodes))
        .saturating_add(amounts(&ask.resources))
}

fn of_tenant(set: &SetTenant) -> usize {
    let SetTenant { partition, tenant, settings, expects: _, force: _ } = set;
    let TenantSettings { display_name, quota, guaranteed, labels, .. } = settings;
    let labels = labels.iter().map(|(key, value)| name(key).saturating_add(name(value)));
    names([partition, tenant, display_name])
        .saturating_add(labels.fold(0, usize::saturating_add))
        .saturating_add(quota.as_ref().map_or(0, amounts))
        .saturating_add(amounts(guaranteed))
}

fn name(name: &Name) -> usize {
    name.len().saturating_add(ENTRY_BYTES)
}

fn names<'a>(all: impl IntoIterator<Item = &'a Name>) -> usize {
    all.into_iter().map(name).fold(0, usize::saturating_add)
}

fn amounts(amounts: &Amounts) -> usize {
    names(amounts.iter().map(|(resource, _)| resource))
}
