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
/// Every function fails as [`ClientError`] says; which statuses a route may answer, and what they
/// mean, stands in the table of routes.
#[expect(clippy::missing_errors_doc, reason = "said once for all")]
impl Client {
    fn post(&self, parts: &[Part<'_>], key: Option<&str>) -> Result<RequestBuilder, ClientError> {
        let request = self.request(Method::Post, self.url(parts)?);
        Ok(match key {
            Some(key) => request.header(IDEMPOTENCY_KEY, key),
            None => request,
        })
    }

    /// Submit a task; under the same key once, however often it is sent.
    pub async fn submit_task(
        &self,
        tenant: &str,
        task: &TaskSubmission,
        key: Option<&str>,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TENANTS, Once(tenant), Fixed("tasks")], key)?;
        self.json(sending(request, JSON, to_json(task))).await
    }

    /// What would become of a task, were it submitted now.
    pub async fn check_quota(
        &self,
        tenant: &str,
        task: &TaskSubmission,
    ) -> Result<QuotaCheck, ClientError> {
        let request = self.post(&[TENANTS, Once(tenant), Fixed("quota/check")], None)?;
        self.json(sending(request, JSON, to_json(task))).await
    }

    /// The tasks of a tenant, in order of submission: those that stand there, behind this cursor.
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

    /// A task.
    pub async fn get_task(&self, task: &str) -> Result<Task, ClientError> {
        self.get(&[TASKS, Once(task)], &[]).await
    }

    /// Say that a task which has a node runs there.
    pub async fn confirm_task(&self, task: &str) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("confirm")], None)?;
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// Give a task another size.
    pub async fn resize_task(&self, task: &str, size: &TaskResize) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("resize")], None)?;
        self.json(sending(request, JSON, to_json(size))).await
    }

    /// Say what a task really uses, as whoever runs it measures it.
    pub async fn measure_task(
        &self,
        task: &str,
        measured: &TaskMeasurement,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("measured")], None)?;
        self.json(sending(request, JSON, to_json(measured))).await
    }

    /// Report that a task has ended or was stopped; under the same key once, however often it is sent.
    pub async fn release_task(
        &self,
        task: &str,
        release: &TaskRelease,
        key: Option<&str>,
    ) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("release")], key)?;
        self.json(sending(request, JSON, to_json(release))).await
    }

    /// Say that a task is not wanted any more.
    pub async fn cancel_task(&self, task: &str) -> Result<Task, ClientError> {
        let request = self.post(&[TASKS, Once(task), Fixed("cancel")], None)?;
        self.json(request.header("X-Headroom-Request", "1")).await
    }

    /// The tasks of a tenant that wait, in order, and why; behind this cursor if one is given.
    pub async fn list_waiting(
        &self,
        tenant: &str,
        cursor: Option<&str>,
    ) -> Result<WaitingList, ClientError> {
        let query: Vec<_> = cursor.map(|one| ("cursor", one.to_owned())).into_iter().collect();
        self.get(&[TENANTS, Once(tenant), WAITING], &query).await
    }

    /// A task that waits, its place and why.
    pub async fn get_waiting(&self, tenant: &str, task: &str) -> Result<WaitingTask, ClientError> {
        self.get(&[TENANTS, Once(tenant), WAITING, Once(task)], &[]).await
    }

    /// Make a task that waits more urgent, or less.
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
