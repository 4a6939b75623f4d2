//! The audit of tenants: what is in it, that it is the same however it came to be, and that nothing can be
//! changed, dropped or moved in it without being found.

use std::sync::Arc;

use headroom_core::Millis;
use headroom_core::config::TenantSettings;
use headroom_core::config::tenant::{OnLower, WaitingStrategy};
use headroom_core::{Command, Name};
use headroom_engine::{AuditFaultKind as Fault, AuditType, AuditWanted, verify_audit_lines};
use headroom_journal::disk::Disk as _;
use headroom_journal::disk::faulty::Fault as DiskFault;
use serde_json::{Value, json};

use crate::cluster::{START, default};
use crate::trail_scene::{Disks, Scene, in_order, lines_of, quota, set};

/// Two tenants, and tasks of one of them; ended well.
async fn disks() -> Disks {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    for tenant in ["a", "b"] {
        scene.accept(set(tenant, quota(40))).await;
    }
    for number in 0..4 {
        scene.task("a", &format!("t{number}"), 10).await;
    }
    scene.end("t1").await;
    scene.engine.stop().await.unwrap();
    disks.after_kill()
}

fn faults(disks: &Disks) -> Vec<(u64, Fault)> {
    disks.judged(None).faults.into_iter().map(|one| (one.line, one.fault)).collect()
}

fn record(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[tokio::test]
#[doc(alias = "TR-71")]
async fn every_change_of_a_tenant_says_old_and_new() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    scene.accept(set("a", quota(40))).await;
    let more = TenantSettings {
        display_name: Name::new("A"),
        waiting: Some(in_order(WaitingStrategy::Priority)),
        ..quota(50)
    };
    let accepted = scene.accept(set("a", more)).await;
    let partition = default();
    let gone =
        Command::RemoveTenant { partition, tenant: Name::new("a"), drain: false, expects: None };
    scene.accept(gone).await;
    let lines: Vec<Value> =
        lines_of(scene.handle.audit()).iter().map(|(_, _, line)| record(line)).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    let expected =
        ["TENANT_CREATED", "QUOTA_CHANGED", "ORDER_CHANGED", "TENANT_CHANGED", "TENANT_DELETED"];
    assert_eq!(kinds, expected);
    let quota = &lines[1];
    assert_eq!(quota["before"], json!({"quota": {"vcore": 40_000}}));
    assert_eq!(quota["after"], json!({"quota": {"vcore": 50_000}}));
    assert_eq!(lines[2]["before"], json!({"waiting": null}));
    assert_eq!(lines[2]["after"], json!({"waiting": {"strategy": "priority"}}));
    assert_eq!(lines[3]["after"], json!({"displayName": "A"}));
    assert_eq!(lines[4]["before"]["quota"], json!({"vcore": 50_000}));
    for line in &lines[1..4] {
        assert_eq!(line["ledgerVersion"], json!(accepted.sequence));
        assert_eq!(line["actor"], json!("token:ann"));
        assert_eq!(line["requestId"], json!("req-7"));
        assert_eq!(line["tenant"], json!("a"));
        assert_eq!(line["at"], json!("1970-01-01T00:16:40.000Z"));
    }
    let chain = lines.windows(2).all(|pair| pair[1]["prevHash"] == pair[0]["hash"]);
    assert!(chain && lines[0]["prevHash"] == json!("0".repeat(64)), "{lines:#?}");
}

