//! All services as one router.

use std::sync::Arc;
use std::time::Duration;

use headroom_api::si::headroom::callbacks_server::CallbacksServer;
use headroom_api::si::headroom::scheduler_session_server::SchedulerSessionServer;
use headroom_api::si::v1::scheduler_server::SchedulerServer;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::server::{HealthReporter, health_reporter};
use tonic_reflection::server::{v1, v1alpha};

use crate::Service;

use super::callbacks::Callbacks;
use super::compat::Compat;
use super::interface::Interface;
use super::reflection::{Index, Reflection};
use super::session::Session;
use super::settings::Settings;

/// How often it is looked whether the engine goes on.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Serve the scheduler interface as usual, on a port that others may share. Requests carry a
/// [`crate::Caller`] as extension.
///
/// # Panics
/// Outside a Tokio runtime.
pub fn router(service: Service) -> axum::Router {
    Interface::new(service, Settings::default()).router()
}

impl Interface {
    /// All services of the scheduler interface; without a fallback, so that it can be merged with
    /// other routes.
    ///
    /// # Panics
    /// Outside a Tokio runtime.
    pub fn router(&self) -> axum::Router {
        let (reporter, health) = health_reporter();
        tokio::spawn(report_health(self.clone(), reporter));
        let index = Index::of_server().expect("the descriptors were compiled with the server");
        let reflection = Reflection(Arc::new(index));
        self.services()
            .add_service(health)
            .add_service(v1::ServerReflectionServer::new(reflection.clone()))
            .add_service(v1alpha::ServerReflectionServer::new(reflection))
            .into_axum_router()
    }

    /// Those that are ours.
    pub(crate) fn services(&self) -> Routes {
        let most = self.settings().message_bytes_max;
        let scheduler = SchedulerServer::new(Compat(self.clone())).max_decoding_message_size(most);
        let session =
            SchedulerSessionServer::new(Session(self.clone())).max_decoding_message_size(most);
        let callbacks =
            CallbacksServer::new(Callbacks(self.clone())).max_decoding_message_size(most);
        Routes::from(axum::Router::new())
            .add_service(scheduler)
            .add_service(session)
            .add_service(callbacks)
    }
}

/// Each service is healthy as long as the engine takes commands.
async fn report_health(interface: Interface, reporter: HealthReporter) {
    let names = [
        <SchedulerServer<Compat> as NamedService>::NAME,
        <SchedulerSessionServer<Session> as NamedService>::NAME,
        <CallbacksServer<Callbacks> as NamedService>::NAME,
    ];
    for name in names {
        reporter.set_service_status(name, ServingStatus::Serving).await;
    }
    // Held weakly: the server of the router reports when it ends.
    let interface = interface.downgrade();
    while let Some(interface) = interface.upgrade() {
        if interface.is_shut_down() {
            break;
        }
        drop(interface);
        tokio::time::sleep(LOOK_EVERY).await;
    }
    for name in names.into_iter().chain([""]) {
        reporter.set_service_status(name, ServingStatus::NotServing).await;
    }
}
