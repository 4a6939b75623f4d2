//! Changes of tenants. Each change sends the version that it expects: the version that the command just read,
//! or that of `--if-version`.

use anyhow::Result;
use clap::Args;
use headroom_api::client::{Client, Expect};
use headroom_api::headroomv1::{Tenant, TenantDefaults, TenantQuota, TenantVictim};
use serde_json::{Map, Value, json};

use super::settings::{Own, Rules, merged, quota_patch};
use super::show::{self, word};
use crate::output;
use crate::remote::{Bound, Listing, Remote, exact, list};

/// The version that a change expects.
#[derive(Debug, Args)]
struct Version {
    /// Change only this version, or any version (`any`, for administrators). The default is the current
    /// version
    #[arg(long, value_name = "VERSION", value_parser = expected)]
    if_version: Option<Expect>,
}

fn expected(text: &str) -> Result<Expect, String> {
    match text {
        "any" => Ok(Expect::Any),
        number => number
            .trim_matches('"')
            .parse()
            .map(Expect::Version)
            .map_err(|_| "the version must be a number or `any`".to_owned()),
    }
}

impl Version {
    /// Returns the version to expect after reading version `read`.
    fn of(&self, read: u64) -> Expect {
        self.if_version.unwrap_or(Expect::Version(read))
    }
}

/// A tenant, and the version that a change of it expects.
#[derive(Debug, Args)]
struct One {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    #[command(flatten)]
    version: Version,
    #[command(flatten)]
    remote: Remote,
}

impl One {
    /// Changes some settings, and prints all settings.
    fn patch(&self, patch: Map<String, Value>) -> Result<()> {
        let name = &self.tenant;
        let (before, after) = self.remote.ask(async |client| {
            let before = client.get_tenant(name).await?.version;
            let expect = self.version.of(before);
            Ok((before, client.patch_tenant(name, &patch.into(), expect).await?))
        })?;
        show::one(&self.remote, &after, Some(changed(name, before, after.version)))
    }
}

fn changed(what: &str, before: u64, after: u64) -> String {
    if before == after {
        format!("{what}: unchanged at version {after}")
    } else {
        format!("{what}: changed from version {before} to version {after}")
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: headroom tenants create lab --parent dept --quota vcore=100,memory=200G,instances=500"
)]
pub(super) struct Create {
    /// Name of the tenant, in lowercase
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Quota. `instances` counts tasks. A type without a value has no limit. Without this option, the
    /// tenant has the default quota
    #[arg(long, value_name = "TYPE=AMOUNT", value_delimiter = ',')]
    quota: Vec<Bound>,
    /// Create the tenant as a limit in this shared queue, instead of as a queue
    #[arg(long, value_name = "PATH", requires = "limited")]
    limit_in: Option<String>,
    /// With --limit-in: the user to limit
    #[arg(long, value_name = "USER", group = "limited", requires = "limit_in")]
    user: Option<String>,
    /// With --limit-in: the group to limit
    #[arg(long, value_name = "GROUP", group = "limited", requires = "limit_in")]
    group: Option<String>,
    #[command(flatten)]
    own: Own,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    remote: Remote,
}

/// Returns the given settings of a tenant as a merge patch.
fn patch_of(own: &Own, rules: &Rules, quota: &[Bound]) -> Result<Map<String, Value>> {
    let mut patch = own.patch();
    patch.extend(rules.patch());
    let quota = quota_patch(quota, rules.max_waiting(), own.max_tasks())?;
    if !quota.is_empty() {
        patch.insert("quota".to_owned(), quota.into());
    }
    Ok(patch)
}

impl Create {
    pub(super) fn run(&self) -> Result<()> {
        let mut patch = patch_of(&self.own, &self.rules, &self.quota)?;
        patch.insert("id".to_owned(), json!(self.tenant));
        if let Some(queue) = &self.limit_in {
            let mapping =
                json!({"mode": "limit", "queue": queue, "user": self.user, "group": self.group});
            patch.insert("mapping".to_owned(), mapping);
        }
        let tenant: Tenant = serde_json::from_value(merged(json!({}), patch))?;
        let made = self.remote.ask(async |client| Ok(client.create_tenant(&tenant).await?))?;
        show::one(&self.remote, &made, None)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom tenants set lab --order priority --aging-interval 60 --label team=x\n  headroom tenants set lab --on-lower preempt --grace 120 --if-version 7"
)]
pub(super) struct Set {
    #[command(flatten)]
    own: Own,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    one: One,
}

