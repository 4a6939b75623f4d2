//! Shared state of all request handlers.

use std::sync::Arc;

use headroom_engine::users::Users;
use headroom_engine::{Clock, Handle};

use crate::about::About;
use crate::live::Live;
use crate::pods::PodQuestions;
use crate::queue_file::QueueFile;

/// Shared state of all request handlers and their clones.
#[derive(Clone, Debug)]
pub struct Service {
    parts: Arc<Parts>,
    live: Arc<Live>,
    pods: PodQuestions,
}

/// Parts of a service.
#[derive(Debug)]
pub struct Parts {
    /// Handle of the writer, with the published state of the writer.
    pub engine: Handle,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Resolver of users and their groups.
    pub users: Arc<Users>,
    /// The active queue file.
    pub queue_file: QueueFile,
    /// Version and identity of this server.
    pub about: About,
}

impl Service {
    /// Returns a service of these parts.
    pub fn new(parts: Parts) -> Self {
        Self { parts: Arc::new(parts), live: Arc::default(), pods: PodQuestions::default() }
    }

    /// Returns where questions about pods of Kubernetes go.
    pub const fn pods(&self) -> &PodQuestions {
        &self.pods
    }

    /// Returns the counters of the server.
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
