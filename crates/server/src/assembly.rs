//! Assembles the server: connects every interface to one service, and the interfaces to each other.

use std::fmt;
use std::sync::Arc;

use axum::{Extension, middleware};
use futures_util::future::BoxFuture;
use headroom_api::headroomv1::{ResourceManager, ResourceManagerState};
use serde_json::{Map, Value};

use crate::convert::value::moment;
use crate::grpc::{self, Interface, RmState};
use crate::listen::Routers;
use crate::live::Managers;
use crate::log_levels::LogLevels;
use crate::rest::{Manager, Rest, RestSettings, RmMetadata, Tags, log_level};
use crate::service::Service;
use crate::{metrics, mount, native, rest};

/// Settings of the interfaces.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Settings of `/ws/v1`.
    pub rest: RestSettings,
    /// Settings of the scheduler interface.
    pub si: grpc::Settings,
}

/// Every interface on one service.
pub struct Assembly {
    /// Routers of the interfaces, which [`crate::listen::assemble`] merges into one.
    pub routers: Routers,
    /// The scheduler interface, which is notified when the server ends.
    pub interface: Interface,
    /// State of `/ws/v1` that the service does not have.
    pub rest: Arc<Rest>,
    /// Operations in the table of routes without a handler. Empty, unless there is a bug.
    pub lacking: Vec<&'static str>,
}

impl fmt::Debug for Assembly {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Whole").field("lacking", &self.lacking).finish_non_exhaustive()
    }
}

impl Assembly {
    /// Returns all interfaces of a service. `levels` are the levels of its log.
    ///
    /// # Panics
    /// If called outside a Tokio runtime.
    pub fn of(service: &Service, levels: &Arc<LogLevels>, settings: &Settings) -> Self {
        let interface = Interface::new(service.clone(), settings.si);
        let metadata =
            Arc::new(Others { interface: interface.clone(), levels: Arc::clone(levels) });
        service.live().tell_rms_by(metadata.clone());
        let rest = Arc::new(Rest::new(settings.rest, metadata));
        let modules = [rest::handler, log_level::handler, native::handler, metrics::handler];
        let mounted = mount::router(service.clone(), Arc::clone(&rest), &modules);
        let (checks, checked) = (Arc::clone(&rest.checks), service.clone());
        tokio::spawn(async move { checks.keep(&checked).await });
        let count = middleware::from_fn_with_state(service.clone(), metrics::count);
        let router = mounted.router.layer(Extension(Arc::clone(levels))).layer(count);
        let routers = Routers { rest: router, rpc: interface.router() };
        Self { routers, interface, rest, lacking: mounted.lacking }
    }
}

/// Facts about the scheduler interface and the log that REST shows.
struct Others {
    interface: Interface,
    levels: Arc<LogLevels>,
}

impl fmt::Debug for Others {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Others").finish_non_exhaustive()
    }
}

impl RmMetadata for Others {
    fn manager(&self) -> Option<Manager> {
        let one = self.interface.registered()?;
        Some(Manager { id: one.rm_id, build: one.build_info, is_recovering: one.is_recovering })
    }

    fn tags(&self, partition: &str, key: &str) -> Option<Tags> {
        self.interface.tags(partition, key)
    }

    fn diagnostics(&self) -> BoxFuture<'_, Result<Option<Map<String, Value>>, String>> {
        Box::pin(async {
            let Some(dump) = self.interface.state_dump().await else { return Ok(None) };
            let dump = serde_json::from_str(&dump?);
            dump.map(Some).map_err(|error| {
                format!("the state dump of the resource manager is not valid: {error}")
            })
        })
    }

    fn log_level(&self) -> String {
        format!("{:?}", self.levels.get().level).to_lowercase()
    }
}

impl Managers for Others {
    fn managers(&self) -> Vec<ResourceManager> {
        let one = self.interface.registered();
        let state = |standing| match standing {
            RmState::Init => ResourceManagerState::Init,
            RmState::Running => ResourceManagerState::Running,
            RmState::Paused => ResourceManagerState::Paused,
            RmState::Stopped => ResourceManagerState::Stopped,
        };
        let manager = |one: grpc::Registered| ResourceManager {
            id: one.rm_id,
            state: state(one.standing),
            last_seen: moment(one.last_seen).unwrap_or_default(),
        };
        one.into_iter().map(manager).collect()
    }
}
