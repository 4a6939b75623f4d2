//! What `/ws/v1` shows and the books do not know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// The RM that has registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manager {
    /// Its id.
    pub id: String,
    /// What it says of its build, by key.
    pub build: BTreeMap<String, String>,
}

/// Texts by key, as the RM sent them with an object.
pub type Tags = Arc<BTreeMap<String, String>>;

/// What is shown and the books do not know, because no decision depends on it: who the RM is, what
/// it says of its objects, and how verbose the log is.
pub trait RmMetadata: Send + Sync + fmt::Debug {
    /// The RM; none before one registers.
    fn manager(&self) -> Option<Manager>;

    /// The tags of an ask, an allocation or something foreign, by its key.
    fn tags(&self, partition: &str, key: &str) -> Option<Tags>;

    /// What the RM says of itself in its state dump; none if it says nothing.
    ///
    /// # Errors
    /// Why it did not answer.
    fn diagnostics(&self) -> BoxFuture<'_, Result<Option<Map<String, Value>>, String>>;

    /// How verbose the log is, in lower case, such as `info`.
    fn log_level(&self) -> String;
}

/// Nothing is known: no RM has registered, and the log is as verbose as usual.
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
