//! A server on a socket of its own, whose engine goes by hand.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use headroom_api::client::Client;
use headroom_api::headroomv1::Role;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{AddNode, Ask, Command, Millis, Name, Submit, Termination, Timestamp};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Origin, Pace, Settings};
use headroom_server::rest::{NoRmMetadata, Rest, RestSettings};
use headroom_server::{About, Caller, Parts, QueueFile, Service, metrics, mount, native, page};
use reqwest::Response;

/// When every test begins: 22 November 2026, 9 o'clock.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_795_338_000_000);

/// Two queues: `root.a` for everybody, with a guarantee, a maximum and a limit for one user, and
/// `root.b` for `bob` alone.
pub(crate) const QUEUES: &str = "
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: a
      submitacl: '*'
      resources: {guaranteed: {vcore: 5}, max: {vcore: 6, memory: 64Gi}}
      limits:
      - users: [sue]
        limit: one user
        maxresources: {vcore: 2}
    - name: b
      submitacl: bob
";

pub(crate) struct Server {
    pub(crate) service: Service,
    pub(crate) clock: HandClock,
    pub(crate) address: SocketAddr,
    pub(crate) http: reqwest::Client,
    engine: Engine,
}

impl Server {
    /// One without a queue file.
    pub(crate) async fn empty() -> Self {
        Self::with(|_| ()).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        settings.pace = Pace::ByHand;
        change(&mut settings);
        let store = MemoryJournal::default().open();
        let engine = Engine::start(Box::new(store), settings).unwrap();
        let users = Arc::new(Users::default());
        let hands = Arc::new(clock.clone());
        let queue_file =
            QueueFile::resume(engine.handle(), hands.clone(), Arc::clone(&users), None).await;
        let about = About::this(BTreeMap::new()).unwrap();
        let parts = Parts { engine: engine.handle(), clock: hands, users, queue_file, about };
        let service = Service::new(parts);
        let rest = Arc::new(Rest::new(RestSettings::default(), Arc::new(NoRmMetadata)));
        let modules = [native::handler, metrics::handler];
        let routes = mount::router(service.clone(), rest, &modules).router;
        let routes = routes
            .layer(from_fn(identify))
            .layer(from_fn_with_state(service.clone(), metrics::count))
            .merge(page::router());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        // Connections to loopback only.
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { service, clock, address, http, engine }
    }

    /// One with [`QUEUES`] in force and a node of 8 vcores.
    pub(crate) async fn furnished() -> Self {
        let server = Self::empty().await;
        server.configure(QUEUES).await;
        server.node("n1", 8).await;
        server
    }

    pub(crate) async fn configure(&self, text: &str) {
        self.service.queue_file.apply(Origin::default(), text).await.unwrap();
    }

    pub(crate) async fn node(&self, name: &str, vcores: i64) {
        self.accept(Command::AddNode(AddNode {
            partition: Name::new("default"),
            node: Name::new(name),
            capacity: amounts(&[("vcore", vcores * 1_000), ("memory", 64 << 30)]),
            schedulable: true,
            ..AddNode::default()
        }))
        .await;
    }

    pub(crate) async fn application(&self, name: &str, user: &str, queue: &str) {
        self.accept(Command::Submit(Submit {
            partition: Name::new("default"),
            application: Name::new(name),
            queue: Name::new(queue),
            user: Name::new(user),
            ..Submit::default()
        }))
        .await;
    }

    pub(crate) async fn ask(&self, application: &str, key: &str, vcores: i64) {
        self.accept(Command::Ask(Ask {
            partition: Name::new("default"),
            application: Name::new(application),
            key: Name::new(key),
            resources: amounts(&[("vcore", vcores * 1_000)]),
            ..Ask::default()
        }))
        .await;
    }

    pub(crate) async fn release(&self, application: &str, key: Option<&str>) {
        self.accept(Command::Release {
            partition: Name::new("default"),
            application: Name::new(application),
            key: key.map(Name::new),
            termination: Termination::StoppedByRm,
        })
        .await;
    }

    pub(crate) async fn accept(&self, command: Command) {
        self.service.engine.submit(command).await.unwrap().unwrap();
    }

    /// Let so many seconds pass, and take all steps.
    pub(crate) async fn turn(&self, seconds: u64) {
        self.clock.advance(Millis::from_secs(seconds));
        self.service.engine.step(u32::MAX).await.unwrap();
    }

    /// End the engine; the server goes on.
    pub(crate) async fn stop_engine(&self) {
        self.service.engine.stop().await;
        while self.service.engine.stopped().is_none() {
            tokio::task::yield_now().await;
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn client(&self) -> Client {
        Client::builder(self.url("")).build().unwrap()
    }

    /// Ask as an administrator.
    pub(crate) async fn get(&self, path: &str) -> Response {
        self.http.get(self.url(path)).send().await.unwrap()
    }

    /// Ask as a submitter.
    pub(crate) async fn get_as(&self, user: &str, path: &str) -> Response {
        self.http.get(self.url(path)).header("x-user", user).send().await.unwrap()
    }

    pub(crate) async fn text(&self, path: &str) -> String {
        let answer = self.get(path).await;
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.text().await.unwrap()
    }

    /// Whether the writer is still there to be asked, for tests that stop it.
    pub(crate) async fn end(self) {
        self.engine.stop().await.unwrap();
    }
}

/// Sets the caller: a submitter if a user is named, no caller for the name `nobody`, and otherwise an administrator.
async fn identify(mut request: Request, next: Next) -> axum::response::Response {
    let user = request.headers().get("x-user").map(|user| user.to_str().unwrap().to_owned());
    let caller = match user.as_deref() {
        Some("nobody") => return next.run(request).await,
        Some(user) => {
            let (user, roles) = (Name::new(user), vec![Role::Submitter]);
            Caller { identity: format!("test:{user}"), user, roles, ..Caller::open() }
        }
        None => Caller::open(),
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

fn amounts(entries: &[(&str, i64)]) -> Amounts {
    entries.iter().map(|(name, amount)| (Name::new(name), Quantity::of(*amount))).collect()
}
