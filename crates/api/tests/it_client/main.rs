//! The typed client against a server that answers with the examples.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod every_route;
mod refusal;
mod streams;
mod tasks;
mod tenants;

use std::fs;
use std::path::Path;

use headroom_api::client::{Client, ClientBuilder};

/// An example of `tests/`, such as `wsv1/node`.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.json"));
    fs::read_to_string(path).expect("the example is there")
}

fn builder(server: &wiremock::MockServer) -> ClientBuilder {
    Client::builder(server.uri())
}

fn client(server: &wiremock::MockServer) -> Client {
    builder(server).build().expect("the address is one")
}
