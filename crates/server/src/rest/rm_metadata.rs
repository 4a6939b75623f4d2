//! Metadata that `/ws/v1` shows and that is not in the books.

use std::collections::BTreeMap;
use std::fmt;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// The registered RM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manager {
    /// Id of the RM.
    pub id: String,
    /// Build information from the RM, by key.
    pub build: BTreeMap<String, String>,
    /// Whether the RM still has to send existing objects.
    pub is_recovering: bool,
}

/// Texts by key that the RM sent with an object.
pub type Tags = BTreeMap<String, String>;

/// Metadata in responses that is not in the books, because no decision depends on it: the identity of the RM, its
/// tags of objects, and the log level.
pub trait RmMetadata: Send + Sync + fmt::Debug {
    /// Returns the RM. `None` before the first registration.
    fn manager(&self) -> Option<Manager>;

    /// Returns the tags of an ask, an allocation, or a foreign allocation, by its key.
    fn tags(&self, partition: &str, key: &str) -> Option<Tags>;

    /// Returns the RM's own state for a state dump. `None` if the RM sends none.
    ///
    /// # Errors
    /// The reason why the RM did not answer.
    fn diagnostics(&self) -> BoxFuture<'_, Result<Option<Map<String, Value>>, String>>;

    /// Returns the log level in lower case, such as `info`.
    fn log_level(&self) -> String;
}

/// No metadata: no RM has registered, and the log has its default level.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRmMetadata;

impl RmMetadata for NoRmMetadata {
    fn manager(&self) -> Option<Manager> {
        None
    }

    fn tags(&self, _: &str, _: &str) -> Option<Tags> {
        None
    }

    fn diagnostics(&self) -> BoxFuture<'_, Result<Option<Map<String, Value>>, String>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn log_level(&self) -> String {
        "info".to_owned()
    }
}