#[tokio::test]
#[doc(alias = "TS-35")]
async fn tasks_are_told_in_the_order_of_what_happened() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    for (tenant, vcores) in [("a", 20), ("b", 40)] {
        scene.accept(set(tenant, quota(vcores))).await;
    }
    scene.task("a", "t1", 20).await;
    // Has to wait: 20 + 20 > 20.
    scene.task("a", "t2", 20).await;
    scene.task("b", "t3", 10).await;
    scene.end("t1").await;
    let story = scene.story();
    let expected = [
        "TASK_SUBMITTED t1",
        "TASK_STARTED t1",
        "TASK_SUBMITTED t2",
        "TASK_SUBMITTED t3",
        "TASK_STARTED t3",
        "TASK_ENDED t1",
        "TASK_STARTED t2",
    ];
    assert_eq!(story[2..], expected);
    let lines = lines_of(scene.handle.audit());
    let started = record(&lines[3].2);
    assert_eq!(started["actor"], json!("scheduler"));
    assert_eq!(started["tenant"], json!("a"));
    let held = json!({"key": "t1", "node": "n1", "resources": {"vcore": 20_000}});
    assert_eq!(started["after"], held);
    let ended = record(&lines[7].2);
    assert_eq!((&ended["before"], &ended["reason"]), (&held, &json!("STOPPED_BY_RM")));
    scene.engine.stop().await.unwrap();
    let found = disks.after_kill().verified();
    assert_eq!((found.faults, found.records, found.to_come), (vec![], 9, 0));
}

#[tokio::test]
async fn withdrawn_evicted_and_rejected_tasks_are_told_with_the_reason() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    let preempt = Some(OnLower::Preempt { grace: Millis::from_secs(1) });
    scene.accept(set("a", TenantSettings { on_lower: preempt, ..quota(20) })).await;
    scene.task("a", "t1", 20).await;
    scene.task("a", "t2", 20).await;
    scene.end("t2").await;
    scene.accept(set("a", TenantSettings { on_lower: preempt, ..quota(10) })).await;
    scene.turn(Millis::from_secs(5)).await;
    let [submit, _] = crate::trail_scene::commands_of_task("nobody", "t3", 1);
    let refused = scene.handle.submit(crate::trail_scene::by_ann(submit)).await.unwrap();
    let story = scene.story();
    let expected = [
        "TASK_SUBMITTED t1",
        "TASK_STARTED t1",
        "TASK_SUBMITTED t2",
        "TASK_CANCELLED t2",
        "QUOTA_CHANGED a",
        "TASK_EVICTED t1",
    ];
    assert_eq!(story[1..7], expected, "{refused:?}");
    let lines = lines_of(scene.handle.audit());
    let evicted = record(&lines[6].2);
    assert_eq!(evicted["reason"], json!("QUOTA"));
    assert_eq!(evicted["after"], json!({"for": "root.tenants.a"}));
    assert_eq!(evicted["before"]["key"], json!("t1"));
    assert_eq!(story.get(7).map(String::as_str), Some("TASK_REJECTED t3"), "{refused:?}");
    let rejected = record(&lines[7].2);
    assert_eq!(rejected["reason"], json!("UNKNOWN_TENANT"), "{rejected:#}");
}

#[tokio::test]
async fn what_is_of_no_tenant_is_not_in_it() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    for command in crate::trail_scene::commands_of_task("", "plain", 1) {
        let command = match command {
            Command::Submit(submit) => {
                Command::Submit(headroom_core::Submit { queue: Name::new("root.plain"), ..submit })
            }
            other => other,
        };
        scene.accept(command).await;
    }
    scene.turn(Millis::from_secs(1)).await;
    assert_eq!(scene.handle.views().at_least(0).await.books.allocations().iter().count(), 1);
    assert_eq!(scene.story(), Vec::<String>::new());
}

#[tokio::test]
#[doc(alias = "TR-72")]
async fn a_changed_record_is_found_wherever_it_was_changed() {
    let disks = disks().await;
    assert_eq!(faults(&disks), vec![]);
    let lines = disks.lines();
    for (at, from, to) in [
        (1, "token:ann", "token:bob"),
        (4, "\"t1\"", "\"t9\""),
        (5, "\"seq\":6", "\"seq\":9"),
        (3, ",\"hash\":\"", ",\"hash\":\"0"),
    ] {
        let mut changed = lines.clone();
        assert!(changed[at].contains(from), "{}", changed[at]);
        changed[at] = changed[at].replacen(from, to, 1);
        disks.set_lines(&changed);
        let (line, fault) = faults(&disks).remove(0);
        assert_eq!(line, at as u64 + 1, "{fault}");
        let is_it = matches!(fault, Fault::Changed { .. } | Fault::Unreadable { .. });
        assert!(is_it, "{fault}");
    }
}

