//! `headroom events`: past and new events of a running server.

use anyhow::Result;
use clap::Args;
use headroom_api::client::EventFilter;
use headroom_api::headroomv1::Event;

use crate::remote::{Listing, Remote};

/// Show recent events, the oldest first. With --follow, show new events.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom events --follow --object train-0001")]
pub(crate) struct Events {
    /// Show new events until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Show only events at or after this time (RFC 3339) or sequence number
    #[arg(long, value_name = "WHEN")]
    from: Option<String>,
    /// Show only events up to this time (RFC 3339) or sequence number
    #[arg(long, value_name = "WHEN", conflicts_with = "follow")]
    to: Option<String>,
    /// Show only events of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Show only events about the object with this key, ID, path, or name
    #[arg(long, value_name = "NAME")]
    object: Option<String>,
    /// Show only events whose text contains this
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// Maximum number of events, without --follow
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    remote: Remote,
}

const COLUMNS: &[&str] = &["NUMBER", "TIME", "KIND", "OBJECT", "TEXT"];

impl Events {
    /// Requests the data from the server, and prints it.
    ///
    /// # Errors
    /// When the server cannot be reached, or rejects the request.
    pub(crate) fn run(&self) -> Result<()> {
        let filter = EventFilter {
            from: self.from.clone(),
            to: self.to.clone(),
            kind: self.kind.clone(),
            object: self.object.clone(),
            find: self.find.clone(),
        };
        if self.follow { self.watch(&filter) } else { self.list(&filter) }
    }

    fn list(&self, filter: &EventFilter) -> Result<()> {
        let events = self.remote.ask(async |client| {
            let (mut events, mut cursor) = (Vec::new(), None);
            while events.len() < self.limit {
                let page = client.list_events(filter, cursor.as_deref()).await?;
                events.extend(page.items);
                cursor = page.cursor;
                if cursor.is_none() {
                    break;
                }
            }
            events.truncate(self.limit);
            // The server sends the newest event first. A terminal shows the oldest first.
            events.reverse();
            Ok(events)
        })?;
        let mut listing = Listing::new(COLUMNS, &events)?.numbers(&["NUMBER"]);
        for event in &events {
            listing.row(row(event));
        }
        self.remote.show(&listing)
    }

    /// Prints each event as one line of JSON or text when it arrives.
    fn watch(&self, filter: &EventFilter) -> Result<()> {
        self.remote.ask(async |client| {
            let frames = client.watch_events(filter, None).await?;
            self.remote.follow(frames, row).await
        })
    }
}

fn row(event: &Event) -> [String; COLUMNS.len()] {
    [
        event.sequence.to_string(),
        event.at.to_string(),
        event.kind.clone(),
        event.object.clone(),
        event.text.clone(),
    ]
}
