//! Every reason to wait, as the terminal shows it. What is shown stands in one place: it is the example at the end of
//! the page of its code in `docs/errors/`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod nodes;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::{env, fs};

use headroom_core::testkit::tell_moves;
use headroom_core::{Timestamp, WaitCode};
use serde_json::Value;
use support::Folder;
use support::moves::write_journal;

/// A situation in which something waits.
#[derive(Clone, Copy)]
pub(crate) struct Scene {
    /// The application and its ask, as the command takes them.
    subject: &'static str,
    /// What happened until then, as a story of the core tells it.
    script: &'static str,
}

/// When every story begins: a Monday morning, 2026-03-02T08:00:00Z.
const BEGIN: Timestamp = Timestamp::from_millis(1_772_438_400_000);
/// How long the first line may be.
const LINE_MAX: usize = 100;

/// The scene of a code. A code that comes along does not compile before it has one.
const fn scene(code: WaitCode) -> Scene {
    match code {
        WaitCode::AbsGroupLimit => sharing::ABS_GROUP_LIMIT,
        WaitCode::AbsUserLimit => sharing::ABS_USER_LIMIT,
        WaitCode::AncestorQuota => sharing::ANCESTOR_QUOTA,
        WaitCode::AwaitingRm => nodes::AWAITING_RM,
        WaitCode::Backoff => nodes::BACKOFF,
        WaitCode::BehindGang => nodes::BEHIND_GANG,
        WaitCode::BehindHead => turns::BEHIND_HEAD,
        WaitCode::DriverLimitQueue => sharing::DRIVER_LIMIT_QUEUE,
        WaitCode::DriverLimitUser => sharing::DRIVER_LIMIT_USER,
        WaitCode::GangIncomplete => nodes::GANG_INCOMPLETE,
        WaitCode::GroupApps => sharing::GROUP_APPS,
        WaitCode::Held => turns::HELD,
        WaitCode::HeldForHead => turns::HELD_FOR_HEAD,
        WaitCode::Impossible => nodes::IMPOSSIBLE,
        WaitCode::MaxApps => sharing::MAX_APPS,
        WaitCode::NodeBlocked => nodes::NODE_BLOCKED,
        WaitCode::NodeConstraint => nodes::NODE_CONSTRAINT,
        WaitCode::NodeReserved => nodes::NODE_RESERVED,
        WaitCode::NodeResources => nodes::NODE_RESOURCES,
        WaitCode::NoNodes => nodes::NO_NODES,
        WaitCode::NoNodeFits => nodes::NO_NODE_FITS,
        WaitCode::NoPartitionAccess => nodes::NO_PARTITION_ACCESS,
        WaitCode::OrderBehind => turns::ORDER_BEHIND,
        WaitCode::OverQuotaAfterLowering => sharing::OVER_QUOTA_AFTER_LOWERING,
        WaitCode::ParallelLimit => sharing::PARALLEL_LIMIT,
        WaitCode::PreemptionPending => nodes::PREEMPTION_PENDING,
        WaitCode::PriorityBehind => turns::PRIORITY_BEHIND,
        WaitCode::QueueMax => sharing::QUEUE_MAX,
        WaitCode::QueueState => sharing::QUEUE_STATE,
        WaitCode::Recovering => nodes::RECOVERING,
        WaitCode::RequiredNodeAbsent => nodes::REQUIRED_NODE_ABSENT,
        WaitCode::RequiredNodeFull => nodes::REQUIRED_NODE_FULL,
        WaitCode::RequiredNodeSize => nodes::REQUIRED_NODE_SIZE,
        WaitCode::RmAway => nodes::RM_AWAY,
        WaitCode::RootCapacity => sharing::ROOT_CAPACITY,
        WaitCode::ShareBehind => turns::SHARE_BEHIND,
        WaitCode::TenantInstances => sharing::TENANT_INSTANCES,
        WaitCode::TenantQuota => sharing::TENANT_QUOTA,
        WaitCode::TenantSuspended => sharing::TENANT_SUSPENDED,
        WaitCode::UserApps => sharing::USER_APPS,
        WaitCode::UserHardCap => sharing::USER_HARD_CAP,
        WaitCode::UserShare => turns::USER_SHARE,
    }
}

/// The place of a code in the order in which the reference looks at an ask, as the product was asked to show it.
const LETTERS: [(&str, &[&str]); 5] = [
    ("a", &["NO_PARTITION_ACCESS", "NODE_BLOCKED"]),
    ("b", &["NODE_RESERVED", "NODE_RESOURCES", "NO_NODE_FITS"]),
    ("c", &["QUEUE_MAX", "ROOT_CAPACITY", "QUEUE_STATE"]),
    ("d", &["USER_SHARE", "USER_HARD_CAP", "ABS_USER_LIMIT", "ABS_GROUP_LIMIT"]),
    (
        "e",
        &[
            "DRIVER_LIMIT_QUEUE",
            "DRIVER_LIMIT_USER",
            "MAX_APPS",
            "USER_APPS",
            "GROUP_APPS",
            "PARALLEL_LIMIT",
        ],
    ),
];

