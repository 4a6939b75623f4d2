//! `headroom events`: what happened on a running server, and what happens.

use anyhow::Result;
use clap::Args;
use headroom_api::client::EventFilter;
use headroom_api::headroomv1::Event;

use crate::remote::{Listing, Remote};

/// Show what happened lately, the oldest first; with --follow what happens from now on.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom events --follow --object train-0001")]
pub(crate) struct Events {
    /// Go on until interrupted
    #[arg(short, long)]
    follow: bool,
    /// From this time (RFC 3339) or sequence number on
    #[arg(long, value_name = "WHEN")]
    from: Option<String>,
    /// Up to this time or sequence number
    #[arg(long, value_name = "WHEN", conflicts_with = "follow")]
    to: Option<String>,
    /// Only of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only of what has this key, id, path or name
    #[arg(long, value_name = "NAME")]
    object: Option<String>,
    /// Only with this in the text
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// How many at most, without --follow
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    remote: Remote,
}

const COLUMNS: &[&str] = &["NUMBER", "TIME", "KIND", "OBJECT", "TEXT"];

impl Events {
    /// Ask and show.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
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
            // The server has the newest first, a terminal the oldest.
            events.reverse();
            Ok(events)
        })?;
        let mut listing = Listing::new(COLUMNS, &events)?.numbers(&["NUMBER"]);
        for event in &events {
            listing.row(row(event));
        }
        self.remote.show(&listing)
    }

    /// Each event is a line as soon as it comes: of JSON, or of text.
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