#[tokio::test]
#[doc(alias = "TR-72")]
async fn a_dropped_a_moved_and_a_doubled_record_are_found() {
    let disks = disks().await;
    let lines = disks.lines();
    let mut dropped = lines.clone();
    dropped.drain(3..5);
    disks.set_lines(&dropped);
    assert_eq!(faults(&disks), vec![(4, Fault::Missing { from: 4, found: 6 })]);
    let said = disks.judged(None).faults[0].to_string();
    let expected = "line 4: expected record 4, but found record 6: records 4 to 5 are missing";
    assert!(said.ends_with(expected), "{said}");

    disks.set_lines(&lines[3..]);
    assert_eq!(faults(&disks), vec![(1, Fault::Missing { from: 1, found: 4 })]);

    let mut moved = lines.clone();
    moved.swap(3, 4);
    disks.set_lines(&moved);
    let expected =
        vec![(4, Fault::Missing { from: 4, found: 5 }), (5, Fault::Order { seq: 4, expected: 6 })];
    assert_eq!(faults(&disks), expected);

    let mut doubled = lines.clone();
    doubled.insert(3, lines[2].clone());
    disks.set_lines(&doubled);
    assert_eq!(faults(&disks), vec![(4, Fault::Order { seq: 3, expected: 4 })]);
}

#[tokio::test]
async fn a_record_of_another_chain_is_found() {
    let (one, other) = (disks().await, Disks::default());
    let scene = Scene::furnished(&other).await;
    scene.turn(Millis::from_secs(1)).await;
    for tenant in ["b", "a", "c", "d"] {
        scene.accept(set(tenant, quota(40))).await;
    }
    scene.engine.stop().await.unwrap();
    let mut lines = one.lines();
    lines[2] = other.lines()[2].clone();
    one.set_lines(&lines);
    let found = faults(&one);
    let places: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(places, [3, 4], "{found:?}");
    assert!(found.iter().all(|(_, fault)| matches!(fault, Fault::Chain { .. })), "{found:?}");
    // A chain that was rewritten as a whole is detected by the journal.
    one.set_lines(&other.lines());
    assert_eq!(faults(&one), vec![]);
    let found = one.verified().faults;
    assert!(found.iter().any(|one| matches!(one.fault, Fault::Ends { .. })), "{found:?}");
}

#[tokio::test]
async fn a_cut_end_and_a_cut_middle_are_found() {
    let disks = disks().await;
    let lines = disks.lines();
    let last = lines.len() as u64;
    let bytes = disks.audit.bytes(&disks.file()).unwrap();
    disks.audit.set_bytes(&disks.file(), bytes[..bytes.len() - 7].to_vec());
    assert_eq!(faults(&disks), vec![(last, Fault::CutOff { expected: last })]);
    // Whole lines that are missing at the end are known to the journal alone.
    disks.set_lines(&lines[..lines.len() - 2]);
    assert_eq!(faults(&disks), vec![]);
    let found = disks.verified().faults;
    let ends = Fault::Ends { last: last - 2, had: last };
    assert_eq!(found.iter().map(|one| &one.fault).collect::<Vec<_>>(), [&ends]);
    let mut cut = lines.clone();
    cut[3].truncate(30);
    disks.set_lines(&cut);
    let found = faults(&disks);
    assert!(matches!(found[0], (4, Fault::Unreadable { expected: 4, .. })), "{found:?}");
    assert_eq!(found[1], (5, Fault::Missing { from: 4, found: 5 }));
}

#[tokio::test]
async fn an_export_of_all_lines_can_be_judged_alone_and_from_the_middle() {
    let disks = disks().await;
    let text = disks.lines().join("\n") + "\n";
    let place = std::path::Path::new("export.json");
    let found = verify_audit_lines(place, text.as_bytes()).unwrap();
    assert_eq!((found.faults_found, found.records), (0, disks.lines().len() as u64));
    let behind: String = text.split_inclusive('\n').skip(3).collect();
    let found = verify_audit_lines(place, behind.as_bytes()).unwrap();
    assert_eq!((found.faults_found, found.first.unwrap().seq), (0, 4));
}

