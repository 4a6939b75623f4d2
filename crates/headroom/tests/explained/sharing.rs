//! Scenes of what is shared: queues, limits of users and groups, and how many applications there may be.

use super::Scene;

pub(crate) const ABS_GROUP_LIMIT: Scene = Scene {
    subject: "seg-5/worker-2",
    script: "
        queue root.research
        limit root.research group vision vcore=12
        node n1 vcore=32 memory=128Gi
        app seg-4 root.research bob groups vision
        ask worker-1 seg-4 vcore=8 memory=16Gi
        wait 300s
        app seg-5 root.research ann groups vision
        ask worker-2 seg-5 vcore=6 memory=16Gi
        ",
};

pub(crate) const ABS_USER_LIMIT: Scene = Scene {
    subject: "train-17/worker-3",
    script: "
        queue root.sales
        limit root.sales user ann vcore=16 memory=48Gi
        node n1 vcore=32 memory=128Gi
        app report-11 root.sales ann
        ask report report-11 vcore=2 memory=8Gi
        app train-17 root.sales ann
        ask worker-1 train-17 vcore=4 memory=16Gi
        ask worker-2 train-17 vcore=4 memory=16Gi
        wait 60s
        ask worker-3 train-17 vcore=4 memory=16Gi
        ",
};

pub(crate) const DRIVER_LIMIT_QUEUE: Scene = Scene {
    subject: "load-2/driver-2",
    script: "
        queue root.etl guaranteed vcore=40 max vcore=40 counts driver=0.1
        node n1 vcore=64 memory=256Gi
        app load-1 root.etl bob
        ask driver-1 load-1 vcore=3 memory=8Gi originator
        wait 120s
        app load-2 root.etl ann
        ask driver-2 load-2 vcore=2 memory=8Gi originator
        ",
};

pub(crate) const DRIVER_LIMIT_USER: Scene = Scene {
    subject: "load-3/driver-3",
    script: "
        queue root.etl guaranteed vcore=40 max vcore=40 share p=25;f=1 counts driver=0.2
        node n1 vcore=64 memory=256Gi
        app load-1 root.etl ann
        ask driver-1 load-1 vcore=3 memory=8Gi originator
        app load-2 root.etl bob
        ask driver-2 load-2 vcore=6 memory=8Gi originator
        wait 120s
        app load-3 root.etl ann
        ask driver-3 load-3 vcore=2 memory=8Gi originator
        ",
};

pub(crate) const GROUP_APPS: Scene = Scene {
    subject: "seg-6/worker-6",
    script: "
        queue root.research
        limit root.research group vision apps=2
        node n1 vcore=32 memory=128Gi
        app seg-4 root.research bob groups vision
        ask worker-4 seg-4 vcore=4 memory=16Gi
        app seg-5 root.research cid groups vision
        ask worker-5 seg-5 vcore=4 memory=16Gi
        wait 900s
        app seg-6 root.research ann groups vision
        ask worker-6 seg-6 vcore=4 memory=16Gi
        ",
};

pub(crate) const MAX_APPS: Scene = Scene {
    subject: "nightly-3/step-3",
    script: "
        queue root.batch apps=2
        node n1 vcore=32 memory=128Gi
        app nightly-1 root.batch bob
        ask step-1 nightly-1 vcore=4 memory=16Gi
        app nightly-2 root.batch cid
        ask step-2 nightly-2 vcore=4 memory=16Gi
        wait 900s
        app nightly-3 root.batch ann
        ask step-3 nightly-3 vcore=4 memory=16Gi
        ",
};

pub(crate) const PARALLEL_LIMIT: Scene = Scene {
    subject: "nightly-3/step-3",
    script: "
        queue root.batch counts parallel=2
        node n1 vcore=32 memory=128Gi
        app nightly-1 root.batch bob
        ask step-1 nightly-1 vcore=4 memory=16Gi
        app nightly-2 root.batch cid
        ask step-2 nightly-2 vcore=4 memory=16Gi
        wait 900s
        app nightly-3 root.batch ann
        ask step-3 nightly-3 vcore=4 memory=16Gi
        ",
};

