//! Executes requests of both profiles.
//!
//! A stream lasts as long as the connection of its RM, so each message has its own trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_api::si::headroom::NodeConstraint;
use headroom_api::si::v1::{AllocationRequest, ApplicationRequest, NodeRequest};
use headroom_core::Command;
use headroom_engine::TRACES;
use tonic::Status;

use crate::convert::si::{self, New, Step};

use super::interface::Interface;
use super::manager::Manager;
use super::rm_questions::submit;

/// Adds, changes, and removes nodes. `seq` is the number of the message, if messages have numbers.
#[tracing::instrument(
    parent = None,
    target = TRACES,
    name = "NodeRequest",
    skip_all,
    fields(otel.kind = "server", rpc.system = "grpc")
)]
pub(super) async fn nodes(
    manager: &Arc<Manager>,
    (seq, request): (u64, NodeRequest),
) -> Result<(), Status> {
    let mut steps = si::nodes(request);
    if manager.asking.questions().is_some() {
        // After any change of a node, the RM might give different verdicts.
        let voids: Vec<Step> = steps.iter().filter_map(void_behind).collect();
        steps.extend(voids);
    }
    Ok(manager.intake.commands(seq, steps).await?)
}

/// Returns the command that voids verdicts about a node, if its size was sent again.
fn void_behind(step: &Step) -> Option<Step> {
    let Command::ResizeNode { partition, node, .. } = &step.command else { return None };
    let (partition, node) = (partition.clone(), node.clone());
    let command = Command::VoidVerdicts { partition, node };
    Some(Step { command, if_refused: si::Refusal::Silent })
}

/// Adds and removes applications.
#[tracing::instrument(
    parent = None,
    target = TRACES,
    name = "ApplicationRequest",
    skip_all,
    fields(otel.kind = "server", rpc.system = "grpc")
)]
pub(super) async fn applications(
    interface: &Interface,
    manager: &Arc<Manager>,
    (seq, request): (u64, ApplicationRequest),
) -> Result<(), Status> {
    let si::Applications { new, remove } = si::applications(request);
    let mut steps = charged(interface, new).await?;
    steps.extend(remove);
    Ok(manager.intake.commands(seq, steps).await?)
}

/// Finds the user who is charged for each application. If a directory lookup might block, the lookup runs on another
/// thread.
async fn charged(interface: &Interface, new: Vec<New>) -> Result<Vec<Step>, Status> {
    let (users, now) = (Arc::clone(&interface.service().users), interface.service().clock.now());
    let is_quick = |one: &New| !one.submitted.groups.is_empty();
    let charge = move |new: Vec<New>| {
        let step = |one: New| {
            let user = users.convert(one.partition(), &one.submitted, now);
            one.charged_to(user)
        };
        new.into_iter().map(step).collect()
    };
    if new.iter().all(is_quick) {
        return Ok(charge(new));
    }
    let charged = tokio::task::spawn_blocking(move || charge(new)).await;
    charged.map_err(|_| Status::internal("the lookup of a user failed"))
}

/// Adds, changes, and removes asks and allocations.
#[tracing::instrument(
    parent = None,
    target = TRACES,
    name = "AllocationRequest",
    skip_all,
    fields(otel.kind = "server", rpc.system = "grpc")
)]
pub(super) async fn allocations(
    interface: &Interface,
    manager: &Arc<Manager>,
    (seq, request): (u64, AllocationRequest),
    fields: &BTreeMap<String, NodeConstraint>,
) -> Result<(), Status> {
    if manager.tags.note(&request) {
        manager.tags.clean(&manager.handle().views().at_least(0).await.books);
    }
    let constraints = si::constraints(&request, fields);
    let steps = si::allocations(request);
    if constraints.is_empty() {
        return Ok(manager.intake.commands(seq, steps).await?);
    }
    let view = manager.handle().views().at_least(0).await;
    let had_any = !manager.asking.constraints.is_empty();
    let changes = manager.asking.constraints.set(&view.books, constraints);
    if !had_any {
        // The scheduler must ask before it places the first ask with a constraint.
        interface.reconcile(manager).await;
    }
    manager.intake.commands(seq, steps).await?;
    // Earlier verdicts about these nodes are no longer valid.
    let nodes = changes.iter().flat_map(|change| change.nodes(&view.books));
    let void = |(partition, node)| Command::VoidVerdicts { partition, node };
    submit(manager, nodes.map(void).collect());
    Ok(())
}
