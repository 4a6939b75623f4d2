//! A server on a loopback port: an engine that goes by hand on a journal in memory, all routes that
//! have handlers, a typed client and raw requests.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "each test program uses a part of it"
)]

mod cluster;
mod raw;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use headroom_api::client::Client;
use headroom_api::headroomv1::Role;
use headroom_core::{Millis, Name, Timestamp};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Handle, Origin, Pace, Settings};
use headroom_server::mount::{self, Handlers};
use headroom_server::rest::{self, NoRmMetadata, Rest, RestSettings, RmMetadata};
use headroom_server::{About, Caller, Parts, Proof, QueueFile, Service};
use tokio::net::TcpListener;

pub use cluster::{amounts, ask, node, placed, submit};
pub use raw::{Exchange, Raw};

/// When every test begins: 2001-09-09T01:46:40Z.
pub const START: Timestamp = Timestamp::from_millis(1_000_000_000_000);

/// Says in a request who asks: user, groups, roles and perhaps tenants, each separated by commas. Without it the
/// server is open.
pub const CALLER: &str = "x-test-caller";

/// The caller of whom nothing is known, as where the guard is missing.
pub const NOBODY: &str = "nobody";

/// How a server is started.
#[derive(Debug)]
pub struct Options {
    pub settings: RestSettings,
    pub beside: Arc<dyn RmMetadata>,
    /// The queue file, if one is put in force at once.
    pub queues: Option<String>,
    /// Settings next to it.
    pub extra: BTreeMap<String, String>,
    /// Modules with handlers in addition to `/ws/v1` and `/debug`.
    pub modules: Vec<Handlers>,
    /// Whether the scheduler goes on by itself.
    pub pace: Pace,
    /// Whether nothing starts on a journal with nodes before these have reported.
    pub awaits_nodes: bool,
    /// Number of records stored for followers, if it is not the default.
    pub entries: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: RestSettings::default(),
            beside: Arc::new(NoRmMetadata),
            queues: Some(QUEUES.to_owned()),
            extra: BTreeMap::new(),
            modules: Vec::new(),
            pace: Pace::ByHand,
            awaits_nodes: false,
            entries: None,
        }
    }
}

/// Two partitions, the second of which stays empty; queues with and without a maximum.
pub const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: sales
            properties: {application.sort.policy: fair}
            resources:
              guaranteed: {vcore: 2}
              max: {vcore: 8, memory: 64Gi}
          - name: dev
            parent: true
            childtemplate: {maxapplications: 3, resources: {max: {vcore: 4}}}
            queues:
              - name: one
                limits:
                  - {limit: ann, users: [ann], maxapplications: 2, maxresources: {vcore: 4}}
                  - {limit: ops, groups: [ops], maxresources: {vcore: 6}}
  - name: gpu
    queues: [{name: root}]
";

/// A server that runs until this goes.
pub struct Server {
    pub engine: Engine,
    pub handle: Handle,
    pub clock: HandClock,
    pub service: Service,
    pub rest: Arc<Rest>,
    pub address: SocketAddr,
    /// The operations of the table that have no handler here.
    pub lacking: Vec<&'static str>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    pub async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub async fn with(options: Options) -> Self {
        Self::on(&MemoryJournal::default(), options).await
    }

    /// A server on a journal, which others may have written to.
    pub async fn on(journal: &MemoryJournal, options: Options) -> Self {
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        settings.pace = options.pace;
        settings.awaits_nodes = options.awaits_nodes;
        settings.retention.entries = options.entries.unwrap_or(settings.retention.entries);
        let engine = Engine::start(Box::new(journal.open()), settings).unwrap();
        let handle = engine.handle();
        let users = Arc::new(Users::default());
        let shared: Arc<HandClock> = Arc::new(clock.clone());
        let queue_file =
            QueueFile::resume(handle.clone(), shared.clone(), Arc::clone(&users), None).await;
        if let Some(text) = &options.queues {
            queue_file.apply(Origin::default(), text).await.unwrap();
        }
        queue_file.set_base(options.extra);
        let about = About::this(BTreeMap::new()).unwrap();
        let service =
            Service::new(Parts { engine: handle.clone(), clock: shared, users, queue_file, about });
        let rest = Arc::new(Rest::new(options.settings, options.beside));
        let mut modules: Vec<Handlers> = vec![rest::handler];
        modules.extend(options.modules);
        let mounted = mount::router(service.clone(), Arc::clone(&rest), &modules);
        let router = mounted.router.layer(middleware::from_fn(identify));
        let (address, serving) = serve(router).await;
        let lacking = mounted.lacking;
        Self { engine, handle, clock, service, rest, address, lacking, serving }
    }

    /// Let some time pass, and the scheduler take all steps.
    pub async fn turn(&self, millis: u64) -> u32 {
        self.clock.advance(Millis::new(millis));
        self.handle.step(u32::MAX).await.unwrap()
    }

    /// A typed client, to whom the server is open.
    pub fn client(&self) -> Client {
        Client::builder(format!("http://{}", self.address)).build().unwrap()
    }

    /// Ask by hand.
    pub fn raw(&self) -> Raw {
        Raw::new(self.address)
    }

    /// What a `GET` of this path answers.
    pub async fn get(&self, path: &str) -> Exchange {
        self.raw().send("GET", path).await
    }

    /// What a `GET` of this path answers as JSON, with status 200.
    pub async fn json(&self, path: &str) -> serde_json::Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    }
}

async fn serve(router: Router) -> (SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, serving)
}

/// Who asks, as the guard of a real server says it.
async fn identify(mut request: Request, next: Next) -> Response {
    let named = request.headers().get(CALLER).map(|text| text.to_str().unwrap().to_owned());
    match named.as_deref() {
        Some(NOBODY) => {}
        Some(text) => drop(request.extensions_mut().insert(caller(text))),
        None => drop(request.extensions_mut().insert(Caller::open())),
    }
    next.run(request).await
}

/// A caller in words: `ann dev,ops submitter`; `-` for nothing.
fn caller(text: &str) -> Caller {
    let (user, groups, roles, tenants) = match text.split(' ').collect::<Vec<_>>()[..] {
        [user, groups, roles] => (user, groups, roles, "-"),
        [user, groups, roles, tenants] => (user, groups, roles, tenants),
        _ => panic!("{text:?} is no caller"),
    };
    let list = |words: &str| -> Vec<Name> {
        words.split(',').filter(|word| *word != "-").map(Name::new).collect()
    };
    let role = |word: &Name| -> Role {
        serde_json::from_value(serde_json::Value::from(word.as_str())).unwrap()
    };
    Caller {
        identity: format!("test:{user}"),
        user: Name::new(user.trim_matches('-')),
        groups: list(groups),
        roles: list(roles).iter().map(role).collect(),
        tenants: list(tenants),
        proof: Proof::Bearer,
    }
}