#[tokio::test]
#[doc(alias = "TR-72")]
async fn what_a_crash_took_is_made_again_byte_by_byte() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    scene.accept(set("a", quota(40))).await;
    scene.task("a", "t1", 10).await;
    let crashed = disks.after_kill();
    let lines = disks.lines();
    for kept in 0..lines.len() {
        // In the middle of a line.
        let mut text = lines[..kept].join("\n");
        text.push_str(if kept > 0 { "\n{\"seq\":" } else { "{" });
        let again = crashed.after_kill();
        again.audit.set_bytes(&again.file(), text.into_bytes());
        let scene = Scene::start(&again, START, 1_000).unwrap();
        assert_eq!(scene.engine.begin().warnings, Vec::<String>::new());
        scene.engine.stop().await.unwrap();
        assert_eq!(again.lines(), lines, "{kept} lines were stored");
    }
}

#[tokio::test]
async fn an_audit_that_is_gone_is_made_again_as_far_as_the_journal_goes() {
    let disks = disks().await;
    let lines = disks.lines();
    disks.audit.remove(&disks.file()).unwrap();
    let scene = Scene::start(&disks, START, 1_000).unwrap();
    let warnings = scene.engine.begin().warnings.clone();
    assert!(
        warnings.len() == 1 && warnings[0].contains("the end of the file is missing"),
        "{warnings:?}"
    );
    scene.engine.stop().await.unwrap();
    assert_eq!(disks.lines(), lines);
}

#[tokio::test]
async fn one_that_was_damaged_is_made_again_where_the_journal_has_all_and_the_damage_is_kept() {
    let disks = disks().await;
    let (file, lines) = (disks.file(), disks.lines());
    let mut changed = lines.clone();
    changed[2] = changed[2].replacen("token:ann", "token:bob", 1);
    disks.set_lines(&changed);
    let scene = Scene::start(&disks, START, 1_000).unwrap();
    let warnings = scene.engine.begin().warnings.clone();
    assert!(warnings.len() == 1 && warnings[0].contains(", line 3)"), "{warnings:?}");
    scene.engine.stop().await.unwrap();
    let text = |name: &str| String::from_utf8(disks.audit.bytes(name).unwrap()).unwrap();
    assert_eq!(text(&file).lines().collect::<Vec<_>>(), lines);
    assert_eq!(text(&format!("{file}.damaged")).lines().collect::<Vec<_>>(), changed);
}

#[tokio::test]
async fn one_that_was_damaged_stays_as_it_is_and_goes_on_behind() {
    let disks = Disks::default();
    let scene = Scene::start(&disks, START, 2).unwrap();
    for command in crate::trail_scene::furniture() {
        scene.accept(command).await;
    }
    scene.accept(set("a", quota(40))).await;
    for number in 0..8 {
        scene.task("a", &format!("t{number}"), 1).await;
        // Snapshots are written in parallel.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    scene.engine.stop().await.unwrap();
    let disks = disks.after_kill();
    let file = disks.file();
    let mut lines = disks.lines();
    lines[1] = lines[1].replacen("t0", "t9", 1);
    disks.set_lines(&lines);
    let scene = Scene::start(&disks, START, 1_000).unwrap();
    let warnings = scene.engine.begin().warnings.clone();
    assert!(warnings.len() == 1 && warnings[0].contains(", line 2)"), "{warnings:?}");
    scene.accept(set("a", quota(30))).await;
    scene.engine.stop().await.unwrap();
    let kept = String::from_utf8(disks.audit.bytes(&file).unwrap()).unwrap();
    assert_eq!(kept.lines().collect::<Vec<_>>(), lines, "what is there is not touched");
    let found = disks.verified();
    let faults: Vec<_> = found.faults.iter().map(|one| (one.line, &one.fault)).collect();
    assert!(matches!(faults[..], [(2, Fault::Changed { seq: 2, .. })]), "{faults:?}");
    assert_eq!(found.last.unwrap().seq, lines.len() as u64 + 1);
}

#[tokio::test]
async fn behind_a_journal_that_was_cut_off_the_audit_goes_on() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    scene.accept(set("a", quota(40))).await;
    let cut = scene.accept(set("a", quota(50))).await.sequence - 1;
    let mut disks = disks.after_kill();
    let lines = disks.lines();
    let journal: Arc<dyn headroom_journal::disk::Disk> = Arc::new(disks.journal.clone());
    headroom_journal::repair(&journal, cut).unwrap();
    // Twice, because the second start finds what the first one has written.
    for (start, vcores) in [60, 70].into_iter().enumerate() {
        let scene = Scene::start(&disks, START, 1_000).unwrap();
        assert_eq!(scene.engine.begin().warnings.len(), usize::from(start == 0));
        scene.accept(set("a", quota(vcores))).await;
        disks = disks.after_kill();
    }
    let after = disks.lines();
    assert_eq!(after[..lines.len()], lines, "earlier lines stay");
    let said: Vec<_> = after[lines.len()..].iter().map(|line| record(line)).collect();
    let kinds: Vec<_> = said.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["LEDGER_REBUILT", "QUOTA_CHANGED", "QUOTA_CHANGED"]);
    assert_eq!(said[0]["after"], json!({"ledgerVersion": cut}));
    assert_eq!(said[1]["before"], json!({"quota": {"vcore": 40_000}}));
    assert_eq!(disks.after_kill().verified().faults, vec![]);
}

