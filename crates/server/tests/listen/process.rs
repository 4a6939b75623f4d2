//! One port for everything; starting, serving, ending.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use headroom_api::headroomv1::Problem;
use headroom_server::listen::{Routers, assemble};

use crate::support::{Folder, begin, call, client, client_2, process, start, start_with, stubs};

#[tokio::test]
async fn both_versions_of_http_are_spoken_on_one_port() {
    let server = start("").await;
    let response = client().get(server.url("/ws/v1/partitions")).send().await.unwrap();
    assert_eq!(response.version(), axum::http::Version::HTTP_11);
    assert_eq!(response.text().await.unwrap(), "open sent 0");
    let response = client_2().get(server.url("/ws/v1/partitions")).send().await.unwrap();
    assert_eq!(response.version(), axum::http::Version::HTTP_2);
    assert_eq!(response.text().await.unwrap(), "open sent 0");
    assert_eq!(call(&server, "/si.v1.Scheduler/UpdateNode", None).await, None);
}

#[tokio::test]
async fn a_server_that_is_starting_says_so() {
    let process = process("");
    let server = begin(&process).unwrap();
    assert_eq!(server.get("/livez").await.status(), 200);
    let response = server.get("/headroom/v1/health").await;
    assert_eq!(response.headers()["retry-after"], "1");
    let problem: Problem = response.json().await.unwrap();
    assert_eq!((problem.status, &*problem.code), (503, "RECOVERING"));
    assert_eq!(server.get("/readyz").await.status(), 503);
    assert_eq!(call(&server, "/si.v1.Scheduler/UpdateNode", None).await, Some(14));
    let routers = Routers { rest: stubs(), ..Routers::default() };
    server.serving.open(assemble(&process, &server.gate, routers));
    assert_eq!(server.get("/readyz").await.status(), 200);
}

#[tokio::test]
async fn several_addresses_are_one_server() {
    let process = process("").clone();
    let listen = vec!["127.0.0.1:0".parse().unwrap(), "127.0.0.2:0".parse().unwrap()];
    let server = begin(&headroom_config::process::Process { listen, ..process.clone() }).unwrap();
    let routers = Routers { rest: stubs(), ..Routers::default() };
    server.serving.open(assemble(&process, &server.gate, routers));
    for address in server.serving.addresses() {
        let response = client().get(format!("http://{address}/livez")).send().await.unwrap();
        assert_eq!(response.status(), 200, "{address}");
    }
    let taken = server.serving.addresses()[0];
    let listen = vec![taken];
    let again = begin(&headroom_config::process::Process { listen, ..process });
    assert!(again.err().unwrap().contains(&taken.to_string()));
}

#[tokio::test]
async fn paths_and_methods_that_nobody_has_are_answered_as_the_reference_does() {
    let server = start("").await;
    let response = client().delete(server.url("/ws/v1/clusters")).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["allow"]),
        (405, &"GET, OPTIONS".parse().unwrap())
    );
    assert_eq!(response.text().await.unwrap(), "Method Not Allowed\n");
    assert_eq!(client().head(server.url("/ws/v1/clusters")).send().await.unwrap().status(), 405);
    let response = client().post(server.url("/headroom/v1/health")).send().await.unwrap();
    assert_eq!(response.json::<Problem>().await.unwrap().code, "METHOD_NOT_ALLOWED");
    assert_eq!(server.get("/ws/v1/nothing").await.status(), 404);
}

#[tokio::test]
async fn what_is_under_way_ends_and_nothing_new_begins() {
    let slow = get(|| async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        "done"
    });
    let server = start_with("", Router::new().route("/ws/v1/clusters", slow));
    let url = server.url("/ws/v1/clusters");
    let under_way =
        tokio::spawn(async move { client().get(url).send().await.unwrap().text().await });
    tokio::time::sleep(Duration::from_millis(150)).await;
    server.serving.stop();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let refused = client().get(server.url("/livez")).send().await.unwrap_err();
    assert!(refused.is_connect(), "a new connection is taken: {refused:?}");
    assert_eq!(server.serving.connections(), 1);
    server.serving.ended(Duration::from_secs(5)).await;
    assert_eq!(under_way.await.unwrap().unwrap(), "done");
    assert_eq!(server.serving.connections(), 0);
    server.serving.close().await;
}

#[tokio::test]
async fn a_web_ui_has_all_paths_that_are_not_ours() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("ui")).unwrap();
    folder.write("ui/index.html", "<p>first</p>");
    folder.write("ui/main.js", "1");
    folder.write("secret", "secret");
    let server = start(&format!("web: {{dir: {}}}", folder.path("ui").display())).await;
    for (path, expected) in [
        ("/", "<p>first</p>"),
        ("/main.js", "1"),
        ("/queues", "<p>first</p>"),
        ("/ws/v1/partitions", "open sent 0"),
    ] {
        assert_eq!(server.get(path).await.text().await.unwrap(), expected, "{path}");
    }
    assert_eq!(server.get("/ws/v1/nothing").await.status(), 404);
    // What looks like a file and is none is not found, and no link leads out of the folder.
    std::os::unix::fs::symlink(folder.path("secret"), folder.path("ui/leak.js")).unwrap();
    std::os::unix::fs::symlink(folder.path("ui/main.js"), folder.path("ui/own.js")).unwrap();
    assert_eq!(server.get("/own.js").await.text().await.unwrap(), "1");
    let long = format!("/{}", "x".repeat(300));
    for path in ["/..%2fsecret", "/leak.js", "/gone.js", "/queues/gone.css", &*long, "/%00", "/%ff"]
    {
        let answer = server.get(path).await;
        assert_eq!((answer.status().as_u16(), &*answer.text().await.unwrap()), (404, ""), "{path}");
    }
    let foreign = client().get(server.url("/")).header("host", "evil.example");
    assert_eq!(foreign.send().await.unwrap().status(), 421);
}
