//! A whole server with its gate and authentication of all callers: tenant `ours`, and optionally other tenants.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use headroom_api::headroomv1::{LogLevel, Role};
use headroom_config::process::{Process, Sources};
use headroom_core::{AddNode, Command, Name};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Origin, Settings};
use headroom_server::auth::{Authenticator, Secret, TokenEntry, TokenFile};
use headroom_server::listen::{Gate, Peer, Unsent, assemble};
use headroom_server::rest::{Rest, RestSettings};
use headroom_server::{About, Assembly, LogLevels, Parts, QueueFile, Service};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::asked::Asked;
use super::same::Said;
use crate::support::{START, amounts};

/// Every submitter can submit to every queue here.
const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues: [{name: shared}]
    tenants: {enabled: true}
";

/// How the tenants stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kin {
    /// Each for itself.
    Apart,
    /// All below `dept`, whose quota is used up.
    OneParent,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Admin,
    /// Reads tenant `ours`, and has submitted its tasks.
    Viewer,
    /// Acts for it.
    OwnAdmin,
    /// Submits the tasks of the others.
    Stranger,
}

const WHO: [(Who, &str, &str, Role); 4] = [
    (Who::Admin, "root", "wheel", Role::Admin),
    (Who::Viewer, "bea", "lab", Role::TenantViewer),
    (Who::OwnAdmin, "bea", "lab", Role::TenantAdmin),
    (Who::Stranger, "zulu-user", "zulu-group", Role::Admin),
];

