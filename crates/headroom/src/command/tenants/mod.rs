//! `headroom tenants`: what tenants may use, use and wait for, and changes of that.

mod change;
mod said;
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

/// Show and change tenants of a running server: their quotas, what they use and what waits
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Tenants {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Show the tenants, with their quotas
    List(show::List),
    /// Show what is said of one tenant
    Show(show::Show),
    /// Show what a tenant may use, uses and has left, all of one moment
    Usage(show::Usage),
    /// Show what of a tenant waits, in the order in which it starts, and why
    Waiting(show::Waiting),
    /// Say what would become of a task, were it submitted now
    Check(show::Check),
    /// Show what happens to a tenant, those below it and their tasks, until interrupted
    Watch(watch::Watch),
    /// Make a tenant
    Create(change::Create),
    /// Change some of what is said of a tenant
    Set(change::Set),
    /// Show the quota of a tenant, or change some of it
    Quota(change::Quota),
    /// Have nothing of a tenant start any more; what runs goes on
    Suspend(change::Suspend),
    /// Have its tasks start again
    Resume(change::Resume),
    /// Have a tenant go
    Delete(change::Delete),
    /// Compare what is counted of all tenants with what their tasks have
    Verify(show::Verify),
    /// Show what holds for tenants that do not say otherwise, or change it
    Defaults(change::Defaults),
}

impl Tenants {
    /// Ask or change, and show.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub(crate) fn run(self) -> Result<()> {
        match self.deed {
            Deed::List(list) => list.run(),
            Deed::Show(show) => show.run(),
            Deed::Usage(usage) => usage.run(),
            Deed::Waiting(waiting) => waiting.run(),
            Deed::Check(check) => check.run(),
            Deed::Watch(watch) => watch.run(),
            Deed::Create(create) => create.run(),
            Deed::Set(set) => set.run(),
            Deed::Quota(quota) => quota.run(),
            Deed::Suspend(suspend) => suspend.run(),
            Deed::Resume(resume) => resume.run(),
            Deed::Delete(delete) => delete.run(),
            Deed::Verify(verify) => verify.run(),
            Deed::Defaults(defaults) => defaults.run(),
        }
    }
}
