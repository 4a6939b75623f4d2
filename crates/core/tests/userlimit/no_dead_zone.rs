//! The reason why users never get stuck, checked for every small leaf with `smooth` and `progress`. Whatever the
//! users use and ask for: if only those were active whose asks could be placed, then one of them would be within the
//! user's share.
//!
//! The scheduler also counts users as active who wait for a node or for the maximum of the queue. It therefore lets
//! the least served user continue if no user within the share can be placed (decision 20).

use headroom_core::userlimit::{Among, Decimal, Leaf, Rules, ShareQuery};

use super::{decimal, memory, smooth};

/// What is guaranteed at most.
const CAPACITY_MAX: i64 = 8;

/// A user: the usage, and the ask, if any.
type User = (i64, Option<i64>);

/// Use and asks of up to three users who are alike, so that only one order of them is looked at.
fn populations(used_max: i64, ask_max: i64) -> impl Iterator<Item = Vec<User>> {
    let users = move || {
        (0..=used_max)
            .flat_map(move |used| (0..=ask_max).map(move |ask| (used, (ask > 0).then_some(ask))))
    };
    users().flat_map(move |first| {
        let second = users().filter(move |second| *second <= first);
        second.flat_map(move |second| {
            let third = users().filter(move |third| *third <= second);
            third.map(move |third| vec![first, second, third])
        })
    })
}

/// Returns the leaf as one of its users sees it: that user and some others are active.
fn leaf(capacity: i64, max: i64, users: &[User], active: &[User]) -> Leaf {
    let sum = |users: &[User]| users.iter().map(|(used, _)| used).sum();
    Leaf {
        total: memory(max),
        guaranteed: memory(capacity),
        max: memory(max),
        used: memory(sum(users)),
        used_active: memory(sum(active)),
        active: active.len() as u64,
        active_weight: Decimal::whole(u32::try_from(active.len()).expect("few")),
        ..Leaf::default()
    }
}

/// Returns whether one of the users whose asks could be placed is within the user's share.
fn moves(rules: &Rules, capacity: i64, max: i64, users: &[User]) -> bool {
    let used: i64 = users.iter().map(|(used, _)| used).sum();
    let caps = |(user, ask): &User| {
        let Some(ask) = ask else { return false };
        let ask_of = memory(*ask);
        let part = ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &ask_of };
        let hard = rules.limit(&leaf(capacity, max, users, &[]), part).hard;
        used + ask <= max
            && memory(user + ask)
                .iter()
                .all(|(kind, sum)| hard.get(kind).is_none_or(|most| sum <= most))
    };
    let active: Vec<User> = users.iter().filter(|user| caps(user)).copied().collect();
    let leaf = leaf(capacity, max, users, &active);
    active.is_empty()
        || active.iter().any(|(used, ask)| {
            let ask = memory(ask.expect("who is active asks"));
            let part = ShareQuery { weight: Decimal::ONE, among: Among::Active, ask: &ask };
            rules.admits(&leaf, &rules.limit(&leaf, part), &memory(*used), &ask)
        })
}

#[test]
fn somebody_always_goes_on() {
    let all = [Some("0.5"), Some("1"), Some("2"), None];
    for capacity in 1..=CAPACITY_MAX {
        let max = capacity + 3;
        for users in populations(max, capacity) {
            if users.iter().map(|(used, _)| used).sum::<i64>() > max {
                continue;
            }
            for floor in ["0", "25", "30", "34", "50", "100"] {
                for factor in all {
                    let rules = Rules { floor: decimal(floor), ..smooth(floor, factor) };
                    assert!(
                        moves(&rules, capacity, max, &users),
                        "capacity {capacity}, maximum {max}, floor {floor}, factor {factor:?}: {users:?}"
                    );
                }
            }
        }
    }
}
