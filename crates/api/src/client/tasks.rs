//! Routes of tasks of tenants.

use reqwest::RequestBuilder;

use super::Part::{self, Fixed, Once};
use super::tenants::{TENANTS, to_json};
use super::{Client, ClientError, JSON, sending};
use crate::headroomv1::{
    IDEMPOTENCY_KEY, Page, QuotaCheck, Task, TaskMeasurement, TaskRank, TaskRelease, TaskResize,
    TaskState, TaskSubmission, WaitingList, WaitingTask,
};
use crate::routes::Method;

const TASKS: Part<'static> = Fixed("headroom/v1/tasks");
const WAITING: Part<'static> = Fixed("waiting");

/// # Errors
/// Every function fails with a [`ClientError`]. The table of routes lists the statuses of each
/// route.
#[expect(clippy::missing_errors_doc, reason = "documented once for all")]
impl Client {
    fn post(&self, parts: &[Part<'_>], key: Option<&str>) -> Result<RequestBuilder, ClientError> {
        let request = self.request(Method::Post, self.url(parts)?);
        Ok(match key {
            Some(key) => request.header(IDEMPOTENCY_KEY, key),
            None => request,
        })
    }

    /// Submits a task. Requests with the same key submit it once.
    pub async fn submit_task(
        &self,
        tenant: &str,
        task: &TaskSubmission,
        key: Option<&str>,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TENANTS, Once(tenant), Fixed("tasks")], key)?;
        self.json(sending(request, JSON, to_json(task))).await
    }

    /// Predicts whether a task starts, waits, or is rejected.
    pub async fn check_quota(
        &self,
        tenant: &str,
        task: &TaskSubmission,
    ) -> Result<QuotaCheck, ClientError> {
        let request = self.post(&[TENANTS, Once(tenant), Fixed("quota/check")], None)?;
        self.json(sending(request, JSON, to_json(task))).await
    }

    /// Lists the tasks of a tenant, in order of submission, by state and from the page of `cursor`
    /// on.
    pub async fn list_tasks(
        &self,
        tenant: &str,
        state: Option<TaskState>,
        cursor: Option<&str>,
    ) -> Result<Page<Task>, ClientError> {
        let state = state.map(|state| format!("{state:?}").to_uppercase());
        let all = [("state", state), ("cursor", cursor.map(str::to_owned))];
        let query: Vec<_> =
            all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.get(&[TENANTS, Once(tenant), Fixed("tasks")], &query).await
    }

    /// Gets a task.
    pub async fn get_task(&self, task: &str) -> Result<Task, ClientError> {
        self.get(&[TASKS, Once(task)], &[]).await
    }

    /// Confirms that a task runs on its node.
    pub async fn confirm_task(&self, task: &str) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("confirm")], None)?;
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// Resizes a task.
    pub async fn resize_task(&self, task: &str, size: &TaskResize) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("resize")], None)?;
        self.json(sending(request, JSON, to_json(size))).await
    }

    /// Reports the measured usage of a task.
    pub async fn measure_task(
        &self,
        task: &str,
        measured: &TaskMeasurement,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("measured")], None)?;
        self.json(sending(request, JSON, to_json(measured))).await
    }

    /// Reports that a task has ended or was stopped. Requests with the same key count once.
    pub async fn release_task(
        &self,
        task: &str,
        release: &TaskRelease,
        key: Option<&str>,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("release")], key)?;
        self.json(sending(request, JSON, to_json(release))).await
    }

    /// Cancels a task.
    pub async fn cancel_task(&self, task: &str) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("cancel")], None)?;
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// Lists the waiting tasks of a tenant with their wait reasons, from the page of `cursor` on.
    pub async fn list_waiting(
        &self,
        tenant: &str,
        cursor: Option<&str>,
    ) -> Result<WaitingList, ClientError> {
        let query: Vec<_> = cursor.map(|one| ("cursor", one.to_owned())).into_iter().collect();
        self.get(&[TENANTS, Once(tenant), WAITING], &query).await
    }

    /// Gets a waiting task with its position and wait reason.
    pub async fn get_waiting(&self, tenant: &str, task: &str) -> Result<WaitingTask, ClientError> {
        self.get(&[TENANTS, Once(tenant), WAITING, Once(task)], &[]).await
    }

    /// Changes the rank of a waiting task.
    pub async fn rank_task(
        &self,
        tenant: &str,
        task: &str,
        rank: &TaskRank,
    ) -> Result<Task, ClientError> {
        let parts = [TENANTS, Once(tenant), WAITING, Once(task)];
        let request = self.request(Method::Patch, self.url(&parts)?);
        self.json(sending(request, JSON, to_json(rank))).await
    }
}
