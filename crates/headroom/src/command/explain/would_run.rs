//! What somebody might submit, as it is said on the command line.

use anyhow::{Result, ensure};
use clap::Args;
use headroom_api::headroomv1::WouldRun;

use crate::command::tasks::amounts;
use crate::remote::Bound;

/// Something that is not submitted.
#[derive(Debug, Args)]
pub(super) struct Wanted {
    /// Say what would become of something that needs this on one node, were it submitted now; nothing is submitted
    #[arg(
        long,
        value_name = "TYPE=AMOUNT,…",
        value_delimiter = ',',
        conflicts_with_all = ["subject", "code"]
    )]
    would_run: Vec<Bound>,
    /// The queue that it would name
    #[arg(long, value_name = "QUEUE", requires = "would_run")]
    queue: Option<String>,
    /// The tenant whose task it would be
    #[arg(long, value_name = "TENANT", requires = "would_run", conflicts_with = "queue")]
    tenant: Option<String>,
    /// Who would submit it; without, the caller
    #[arg(long, value_name = "USER", requires = "would_run")]
    user: Option<String>,
    /// The groups of that user
    #[arg(long, value_name = "GROUP,…", value_delimiter = ',', requires = "would_run")]
    groups: Vec<String>,
    /// How many of this size it would have
    #[arg(long, value_name = "N", default_value_t = 1, requires = "would_run")]
    members: u32,
    /// These are a gang: each holds its room until all have theirs
    #[arg(long, requires = "would_run", conflicts_with = "tenant")]
    gang: bool,
    /// Higher goes first
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        allow_negative_numbers = true,
        requires = "would_run"
    )]
    priority: i32,
    /// Label of the nodes that it may have
    #[arg(long, value_name = "LABEL", requires = "would_run")]
    node_label: Option<String>,
    /// A node that it may not have
    #[arg(long, value_name = "NODE", requires = "would_run")]
    blocked_node: Vec<String>,
    /// The only node that it may run on
    #[arg(long, value_name = "NODE", requires = "would_run", conflicts_with = "tenant")]
    required_node: Option<String>,
    /// Others may be stopped for it
    #[arg(long, requires = "would_run", conflicts_with = "tenant")]
    may_preempt: bool,
}

impl Wanted {
    /// Whether anything is said of it but what it needs. Beside an application nobody else asks.
    fn says_more(&self) -> bool {
        let named = [&self.queue, &self.tenant, &self.user, &self.node_label, &self.required_node];
        named.iter().any(|one| one.is_some())
            || !self.groups.is_empty()
            || !self.blocked_node.is_empty()
            || (self.members, self.priority) != (1, 0)
            || self.gang
            || self.may_preempt
    }

    /// As it is sent; none where nothing is said of it.
    ///
    /// # Errors
    /// When an amount is none.
    pub(super) fn body(&self) -> Result<Option<WouldRun>> {
        if self.would_run.is_empty() {
            ensure!(!self.says_more(), "say what would run, too: `--would-run vcore=4`");
            return Ok(None);
        }
        let groups = (!self.groups.is_empty()).then(|| self.groups.clone());
        Ok(Some(WouldRun {
            queue: self.queue.clone(),
            tenant: self.tenant.clone(),
            user: self.user.clone(),
            groups,
            resources: amounts(&self.would_run)?,
            members: self.members,
            gang: self.gang,
            priority: self.priority,
            node_label: self.node_label.clone(),
            blocked_nodes: self.blocked_node.clone(),
            required_node: self.required_node.clone(),
            may_preempt: self.may_preempt,
            ..WouldRun::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use headroom_api::headroomv1::Amount;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[arg(required_unless_present = "would_run")]
        subject: Option<String>,
        #[arg(long)]
        code: Option<String>,
        #[command(flatten)]
        wanted: Wanted,
    }

    fn body(words: &str) -> Result<Option<WouldRun>, String> {
        let words = core::iter::once("explain").chain(words.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|error| error.kind().to_string())?;
        line.wanted.body().map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_said_of_it_is_what_is_sent() {
        let text =
            "--would-run vcore=4,memory=8Gi --queue root.a --user sue --members 3 --priority -2";
        let expected = WouldRun {
            queue: Some("root.a".into()),
            user: Some("sue".into()),
            resources: [("vcore", "4"), ("memory", "8Gi")]
                .map(|(name, amount)| (name.to_owned(), Amount::Text(amount.to_owned())))
                .into(),
            members: 3,
            priority: -2,
            ..WouldRun::default()
        };
        assert_eq!(body(text), Ok(Some(expected)));
        assert_eq!(body("app-1"), Ok(None));
        let task = body("--would-run vcore=1 --tenant lab").unwrap().unwrap();
        assert_eq!((task.tenant.as_deref(), task.members), (Some("lab"), 1));
    }

    #[test]
    fn nothing_is_said_of_what_is_submitted_already() {
        for text in [
            "app-1 --queue root.a",
            "app-1 --would-run vcore=1",
            "--would-run vcore=1 --tenant lab --gang",
            "--would-run vcore=none",
        ] {
            assert!(body(text).is_err(), "{text}");
        }
    }
}
