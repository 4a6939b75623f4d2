//! Data that the writer publishes.

use std::sync::Arc;

use crate::audit_log::AuditReader;
use crate::feed::Feed;
use crate::health::Vitals;
use crate::view::Views;
use crate::watched::Watched;

/// Data that the writer publishes for readers.
#[derive(Clone, Debug)]
pub struct Published {
    /// Feed of entries.
    pub feed: Feed,
    /// Views of the books.
    pub views: Views,
    /// Records for watchers.
    pub watched: Watched,
    /// Reader of the audit log.
    pub audit: AuditReader,
    /// Health of the writer.
    pub(crate) vitals: Arc<Vitals>,
}

impl Published {
    /// Ends all published data, and releases all waiting readers.
    pub(crate) fn end(&self) {
        self.feed.end();
        self.views.end();
        self.watched.end();
    }
}
