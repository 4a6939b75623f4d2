//! Router of all services.

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

/// Interval of checks whether the engine is running.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Returns a router that serves the scheduler interface with default settings, on a port that other services can
/// share. Requests have a [`crate::Caller`] as an extension.
///
/// # Panics
/// If called outside a Tokio runtime.
pub fn router(service: Service) -> axum::Router {
    Interface::new(service, Settings::default()).router()
}

impl Interface {
    /// Returns a router of all services of the scheduler interface. The router has no fallback, so that other routes
    /// can be merged.
    ///
    /// # Panics
    /// If called outside a Tokio runtime.
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

    /// Returns the services of Headroom.
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

/// Reports each service as healthy as long as the engine accepts commands.
async fn report_health(interface: Interface, reporter: HealthReporter) {
    let names = [
        <SchedulerServer<Compat> as NamedService>::NAME,
        <SchedulerSessionServer<Session> as NamedService>::NAME,
        <CallbacksServer<Callbacks> as NamedService>::NAME,
    ];
    for name in names {
        reporter.set_service_status(name, ServingStatus::Serving).await;
    }
    // The reference is weak, so that the end of the server ends this task.
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
