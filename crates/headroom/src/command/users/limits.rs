//! `headroom users --limits`: shares, caps, and headroom of the users of leaves.

use anyhow::Result;
use headroom_api::client::Client;
use headroom_api::wsv1::{Queue, UserLimitInputs, UserLimits};

use crate::remote::{Listing, Remote, resources};

const COLUMNS: &[&str] = &[
    "USER",
    "QUEUE",
    "USED",
    "SHARE",
    "CAP",
    "HEADROOM",
    "LIMITED BY",
    "ACTIVE",
    "WEIGHT",
    "NEXT ASK",
    "RUNNING",
];
const NUMBERS: &[&str] = &["WEIGHT", "RUNNING"];

/// Requests the data from the server, and prints it.
///
/// # Errors
/// When the server cannot be reached, or rejects the request.
pub(super) fn run(remote: &Remote, queue: Option<&str>, user: Option<&str>) -> Result<()> {
    let partition = &remote.partition;
    let mut leaves = remote.ask(async |client| match queue {
        Some(queue) => Ok(vec![client.get_user_limits(partition, queue).await?]),
        None => all(&client, partition).await,
    })?;
    for leaf in &mut leaves {
        leaf.users.retain(|one| user.is_none_or(|user| one.user == user));
        if user.is_some() {
            leaf.others = None;
        }
    }
    remote.show(&listing(&leaves, partition)?)
}

/// Returns the leaves of a partition that have user limits.
async fn all(client: &Client, partition: &str) -> Result<Vec<UserLimits>> {
    let mut leaves = Vec::new();
    let mut left = vec![client.get_queues(partition).await?];
    while let Some(queue) = left.pop() {
        let Queue { queue_name, is_leaf, children, .. } = queue;
        if is_leaf {
            let limits = client.get_user_limits(partition, &queue_name).await?;
            leaves.extend(Some(limits).filter(|limits| limits.enabled));
        }
        left.extend(children.into_iter().rev());
    }
    Ok(leaves)
}

fn listing(leaves: &[UserLimits], partition: &str) -> Result<Listing> {
    let mut listing = Listing::new(COLUMNS, &leaves)?.numbers(NUMBERS);
    if leaves.is_empty() {
        listing.heading(format!(
            "No queue of partition {partition} has user limits. To share a queue among its users, \
             set `userlimits: {{}}` for the queue in the queue file."
        ));
    }
    for leaf in leaves {
        listing.heading(match &leaf.inputs {
            Some(inputs) => heading(leaf, inputs),
            None => leaf.reason.clone(),
        });
        add(&mut listing, leaf);
    }
    Ok(listing)
}

/// Returns one line about a leaf: its users, the shared amount, and the settings.
fn heading(leaf: &UserLimits, inputs: &UserLimitInputs) -> String {
    let others = leaf.others.as_ref().map_or(0, |others| others.users);
    let users = leaf.users.len() as u64 + others;
    let named = |amounts, nothing: &str| match resources(amounts) {
        text if text.is_empty() => nothing.to_owned(),
        text => text,
    };
    let used = named(&inputs.used, "nothing");
    let guaranteed = named(&inputs.guaranteed, "nothing, so users have no shares");
    let factor = match inputs.f {
        off if off < 0.0 => "the whole queue".to_owned(),
        times => format!("{times} times the guarantee"),
    };
    format!(
        "{}: {users} {}, {} active; used {used}; guaranteed {guaranteed}; minimum share {} %; user \
         cap {factor}",
        leaf.queue_path,
        if users == 1 { "user" } else { "users" },
        inputs.active_users,
        inputs.p,
    )
}

fn add(listing: &mut Listing, leaf: &UserLimits) {
    let word = |is: bool| if is { "yes" } else { "no" };
    for one in &leaf.users {
        listing.row([
            one.user.clone(),
            leaf.queue_path.clone(),
            resources(&one.used),
            resources(&one.soft_share),
            resources(&one.hard_cap),
            resources(&one.headroom),
            one.limited_by.clone(),
            word(one.active).to_owned(),
            one.weight.to_string(),
            resources(&one.r),
            one.running_apps.to_string(),
        ]);
    }
    if let Some(others) = &leaf.others {
        let nothing = String::new;
        listing.row([
            // No user can have this name.
            format!("({} {})", others.users, if others.users == 1 { "other" } else { "others" }),
            leaf.queue_path.clone(),
            resources(&others.used),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
            others.active.to_string(),
            others.weight.to_string(),
            nothing(),
            others.running_apps.to_string(),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::wsv1::Resources;

    use crate::remote::Format;

    use super::*;

    fn leaf() -> UserLimits {
        let json = serde_json::json!({
            "queuePath": "root.research", "partition": "default", "enabled": true,
            "inputs": {
                "Q": {"vcore": 40_000}, "Qmax": {}, "U": {"vcore": 30_000},
                "Uact": {"vcore": 30_000}, "Uin": {}, "W": 1.5, "activeUsers": 1, "p": 30, "f": 2.5,
                "formula": "smooth", "enforcement": "progress", "calculator": "componentwise",
                "total": {"vcore": 100_000}
            },
            "users": [{
                "user": "ann", "softShare": {"vcore": 40_000}, "hardCap": {"vcore": 150_000},
                "limit": {"vcore": 40_000}, "used": {"vcore": 28_000}, "headroom": {"vcore": 12_000},
                "limitedBy": "softShare", "active": true, "weight": 1.5, "r": {"vcore": 2_000},
                "runningApps": 3
            }],
            "others": {"users": 1, "active": 0, "weight": 1, "used": {"vcore": 2_000}, "runningApps": 1}
        });
        serde_json::from_value(json).expect("a body")
    }

    fn shown(leaves: &[UserLimits]) -> String {
        let listing = listing(leaves, "default").expect("JSON");
        listing.render(Format::Table).expect("it can be written")
    }

    #[test]
    fn a_leaf_is_a_line_and_its_users_are_rows() {
        expect_test::expect![[r"
            root.research: 2 users, 1 active; used vcore 30; guaranteed vcore 40; minimum share 30 %; user cap 2.5 times the guarantee
            USER       QUEUE          USED      SHARE     CAP        HEADROOM  LIMITED BY  ACTIVE  WEIGHT  NEXT ASK  RUNNING
            ann        root.research  vcore 28  vcore 40  vcore 150  vcore 12  softShare   yes        1.5  vcore 2         3
            (1 other)  root.research  vcore 2                                              0            1                  1
        "]]
        .assert_eq(&shown(&[leaf()]));
    }

    #[test]
    fn a_queue_without_user_limits_says_why() {
        let reason = "no `userlimits` apply to root.a".to_owned();
        let off = UserLimits { reason: reason.clone(), ..UserLimits::default() };
        assert_eq!(shown(&[off]), format!("{reason}\n"));
        let none = shown(&[]);
        assert!(
            none.starts_with("No queue of partition default has user limits. To share"),
            "{none}"
        );
    }

    #[test]
    fn a_leaf_without_a_guarantee_or_a_factor_says_so() {
        let mut one = leaf();
        let inputs = one.inputs.as_mut().expect("it has them");
        (inputs.guaranteed, inputs.used, inputs.f) =
            (Resources::default(), Resources::default(), -1.0);
        one.others = None;
        let first = shown(&[one]).lines().next().unwrap_or_default().to_owned();
        assert_eq!(
            first,
            "root.research: 1 user, 1 active; used nothing; guaranteed nothing, so users have no \
             shares; minimum share 30 %; user cap the whole queue"
        );
    }
}
