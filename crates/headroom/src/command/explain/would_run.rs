//! Options that describe a hypothetical ask.

use anyhow::{Result, ensure};
use clap::Args;
use headroom_api::headroomv1::WouldRun;

use crate::command::tasks::amounts;
use crate::remote::Bound;

/// A hypothetical ask.
#[derive(Debug, Args)]
pub(super) struct Wanted {
    /// Predict the outcome of a hypothetical ask with these amounts on one node. Submits nothing
    #[arg(
        long,
        value_name = "TYPE=AMOUNT,…",
        value_delimiter = ',',
        conflicts_with_all = ["subject", "code"]
    )]
    would_run: Vec<Bound>,
    /// Queue of the hypothetical ask
    #[arg(long, value_name = "QUEUE", requires = "would_run")]
    queue: Option<String>,
    /// Tenant of the hypothetical task
    #[arg(long, value_name = "TENANT", requires = "would_run", conflicts_with = "queue")]
    tenant: Option<String>,
    /// User of the hypothetical task. The default is the caller
    #[arg(long, value_name = "USER", requires = "would_run")]
    user: Option<String>,
    /// Groups of the user
    #[arg(long, value_name = "GROUP,…", value_delimiter = ',', requires = "would_run")]
    groups: Vec<String>,
    /// Number of members. Each member needs the amounts of `--would-run`
    #[arg(long, value_name = "N", default_value_t = 1, requires = "would_run")]
    members: u32,
    /// Members are a gang: each holds its placeholder until all members have one
    #[arg(long, requires = "would_run", conflicts_with = "tenant")]
    gang: bool,
    /// Priority. Higher priorities start first
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        allow_negative_numbers = true,
        requires = "would_run"
    )]
    priority: i32,
    /// Label of the nodes that the ask can use
    #[arg(long, value_name = "LABEL", requires = "would_run")]
    node_label: Option<String>,
    /// A node that the ask cannot use
    #[arg(long, value_name = "NODE", requires = "would_run")]
    blocked_node: Vec<String>,
    /// The only node that the ask can use
    #[arg(long, value_name = "NODE", requires = "would_run", conflicts_with = "tenant")]
    required_node: Option<String>,
    /// Allow preemption of others for the ask
    #[arg(long, requires = "would_run", conflicts_with = "tenant")]
    may_preempt: bool,
}

impl Wanted {
    /// Returns whether an option other than the amounts is given.
    fn says_more(&self) -> bool {
        let named = [&self.queue, &self.tenant, &self.user, &self.node_label, &self.required_node];
        named.iter().any(|one| one.is_some())
            || !self.groups.is_empty()
            || !self.blocked_node.is_empty()
            || (self.members, self.priority) != (1, 0)
            || self.gang
            || self.may_preempt
    }

    /// Returns the request body, or `None` without `--would-run`.
    ///
    /// # Errors
    /// When an amount is invalid, or other options come without `--would-run`.
    pub(super) fn body(&self) -> Result<Option<WouldRun>> {
        if self.would_run.is_empty() {
            ensure!(
                !self.says_more(),
                "options that describe a hypothetical ask require `--would-run`. Add the amounts \
                 of the ask, such as `--would-run vcore=4`."
            );
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
        let conflict =
            "an argument cannot be used with one or more of the other specified arguments";
        for (text, expected) in [
            (
                "app-1 --queue root.a",
                "options that describe a hypothetical ask require `--would-run`. Add the amounts \
                 of the ask, such as `--would-run vcore=4`.",
            ),
            ("app-1 --would-run vcore=1", conflict),
            ("--would-run vcore=1 --tenant lab --gang", conflict),
            (
                "--would-run vcore=none",
                "`vcore=none` is not an amount that a task can request. Omit vcore.",
            ),
        ] {
            assert_eq!(body(text), Err(expected.to_owned()), "{text}");
        }
    }
}
