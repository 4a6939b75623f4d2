//! Every code of a refusal is caused here, and what the program then says is the example in its page.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod applications;
mod asks;
mod cluster;
mod example;
mod files;
#[path = "../gate/mod.rs"]
mod gate;
mod limits;
mod listener;
mod nodes;
mod requests;
mod scene;
mod sent;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
mod tenants;
mod users;

use std::collections::BTreeSet;

use headroom_api::headroomv1::Code;
use headroom_core::{RefusalCode, WaitCode};
use headroom_engine::users::UserError;

use crate::example::Example;

/// What is refused or waits otherwise than by a check of the scheduler, whose codes have examples elsewhere.
fn codes() -> BTreeSet<String> {
    let problems = Code::ALL.into_iter().map(Code::as_str);
    let refusals = RefusalCode::ALL.into_iter().map(RefusalCode::as_str);
    let waits: BTreeSet<&str> = WaitCode::ALL.into_iter().map(WaitCode::as_str).collect();
    let all = problems.chain(refusals).chain(UserError::CODES);
    let all = all.filter(|code| !waits.contains(code));
    all.map(str::to_owned).collect()
}

async fn examples() -> Vec<Example> {
    let mut all = Vec::new();
    all.extend(files::examples().await);
    all.extend(nodes::examples());
    all.extend(asks::examples());
    all.extend(applications::examples());
    all.extend(limits::examples());
    all.extend(users::examples());
    all.extend(tenants::examples().await);
    all.extend(tasks::examples().await);
    all.extend(requests::examples().await);
    all.extend(listener::examples().await);
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_has_as_its_example_what_the_program_says() {
    let examples = examples().await;
    let mut shown = BTreeSet::new();
    for example in &examples {
        assert!(shown.insert(example.code.clone()), "{} has two examples", example.code);
    }
    let codes = codes();
    let others: Vec<&String> = codes.symmetric_difference(&shown).collect();
    assert!(others.is_empty(), "without an example, or with one elsewhere: {others:?}");
    let stale: Vec<String> = examples.iter().filter_map(Example::stale).collect();
    assert!(stale.is_empty(), "UPDATE_EXPECT=1 rewrites them:\n{}", stale.join("\n"));
}
