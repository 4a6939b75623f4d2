//! The Python client of tenants and tasks against the real process: its tests, its types, its build, and its README.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use headroom_api::si::SESSION_METADATA;
use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::scheduler_client::SchedulerClient;
use headroom_api::si::v1::{
    NodeInfo, NodeRequest, Quantity, RegisterResourceManagerRequest, Resource,
};
use support::Folder;
use support::server::Server;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;
use tonic::transport::Channel;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python");

const QUEUES: &str = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true}
";

/// Where mypy keeps nothing.
const NO_CACHE: &str = if cfg!(windows) { "nul" } else { "/dev/null" };

/// Returns the Python with the packages for the client's tests. `None`, with a message, if none is set.
fn python() -> Option<OsString> {
    let python = std::env::var_os("HEADROOM_PYTHON");
    if python.is_none() {
        println!(
            "skipped: HEADROOM_PYTHON is not set; `pip install httpx pydantic mypy pytest flit_core` in an environment of its own, and name its python"
        );
    }
    python
}

fn run(python: &OsString, server: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(python);
    command.current_dir(CLIENT).args(arguments);
    checked(command, server)
}

/// Returns what the command prints, and fails unless it succeeds.
fn checked(mut command: Command, server: &str) -> String {
    // Nothing is left behind in the tree.
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("HEADROOM_SERVER", server);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// Returns every file and folder below the client's folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let below = if path.is_dir() { files(&path) } else { BTreeSet::new() };
            below.into_iter().chain([path.display().to_string()])
        })
        .collect()
}

/// Returns the blocks of one language in the client's README.
fn blocks(language: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(Path::new(CLIENT).join("README.md")).unwrap();
    let begin = format!("```{language}\n");
    let blocks = readme.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(str::to_owned).collect()
}

/// Installs the client from the checkout, as the README says, and runs each example with that alone.
#[test]
fn the_python_client_is_built_beside_the_checkout_and_its_readme_runs() {
    let Some(python) = python() else { return };
    let folder = Folder::new("python-client-readme");
    let before = files(Path::new(CLIENT));
    let installed = folder.path("installed");
    let installed = installed.to_str().unwrap();
    // The backend is installed, so that the build needs no network.
    let quiet = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"];
    run(&python, "", &[&quiet[..], &["--target", installed, "."]].concat());
    assert_eq!(files(Path::new(CLIENT)), before, "the build leaves nothing in the checkout");

    let queues = blocks("yaml");
    assert_eq!(queues.len(), 1, "the README has one queue file");
    folder.write("queues.yaml", &queues[0]);
    let examples = blocks("python");
    assert_eq!(examples.len(), 5, "every example is found");
    folder.write("readme.py", examples.join("\n"));
    let mut types = Command::new(&python);
    types.current_dir(folder.path(".")).env("MYPYPATH", installed);
    types.args(["-m", "mypy", "--strict", "--cache-dir", NO_CACHE, "readme.py"]);
    checked(types, "");
    let server = Server::start(&folder, &["--queues", "queues.yaml"]);
    let mut command = Command::new(&python);
    command.current_dir(folder.path(".")).arg("readme.py").env("PYTHONPATH", installed);
    let printed = checked(command, &format!("http://{}", server.address));
    for expected in [
        " WAITING 6\n",
        "NO_NODES ",
        "{'memory': '16G', 'vcore': '8'}\n8000\n",
        " CANCELLED\n",
        "422 EXCEEDS_QUOTA_ALWAYS",
        "'CANCELLED'",
        "'WAITING'",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
}

/// A resource manager that brings one node of 128 cores and 256 GB, and stays.
async fn node(address: &str) -> UnboundedSender<NodeRequest> {
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    let mut client = SchedulerClient::new(channel.connect().await.unwrap());
    let registration = RegisterResourceManagerRequest {
        rm_id: "rm".into(),
        config: QUEUES.into(),
        ..RegisterResourceManagerRequest::default()
    };
    let registered = client.register_resource_manager(registration).await.unwrap();
    let token = registered.metadata().get(SESSION_METADATA).unwrap().clone();
    let (sender, requests) = unbounded_channel();
    let mut requests = Request::new(UnboundedReceiverStream::new(requests));
    requests.metadata_mut().insert(SESSION_METADATA, token);
    let amounts = [("vcore", 128_000), ("memory", 256_000_000_000)];
    let amounts = amounts.map(|(name, value)| (name.to_owned(), Quantity { value }));
    let node = NodeInfo {
        node_id: "n1".into(),
        action: ActionFromRm::Create.into(),
        schedulable_resource: Some(Resource { resources: amounts.into() }),
        ..NodeInfo::default()
    };
    sender.send(NodeRequest { nodes: vec![node], rm_id: "rm".into() }).unwrap();
    let mut answers = client.update_node(requests).await.unwrap().into_inner();
    let answer = tokio::time::timeout(Duration::from_secs(30), answers.message()).await;
    assert_eq!(answer.unwrap().unwrap().unwrap().accepted.len(), 1);
    sender
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_calls_every_route_and_raises_what_is_refused() {
    let Some(python) = python() else { return };
    let folder = Folder::new("python-client");
    let server = Server::start(&folder, &[]);
    let stays = node(&server.address).await;
    let url = format!("http://{}", server.address);
    tokio::task::spawn_blocking(move || {
        run(&python, &url, &["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    })
    .await
    .unwrap();
    drop(stays);
}

#[test]
fn the_python_client_is_typed_throughout() {
    let Some(python) = python() else { return };
    run(&python, "", &["-m", "mypy", "--strict", "--cache-dir", NO_CACHE, "src", "tests"]);
}