pub(crate) const QUEUE_MAX: Scene = Scene {
    subject: "train-17/worker-3",
    script: "
        queue root.sales max vcore=16 memory=64Gi
        node n1 vcore=32 memory=128Gi
        app report-11 root.sales bob
        ask report report-11 vcore=6 memory=16Gi
        app train-17 root.sales ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        ask worker-2 train-17 vcore=4 memory=8Gi
        wait 300s
        ask worker-3 train-17 vcore=4 memory=8Gi
        ",
};

pub(crate) const QUEUE_STATE: Scene = Scene {
    subject: "train-17/worker-1",
    script: "
        queue root.sales max vcore=16
        node n1 vcore=32 memory=128Gi
        app train-17 root.sales ann
        wait 60s
        reload
        queue root.sales parent max vcore=16
        queue root.sales.emea
        wait 60s
        ask worker-1 train-17 vcore=4 memory=8Gi
        ",
};

pub(crate) const ROOT_CAPACITY: Scene = Scene {
    subject: "train-17/worker-2",
    script: "
        queue root.sales
        node n1 vcore=16 memory=64Gi
        node n2 vcore=16 memory=64Gi
        app backfill-2 root.sales bob
        ask range-1 backfill-2 vcore=12 memory=32Gi
        ask range-2 backfill-2 vcore=12 memory=32Gi
        app train-17 root.sales ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        wait 300s
        ask worker-2 train-17 vcore=8 memory=8Gi
        ",
};

pub(crate) const ANCESTOR_QUOTA: Scene = Scene {
    subject: "t2",
    script: "
        tenants root.tenants
        node n1 vcore=32 memory=128Gi
        tenant sales quota vcore=8
        tenant emea of sales
        tenant apac of sales
        task t1 emea ann vcore=6
        wait 60s
        task t2 apac bob vcore=4
        ",
};

pub(crate) const OVER_QUOTA_AFTER_LOWERING: Scene = Scene {
    subject: "t2",
    script: "
        tenants root.tenants
        node n1 vcore=32 memory=128Gi
        tenant sales quota vcore=8
        task t1 sales ann vcore=6
        wait 60s
        tenant sales quota vcore=4
        wait 60s
        task t2 sales ann vcore=1
        ",
};

pub(crate) const TENANT_INSTANCES: Scene = Scene {
    subject: "t2",
    script: "
        tenants root.tenants
        node n1 vcore=32 memory=128Gi
        tenant sales quota instances=1
        task t1 sales ann vcore=1
        wait 60s
        task t2 sales ann vcore=1
        ",
};

pub(crate) const TENANT_QUOTA: Scene = Scene {
    subject: "t2",
    script: "
        tenants root.tenants
        node n1 vcore=32 memory=128Gi
        tenant sales quota vcore=8
        task t1 sales ann vcore=6
        wait 60s
        task t2 sales ann vcore=4
        ",
};

pub(crate) const TENANT_SUSPENDED: Scene = Scene {
    subject: "render-4",
    script: "
        tenants root.tenants
        node n1 vcore=32 memory=128Gi
        tenant acme quota vcore=16 suspended
        wait 60s
        task render-4 acme ann vcore=4 memory=8Gi
        ",
};

pub(crate) const USER_APPS: Scene = Scene {
    subject: "train-19/worker-3",
    script: "
        queue root.sales
        limit root.sales user ann apps=2
        node n1 vcore=32 memory=128Gi
        app train-17 root.sales ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        app train-18 root.sales ann
        ask worker-2 train-18 vcore=4 memory=8Gi
        wait 300s
        app train-19 root.sales ann
        ask worker-3 train-19 vcore=4 memory=8Gi
        ",
};

pub(crate) const USER_HARD_CAP: Scene = Scene {
    subject: "train-17/worker-3",
    script: "
        queue root.ml guaranteed vcore=10 memory=40Gi share p=100;f=1
        node n1 vcore=32 memory=128Gi
        app train-17 root.ml ann
        ask worker-1 train-17 vcore=4 memory=8Gi
        ask worker-2 train-17 vcore=4 memory=8Gi
        wait 300s
        ask worker-3 train-17 vcore=4 memory=8Gi
        ",
};
