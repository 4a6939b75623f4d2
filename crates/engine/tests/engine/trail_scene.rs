//! A partition with tenants, its journal and its audit on disks that fail on demand.

use std::collections::BTreeSet;
use std::sync::Arc;

use headroom_core::config::tenant::{WaitingPolicy, WaitingStrategy};
use headroom_core::config::{QueueConfig, TenantSettings, TenantsConfig};
use headroom_core::testkit::{amounts, leaf, parent, partition};
use headroom_core::{
    AddNode, Ask, Command, Millis, Name, SetTenant, Submit, Termination, Timestamp,
};
use headroom_engine::{
    Accepted, AuditKnown, AuditReader, AuditVerified, Engine, HandClock, Handle, Origin, Pace,
    Settings, Submission, verify_audit,
};
use headroom_journal::disk::Disk;
use headroom_journal::disk::faulty::{FaultyDisk, Kept};
use headroom_journal::{FileReader, FileStore};

use crate::cluster::{START, default};

/// The disks of one server.
#[derive(Clone, Default)]
pub(crate) struct Disks {
    pub(crate) journal: FaultyDisk,
    pub(crate) audit: FaultyDisk,
}

impl Disks {
    pub(crate) fn after_kill(&self) -> Self {
        Self { journal: self.journal.after_kill(), audit: self.audit.after_kill() }
    }

    pub(crate) fn after_power_loss(&self, mut keep: impl FnMut() -> Kept) -> Self {
        let journal = self.journal.after_power_loss(&mut keep);
        Self { journal, audit: self.audit.after_power_loss(&mut keep) }
    }

    /// The audit of these disks, compared with their journal.
    pub(crate) fn verified(&self) -> AuditVerified {
        let known = AuditKnown::of(&FileReader::open(Arc::new(self.journal.clone())).unwrap());
        self.judged(Some(&known.unwrap()))
    }

    pub(crate) fn judged(&self, known: Option<&AuditKnown>) -> AuditVerified {
        let audit: Arc<dyn Disk> = Arc::new(self.audit.clone());
        verify_audit(&audit, known).unwrap()
    }

    /// The file of the audit, if there is one.
    pub(crate) fn file(&self) -> String {
        let names = self.audit.list().unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
        names[0].clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.audit.bytes(&self.file()).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn set_lines(&self, lines: &[String]) {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        self.audit.set_bytes(&self.file(), text.into_bytes());
    }
}

/// An engine on such disks, which goes by hand.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) handle: Handle,
    pub(crate) clock: HandClock,
}

impl Scene {
    pub(crate) fn start(disks: &Disks, now: Timestamp, snapshot_every: u64) -> Option<Self> {
        let clock = HandClock::at(now);
        let mut settings = Settings::with(clock.clone());
        settings.pace = Pace::ByHand;
        settings.retention.snapshot_every = snapshot_every;
        settings.audit = Some(Arc::new(disks.audit.clone()));
        let store = FileStore::open(Arc::new(disks.journal.clone())).ok()?;
        let engine = Engine::start(Box::new(store), settings).ok()?;
        let handle = engine.handle();
        Some(Self { engine, handle, clock })
    }

    /// Tenants are on, and there is a node of 100 vcores.
    pub(crate) async fn furnished(disks: &Disks) -> Self {
        let scene = Self::start(disks, START, 1_000).unwrap();
        for command in furniture() {
            scene.accept(command).await;
        }
        scene
    }

    pub(crate) async fn accept(&self, command: Command) -> Accepted {
        self.handle.submit(by_ann(command)).await.unwrap().unwrap()
    }

    pub(crate) async fn turn(&self, by: Millis) {
        self.clock.advance(by);
        self.handle.step(u32::MAX).await.unwrap();
    }

    /// A task of one ask.
    pub(crate) async fn task(&self, tenant: &str, task: &str, vcores: i64) {
        for command in commands_of_task(tenant, task, vcores) {
            self.accept(command).await;
        }
        self.turn(Millis::from_secs(1)).await;
    }

    pub(crate) async fn end(&self, task: &str) {
        self.accept(release(task)).await;
        self.turn(Millis::from_secs(1)).await;
    }

    /// Types and tasks of all records, in order.
    pub(crate) fn story(&self) -> Vec<String> {
        let mut story = Vec::new();
        let tell = |record: headroom_engine::AuditRecord, _: &str| {
            let about = record.task.or(record.tenant).unwrap_or_default();
            story.push(format!("{} {about}", record.kind.name()));
            true
        };
        self.handle.audit().each(0, None, tell).unwrap();
        story
    }
}

/// All lines by number.
pub(crate) fn lines_of(reader: &AuditReader) -> Vec<(u64, u64, String)> {
    let mut lines = Vec::new();
    let each = reader.each(0, None, |record, line| {
        lines.push((record.seq, record.ledger_version, line.to_owned()));
        true
    });
    each.unwrap();
    lines
}

/// As the server submits it.
pub(crate) fn by_ann(command: Command) -> Submission {
    let origin =
        Origin { identity: "token:ann".into(), request_id: "req-7".into(), ..Origin::default() };
    Submission { origin: Some(Arc::new(origin)), command }
}

pub(crate) fn furniture() -> Vec<Command> {
    let children = vec![leaf("plain"), parent("tenants", vec![])];
    let mut configuration = partition(QueueConfig { children, ..leaf("root") });
    configuration.partitions[0].tenants = Some(TenantsConfig::default());
    let node = AddNode {
        partition: default(),
        node: Name::new("n1"),
        capacity: amounts([("vcore", 100_000)]),
        schedulable: true,
        ..AddNode::default()
    };
    vec![Command::Configure(Box::new(configuration)), Command::AddNode(node)]
}

pub(crate) fn quota(vcores: i64) -> TenantSettings {
    let quota = Some(amounts([("vcore", vcores * 1_000)]));
    TenantSettings { quota, ..TenantSettings::default() }
}

pub(crate) fn in_order(strategy: WaitingStrategy) -> WaitingPolicy {
    WaitingPolicy { strategy, ..WaitingPolicy::default() }
}

pub(crate) fn set(tenant: &str, settings: TenantSettings) -> Command {
    let (partition, tenant) = (default(), Name::new(tenant));
    Command::SetTenant(Box::new(SetTenant {
        partition,
        tenant,
        settings,
        expects: None,
        force: false,
    }))
}

pub(crate) fn commands_of_task(tenant: &str, task: &str, vcores: i64) -> [Command; 2] {
    let submit = Submit {
        partition: default(),
        application: Name::new(task),
        tenant: Name::new(tenant),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition: default(),
        application: Name::new(task),
        key: Name::new(task),
        resources: amounts([("vcore", vcores * 1_000)]),
        preemptable: true,
        ..Ask::default()
    };
    [Command::Submit(submit), Command::Ask(ask)]
}

pub(crate) fn release(task: &str) -> Command {
    Command::Release {
        partition: default(),
        application: Name::new(task),
        key: None,
        termination: Termination::StoppedByRm,
    }
}

/// Numbers of the journal that lines follow from.
pub(crate) fn versions(lines: &[(u64, u64, String)]) -> BTreeSet<u64> {
    lines.iter().map(|(_, version, _)| *version).collect()
}
