//! A server on a socket of its own, whose routes answer who asked.

#![allow(dead_code)] // Not every test file needs everything.
#![allow(clippy::unwrap_used, reason = "a test says what failed")]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::routing::{MethodFilter, MethodRouter, on, post};
use axum::{Extension, Router};
use headroom_api::routes::{self, Method};
use headroom_config::process::{Process, Sources};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::{Engine, HandClock, Pace, Settings};
use headroom_server::Caller;
use headroom_server::auth::Authenticator;
use headroom_server::listen::{Gate, Listening, Routers, Serving, assemble};

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) serving: Serving,
    pub(crate) engine: Engine,
    pub(crate) gate: Arc<Gate>,
}

/// Returns the settings in this `headroom.yaml`, on a port that the system chooses.
pub(crate) fn process(file: &str) -> Process {
    let file = format!("listen: '127.0.0.1:0'\n{file}");
    let file = Some((PathBuf::from("headroom.yaml"), file));
    Process::read(Sources { file, ..Sources::default() }).unwrap()
}

/// Starts a server with these settings, with stubs of all routes.
pub(crate) async fn start(file: &str) -> Server {
    start_with(file, stubs())
}

pub(crate) fn start_with(file: &str, rest: Router) -> Server {
    let process = process(file);
    let server = begin(&process).unwrap();
    let routers = Routers { rest, rpc: services() };
    server.serving.open(assemble(&process, &server.gate, routers));
    server
}

/// A server that is still starting.
pub(crate) fn begin(process: &Process) -> Result<Server, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let auth = Authenticator::new(process).map_err(|error| text(&error))?;
    let listening = Listening::bind(process).map_err(|error| text(&error))?;
    let address = listening.addresses()[0];
    let serving = listening.start().unwrap();
    let settings = Settings { pace: Pace::ByHand, ..Settings::with(HandClock::default()) };
    let engine = Engine::start(Box::new(MemoryJournal::default().open()), settings).unwrap();
    let gate = Arc::new(Gate::new(process, auth, engine.handle(), "0123456789"));
    Ok(Server { address, serving, engine, gate })
}

/// Every route of the table; each reads its body and answers who asked.
pub(crate) fn stubs() -> Router {
    routes::all().fold(Router::new(), |router, route| router.route(route.path, stub(route.method)))
}

fn stub(method: Method) -> MethodRouter {
    let filter = match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    };
    on(filter, who)
}

async fn who(caller: Option<Extension<Caller>>, body: Bytes) -> String {
    let identity = caller.map(|Extension(caller)| caller.identity).unwrap_or_default();
    format!("{identity} sent {}", body.len())
}

fn services() -> Router {
    Router::new()
        .route("/si.v1.Scheduler/{*method}", post(who))
        .route("/grpc.health.v1.Health/{*method}", post(who))
        .route("/grpc.reflection.v1.ServerReflection/{*method}", post(who))
        .route("/grpc.reflection.v1alpha.ServerReflection/{*method}", post(who))
}

impl Server {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) async fn get(&self, path: &str) -> reqwest::Response {
        client().get(self.url(path)).send().await.unwrap()
    }
}

/// A client that keeps no connections, so that none is another test's.
pub(crate) fn client() -> reqwest::Client {
    let builder = reqwest::Client::builder().pool_max_idle_per_host(0);
    builder.timeout(Duration::from_secs(20)).no_proxy().build().unwrap()
}

/// A client of HTTP/2 without asking first, as gRPC has it.
pub(crate) fn client_2() -> reqwest::Client {
    reqwest::Client::builder().http2_prior_knowledge().no_proxy().build().unwrap()
}

/// What gRPC says of an empty message to this method: `grpc-status`.
pub(crate) async fn call(server: &Server, method: &str, token: Option<&str>) -> Option<u16> {
    let mut request =
        client_2().post(server.url(method)).header("content-type", "application/grpc");
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request.body(vec![0; 5]).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let status = response.headers().get("grpc-status")?;
    status.to_str().unwrap().parse().ok()
}

/// A folder of a test's own.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("headroom-server-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        text_of(&path)
    }
}

fn text_of(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