pub(super) struct World {
    router: Router,
    tokens: Vec<String>,
    engine: Engine,
    service: Service,
    rest: Arc<Rest>,
    /// Where the tokens are.
    folder: PathBuf,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl World {
    /// A server with tenant `ours`, and with others if they are to be there.
    pub(super) async fn with(kin: Kin, others: bool) -> Self {
        let world = Self::empty().await;
        let node = AddNode {
            partition: Name::new("default"),
            node: Name::new("n1"),
            capacity: amounts([("vcore", 1_000_000), ("memory", 1_000_000_000_000)]),
            schedulable: true,
            ..AddNode::default()
        };
        world.engine.handle().submit(Command::AddNode(node)).await.unwrap().unwrap();
        let parent = (kin == Kin::OneParent).then_some("dept");
        if let Some(parent) = parent {
            world.make(parent, None, 50).await;
        }
        world.make("ours", parent, 20).await;
        if others {
            world.make("zulu", parent, 60).await;
            world.make("zulu-below", Some("zulu"), 3).await;
            world.make("zulu-two", None, 7).await;
        }
        world.task("ours", "ours-runs", 5, Who::OwnAdmin).await;
        // What `dept` allows is used up by the others where there are any, and by its own task where not.
        match (others, parent) {
            (true, _) => world.task("zulu", "zulu-runs", 41, Who::Stranger).await,
            (false, Some(parent)) => world.task(parent, "dept-runs", 42, Who::Admin).await,
            (false, None) => {}
        }
        if others {
            world.task("zulu", "zulu-waits", 45, Who::Stranger).await;
            world.task("zulu-below", "zulu-small", 1, Who::Stranger).await;
            world.task("zulu-two", "zulu-other", 7, Who::Stranger).await;
        }
        // Beyond its own quota, or beyond that above it.
        let vcores = if kin == Kin::Apart { 16 } else { 10 };
        world.task("ours", "ours-waits", vcores, Who::OwnAdmin).await;
        world.task("ours", "ours-behind", 2, Who::OwnAdmin).await;
        // The first check is made as soon as there is a server, and is followed by none while its clock stands.
        let checks = &world.rest.checks;
        while checks.last().is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        checks.run(&world.service).await;
        world
    }

    async fn empty() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let clock = HandClock::at(START);
        let settings = Settings::with(clock.clone());
        let engine = Engine::start(Box::new(MemoryJournal::default().open()), settings).unwrap();
        let (handle, clock) = (engine.handle(), Arc::new(clock));
        let users = Arc::new(Users::default());
        let queue_file =
            QueueFile::resume(handle.clone(), clock.clone(), Arc::clone(&users), None).await;
        queue_file.apply(Origin::default(), QUEUES).await.unwrap();
        let about = About::this(std::collections::BTreeMap::new()).unwrap();
        let service = Service::new(Parts { engine: handle, clock, users, queue_file, about });

        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("headroom-walk-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("tokens");
        let tokens = WHO.iter().map(|one| token(&file, one)).collect();
        let told = format!(
            "auth: {{tokens: '{}', tenants: {{'user:bea': [ours]}}}}",
            file.to_str().unwrap()
        );
        let told = Some((PathBuf::from("headroom.yaml"), told));
        let process = Process::read(Sources { file: told, ..Sources::default() }).unwrap();
        let auth = Authenticator::new(&process).unwrap();
        let gate = Gate::new(&process, auth, engine.handle(), &service.about.instance);
        let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
        let rest = RestSettings { identities: true, ..RestSettings::default() };
        let settings = headroom_server::Settings { rest, ..headroom_server::Settings::default() };
        let whole = Assembly::of(&service, &levels, &settings);
        let router = assemble(&process, &Arc::new(gate), whole.routers);
        Self { router, tokens, engine, service, rest: whole.rest, folder }
    }

    async fn make(&self, id: &str, parent: Option<&str>, vcores: u32) {
        let quota = json!({"resources": {"vcore": vcores.to_string()}});
        let body = json!({"id": id, "parent": parent, "quota": quota});
        let said = self.ask(Who::Admin, &Asked::post("/headroom/v1/tenants", body)).await;
        assert_eq!(said.status, 201, "{said:?}");
    }

    async fn task(&self, tenant: &str, id: &str, vcores: u32, who: Who) {
        let body = json!({"id": id, "resources": {"vcore": vcores.to_string()}});
        let path = format!("/headroom/v1/tenants/{tenant}/tasks");
        let said = self.ask(who, &Asked::post(&path, body)).await;
        assert!(matches!(said.status, 201 | 202), "{id}: {said:?}");
    }

    /// What is in the document of the server.
    pub(super) async fn document(&self) -> Value {
        let said = self.ask(Who::Admin, &Asked::get("/headroom/v1/openapi.json")).await;
        serde_json::from_str(&said.text).unwrap()
    }

    pub(super) async fn ask(&self, who: Who, asked: &Asked) -> Said {
        let place = WHO.iter().position(|(one, ..)| *one == who).unwrap();
        let peer = Peer {
            address: ([127, 0, 0, 1], 1).into(),
            certificate: None,
            unsent: Unsent::default(),
        };
        let mut request = Request::builder()
            .method(&*asked.method)
            .uri(&asked.path)
            .header(header::HOST, "localhost")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.tokens[place]))
            .header(header::CONTENT_TYPE, "application/json");
        if asked.is_condition_met {
            request = request.header(header::IF_MATCH, "\"1\"");
        }
        let body = asked.body.as_ref().map_or_else(Body::empty, |body| body.to_string().into());
        let request = request.extension(peer).body(body).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, mut body) = response.into_parts();
        let mut said = Said::of(&parts);
        if said.is_stream() {
            // Both hear of what happens now.
            self.stir().await;
            while let Ok(Some(frame)) = tokio::time::timeout(super::SILENCE, body.frame()).await {
                said.add(&frame.unwrap().into_data().unwrap_or_default());
            }
        } else {
            said.add(&body.collect().await.unwrap().to_bytes());
        }
        said
    }

    /// The others do something, if they are there, and we do.
    async fn stir(&self) {
        let rank = |tenant: &str, task: &str, priority: u32| Asked {
            method: "PATCH".to_owned(),
            ..Asked::post(
                &format!("/headroom/v1/tenants/{tenant}/waiting/{task}"),
                json!({"priority": priority}),
            )
        };
        for priority in [7, 0] {
            let theirs = rank("zulu", "zulu-waits", priority);
            let _ = Box::pin(self.ask(Who::Stranger, &theirs)).await;
            let own = rank("ours", "ours-waits", priority);
            let said = Box::pin(self.ask(Who::OwnAdmin, &own)).await;
            assert_eq!(said.status, 200, "{said:?}");
        }
    }
}

fn token(file: &std::path::Path, (who, user, group, role): &(Who, &str, &str, Role)) -> String {
    let secret = Secret::random().unwrap();
    let entry = TokenEntry {
        name: format!("{who:?}").to_lowercase(),
        sha256: secret.sha256(),
        user: (*user).to_owned(),
        groups: vec![(*group).to_owned()],
        roles: vec![*role],
        created: jiff::Timestamp::UNIX_EPOCH,
        expires: None,
    };
    TokenFile::update(file, |file| file.add(entry)).unwrap();
    secret.reveal().to_owned()
}
