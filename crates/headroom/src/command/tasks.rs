//! `headroom tasks`: the tasks of the tenants of a running server.

use anyhow::{Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use headroom_api::headroomv1::{
    Amount, Amounts, ReleaseOutcome, Task, TaskMeasurement, TaskRank, TaskRelease, TaskResize,
    TaskState, TaskSubmission,
};
use headroom_api::wsv1::Resources;
use jiff::Timestamp;

use super::tenants::{why, word};
use crate::remote::{Bound, Listing, Remote, exact, list, since};

const EXAMPLE: &str = "\
Examples:
  headroom tasks submit lab vcore=4 memory=8G --key run-17
  headroom tasks list lab --state waiting
  headroom tasks release t-17 --failed";

/// Submit, show, and change tasks of tenants on a running server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    deed: TasksCommand,
}

#[derive(Debug, Subcommand)]
enum TasksCommand {
    /// Submit a task, which then starts or waits
    Submit(Box<Submit>),
    /// Show the tasks of a tenant, in order of submission
    List(ListTasks),
    /// Show a task
    #[command(after_help = "Example: headroom tasks show t-17")]
    Show(One),
    /// Confirm that a task runs on its node
    #[command(after_help = "Example: headroom tasks confirm t-17")]
    Confirm(One),
    /// Report that a task has ended or was stopped
    Release(Release),
    /// Cancel a task
    #[command(after_help = "Example: headroom tasks cancel t-17")]
    Cancel(One),
    /// Resize a task. An increase is charged immediately, or the request fails
    Resize(Resize),
    /// Report the measured usage of a task. It affects no decision
    Measured(Measured),
    /// Change the priority or deadline of a waiting task
    Rank(Rank),
}

impl Tasks {
    /// Runs the subcommand, and prints the result.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(self) -> Result<()> {
        match self.deed {
            TasksCommand::Submit(submit) => submit.run(),
            TasksCommand::List(list) => list.run(),
            TasksCommand::Show(one) => {
                show_one(&one.remote, &one.remote.ask(async |c| Ok(c.get_task(&one.task).await?))?)
            }
            TasksCommand::Confirm(one) => show_one(
                &one.remote,
                &one.remote.ask(async |c| Ok(c.confirm_task(&one.task).await?))?,
            ),
            TasksCommand::Release(release) => release.run(),
            TasksCommand::Cancel(one) => show_one(
                &one.remote,
                &one.remote.ask(async |c| Ok(c.cancel_task(&one.task).await?))?,
            ),
            TasksCommand::Resize(resize) => resize.run(),
            TasksCommand::Measured(measured) => measured.run(),
            TasksCommand::Rank(rank) => rank.run(),
        }
    }
}

#[derive(Debug, Args)]
struct One {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    #[command(flatten)]
    remote: Remote,
}

const TASKS: &[&str] = &[
    "TASK",
    "TENANT",
    "USER",
    "STATE",
    "SIZE",
    "MEASURED",
    "PRIORITY",
    "NODE",
    "AGE",
    "RESTARTED",
    "EVICTED",
];
const NUMBERS: &[&str] = &["PRIORITY", "AGE", "RESTARTED", "EVICTED"];

fn nanoseconds(at: Timestamp) -> i64 {
    i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX)
}

fn row(task: &Task) -> [String; TASKS.len()] {
    let amounts = |all: &Resources| {
        list(all.0.iter().map(|(name, units)| (name.as_str(), exact(name, Some(units)))))
    };
    [
        task.id.clone(),
        task.tenant.clone(),
        task.user.clone(),
        word(task.state),
        amounts(&task.resources),
        task.measured.as_ref().map(|one| amounts(&one.resources)).unwrap_or_default(),
        task.priority.to_string(),
        task.node.clone().unwrap_or_default(),
        since(nanoseconds(task.submitted_at), nanoseconds(Timestamp::now())),
        task.restarted.to_string(),
        task.evicted.to_string(),
    ]
}

