//! Sends every route of the document as a caller who reads one tenant: the answers are the same whether there are
//! other tenants or not. A new route is included as soon as it is in the document. Source: tenants TR-43, TS-31.

mod asked;
mod same;
mod world;

use std::time::Duration;

use asked::Asked;
use world::{Kin, Who, World};

/// Silence after which a stream counts as finished.
const SILENCE: Duration = Duration::from_millis(400);

async fn walk(kin: Kin, who: Who, which: impl Fn(&Asked) -> bool) -> (usize, usize) {
    let (alone, beside) = (World::with(kin, false).await, World::with(kin, true).await);
    let document = alone.document().await;
    let all: Vec<Asked> = asked::all(&document).into_iter().filter(which).collect();
    let (mut told, mut wrong) = (0, Vec::new());
    for asked in &all {
        let (one, other) = (alone.ask(who, asked).await, beside.ask(who, asked).await);
        told += usize::from(other.status == 200);
        let (one, other) = (one.bare(), other.bare());
        if one != other {
            wrong.push(format!("{asked:?}\n  alone:  {one:?}\n  beside: {other:?}"));
        } else if !asked.names_others() && other.text.contains("zulu") {
            wrong.push(format!("{asked:?} names others: {other:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
    (all.len(), told)
}

#[tokio::test]
#[doc(alias = "TR-43")]
#[doc(alias = "TS-31")]
async fn who_reads_a_tenant_learns_nothing_of_others_by_any_route() {
    for kin in [Kin::Apart, Kin::OneParent] {
        let (asked, told) = walk(kin, Who::Viewer, |_| true).await;
        assert!(asked > 500 && told > 100, "{kin:?}: {told} of {asked} were answered");
    }
}

#[tokio::test]
#[doc(alias = "TR-43")]
async fn who_acts_for_a_tenant_learns_nothing_of_others_by_any_route() {
    for kin in [Kin::Apart, Kin::OneParent] {
        // Changes by the caller change the following answers.
        let which = |asked: &Asked| !asked.changes() || asked.names_others();
        let (asked, told) = walk(kin, Who::OwnAdmin, which).await;
        assert!(asked > 500 && told > 100, "{kin:?}: {told} of {asked} were answered");
    }
}

#[tokio::test]
async fn the_walk_finds_what_is_of_others() {
    // A caller who reads everything sees the others, and the comparison shows it.
    let (alone, beside) =
        (World::with(Kin::OneParent, false).await, World::with(Kin::OneParent, true).await);
    let mut seen = 0;
    for asked in asked::all(&alone.document().await).iter().filter(|asked| !asked.changes()) {
        if asked.path.starts_with("/debug/") || asked.path.contains("/events") {
            continue; // They take their time.
        }
        let (one, other) =
            (alone.ask(Who::Admin, asked).await, beside.ask(Who::Admin, asked).await);
        seen += usize::from(one.bare() != other.bare());
    }
    assert!(seen > 100, "{seen} differ");
}
