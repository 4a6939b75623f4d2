//! What the writer lets others read.

use std::sync::Arc;

use crate::audit_log::AuditReader;
use crate::feed::Feed;
use crate::health::Vitals;
use crate::view::Views;
use crate::watched::Watched;

/// What is published for others to read.
#[derive(Clone, Debug)]
pub struct Published {
    /// What has happened.
    pub feed: Feed,
    /// The books.
    pub views: Views,
    /// Records for watchers.
    pub watched: Watched,
    /// The audit.
    pub audit: AuditReader,
    /// How it is.
    pub(crate) vitals: Arc<Vitals>,
}

impl Published {
    /// Nothing comes any more: release everybody who waits for it.
    pub(crate) fn end(&self) {
        self.feed.end();
        self.views.end();
        self.watched.end();
    }
}