fn show_one(remote: &Remote, task: &Task) -> Result<()> {
    let mut listing = Listing::new(TASKS, task)?.numbers(NUMBERS);
    listing.row(row(task));
    remote.show(&listing)
}

/// Returns the amounts that a task needs, in the form of the API.
pub(super) fn amounts(bounds: &[Bound]) -> Result<Amounts> {
    let mut amounts = Amounts::new();
    for Bound { name, value } in bounds {
        ensure!(
            value.is_some(),
            "`{name}=none` is not an amount that a task can request. Omit {name}."
        );
        amounts.extend(value.iter().map(|text| (name.clone(), Amount::Text(text.clone()))));
    }
    Ok(amounts)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom tasks submit lab vcore=4 memory=8G nvidia.com/gpu=1 --priority 5 --restarts 2 --key run-17"
)]
struct Submit {
    /// The tenant whose quota the task uses
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Amounts that one instance needs on one node
    #[arg(value_name = "TYPE=AMOUNT", required = true)]
    resources: Vec<Bound>,
    /// ID of the task. The default is a generated ID
    #[arg(long, value_name = "TASK")]
    id: Option<String>,
    /// User of the task, for administrators. The default is the caller
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Priority. Higher priorities start first if the tenant orders tasks by priority
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// Deadline (RFC 3339)
    #[arg(long, value_name = "TIME")]
    deadline: Option<Timestamp>,
    /// Estimated run time
    #[arg(long, value_name = "SECONDS")]
    estimate: Option<u32>,
    /// Exclude the task from preemption
    #[arg(long)]
    not_preemptible: bool,
    /// Queue the task again after it is evicted
    #[arg(long)]
    requeue: bool,
    /// Number of instances of this size. They start together or not at all
    #[arg(long, value_name = "N", default_value_t = 1)]
    members: u32,
    /// Number of restarts after failures
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    restarts: u32,
    /// Longest wait before the task expires. 0 means no limit
    #[arg(long, value_name = "SECONDS")]
    max_wait: Option<u32>,
    /// Label of the nodes that the task can use
    #[arg(long, value_name = "LABEL")]
    node_label: Option<String>,
    /// A node that the task cannot use
    #[arg(long, value_name = "NODE")]
    blocked_node: Vec<String>,
    /// Idempotency key. Commands with the same key submit one task
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

impl Submit {
    fn run(&self) -> Result<()> {
        let new = TaskSubmission {
            id: self.id.clone(),
            user: self.user.clone(),
            resources: amounts(&self.resources)?,
            priority: self.priority,
            deadline: self.deadline,
            estimate_seconds: self.estimate,
            preemptible: !self.not_preemptible,
            requeue: self.requeue,
            members: self.members,
            restarts: self.restarts,
            max_wait_seconds: self.max_wait,
            node_label: self.node_label.clone(),
            blocked_nodes: self.blocked_node.clone(),
        };
        let (task, waits) = self.remote.ask(async |client| {
            let task = client.submit_task(&self.tenant, &new, self.key.as_deref()).await?;
            // If the task started since, there is no wait reason to show.
            let waits = match task.state {
                TaskState::Waiting => client.get_waiting(&self.tenant, &task.id).await.ok(),
                _ => None,
            };
            Ok((task, waits))
        })?;
        let mut listing = Listing::new(TASKS, &task)?.numbers(NUMBERS);
        if let Some(waits) = waits {
            let (place, of) = (waits.position, waits.of);
            listing.heading(format!("the task waits at position {place} of {of}: {}", why(&waits)));
        }
        listing.row(row(&task));
        self.remote.show(&listing)
    }
}

/// The state of a task.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum State {
    Waiting,
    Starting,
    Running,
    Cancelling,
    Evicting,
    Succeeded,
    Failed,
    Cancelled,
    Evicted,
    Expired,
}

