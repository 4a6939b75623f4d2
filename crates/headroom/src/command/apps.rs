//! `headroom apps`: the applications of a running server, and the wait reasons of one application.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use clap::{Args, ValueEnum};
use headroom_api::client::{ApplicationList, Client, ClientError};
use headroom_api::wsv1::Application;
use headroom_server::pod_name;
use jiff::Timestamp;

use crate::remote::{Listing, Remote, resources, since};

/// Show the applications, or the asks and allocations of one.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom apps --queue root.research\n  headroom apps train-0001"
)]
pub(crate) struct Apps {
    /// Show only this application, with its asks and allocations
    #[arg(value_name = "APPLICATION", conflicts_with_all = ["queue", "list", "user"])]
    application: Option<String>,
    /// Show only applications in this queue
    #[arg(long, value_name = "PATH", conflicts_with = "list")]
    queue: Option<String>,
    /// Show only applications of this user
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Applications to show, by state
    #[arg(long, value_enum, default_value_t)]
    list: Which,
    #[command(flatten)]
    remote: Remote,
}

/// The applications to show, by state.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Which {
    /// Applications that have not ended
    #[default]
    Active,
    /// Applications that succeeded or failed
    Completed,
    /// Applications that were rejected
    Rejected,
}

const APPLICATIONS: &[&str] = &[
    "APPLICATION",
    "QUEUE",
    "USER",
    "STATE",
    "USED",
    "PENDING",
    "RUNNING",
    "WAITING",
    "AGE",
    "WHY",
];
const TASKS: &[&str] = &["ALLOCATION", "STATE", "NODE", "SIZE", "PRIORITY", "AGE", "WHY"];

impl Apps {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        let now = i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
        let partition = &self.remote.partition;
        if let Some(id) = &self.application {
            let one = self.remote.ask(async |client| Ok(find(&client, partition, id).await?))?;
            let mut listing = tasks(&one, now)?;
            listing.heading(heading(&one));
            return self.remote.show(&listing);
        }
        let mut all = self.remote.ask(async |client| {
            let which = match self.list {
                Which::Active => ApplicationList::Active(None),
                Which::Completed => ApplicationList::Completed,
                Which::Rejected => ApplicationList::Rejected,
            };
            Ok(match &self.queue {
                Some(queue) => client.get_queue_applications(partition, queue).await?,
                None => client.get_applications(partition, which).await?,
            })
        })?;
        all.retain(|one| self.user.as_ref().is_none_or(|user| one.user == *user));
        self.remote.show(&applications(&all, now)?)
    }
}

/// Returns an application by its ID. Prefers an application that has not ended; otherwise the last one that ended or
/// was rejected.
async fn find(client: &Client, partition: &str, id: &str) -> Result<Application, ClientError> {
    let missing = match client.get_application(partition, id).await {
        Ok(found) => return Ok(found),
        Err(why) if why.status() == Some(404) => why,
        Err(why) => return Err(why),
    };
    let ended = client.get_applications(partition, ApplicationList::Completed).await?;
    let refused = client.get_applications(partition, ApplicationList::Rejected).await?;
    let all = ended.into_iter().chain(refused).filter(|one| one.application_id == id);
    all.max_by_key(|one| one.finished_time).ok_or(missing)
}

fn applications(all: &[Application], now: i64) -> Result<Listing> {
    let mut listing = Listing::new(APPLICATIONS, &all)?.numbers(&["RUNNING", "WAITING", "AGE"]);
    for one in all {
        let why = if one.rejected_message.is_empty() { reason(one) } else { &one.rejected_message };
        listing.row([
            one.application_id.clone(),
            one.queue_name.clone(),
            one.user.clone(),
            one.application_state.clone(),
            resources(&one.used_resource),
            resources(&one.pending_resource),
            one.allocations.len().to_string(),
            one.requests.len().to_string(),
            since(one.submission_time, now),
            why.to_owned(),
        ]);
    }
    Ok(listing)
}

/// Returns the first wait reason of the asks of an application.
fn reason(application: &Application) -> &str {
    let reason = application.requests.iter().find_map(|ask| newest(&ask.allocation_log));
    reason.unwrap_or_default()
}

fn newest(log: &[headroom_api::wsv1::AllocationLogEntry]) -> Option<&str> {
    log.iter().max_by_key(|entry| entry.last_occurrence).map(|entry| entry.message.as_str())
}

/// Returns the owner, queue, state, and times of an application in one line.
fn heading(one: &Application) -> String {
    let Application { application_id, user, queue_name, application_state, .. } = one;
    let time = |nanos: i64| Timestamp::from_nanosecond(nanos.into()).unwrap_or_default();
    let mut line = format!("{application_id} of {user} in {queue_name}: {application_state}");
    // Writing to a string cannot fail.
    let _ = write!(line, ", submitted {:.0}", time(one.submission_time));
    if let Some(at) = one.finished_time {
        let _ = write!(line, ", ended {:.0}", time(at));
    }
    if !one.rejected_message.is_empty() {
        let _ = write!(line, ": {}", one.rejected_message);
    }
    line
}

/// Returns the name under which users know an allocation: the pod, or else the key.
fn shown(key: &str, tags: &BTreeMap<String, String>) -> String {
    pod_name(key, tags).unwrap_or_else(|| key.to_owned())
}

fn tasks(one: &Application, now: i64) -> Result<Listing> {
    let mut listing = Listing::new(TASKS, one)?.numbers(&["PRIORITY", "AGE"]);
    let priority = |text: &Option<headroom_api::wsv1::IntegerText>| {
        text.as_ref().map_or(0, |text| text.0).to_string()
    };
    for allocation in &one.allocations {
        let state = match (allocation.preempted, allocation.placeholder) {
            (true, _) => "stopping",
            (false, true) => "placeholder",
            (false, false) => "runs",
        };
        listing.row([
            shown(&allocation.allocation_key, &allocation.allocation_tags),
            state.to_owned(),
            allocation.node_id.clone(),
            resources(&allocation.resource),
            priority(&allocation.priority),
            since(allocation.allocation_time, now),
            String::new(),
        ]);
    }
    for ask in &one.requests {
        listing.row([
            shown(&ask.allocation_key, &ask.allocation_tags),
            "waits".to_owned(),
            ask.required_node_id.clone(),
            resources(&ask.resource),
            priority(&ask.priority),
            since(ask.request_time, now),
            newest(&ask.allocation_log).unwrap_or_default().to_owned(),
        ]);
    }
    Ok(listing)
}