fn letter_of(code: &str) -> Option<&'static str> {
    let mut all = LETTERS.iter();
    all.find(|(_, codes)| codes.contains(&code)).map(|(letter, _)| *letter)
}

/// What the command says of a scene.
struct Told {
    code: &'static str,
    subject: &'static str,
    text: String,
    json: Value,
}

/// All scenes, each played and explained once: while one test starts a program, another must not have a journal open
/// to write, which the program would hold for a moment.
static TOLD: LazyLock<Vec<Told>> = LazyLock::new(|| {
    let folder = Folder::new("explained");
    let all = WaitCode::ALL.map(|code| (code.as_str(), scene(code)));
    for (code, scene) in all {
        write_journal(&folder.path(&format!("{code}/data")), tell_moves(scene.script, BEGIN));
    }
    let tell = |(code, scene): (&'static str, Scene)| {
        let (subject, data) = (scene.subject, format!("{code}/data"));
        let said = |words: &[&str]| {
            let words = [&["explain", subject, "--journal", &data], words].concat();
            folder.succeed(&words).stdout
        };
        let json = serde_json::from_str(&said(&["--json"])).unwrap();
        Told { code, subject, text: said(&[]), json }
    };
    all.map(tell).into()
});

/// The page of a code.
fn page_of(code: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors").join(code).with_extension("md")
}

const FENCE: &str = "```console\n";

/// Compares the example of a page with the current output of the command, or rewrites it. Returns whether they are
/// the same.
fn is_in_page(code: &str, shown: &str) -> bool {
    let path = page_of(code);
    let page = fs::read_to_string(&path).unwrap();
    let (text, block) = page.split_once(FENCE).unwrap_or((&page, ""));
    if block.strip_suffix("```\n") == Some(shown) {
        return true;
    }
    if env::var_os("UPDATE_EXPECT").is_some() {
        let text = text.trim_end();
        fs::write(&path, format!("{text}\n\n{FENCE}{shown}```\n")).unwrap();
        return true;
    }
    println!("the example of docs/errors/{code}.md is\n{block}and the command prints\n{shown}");
    false
}

#[test]
fn the_page_of_every_reason_to_wait_ends_with_what_the_terminal_shows() {
    let is_another = |told: &&Told| {
        let shown = format!("$ headroom explain {}\n{}", told.subject, told.text);
        !is_in_page(told.code, &shown)
    };
    let others: Vec<_> = TOLD.iter().filter(is_another).map(|told| told.code).collect();
    assert!(others.is_empty(), "UPDATE_EXPECT=1 rewrites the examples of {others:?}");
}

#[test]
fn the_first_check_that_fails_is_the_code_with_its_letter_and_the_answer_is_one_short_line() {
    for Told { code, text, json, .. } in &*TOLD {
        let failed = json["blockedBy"].as_array().unwrap();
        // These say why an ask is impossible, which comes first.
        let is_reason = ["NO_PARTITION_ACCESS", "REQUIRED_NODE_ABSENT"].contains(code);
        assert_eq!(failed[0]["id"] == "IMPOSSIBLE", is_reason || *code == "IMPOSSIBLE", "{json}");
        let first = &failed[usize::from(is_reason)];
        assert_eq!(first["id"], *code, "{json}");
        assert_eq!(first["letter"].as_str(), letter_of(code), "{code}");
        let line = text.lines().next().unwrap();
        assert!(line.chars().count() <= LINE_MAX, "{line}");
        let said = if *code == "IMPOSSIBLE" { "impossible: " } else { *code };
        assert!(line.contains(said), "{line}");
        let letter = letter_of(code).map_or_else(String::new, |letter| format!(" ({letter})"));
        let mark = format!("✗ {code}{letter} ");
        let mut failed = text.lines().map(str::trim_start).filter(|line| line.starts_with('✗'));
        assert!(
            failed.nth(usize::from(is_reason)).is_some_and(|line| line.starts_with(&mark)),
            "{mark}: {text}"
        );
    }
}

#[test]
fn every_letter_is_of_a_code_that_there_is() {
    let known = WaitCode::ALL.map(WaitCode::as_str);
    let all: Vec<&str> = LETTERS.iter().flat_map(|(_, codes)| *codes).copied().collect();
    assert!(all.iter().all(|code| known.contains(code)), "{all:?}");
}

#[test]
fn the_page_of_every_reason_to_wait_is_printed() {
    let folder = Folder::new("explained_pages");
    for Told { code, .. } in &*TOLD {
        let printed = folder.succeed(&["explain", "--code", code]).stdout;
        assert_eq!(printed, fs::read_to_string(page_of(code)).unwrap(), "{code}");
    }
}
