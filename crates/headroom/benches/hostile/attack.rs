//! What a stranger does, and what came of it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// What a stranger does to the server at this address, until it is dropped.
pub(crate) type Attack = fn(SocketAddr, Counts) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// What came of it, by name. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(Arc<Mutex<BTreeMap<String, u64>>>);

impl Counts {
    /// One more of these.
    pub(crate) fn count(&self, what: &str) {
        self.add(what, 1);
    }

    /// So many more of these.
    pub(crate) fn add(&self, what: &str, many: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(what.to_owned()).or_default() += many;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<String> =
            counts.iter().map(|(what, many)| format!("{many} {what}")).collect();
        out.write_str(&words.join(", "))
    }
}