impl State {
    fn asked(self) -> TaskState {
        match self {
            Self::Waiting => TaskState::Waiting,
            Self::Starting => TaskState::Starting,
            Self::Running => TaskState::Running,
            Self::Cancelling => TaskState::Cancelling,
            Self::Evicting => TaskState::Evicting,
            Self::Succeeded => TaskState::Succeeded,
            Self::Failed => TaskState::Failed,
            Self::Cancelled => TaskState::Cancelled,
            Self::Evicted => TaskState::Evicted,
            Self::Expired => TaskState::Expired,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tasks list lab --state waiting -o csv")]
struct ListTasks {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Show only tasks in this state
    #[arg(long, value_enum)]
    state: Option<State>,
    #[command(flatten)]
    remote: Remote,
}

impl ListTasks {
    fn run(&self) -> Result<()> {
        let state = self.state.map(State::asked);
        let all = self.remote.ask(async |client| {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let page = client.list_tasks(&self.tenant, state, cursor.as_deref()).await?;
                all.extend(page.items);
                cursor = page.cursor;
                if cursor.is_none() {
                    return Ok(all);
                }
            }
        })?;
        let mut listing = Listing::new(TASKS, &all)?.numbers(NUMBERS);
        for task in &all {
            listing.row(row(task));
        }
        self.remote.show(&listing)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom tasks release t-17\n  headroom tasks release t-17 --failed --key end-17"
)]
struct Release {
    /// The task failed or was stopped
    #[arg(long)]
    failed: bool,
    /// Idempotency key. Commands with the same key report the end once
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    #[command(flatten)]
    one: One,
}

impl Release {
    fn run(&self) -> Result<()> {
        let One { task, remote } = &self.one;
        let outcome = if self.failed { ReleaseOutcome::Failed } else { ReleaseOutcome::Succeeded };
        let release = TaskRelease { outcome };
        let key = self.key.as_deref();
        show_one(
            remote,
            &remote.ask(async |client| Ok(client.release_task(task, &release, key).await?))?,
        )
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tasks resize t-17 vcore=8 memory=16G")]
struct Resize {
    #[command(flatten)]
    one: One,
    /// New amounts of the task. They replace all current amounts
    #[arg(value_name = "TYPE=AMOUNT", required = true)]
    resources: Vec<Bound>,
}

impl Resize {
    fn run(&self) -> Result<()> {
        let One { task, remote } = &self.one;
        let size = TaskResize { resources: amounts(&self.resources)? };
        show_one(remote, &remote.ask(async |client| Ok(client.resize_task(task, &size).await?))?)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tasks measured t-17 vcore=3500m memory=9G")]
struct Measured {
    #[command(flatten)]
    one: One,
    /// Amounts that all members use together. They replace the previous report
    #[arg(value_name = "TYPE=AMOUNT", required = true)]
    resources: Vec<Bound>,
}

impl Measured {
    fn run(&self) -> Result<()> {
        let One { task, remote } = &self.one;
        let measurement = TaskMeasurement { resources: amounts(&self.resources)? };
        show_one(
            remote,
            &remote.ask(async |client| Ok(client.measure_task(task, &measurement).await?))?,
        )
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tasks rank lab t-17 --priority 9")]
struct Rank {
    /// The tenant of the task
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// The task
    #[arg(value_name = "TASK")]
    task: String,
    /// New priority
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        required_unless_present = "deadline"
    )]
    priority: Option<i32>,
    /// Deadline (RFC 3339)
    #[arg(long, value_name = "TIME")]
    deadline: Option<Timestamp>,
    #[command(flatten)]
    remote: Remote,
}

impl Rank {
    fn run(&self) -> Result<()> {
        let rank = TaskRank { priority: self.priority, deadline: self.deadline };
        let asked = self
            .remote
            .ask(async |client| Ok(client.rank_task(&self.tenant, &self.task, &rank).await?));
        show_one(&self.remote, &asked?)
    }
}
