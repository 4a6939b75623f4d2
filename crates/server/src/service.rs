//! What everybody needs who answers requests.

use std::sync::Arc;

use headroom_engine::users::Users;
use headroom_engine::{Clock, Handle};

use crate::about::About;
use crate::live::Live;
use crate::queue_file::QueueFile;

/// What everybody needs who answers requests. Clones are one.
#[derive(Clone, Debug)]
pub struct Service {
    parts: Arc<Parts>,
    live: Arc<Live>,
}

/// What a service is made of.
#[derive(Debug)]
pub struct Parts {
    /// The writer, and what it has published.
    pub engine: Handle,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who submits, and in which groups.
    pub users: Arc<Users>,
    /// The queue file in force.
    pub queue_file: QueueFile,
    /// Which server this is.
    pub about: About,
}

impl Service {
    /// Of these.
    pub fn new(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), live: Arc::default() }
    }

    /// What the server counts about itself.
    pub const fn live(&self) -> &Arc<Live> {
        &self.live
    }
}

impl std::ops::Deref for Service {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}
