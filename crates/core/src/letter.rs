//! The order in which asks are looked at, in letters.

/// Where the check of a code stands in the order in which `CapacityScheduler` looks at an ask: (a) what a
/// node is for, and nodes that the application refuses; (b) room on nodes; (c) the maxima of queues;
/// (d) what a user or group may have; (e) how many applications there may be, and what their drivers
/// may have. None for checks that are not among these.
pub fn letter(code: &str) -> Option<char> {
    match code {
        "NO_PARTITION_ACCESS" | "NODE_BLOCKED" => Some('a'),
        "NODE_RESERVED" | "NODE_RESOURCES" | "NO_NODE_FITS" => Some('b'),
        "QUEUE_MAX" | "ROOT_CAPACITY" | "QUEUE_STATE" => Some('c'),
        "USER_SHARE" | "USER_HARD_CAP" | "ABS_USER_LIMIT" | "ABS_GROUP_LIMIT" => Some('d'),
        "DRIVER_LIMIT_QUEUE" | "DRIVER_LIMIT_USER" | "PARALLEL_LIMIT" | "MAX_APPS"
        | "MAX_APPS_QUEUE" | "MAX_APPS_USER" | "USER_APPS" | "GROUP_APPS" => Some('e'),
        _ => None,
    }
}
