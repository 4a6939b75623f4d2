//! What is refused before anybody looks at what a request is about.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use headroom_api::headroomv1::Role;
use headroom_core::{Command, Name, SetTenant};
use headroom_engine::users::Users;
use headroom_engine::{HandClock, Origin};
use headroom_server::QueueFile;
use headroom_server::auth::{Secret, TokenEntry, TokenFile};
use tokio::sync::{Notify, Semaphore};

use crate::example::Example;
use crate::gate::{Folder, Server, start, start_with};
use crate::scene::FILE;
use crate::sent::Sent;

const HEALTH: &str = "/headroom/v1/health";
const PLAN: &str = "/headroom/v1/plan";

pub(crate) async fn examples() -> Vec<Example> {
    let mut all = identities().await;
    all.extend(bodies().await);
    all.extend([names().await, methods().await]);
    all.extend([crowded().await, panic().await, rate().await]);
    all
}

/// A token of this name with a role.
fn token(folder: &Folder, name: &str, role: Role) -> String {
    let secret = Secret::random().unwrap();
    let entry = TokenEntry {
        name: name.to_owned(),
        sha256: secret.sha256(),
        user: name.to_owned(),
        groups: Vec::new(),
        roles: vec![role],
        created: jiff::Timestamp::now(),
        expires: None,
    };
    TokenFile::update(&folder.path("tokens"), |file| file.add(entry)).unwrap();
    format!("Bearer {}", secret.reveal())
}

async fn identities() -> Vec<Example> {
    let folder = Folder::new();
    let token = token(&folder, "ci", Role::Submitter);
    let server = start(&format!("auth: {{tokens: {}}}", folder.path("tokens").display())).await;
    let known = Sent::get(HEALTH).beside("Authorization", &token);
    vec![
        Sent::get(HEALTH)
            .shows("UNAUTHENTICATED", "The server has tokens, and none is sent.", server.address)
            .await,
        known
            .shows("FORBIDDEN", "The token `ci` has role `submitter`. With it", server.address)
            .await,
    ]
}

async fn bodies() -> Vec<Example> {
    let server = start("limits: {requestBody: 1KiB, requestTime: 200ms}").await;
    let plan = || Sent::post(PLAN).beside("X-Headroom-Request", "1");
    let large = plan().with("Content-Length", "4096");
    // Nothing of the body follows.
    let slow = plan().with("Content-Length", "9");
    let told =
        "The server has the setting `limits: {requestTime: 200ms}`, and the body does not arrive.";
    vec![
        large
            .shows(
                "TOO_LARGE",
                "The server has the setting `limits: {requestBody: 1KiB}`.",
                server.address,
            )
            .await,
        slow.shows("TOO_SLOW", told, server.address).await,
    ]
}

async fn names() -> Example {
    let server = start("").await;
    let before = "The server takes no tokens and is called `localhost`.";
    Sent::get(HEALTH)
        .with("Host", "evil.example")
        .shows("MISDIRECTED", before, server.address)
        .await
}

async fn methods() -> Example {
    let server = start("").await;
    Sent::new("DELETE", HEALTH).shows("METHOD_NOT_ALLOWED", "", server.address).await
}

/// One request is answered for as long as the next is asked.
async fn crowded() -> Example {
    let (gate, arrived) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (held, told) = (Arc::clone(&gate), Arc::clone(&arrived));
    let wait = get(move || {
        let (held, told) = (Arc::clone(&held), Arc::clone(&told));
        async move {
            told.notify_one();
            held.acquire().await.map(|_| "done").unwrap()
        }
    });
    let server = start_with("limits: {requests: 1}", Router::new().route(HEALTH, wait));
    let address = server.address;
    let first = tokio::spawn(async move { Sent::get(HEALTH).to(address).await.status });
    arrived.notified().await;
    let before = "The server has the setting `limits: {requests: 1}`, and another request is being answered.";
    let example = Sent::get(HEALTH).shows("TOO_MANY_REQUESTS", before, address).await;
    gate.add_permits(1);
    assert_eq!(first.await.unwrap(), 200);
    example
}

async fn panic() -> Example {
    let panics = get(|| async { panic!("a bug") as &str });
    let server = start_with("", Router::new().route(HEALTH, panics));
    let before = "What answers a request ends in a panic.";
    Sent::get(HEALTH).shows("INTERNAL", before, server.address).await
}

/// Have the engine of a server know tenant `sales`.
async fn know(server: &Server) {
    let handle = server.engine.handle();
    let clock = Arc::new(HandClock::default());
    let queues = QueueFile::resume(handle.clone(), clock, Arc::new(Users::default()), None).await;
    queues.apply(Origin::default(), FILE).await.unwrap();
    let (partition, tenant) = (Name::new("default"), Name::new("sales"));
    let set = SetTenant { partition, tenant, ..SetTenant::default() };
    handle.submit(Command::SetTenant(Box::new(set))).await.unwrap().unwrap();
}

async fn rate() -> Example {
    let folder = Folder::new();
    let token = token(&folder, "ann", Role::TenantViewer);
    let file = format!(
        "auth: {{tokens: {}, tenants: {{'user:ann': [sales]}}}}\nlimits: {{tenantRate: 1/h, tenantBurst: 1}}",
        folder.path("tokens").display()
    );
    let server = start(&file).await;
    know(&server).await;
    let path = "/headroom/v1/tenants/sales/usage";
    let usage = Sent::get(path).beside("Authorization", &token);
    assert_eq!(usage.to(server.address).await.status, 200);
    let before = "The server has the setting `limits: {tenantRate: 1/h, tenantBurst: 1}`. `ann`, who is `tenant-viewer` of `sales`, has sent a request a moment ago.";
    let answer = usage.to(server.address).await;
    // How long it takes from one request to the next is not to be seen in the example.
    let (ahead, rest) = answer
        .text()
        .split_once(" Send the next request in ")
        .map(|(ahead, rest)| (ahead.to_owned(), rest.to_owned()))
        .unwrap();
    let (seconds, behind) = rest.split_once(" s").unwrap();
    let seconds: f64 = seconds.parse().unwrap();
    assert!((3_000.0..=3_600.0).contains(&seconds), "{seconds}");
    let text = format!("{ahead} Send the next request in 3599.998 s{behind}");
    Example::problem("RATE_LIMITED", usage.told(before), (answer.status, text.as_bytes()))
}
