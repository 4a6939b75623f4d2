//! Metrics of leaves with user limits, and of their users. The number of series is the number of users in such
//! leaves, times the resource types of the cluster. A user without usage and asks has no series.

use std::sync::Arc;

use headroom_core::resource::{Amounts, Quantity};
use headroom_core::view::{UserLimitView, UserLimitsView, user_limits};
use headroom_engine::View;

use super::text::{Exposition, Kind, Label, Value};
use crate::convert::user_limits::number;

use Kind::Gauge;

/// Computes the user limits of all leaves, on a thread for blocking work.
pub(super) async fn shared(view: &Arc<View>) -> Vec<UserLimitsView> {
    if !view.books.has_user_limits() {
        return Vec::new();
    }
    let view = Arc::clone(view);
    let find = move || {
        let partitions = view.books.partitions().keys();
        partitions.flat_map(|id| user_limits(&view.books, *id)).collect()
    };
    // The work is never cancelled, so an error means a panic. All other metrics are still shown.
    tokio::task::spawn_blocking(find).await.unwrap_or_default()
}

pub(super) fn write(out: &mut Exposition, leaves: &[UserLimitsView]) {
    let active = leaves.iter().map(|leaf| (of_leaf(leaf), leaf.leaf.active));
    let help = "Active users of a leaf with user limits.";
    out.samples(("headroom_user_limit_active_users", Gauge, help), active);
    let inactive = leaves.iter().flat_map(|leaf| {
        let with = move |resource| [of_leaf(leaf), vec![("resource", resource)]].concat();
        types(leaf, &leaf.leaf.used_inactive).map(move |(name, amount)| (with(name), amount))
    });
    let help = "Usage of the inactive users of a leaf, in core units.";
    out.samples(("headroom_user_limit_inactive_used", Gauge, help), inactive);
    for (name, help, amounts) in [
        ("headroom_user_limit_soft_share", "Fair share of a user, in core units.", Amount::Soft),
        ("headroom_user_limit_hard_cap", "User cap, in core units.", Amount::Hard),
        ("headroom_user_limit_used", "Usage of a user in the leaf, in core units.", Amount::Used),
        ("headroom_user_limit_headroom", "Headroom of a user, in core units.", Amount::Headroom),
    ] {
        let samples = users(leaves).flat_map(|(leaf, user)| {
            let with = move |resource| [of_user(leaf, user), vec![("resource", resource)]].concat();
            amounts.of(leaf, user).map(move |(name, amount)| (with(name), amount))
        });
        out.samples((name, Gauge, help), samples);
    }
    let active = users(leaves).map(|(leaf, user)| (of_user(leaf, user), u64::from(user.active)));
    let help = "Whether a user is active in the leaf.";
    out.samples(("headroom_user_limit_active", Gauge, help), active);
    let weight =
        users(leaves).map(|(leaf, user)| (of_user(leaf, user), Value::from(number(user.weight))));
    let help = "Weight of a user among the active users of the leaf.";
    out.samples(("headroom_user_limit_weight", Gauge, help), weight);
}

/// Kind of an amount of a user.
#[derive(Clone, Copy)]
enum Amount {
    Soft,
    Hard,
    Used,
    Headroom,
}

impl Amount {
    /// Returns the amounts by type. Absent usage is 0. A missing limit is omitted.
    fn of<'a>(
        self,
        leaf: &'a UserLimitsView,
        user: &'a UserLimitView,
    ) -> Box<dyn Iterator<Item = (&'a str, i64)> + 'a> {
        let named = |amounts: &'a Amounts| {
            Box::new(amounts.iter().map(|(name, amount)| (name.as_str(), amount.get())))
        };
        match self {
            Self::Soft => named(&user.soft),
            Self::Hard => named(&user.hard),
            Self::Headroom => named(&user.headroom),
            Self::Used => Box::new(types(leaf, &user.used)),
        }
    }
}

/// Returns an amount for each resource type of the cluster.
fn types<'a>(leaf: &'a UserLimitsView, of: &'a Amounts) -> impl Iterator<Item = (&'a str, i64)> {
    let amount = |name: &str| of.get(name).map_or(0, Quantity::get);
    leaf.leaf.total.iter().map(move |(name, _)| (name.as_str(), amount(name)))
}

fn users(leaves: &[UserLimitsView]) -> impl Iterator<Item = (&UserLimitsView, &UserLimitView)> {
    leaves.iter().flat_map(|leaf| leaf.users.iter().map(move |user| (leaf, user)))
}

fn of_leaf(leaf: &UserLimitsView) -> Vec<Label<'_>> {
    vec![("partition", leaf.partition.as_str()), ("queue", leaf.path.as_str())]
}

fn of_user<'a>(leaf: &'a UserLimitsView, user: &'a UserLimitView) -> Vec<Label<'a>> {
    [of_leaf(leaf), vec![("user", user.user.as_str())]].concat()
}
