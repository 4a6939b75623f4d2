//! `headroom audit` on the audit of a server that does not run.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::Arc;

use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
use headroom_core::config::{TenantSettings, TenantsConfig};
use headroom_core::resource::Amounts;
use headroom_core::{Command, Millis, Name, SetTenant, Timestamp};
use headroom_engine::{AUDIT_FOLDER, Engine, HandClock, Origin, Pace, Settings, Submission};
use headroom_journal::FileStore;
use headroom_journal::disk::Folder;

/// When it begins: 2026-11-22T08:00:00Z.
const START: Timestamp = Timestamp::from_millis(1_795_334_400_000);

fn configuration() -> Configuration {
    let tenants =
        QueueConfig { name: Name::new("tenants"), parent: true, ..QueueConfig::default() };
    let root = QueueConfig {
        name: Name::new("root"),
        submit_acl: "*".into(),
        children: vec![tenants],
        ..QueueConfig::default()
    };
    let mut partition = PartitionConfig::new("default", root);
    partition.tenants = Some(TenantsConfig::default());
    Configuration { partitions: vec![partition], ..Configuration::default() }
}

fn set(tenant: &str, vcores: i64) -> Command {
    let quota = Some(Amounts::from([("vcore", vcores * 1_000)]));
    let settings = TenantSettings { quota, ..TenantSettings::default() };
    let (partition, tenant) = (Name::new("default"), Name::new(tenant));
    Command::SetTenant(Box::new(SetTenant {
        partition,
        tenant,
        settings,
        expects: None,
        force: false,
    }))
}

/// A folder with the journal and the audit of two tenants whose quotas change, an hour after the other.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("headroom-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let clock = HandClock::at(START);
    let mut settings = Settings::with(clock.clone());
    settings.pace = Pace::ByHand;
    let store = FileStore::open_folder(&folder).unwrap();
    settings.audit = Some(Arc::new(Folder::new(folder.join(AUDIT_FOLDER)).unwrap()));
    let engine = Engine::start(Box::new(store), settings).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let commands = [
            Command::Configure(Box::new(configuration())),
            set("a", 100),
            set("b", 40),
            set("a", 60),
            set("b", 50),
        ];
        for command in commands {
            let (identity, request_id) = ("token:ann".to_owned(), "r-1".to_owned());
            let origin = Origin { identity, request_id, ..Origin::default() };
            let outcome = engine
                .handle()
                .submit(Submission { origin: Some(Arc::new(origin)), command })
                .await;
            outcome.unwrap().unwrap();
            clock.advance(Millis::from_secs(3_600));
        }
        engine.stop().await.unwrap();
    });
    folder
}

fn file(folder: &Path) -> PathBuf {
    folder.join(AUDIT_FOLDER).join("audit-00000000000000000001.jsonl")
}

fn lines(folder: &Path) -> Vec<String> {
    fs::read_to_string(file(folder)).unwrap().lines().map(str::to_owned).collect()
}

fn write(folder: &Path, lines: &[String]) {
    fs::write(file(folder), lines.join("\n") + "\n").unwrap();
}

fn headroom(arguments: &[&str]) -> (String, i32) {
    let output = Process::new(env!("CARGO_BIN_EXE_headroom")).args(arguments).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (text, output.status.code().unwrap())
}

/// What `verify` ends with, and the errors that it tells without the folder.
fn verify(folder: &Path) -> (Vec<String>, i32) {
    let shown = folder.display().to_string();
    let (text, code) = headroom(&["audit", "verify", "--journal", &shown]);
    let errors = text.lines().filter_map(|line| line.strip_prefix("error: "));
    let errors = errors.map(|line| match line.split_once(".jsonl, ") {
        Some((_, behind)) => behind.to_owned(),
        None => line.rsplit_once(": ").map_or(line, |(_, behind)| behind).to_owned(),
    });
    (errors.collect(), code)
}

#[test]
#[doc(alias = "TR-72")]
fn a_changed_a_dropped_and_a_moved_record_are_found() {
    let folder = folder("audit-verify");
    let whole = lines(&folder);
    assert_eq!(verify(&folder), (vec![], 0));
    let shown = folder.display().to_string();
    let (text, _) = headroom(&["audit", "verify", "--journal", &shown]);
    let first = "records 1 to 4 in 1 file, 2026-11-22T09:00:00.000Z to 2026-11-22T12:00:00.000Z: \
                 all valid and in order";
    assert!(text.starts_with(first), "{text}");

    let mut changed = whole.clone();
    changed[2] = changed[2].replacen("60000", "90000", 1);
    write(&folder, &changed);
    let (errors, code) = verify(&folder);
    assert_eq!((errors.len(), code), (1, 1), "{errors:?}");
    assert!(errors[0].starts_with("line 3: record 3 was changed: its hash is "), "{errors:?}");

    let mut dropped = whole.clone();
    dropped.remove(1);
    write(&folder, &dropped);
    let missing = "line 2: expected record 2, but found record 3: record 2 is missing";
    assert_eq!(verify(&folder), (vec![missing.to_owned()], 1));

    // A file goes as a whole with its time, and never its beginning alone.
    write(&folder, &whole[2..]);
    let begins = "line 1: expected record 1, but found record 3: records 1 to 2 are missing";
    assert_eq!(verify(&folder), (vec![begins.to_owned()], 1));

    let mut moved = whole.clone();
    moved.swap(1, 2);
    write(&folder, &moved);
    let misplaced = "line 3: expected record 4, but found record 2, which must come earlier";
    assert_eq!(verify(&folder), (vec![missing.to_owned(), misplaced.to_owned()], 1));

    write(&folder, &whole[..3]);
    let (errors, code) = verify(&folder);
    assert_eq!((errors, code), (vec!["the last 1 are missing".to_owned()], 1));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn it_is_exported_as_it_is_kept_or_as_rows() {
    let folder = folder("audit-export");
    let shown = folder.display().to_string();
    let export = |more: &[&str]| {
        let (text, code) = headroom(&[&["audit", "export", "--journal", &shown], more].concat());
        assert_eq!(code, 0, "{text}");
        text
    };
    let all = export(&[]);
    assert_eq!(all, fs::read_to_string(file(&folder)).unwrap());
    let copy = folder.join("export.json");
    fs::write(&copy, all).unwrap();
    let (text, code) = headroom(&["audit", "verify", &copy.display().to_string()]);
    assert_eq!((text.contains("all valid and in order"), code), (true, 0), "{text}");
    let rows = export(&["--tenant", "a", "--type", "QUOTA_CHANGED", "-o", "csv"]);
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0].starts_with("seq,at,actor,requestId,type,tenant,task,before,"), "{rows:?}");
    let row = "3,2026-11-22T11:00:00.000Z,token:ann,r-1,QUOTA_CHANGED,a,,\"{\"\"quota\"\":{\"\"vcore\"\":100000}}\",";
    assert!(rows[1].starts_with(row), "{rows:?}");
    let some = export(&["--from", "2026-11-22T10:00:00Z", "--to", "2026-11-22T12:00:00Z"]);
    assert_eq!(some.lines().collect::<Vec<_>>(), &lines(&folder)[1..3]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_understood_or_read_is_refused() {
    let (text, code) = headroom(&["audit", "export", "--type", "NONE"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("TENANT_CREATED"), "{text}");
    let (text, code) = headroom(&["audit", "verify", "--journal", "/nowhere"]);
    assert_eq!((&*text, code), ("error: the folder /nowhere does not exist\n", 1));
}
