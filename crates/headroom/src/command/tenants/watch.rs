//! `headroom tenants watch`: what happens to a tenant, as it happens.

use anyhow::Result;
use clap::Args;
use headroom_api::headroomv1::{Frame, TenantEvent};

use super::show::{sentence, word};
use crate::output;
use crate::remote::{Format, Remote};

#[derive(Debug, Args)]
#[command(after_help = "Example: headroom tenants watch lab --after 4183 -o json")]
pub(super) struct Watch {
    /// The tenant
    #[arg(value_name = "TENANT")]
    tenant: String,
    /// Begin behind the record of this number, which was seen last
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    #[command(flatten)]
    remote: Remote,
}

impl Watch {
    /// Each event is a line as soon as it comes: of JSON, or of text.
    pub(super) fn run(&self) -> Result<()> {
        self.remote.ask(async |client| {
            let mut frames = client.watch_tenant(&self.tenant, self.after).await?;
            while let Some(frame) = frames.next().await? {
                match frame {
                    Frame::Hello(_) => {}
                    Frame::Event { event, .. } => output::print(&self.line(&event)?)?,
                    Frame::Bye(bye) => {
                        output::tell(&format!("the server ends the stream: {}", bye.reason));
                    }
                }
            }
            Ok(())
        })
    }

    fn line(&self, event: &TenantEvent) -> Result<String> {
        Ok(match self.remote.output {
            Format::Table | Format::Csv => {
                format!("{}\n", output::printable_lines(&row(event).join("  ")))
            }
            Format::Json => format!("{}\n", serde_json::to_string(event)?),
            Format::Yaml => format!("---\n{}", serde_saphyr::to_string(event)?),
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
