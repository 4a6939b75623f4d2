//! Commands that show tenants.

use anyhow::Result;
use clap::{Args, ValueEnum};
use headroom_api::client::TenantFilter;
use headroom_api::headroomv1::{
    TaskReason, TaskSubmission, Tenant, TenantKind, TenantQuota, TenantUsage, WaitingTask,
};
use headroom_api::wsv1::Resources;
use serde_json::Value;

use crate::command::tasks::amounts;
use crate::remote::{Bound, Listing, Remote, amount, exact, list};

/// The kind of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// A user
    User,
    /// A project of several users
    Project,
    /// Several projects or users
    Department,
}

impl Kind {
    fn asked(self) -> TenantKind {
        match self {
            Self::User => TenantKind::User,
            Self::Project => TenantKind::Project,
            Self::Department => TenantKind::Department,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants list --over-quota -o csv")]
pub(super) struct List {
    /// Show only tenants of this kind
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Show only the direct child tenants of this tenant
    #[arg(long, value_name = "TENANT")]
    parent: Option<String>,
    /// Show only tenants over quota
    #[arg(long)]
    over_quota: bool,
    #[command(flatten)]
    remote: Remote,
}

const TENANTS: &[&str] =
    &["TENANT", "KIND", "PARENT", "STATE", "QUOTA", "GUARANTEED", "ORDER", "VERSION"];

impl List {
    pub(super) fn run(&self) -> Result<()> {
        let filter = TenantFilter {
            kind: self.kind.map(Kind::asked),
            parent: self.parent.clone(),
            over_quota: self.over_quota.then_some(true),
        };
        let all = self.remote.ask(async |client| {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let page = client.list_tenants(&filter, cursor.as_deref()).await?;
                all.extend(page.items);
                cursor = page.cursor;
                if cursor.is_none() {
                    return Ok(all);
                }
            }
        })?;
        let mut listing = Listing::new(TENANTS, &all)?.numbers(&["VERSION"]);
        for tenant in &all {
            listing.row(row(tenant));
        }
        self.remote.show(&listing)
    }
}

fn row(tenant: &Tenant) -> [String; TENANTS.len()] {
    let state = if tenant.draining { "draining".to_owned() } else { word(tenant.state) };
    [
        tenant.id.clone(),
        word(tenant.kind),
        tenant.parent.clone().unwrap_or_default(),
        state,
        tenant.quota.as_ref().map_or_else(|| "default".to_owned(), quota),
        list(tenant.guaranteed.iter().map(|(name, value)| (name.as_str(), amount(name, value)))),
        tenant.waiting.as_ref().map(|waiting| word(waiting.strategy)).unwrap_or_default(),
        tenant.version.to_string(),
    ]
}

/// Returns the name of a value in the API.
pub(in crate::command) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Returns a quota in the form of a command line, with resource types first.
pub(super) fn quota(quota: &TenantQuota) -> String {
    let types = quota.resources.iter().flatten();
    let types = types.map(|(name, value)| (name.as_str(), amount(name, value)));
    let count = |name, count: Option<u64>| Some((name, count?.to_string()));
    let counts = [
        quota.instances.map(|count| ("instances", count.to_string())),
        count("maxWaiting", quota.max_waiting),
        count("maxApplications", quota.max_applications),
    ];
    let text = list(types.chain(counts.into_iter().flatten()));
    if text.is_empty() { "no limit".to_owned() } else { text }
}

/// Prints one tenant as a table with one row.
pub(super) fn one(remote: &Remote, tenant: &Tenant, heading: Option<String>) -> Result<()> {
    let mut listing = Listing::new(TENANTS, tenant)?.numbers(&["VERSION"]);
    if let Some(heading) = heading {
        listing.heading(heading);
    }
    listing.row(row(tenant));
    remote.show(&listing)
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants show lab -o yaml")]
pub(super) struct Show {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    #[command(flatten)]
    remote: Remote,
}

impl Show {
    pub(super) fn run(&self) -> Result<()> {
        let tenant = self.remote.ask(async |client| Ok(client.get_tenant(&self.tenant).await?))?;
        one(&self.remote, &tenant, None)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants usage lab")]
pub(super) struct Usage {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    #[command(flatten)]
    remote: Remote,
}

const USAGE: &[&str] = &["TYPE", "QUOTA", "USED", "MEASURED", "FREE", "WAITING"];

impl Usage {
    pub(super) fn run(&self) -> Result<()> {
        let usage =
            self.remote.ask(async |client| Ok(client.get_tenant_usage(&self.tenant).await?))?;
        self.remote.show(&used(&usage)?)
    }
}

fn used(usage: &TenantUsage) -> Result<Listing> {
    let mut listing =
        Listing::new(USAGE, usage)?.numbers(&["QUOTA", "USED", "MEASURED", "FREE", "WAITING"]);
    let over = if usage.over_quota { ", and the usage is above the quota" } else { "" };
    let waiting = &usage.waiting;
    let oldest = waiting.oldest_seconds;
    let waits = match waiting.tasks {
        0 => "no task waits".to_owned(),
        1 => format!("1 task has waited for {oldest} s"),
        tasks => format!("{tasks} tasks wait, the oldest for {oldest} s"),
    };
    listing.heading(format!(
        "tenant {}, as of record {}: {waits}{over}",
        usage.tenant, usage.ledger_version
    ));
    let limited: Vec<&str> =
        usage.by_ancestor.iter().filter(|one| one.limited).map(|one| one.tenant.as_str()).collect();
    if !limited.is_empty() {
        listing.heading(format!("limited by the quota of: {}", limited.join(", ")));
    }
    let nothing = Resources::default();
    let measured = usage.measured.as_ref().map_or(&nothing, |measured| &measured.resources);
    let all = [&usage.quota, &usage.used, measured, &waiting.resources];
    let mut types: Vec<&String> = all.into_iter().flat_map(|amounts| amounts.0.keys()).collect();
    types.sort_by_key(|name| (*name != "vcore", *name != "memory", name.as_str()));
    types.dedup();
    for name in types {
        let of = |amounts: &Resources| exact(name, amounts.0.get(name));
        listing.row([
            name.clone(),
            of(&usage.quota),
            of(&usage.used),
            of(measured),
            of(&usage.free),
            of(&waiting.resources),
        ]);
    }
    Ok(listing)
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants verify")]
pub(super) struct Verify {
    #[command(flatten)]
    remote: Remote,
}

const DRIFT: &[&str] = &["TENANT", "TYPE", "COUNTED", "FOUND", "BY"];

impl Verify {
    pub(super) fn run(&self) -> Result<()> {
        let verified = self.remote.ask(async |client| Ok(client.verify_ledger().await?))?;
        let mut listing = Listing::new(DRIFT, &verified)?.numbers(&["COUNTED", "FOUND", "BY"]);
        let version = verified.ledger_version;
        listing.heading(match verified.drift.len() {
            0 => format!("as of record {version}: the recorded usage equals the sum of the tasks"),
            1 => format!(
                "as of record {version}: 1 recorded amount differs from the sum of the tasks"
            ),
            many => format!(
                "as of record {version}: {many} recorded amounts differ from the sum of the tasks"
            ),
        });
        for one in &verified.drift {
            let amount = |units: i64| exact(&one.r#type, Some(&units));
            listing.row([
                one.tenant.clone(),
                one.r#type.clone(),
                amount(one.counted),
                amount(one.found),
                amount(one.by),
            ]);
        }
        self.remote.show(&listing)?;
        anyhow::ensure!(
            verified.drift.is_empty(),
            "the recorded usage of tenants differs from the sum of their tasks"
        );
        Ok(())
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom tenants waiting lab\n  headroom tenants waiting lab t-17 -o json"
)]
pub(super) struct Waiting {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Show only this task
    #[arg(value_name = "TASK")]
    task: Option<String>,
    #[command(flatten)]
    remote: Remote,
}

const WAITING: &[&str] =
    &["PLACE", "TASK", "SIZE", "PRIORITY", "WAITED", "OVERTAKEN", "REASON", "WHY"];

impl Waiting {
    pub(super) fn run(&self) -> Result<()> {
        let numbers = &["PLACE", "PRIORITY", "WAITED", "OVERTAKEN"];
        if let Some(task) = &self.task {
            let one = self
                .remote
                .ask(async |client| Ok(client.get_waiting(&self.tenant, task).await?))?;
            let mut listing = Listing::new(WAITING, &one)?.numbers(numbers);
            listing.row(waits(&one));
            return self.remote.show(&listing);
        }
        let all = self.remote.ask(async |client| {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let part = client.list_waiting(&self.tenant, cursor.as_deref()).await?;
                all.extend(part.items);
                cursor = part.cursor;
                if cursor.is_none() {
                    return Ok(all);
                }
            }
        })?;
        let mut listing = Listing::new(WAITING, &all)?.numbers(numbers);
        for one in &all {
            listing.row(waits(one));
        }
        self.remote.show(&listing)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants check lab vcore=20 memory=40G")]
pub(super) struct Check {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Amounts that one instance needs on one node
    #[arg(value_name = "TYPE=AMOUNT", required = true)]
    resources: Vec<Bound>,
    /// Priority of the task
    #[arg(long, value_name = "NUMBER", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// Number of instances of this size. They start together or not at all
    #[arg(long, value_name = "N", default_value_t = 1)]
    members: u32,
    #[command(flatten)]
    remote: Remote,
}

const CHECK: &[&str] = &["FITS", "PLACE", "REASON", "WHY"];

impl Check {
    pub(super) fn run(&self) -> Result<()> {
        let (resources, priority, members) =
            (amounts(&self.resources)?, self.priority, self.members);
        let task = TaskSubmission {
            resources,
            members,
            priority,
            preemptible: true,
            ..TaskSubmission::default()
        };
        let asked =
            self.remote.ask(async |client| Ok(client.check_quota(&self.tenant, &task).await?));
        let check = asked?;
        let mut listing = Listing::new(CHECK, &check)?;
        let fits = if check.fits { "yes" } else { "no" }.to_owned();
        let place = |position| format!("{position} of {}", check.of.unwrap_or_default());
        let reason = check.reasons.first();
        listing.row([
            fits,
            check.position.map(place).unwrap_or_default(),
            reason.map(|reason| reason.code.clone()).unwrap_or_default(),
            reason.map(sentence).unwrap_or_default(),
        ]);
        self.remote.show(&listing)
    }
}

fn waits(one: &WaitingTask) -> [String; WAITING.len()] {
    let code = one.reason.as_ref().map(|reason| reason.code.clone()).unwrap_or_default();
    [
        one.position.to_string(),
        one.task.clone(),
        list(one.resources.0.iter().map(|(name, units)| (name.as_str(), exact(name, Some(units))))),
        one.effective_priority.to_string(),
        format!("{}s", one.waited_seconds),
        overtaken(one),
        code,
        why(one),
    ]
}

/// Returns how often a task was overtaken, and which task overtook it last.
fn overtaken(one: &WaitingTask) -> String {
    match &one.last_overtaken_by {
        Some(last) => format!("{} (last: {last})", one.overtaken_by),
        None => one.overtaken_by.to_string(),
    }
}

/// Returns why a task waits: the sentence of the server, or the figures that the caller can see.
pub(in crate::command) fn why(one: &WaitingTask) -> String {
    one.reason.as_ref().map(sentence).unwrap_or_default()
}

pub(super) fn sentence(reason: &TaskReason) -> String {
    if let Some(sentence) = &reason.sentence {
        return sentence.clone();
    }
    let scope = reason.scope.as_deref().unwrap_or("tenants that you cannot see");
    let types = reason.types.iter().map(|short| {
        let (name, units) = (&short.resource, |units| exact(&short.resource, Some(&units)));
        (name.as_str(), format!("needs {} of {}", units(short.asked), units(short.limit)))
    });
    let types = list(types);
    if types.is_empty() { format!("limited by {scope}") } else { format!("{scope}: {types}") }
}
