//! Scenes of nodes, and of what answers for them: an RM, placeholders, a pause.

use super::Scene;

pub(crate) const GANG_INCOMPLETE: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml max vcore=16
        node n1 vcore=32 memory=128Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=10 memory=16Gi
        app train-17 root.ml ann gang vcore=8 memory=16Gi timeout 900s
        ask place-1 train-17 vcore=8 memory=16Gi placeholder group workers
        wait 60s
        ask worker-1 train-17 vcore=8 memory=16Gi group workers
        ",
};

pub(crate) const BEHIND_GANG: Scene = Scene {
    subject: "train-18/place-3",
    script: "
        gangs whole
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=16 memory=16Gi
        ask trial-2 tune-3 vcore=8 memory=16Gi
        app train-17 root.ml ann gang vcore=16 memory=32Gi timeout 900s
        ask place-1 train-17 vcore=8 memory=16Gi placeholder group workers
        ask place-2 train-17 vcore=8 memory=16Gi placeholder group workers
        app train-18 root.ml eve gang vcore=16 memory=32Gi timeout 900s
        ask place-3 train-18 vcore=8 memory=16Gi placeholder group workers
        ask place-4 train-18 vcore=8 memory=16Gi placeholder group workers
        wait 60s
        ",
};

pub(crate) const AWAITING_RM: Scene = Scene {
    subject: "web-2/pod-1",
    script: "
        queue root.services
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        questions on
        app web-2 root.services ann
        ask pod-1 web-2 vcore=2 memory=4Gi
        wait 5s
        ",
};

pub(crate) const BACKOFF: Scene = Scene {
    subject: "sweep-8/trial-3",
    script: "
        queue root.ml prop application.unschedasks.backoff=2 prop application.unschedasks.backoff.delay=30s
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask fill-1 tune-3 vcore=10 memory=16Gi
        ask fill-2 tune-3 vcore=10 memory=16Gi
        app sweep-8 root.ml ann
        ask trial-1 sweep-8 vcore=8 memory=8Gi
        ask trial-2 sweep-8 vcore=8 memory=8Gi
        ask trial-3 sweep-8 vcore=4 memory=8Gi
        ",
};

pub(crate) const IMPOSSIBLE: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=24 memory=16Gi
        wait 60s
        ",
};

pub(crate) const NODE_BLOCKED: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=12 memory=16Gi on n2
        app train-17 root.ml ann
        wait 60s
        ask worker-1 train-17 vcore=8 memory=16Gi not-on n1
        ",
};

pub(crate) const NODE_CONSTRAINT: Scene = Scene {
    subject: "web-2/pod-1",
    script: "
        queue root.services
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        questions on
        app web-2 root.services ann
        ask pod-1 web-2 vcore=2 memory=4Gi
        wait 1s
        answer pod-1 n1=TaintToleration n2=TaintToleration
        ",
};

pub(crate) const NODE_RESERVED: Scene = Scene {
    subject: "notebook-5/kernel",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=8 memory=16Gi on n1
        ask trial-2 tune-3 vcore=10 memory=16Gi on n2
        app train-17 root.ml cid
        ask worker-1 train-17 vcore=12 memory=16Gi
        wait 60s
        app notebook-5 root.ml ann
        ask kernel notebook-5 vcore=7 memory=8Gi
        ",
};

pub(crate) const NODE_RESOURCES: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=8 memory=16Gi on n1
        ask trial-2 tune-3 vcore=10 memory=16Gi on n2
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=12 memory=16Gi
        wait 60s
        ",
};

pub(crate) const NO_NODE_FITS: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=8 memory=16Gi on n1
        ask trial-2 tune-3 vcore=10 memory=16Gi on n2
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=12 memory=16Gi
        ",
};

pub(crate) const NO_PARTITION_ACCESS: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=4 memory=16Gi labelled gpu
        wait 60s
        ",
};

pub(crate) const PREEMPTION_PENDING: Scene = Scene {
    subject: "train-17/worker-2",
    script: "
        queue root.ml guaranteed vcore=12
        queue root.batch guaranteed vcore=4
        node n1 vcore=16 memory=64Gi
        node n2 vcore=4 memory=64Gi
        app nightly-1 root.batch bob
        ask step-1 nightly-1 vcore=4 memory=8Gi on n1 preemptable
        wait 60s
        ask step-2 nightly-1 vcore=6 memory=8Gi on n1 preemptable
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=4 memory=8Gi on n1
        wait 300s
        ask worker-2 train-17 vcore=6 memory=8Gi preempts
        wait 3s
        wait 60s
        ",
};

pub(crate) const RECOVERING: Scene = Scene {
    subject: "render-4",
    script: "
        tenants root.tenants
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        tenant acme quota vcore=16
        wait 3600s
        recover
        node n1 vcore=16 memory=64Gi
        wait 5s
        task render-4 acme ann vcore=4 memory=8Gi
        ",
};

pub(crate) const RM_AWAY: Scene = Scene {
    subject: "web-2/pod-1",
    script: "
        queue root.services
        node n1 vcore=16 memory=64Gi
        app web-2 root.services ann
        wait 60s
        manager-away yunikorn 1772438400000
        wait 5s
        ask pod-1 web-2 vcore=2 memory=4Gi
        wait 60s
        ",
};

pub(crate) const NO_NODES: Scene = Scene {
    subject: "web-2/pod-1",
    script: "
        queue root.services
        app web-2 root.services ann
        ask pod-1 web-2 vcore=2 memory=4Gi
        wait 60s
        ",
};

pub(crate) const REQUIRED_NODE_ABSENT: Scene = Scene {
    subject: "logs/agent-n3",
    script: "
        queue root.system
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app logs root.system ops
        ask agent-n3 logs vcore=500m memory=512Mi requires n3
        wait 60s
        ",
};

pub(crate) const REQUIRED_NODE_FULL: Scene = Scene {
    subject: "logs/agent-n1",
    script: "
        queue root.system
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app builds root.system ops
        ask build-77 builds vcore=15800m memory=32Gi requires n1
        app logs root.system ops
        ask agent-n1 logs vcore=500m memory=512Mi requires n1
        wait 60s
        ",
};

pub(crate) const REQUIRED_NODE_SIZE: Scene = Scene {
    subject: "cache/shard-n1",
    script: "
        queue root.system
        node n1 vcore=4 memory=32Gi
        node n2 vcore=16 memory=64Gi
        foreign backup n1 memory=16Gi
        app cache root.system ops
        ask shard-n1 cache vcore=2 memory=24Gi requires n1
        wait 60s
        ",
};
