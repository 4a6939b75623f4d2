//! Scenes in which others go first.

use super::Scene;

pub(crate) const BEHIND_HEAD: Scene = Scene {
    subject: "notebook-5/kernel",
    script: "
        queue root.lab max vcore=16 prop application.sort.policy=fifo-strict
        node n1 vcore=32 memory=128Gi
        app sim-1 root.lab bob
        ask run-1 sim-1 vcore=10 memory=16Gi
        app sim-2 root.lab cid
        ask run-2 sim-2 vcore=12 memory=16Gi
        wait 600s
        app notebook-5 root.lab ann
        ask kernel notebook-5 vcore=6 memory=8Gi
        ",
};

pub(crate) const HELD_FOR_HEAD: Scene = Scene {
    subject: "notebook-7/kernel",
    script: "
        queue root.lab max vcore=16 prop application.sort.policy=fifo-backfill prop application.sort.maxovertakes=1
        node n1 vcore=32 memory=128Gi
        app sim-1 root.lab bob
        ask run-1 sim-1 vcore=6 memory=16Gi
        app sim-2 root.lab cid
        ask run-2 sim-2 vcore=12 memory=16Gi
        app notebook-6 root.lab bob
        ask console notebook-6 vcore=2 memory=8Gi
        wait 600s
        app notebook-7 root.lab ann
        ask kernel notebook-7 vcore=6 memory=8Gi
        ",
};

pub(crate) const HELD: Scene = Scene {
    subject: "notebook-8/kernel",
    script: "
        starvation 300s
        queue root.lab max vcore=16 parent
        queue root.lab.sims
        queue root.lab.notebooks
        node n1 vcore=32 memory=128Gi
        app notebook-6 root.lab.notebooks bob
        ask console notebook-6 vcore=6 memory=8Gi
        app sim-2 root.lab.sims cid
        ask run-2 sim-2 vcore=12 memory=16Gi
        wait 300s
        app notebook-8 root.lab.notebooks ann
        ask kernel notebook-8 vcore=6 memory=8Gi
        wait 60s
        ",
};

pub(crate) const USER_SHARE: Scene = Scene {
    subject: "train-17/worker-3",
    script: "
        queue root.ml guaranteed vcore=24 share overshoot;p=25;f=4
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=8 memory=8Gi on n1
        ask worker-2 train-17 vcore=8 memory=8Gi on n2
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=4 memory=8Gi on n1
        ask trial-2 tune-3 vcore=10 memory=8Gi
        wait 1s
        ask worker-3 train-17 vcore=4 memory=8Gi
        ",
};

pub(crate) const ORDER_BEHIND: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=2 memory=8Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=4 memory=8Gi
        wait 60s
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        wait 60s
        still
        node n2 vcore=16 memory=64Gi
        ",
};

pub(crate) const PRIORITY_BEHIND: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.ml
        node n1 vcore=2 memory=8Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        wait 60s
        app hotfix-2 root.ml bob
        ask deploy hotfix-2 vcore=4 memory=8Gi prio 10
        wait 60s
        still
        node n2 vcore=16 memory=64Gi
        ",
};

pub(crate) const SHARE_BEHIND: Scene = Scene {
    subject: "train-17/worker-2",
    script: "
        queue root.ml fair guaranteed vcore=16
        node n1 vcore=10 memory=64Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=8 memory=8Gi
        app tune-3 root.ml bob
        ask trial-1 tune-3 vcore=2 memory=8Gi
        ask worker-2 train-17 vcore=4 memory=8Gi
        ask trial-2 tune-3 vcore=4 memory=8Gi
        wait 60s
        still
        node n2 vcore=16 memory=64Gi
        ",
};
