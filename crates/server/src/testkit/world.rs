//! Servers without sockets, each with a small cluster and tokens for callers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use headroom_api::headroomv1::{LogLevel, Role};
use headroom_config::process::{Process, Sources};
use headroom_core::resource::Amounts;
use headroom_core::{AddNode, Ask, Command, Name, SetTenant, Submit, Timestamp};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::users::Users;
use headroom_engine::{Engine, HandClock, Handle, Origin, Pace, Settings};

use crate::auth::{Authenticator, Secret, name_of};
use crate::listen::{Gate, assemble};
use crate::rest::RestSettings;
use crate::{About, Assembly, LogLevels, Parts, QueueFile, Service};

/// Start time of every server: 2026-01-01.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// Queue file with limits, templates, and access lists, and a partition that stays empty.
pub(crate) const QUEUES: &str = "
partitions:
  - name: default
    tenants: {enabled: true}
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        submitacl: '*'
        limits: [{limit: all, users: ['*'], maxapplications: 50}]
        queues:
          - name: a
          - name: small
            resources: {guaranteed: {vcore: 1}, max: {vcore: 4}}
          - name: fair
            properties: {application.sort.policy: fair}
            resources: {guaranteed: {vcore: 4}}
            userlimits: {minimumuserlimitpercent: 50}
            limits:
              - {limit: ann, users: [ann], maxapplications: 2, maxresources: {vcore: 4}}
              - {limit: dev, groups: [dev], maxresources: {vcore: 6}}
          - name: parent
            parent: true
            childtemplate: {maxapplications: 3, resources: {max: {vcore: 4}}}
  - name: gpu
    queues: [{name: root}]
";

/// A server.
pub(crate) struct World {
    pub(crate) router: Router,
    /// A token for each role, in the order of [`Role::ALL`]. Empty if the server trusts every caller.
    pub(crate) tokens: Vec<String>,
    /// The engine stops when this is dropped.
    _engine: Engine,
}

/// Returns an engine with a manual clock on a journal in memory, and a service on it.
pub(crate) async fn service(journal: &MemoryJournal, clock: &HandClock) -> (Engine, Service) {
    let settings = Settings { pace: Pace::ByHand, ..Settings::with(clock.clone()) };
    let engine = Engine::start(Box::new(journal.open()), settings);
    let engine = engine.expect("a journal in memory can be read");
    let (handle, clock) = (engine.handle(), Arc::new(clock.clone()));
    let users = Arc::new(Users::default());
    let queue_file =
        QueueFile::resume(handle.clone(), clock.clone(), Arc::clone(&users), None).await;
    let about = About::this(BTreeMap::new()).expect("the system has random numbers");
    let service = Service::new(Parts { engine: handle, clock, users, queue_file, about });
    (engine, service)
}

impl World {
    /// Returns a server with these process settings.
    pub(crate) async fn with_settings(file: &str) -> Self {
        let (journal, clock) = (MemoryJournal::default(), HandClock::at(START));
        let (engine, service) = service(&journal, &clock).await;
        let applied = service.queue_file.apply(Origin::default(), QUEUES).await;
        applied.expect("the queue file is legal");
        furnish(&engine.handle()).await;

        let file = Some((PathBuf::from("headroom.yaml"), file.to_owned()));
        let process = Process::read(Sources { file, ..Sources::default() });
        let process = process.expect("the file is legal");
        let secrets: Vec<(Role, Secret)> = Role::ALL.into_iter().map(secret).collect();
        let tokens = secrets.iter().map(|(_, secret)| secret.reveal().to_owned());
        let tokens: Vec<String> = tokens.filter(|_| process.has_auth()).collect();
        let auth = process.has_auth().then(|| {
            let named = secrets.iter().map(|(role, secret)| (name_of(*role), *role, secret));
            Authenticator::knowing(named)
        });
        let instance = &service.about.instance;
        let gate = Arc::new(Gate::new(&process, auth, engine.handle(), instance));
        let levels = Arc::new(LogLevels::new(LogLevel::default(), drop));
        let rest = RestSettings { identities: process.has_auth(), ..RestSettings::default() };
        let settings = crate::Settings { rest, ..crate::Settings::default() };
        let Assembly { routers, lacking, .. } = Assembly::of(&service, &levels, &settings);
        assert!(lacking.is_empty(), "nobody answers {lacking:?}");
        Self { router: assemble(&process, &gate, routers), tokens, _engine: engine }
    }
}

fn secret(role: Role) -> (Role, Secret) {
    (role, Secret::random().expect("the system has random numbers"))
}

/// Adds a node, a running, a waiting, and a rejected application.
async fn furnish(engine: &Handle) {
    let partition = || Name::new("default");
    let amounts =
        |vcores: i64| Amounts::from([("vcore", vcores * 1_000), ("memory", vcores << 30)]);
    let submit = |application: &str, queue: &str| {
        Command::Submit(Submit {
            partition: partition(),
            application: Name::new(application),
            queue: Name::new(queue),
            user: Name::new("ann"),
            groups: vec![Name::new("dev")],
            ..Submit::default()
        })
    };
    let ask = |application: &str, key: &str, vcores: i64| {
        Command::Ask(Ask {
            partition: partition(),
            application: Name::new(application),
            key: Name::new(key),
            resources: amounts(vcores),
            ..Ask::default()
        })
    };
    let node = AddNode {
        partition: partition(),
        node: Name::new("n1"),
        capacity: amounts(8),
        schedulable: true,
        ..AddNode::default()
    };
    let tenant =
        SetTenant { partition: partition(), tenant: Name::new("ours"), ..SetTenant::default() };
    let commands = [
        Command::AddNode(node),
        Command::SetTenant(Box::new(tenant)),
        submit("app-1", "root.fair"),
        submit("app-2", "root.parent.one"),
        submit("app-3", "root"),
        ask("app-1", "a1", 2),
        ask("app-1", "a2", 20),
        ask("app-2", "b1", 1),
    ];
    for command in commands {
        let outcome = engine.submit(command).await.expect("the engine goes on");
        outcome.expect("the command is taken");
    }
    engine.step(u32::MAX).await.expect("the engine goes on");
}
