//! Limits the rate of requests of each tenant: one bucket per tenant, filled at the rate of `limits.tenantRate`.
//!
//! A request of a caller who acts only for tenants is charged to one of the caller's own tenants, whatever the request.
//! Such a caller can therefore not empty the bucket of another tenant. A submission or check by another caller is
//! charged to the tenant in the path. Other requests of cluster administrators are not counted, so that administrators
//! can always act.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use headroom_api::headroomv1::{Code, Role};
use headroom_api::routes::Route;
use headroom_config::process::Rate;
use headroom_core::books::Books;
use headroom_core::view;
use headroom_core::{Name, RefusalCode};
use headroom_engine::Handle;

use crate::caller::Caller;
use crate::family::Refusal;
use crate::paths::parameter;

/// Number of requests after which full buckets are removed.
const SWEEP_EVERY: u32 = 1 << 16;

/// The buckets of all tenants.
pub(super) struct Rates {
    rate: Rate,
    buckets: DefaultKeyedRateLimiter<Name>,
    clock: DefaultClock,
    /// Number of requests since the last removal.
    taken: AtomicU32,
}

impl fmt::Debug for Rates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Rates").field("rate", &self.rate).finish_non_exhaustive()
    }
}

impl Rates {
    pub(super) fn new(rate: Rate) -> Self {
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        let every = rate.per / rate.count.max(1);
        let quota = Quota::with_period(every.max(Duration::from_nanos(1)));
        let quota = quota.unwrap_or_else(|| Quota::per_second(burst)).allow_burst(burst);
        let (buckets, clock) = (RateLimiter::keyed(quota), DefaultClock::default());
        Self { rate, buckets, clock, taken: AtomicU32::new(0) }
    }

    /// Charges a request to the bucket of a tenant, if a bucket applies.
    ///
    /// # Errors
    /// If the bucket is empty.
    pub(super) fn take(
        &self,
        engine: &Handle,
        caller: Option<&Caller>,
        (route, path): (Option<&Route>, &str),
    ) -> Result<(), Refusal> {
        let view = engine.views().latest();
        let Some(tenant) = caller.and_then(|caller| payer(&view.books, caller, route, path)) else {
            return Ok(());
        };
        if self.taken.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.buckets.retain_recent();
        }
        let Err(empty) = self.buckets.check_key(&tenant) else { return Ok(()) };
        let wait = empty.wait_time_from(self.clock.now());
        let Rate { count, per, burst } = self.rate;
        let (seconds, in_seconds) = (per.as_secs(), wait.as_secs_f64());
        let detail = format!(
            "tenant {tenant} can send {count} requests in {seconds} s, and {burst} at once (`limits.tenantRate`, \
             `limits.tenantBurst`), and has used all of them. Send the next request in {in_seconds:.3} s."
        );
        let whole = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        Err(Refusal::new(Code::TooManyRequests, detail)
            .by_rule(RefusalCode::RateLimited)
            .retry_after(whole))
    }
}

/// Returns the tenant whose bucket is charged.
fn payer(books: &Books, caller: &Caller, route: Option<&Route>, path: &str) -> Option<Name> {
    let keeps = [Role::Admin, Role::Operator, Role::Viewer, Role::Rm];
    let is_keeper = keeps.into_iter().any(|role| caller.is(role));
    let named = |name: &str| route.and_then(|route| parameter(route.path, path, name));
    let (partition, row, _) = view::tenants(books)?;
    if is_keeper {
        let submits =
            route.is_some_and(|route| matches!(route.operation, "submitTask" | "checkQuota"));
        let tenant = Name::from(named("tenant").filter(|_| submits)?);
        return row.tenants.get(&tenant).map(|_| tenant);
    }
    if !caller.is(Role::TenantAdmin) && !caller.is(Role::TenantViewer) {
        return None;
    }
    let of_task = || {
        let task = books.task_named(partition, &Name::from(named("task")?))?;
        Some(books.application(task).task.as_deref()?.settings.tenant.clone())
    };
    let about = named("tenant").map(Name::from).or_else(of_task);
    let is_own = |name: &Name| caller.tenants.contains(name);
    let nearest = about.and_then(|about| {
        row.tenants.up(&about).map(|(name, _)| name).find(|one| is_own(one)).cloned()
    });
    nearest.or_else(|| caller.tenants.first().cloned())
}
