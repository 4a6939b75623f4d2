//! `headroom tenants`: quotas, usage, and waiting tasks of tenants, and changes of them.

mod change;
mod settings;
mod show;
mod watch;

use anyhow::Result;
use clap::{Args, Subcommand};

pub(super) use show::{why, word};

const EXAMPLE: &str = "\
Examples:
  headroom tenants create lab --quota vcore=100,memory=200G,instances=500
  headroom tenants quota lab vcore=60 --dry-run
  headroom tenants waiting lab";

/// Show and change tenants of a running server: quotas, usage, and waiting tasks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Tenants {
    #[command(subcommand)]
    deed: TenantsCommand,
}

#[derive(Debug, Subcommand)]
enum TenantsCommand {
    /// Show the tenants with their quotas
    List(show::List),
    /// Show the settings of a tenant
    Show(show::Show),
    /// Show the quota, usage, and free amounts of a tenant, all at the same moment
    Usage(show::Usage),
    /// Show the waiting tasks of a tenant in start order, with their wait reasons
    Waiting(show::Waiting),
    /// Predict whether a task starts, waits, or is rejected. Changes nothing
    Check(show::Check),
    /// Show new events of a tenant, of the tenants below it, and of their tasks, until interrupted
    Watch(watch::Watch),
    /// Create a tenant
    Create(change::Create),
    /// Change some settings of a tenant
    Set(change::Set),
    /// Show or change the quota of a tenant
    Quota(change::Quota),
    /// Suspend a tenant: no task starts, and running tasks continue
    Suspend(change::Suspend),
    /// Resume a suspended tenant
    Resume(change::Resume),
    /// Delete a tenant
    Delete(change::Delete),
    /// Compare the recorded usage of all tenants with the sum of their tasks
    Verify(show::Verify),
    /// Show or change the default settings of tenants
    Defaults(change::Defaults),
}

impl Tenants {
    /// Runs the subcommand, and prints the result.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(self) -> Result<()> {
        match self.deed {
            TenantsCommand::List(list) => list.run(),
            TenantsCommand::Show(show) => show.run(),
            TenantsCommand::Usage(usage) => usage.run(),
            TenantsCommand::Waiting(waiting) => waiting.run(),
            TenantsCommand::Check(check) => check.run(),
            TenantsCommand::Watch(watch) => watch.run(),
            TenantsCommand::Create(create) => create.run(),
            TenantsCommand::Set(set) => set.run(),
            TenantsCommand::Quota(quota) => quota.run(),
            TenantsCommand::Suspend(suspend) => suspend.run(),
            TenantsCommand::Resume(resume) => resume.run(),
            TenantsCommand::Delete(delete) => delete.run(),
            TenantsCommand::Verify(verify) => verify.run(),
            TenantsCommand::Defaults(defaults) => defaults.run(),
        }
    }
}