impl Set {
    pub(super) fn run(&self) -> Result<()> {
        self.one.patch(patch_of(&self.own, &self.rules, &[])?)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom tenants quota lab\n  headroom tenants quota lab vcore=60 --dry-run\n  headroom tenants quota lab vcore=120 memory=none --if-version 7"
)]
pub(super) struct Quota {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// New quota of each type. `instances` counts tasks, and `TYPE=none` removes the limit. Other types do
    /// not change
    #[arg(value_name = "TYPE=AMOUNT")]
    bounds: Vec<Bound>,
    /// Maximum number of waiting tasks
    #[arg(long, value_name = "COUNT")]
    max_waiting: Option<u64>,
    /// Maximum number of running tasks
    #[arg(long, value_name = "COUNT")]
    max_tasks: Option<u64>,
    /// Reset the quota to the default
    #[arg(long, conflicts_with_all = ["bounds", "max_waiting", "max_tasks"])]
    default: bool,
    /// Predict the effect, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    version: Version,
    #[command(flatten)]
    remote: Remote,
}

const QUOTA: &[&str] = &["TYPE", "QUOTA", "EXCESS", "REMAINS"];
const VICTIMS: &[&str] = &["STOPPED", "INSTANCE", "PRIORITY", "FREES"];

impl Quota {
    pub(super) fn run(&self) -> Result<()> {
        let patch = quota_patch(&self.bounds, self.max_waiting, self.max_tasks)?;
        if patch.is_empty() && !self.default {
            let quota = self
                .remote
                .ask(async |client| Ok(client.get_tenant_quota(&self.tenant).await?))?;
            return self.show(&quota, None);
        }
        let (before, quota) = self.remote.ask(async |client| self.put(client, patch).await)?;
        let what = if self.dry_run { "would change" } else { "changed" };
        self.show(&quota, Some(format!("the quota of {} {what} at version {before}", self.tenant)))
    }

    async fn put(&self, client: Client, patch: Map<String, Value>) -> Result<(u64, TenantQuota)> {
        let tenant = client.get_tenant(&self.tenant).await?;
        let quota = if self.default {
            TenantQuota::default()
        } else {
            serde_json::from_value(merged(serde_json::to_value(&tenant.quota)?, patch))?
        };
        let expect = self.version.of(tenant.version);
        let changed = client.put_tenant_quota(&self.tenant, &quota, self.dry_run, expect).await?;
        Ok((tenant.version, changed))
    }

    fn show(&self, quota: &TenantQuota, heading: Option<String>) -> Result<()> {
        let victims = quota.victims.as_deref().unwrap_or_default();
        if !victims.is_empty() {
            return self.show_victims(quota, victims, heading);
        }
        let mut listing = Listing::new(QUOTA, quota)?.numbers(&["QUOTA", "EXCESS", "REMAINS"]);
        if let Some(heading) = heading {
            listing.heading(heading);
        }
        let excess =
            |name: &str| exact(name, quota.excess.as_ref().and_then(|excess| excess.0.get(name)));
        let remains = |name: &str| {
            exact(name, quota.remains.as_ref().and_then(|remains| remains.0.get(name)))
        };
        for (name, value) in quota.resources.iter().flatten() {
            let bound = crate::remote::amount(name, value);
            listing.row([name.clone(), bound, excess(name), remains(name)]);
        }
        let count = |count: Option<u64>| count.map(|count| count.to_string());
        for (name, bound) in [
            ("instances", quota.instances.map(|count| count.to_string())),
            ("maxWaiting", count(quota.max_waiting)),
            ("maxApplications", count(quota.max_applications)),
        ] {
            if let Some(bound) = bound {
                listing.row([name.to_owned(), bound, excess(name), remains(name)]);
            }
        }
        self.remote.show(&listing)
    }

