//! `headroom tenants watch`: new events of a tenant.

use anyhow::Result;
use clap::Args;
use headroom_api::headroomv1::TenantEvent;

use super::show::{sentence, word};
use crate::remote::Remote;

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants watch lab --after 4183 -o json")]
pub(super) struct Watch {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Start after the record with this number, such as the last one that you saw
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    #[command(flatten)]
    remote: Remote,
}

impl Watch {
    /// Prints each event as one line of JSON or text when it arrives.
    pub(super) fn run(&self) -> Result<()> {
        self.remote.ask(async |client| {
            let frames = client.watch_tenant(&self.tenant, self.after).await?;
            self.remote.follow(frames, row).await
        })
    }
}

fn row(event: &TenantEvent) -> Vec<String> {
    let reason =
        event.reason.as_ref().map(|reason| format!("{}: {}", reason.code, sentence(reason)));
    let all = [
        Some(event.ledger_version.to_string()),
        Some(event.at.to_string()),
        Some(event.kind.clone()),
        Some(event.tenant.clone()),
        event.task.clone(),
        event.state.map(word),
        reason,
    ];
    all.into_iter().flatten().collect()
}