#[tokio::test]
async fn while_it_cannot_be_written_nothing_is_lost_and_it_is_told() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    scene.accept(set("a", quota(40))).await;
    let before = scene.story();
    disks.audit.fail_at(disks.audit.operations(), DiskFault::Full);
    scene.task("a", "t1", 1).await;
    let status = scene.handle.audit().status();
    assert_eq!(status.behind_since, Some(START));
    assert!(status.failure.unwrap().contains("injected"));
    assert_eq!(scene.story(), before);
    // There is room again.
    disks.audit.fail_at(u64::MAX, DiskFault::Full);
    scene.task("a", "t2", 1).await;
    assert_eq!(scene.handle.audit().status(), headroom_engine::AuditStatus::default());
    assert_eq!(scene.story().len(), before.len() + 4);
}

#[tokio::test]
async fn old_segments_go_as_a_whole_and_the_chain_goes_on_from_the_first_that_is_kept() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    let day = Millis::from_secs(86_400);
    for number in 0..40 {
        scene.accept(set("a", quota(1 + number))).await;
        scene.turn(day).await;
    }
    let lines = lines_of(scene.handle.audit());
    // It is day 40 by now, and record N is of day N - 1: what is of day 10 is thirty days old.
    assert_eq!((lines.first().unwrap().0, lines.last().unwrap().0), (11, 40));
    scene.engine.stop().await.unwrap();
    let found = disks.after_kill().verified();
    assert_eq!((found.faults, found.files, found.first.unwrap().seq), (vec![], 30, 11));
}

#[tokio::test]
async fn it_is_read_by_time_type_and_page() {
    let disks = Disks::default();
    let scene = Scene::furnished(&disks).await;
    scene.accept(set("a", quota(40))).await;
    for number in 0..5 {
        scene.task("a", &format!("t{number}"), 1).await;
    }
    let all = |_: &headroom_engine::AuditRecord| true;
    let wanted = |after, limit| AuditWanted {
        after,
        from: Some("1970-01-01T00:16:42.000Z".into()),
        to: Some("1970-01-01T00:16:45.000Z".into()),
        kind: Some(AuditType::TaskStarted),
        which: &all,
        limit,
    };
    let page = |after, limit| {
        let page = scene.handle.audit().find(&wanted(after, limit)).unwrap();
        let tasks: Vec<String> = page.records.iter().filter_map(|one| one.task.clone()).collect();
        (tasks, page.more_after)
    };
    let (tasks, more) = page(0, 2);
    assert_eq!(tasks, ["t1", "t2"]);
    assert_eq!(page(more.unwrap(), 2), (vec!["t3".to_owned()], None));
    assert_eq!(page(0, 3).1, None, "a full page may be the last");
}