    /// Prints the tasks that the change would stop.
    fn show_victims(
        &self,
        quota: &TenantQuota,
        victims: &[TenantVictim],
        heading: Option<String>,
    ) -> Result<()> {
        let mut listing = Listing::new(VICTIMS, quota)?.numbers(&["PRIORITY"]);
        let amounts = |amounts: &headroom_api::wsv1::Resources| {
            list(amounts.0.iter().map(|(name, units)| (name.as_str(), exact(name, Some(units)))))
        };
        if let Some(line) = heading {
            listing.heading(line);
        }
        if let Some(excess) = &quota.excess {
            listing.heading(format!("usage above the new quota: {}", amounts(excess)));
        }
        if let Some(remains) = &quota.remains {
            listing.heading(format!("excess after preemption: {}", amounts(remains)));
        }
        for one in victims {
            let gives = amounts(&one.resources);
            listing.row([one.task.clone(), one.key.clone(), one.priority.to_string(), gives]);
        }
        self.remote.show(&listing)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants suspend lab")]
pub(super) struct Suspend {
    #[command(flatten)]
    one: One,
}

impl Suspend {
    pub(super) fn run(&self) -> Result<()> {
        self.one.patch(state("suspended"))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants resume lab")]
pub(super) struct Resume {
    #[command(flatten)]
    one: One,
}

impl Resume {
    pub(super) fn run(&self) -> Result<()> {
        self.one.patch(state("active"))
    }
}

fn state(state: &str) -> Map<String, Value> {
    Map::from_iter([("state".to_owned(), json!(state))])
}

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants delete lab --drain")]
pub(super) struct Delete {
    /// Drain the tenant, and delete it after its last task ends. Without this option, a tenant with tasks is not deleted
    #[arg(long)]
    drain: bool,
    #[command(flatten)]
    one: One,
}

impl Delete {
    pub(super) fn run(&self) -> Result<()> {
        let One { tenant: name, version, remote } = &self.one;
        let left = remote.ask(async |client| {
            let before = client.get_tenant(name).await?.version;
            Ok(client.delete_tenant(name, self.drain, version.of(before)).await?)
        })?;
        match left {
            Some(left) => {
                let heading = format!("{name}: draining, will be deleted after its last task ends");
                show::one(remote, &left, Some(heading))
            }
            None => output::print(&format!("{name}: deleted\n")),
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  headroom tenants defaults\n  headroom tenants defaults --quota vcore=10,memory=20G --order fifo-backfill"
)]
pub(super) struct Defaults {
    /// Default quota. `TYPE=none` removes the limit, and other types do not change
    #[arg(long, value_name = "TYPE=AMOUNT", value_delimiter = ',')]
    quota: Vec<Bound>,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    version: Version,
    #[command(flatten)]
    remote: Remote,
}

const DEFAULTS: &[&str] = &["QUOTA", "ORDER", "ON LOWER", "OVERSIZED", "VERSION"];

impl Defaults {
    pub(super) fn run(&self) -> Result<()> {
        let mut patch = self.rules.patch();
        let quota = quota_patch(&self.quota, self.rules.max_waiting(), None)?;
        if !quota.is_empty() {
            patch.insert("quota".to_owned(), quota.into());
        }
        let (before, now) = self.remote.ask(async |client| {
            let before = client.get_tenant_defaults().await?;
            if patch.is_empty() {
                return Ok((None, before));
            }
            let defaults: TenantDefaults =
                serde_json::from_value(merged(serde_json::to_value(&before)?, patch))?;
            let expect = self.version.of(before.version);
            Ok((Some(before.version), client.put_tenant_defaults(&defaults, expect).await?))
        })?;
        let mut listing = Listing::new(DEFAULTS, &now)?.numbers(&["VERSION"]);
        if let Some(before) = before {
            listing.heading(changed("defaults", before, now.version));
        }
        listing.row([
            now.quota.as_ref().map_or_else(|| "no limit".to_owned(), show::quota),
            word(now.waiting.strategy),
            word(now.on_lower.action),
            word(now.oversized),
            now.version.to_string(),
        ]);
        self.remote.show(&listing)
    }
}
