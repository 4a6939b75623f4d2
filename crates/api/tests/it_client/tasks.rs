//! Routes of tasks: what is sent, and under which key.

use headroom_api::client::Client;
use headroom_api::headroomv1::{
    TaskMeasurement, TaskRank, TaskRelease, TaskResize, TaskState, TaskSubmission,
};

use super::every_route::{Asked, ONCE};
use super::example;

pub(super) async fn tasks(asked: &mut Asked) {
    let task = example("headroomv1/task");
    let new: TaskSubmission = serde_json::from_str(&example("headroomv1/new-task")).unwrap();
    for (key, sent) in [(None, ""), (Some("k-1"), "k-1")] {
        asked
            .check("submitTask", &task, None, async |c: Client| {
                c.submit_task(ONCE, &new, key).await
            })
            .await;
        assert_eq!(asked.header("idempotency-key").await, sent);
    }
    let check = example("headroomv1/quota-check");
    asked
        .check("checkQuota", &check, None, async |c: Client| c.check_quota(ONCE, &new).await)
        .await;
    let (page, query) = (example("headroomv1/tasks"), Some("state=WAITING&cursor=k-3"));
    asked
        .check("listTasks", &page, query, async |c: Client| {
            c.list_tasks(ONCE, Some(TaskState::Waiting), Some("k-3")).await
        })
        .await;
    asked.check("getTask", &task, None, async |c: Client| c.get_task(ONCE).await).await;
    asked.check("confirmTask", &task, None, async |c: Client| c.confirm_task(ONCE).await).await;
    asked.check("cancelTask", &task, None, async |c: Client| c.cancel_task(ONCE).await).await;
    let size: TaskResize = serde_json::from_str(&example("headroomv1/task-resize")).unwrap();
    asked
        .check("resizeTask", &task, None, async |c: Client| c.resize_task(ONCE, &size).await)
        .await;
    let measured: TaskMeasurement =
        serde_json::from_str(&example("headroomv1/task-measurement")).unwrap();
    asked
        .check("measureTask", &task, None, async |c: Client| c.measure_task(ONCE, &measured).await)
        .await;
    let end: TaskRelease = serde_json::from_str(&example("headroomv1/task-release")).unwrap();
    asked
        .check("releaseTask", &task, None, async |c: Client| {
            c.release_task(ONCE, &end, Some("e-1")).await
        })
        .await;
    assert_eq!(asked.header("idempotency-key").await, "e-1");
    let (list, query) = (example("headroomv1/waiting"), Some("cursor=w-1"));
    asked
        .check("listWaiting", &list, query, async |c: Client| {
            c.list_waiting(ONCE, Some("w-1")).await
        })
        .await;
    let one = example("headroomv1/waiting-task");
    asked.check("getWaiting", &one, None, async |c: Client| c.get_waiting(ONCE, ONCE).await).await;
    let rank: TaskRank = serde_json::from_str(&example("headroomv1/task-rank")).unwrap();
    asked
        .check("rankTask", &task, None, async |c: Client| c.rank_task(ONCE, ONCE, &rank).await)
        .await;
}
