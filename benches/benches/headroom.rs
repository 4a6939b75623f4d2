//! `cargo bench`: every speed that the project claims, measured and printed.

use headroom_benches::cluster::Cluster;
use headroom_benches::table::{head, measure, rate};

fn main() {
    head("B1  placements: from all asks accepted to all placed, in the core alone");
    for (nodes, asks, peer) in [
        (500, 10_000, ""),
        (1_000, 10_000, "YuniKorn core: about 4,000/s"),
        (2_000, 10_000, ""),
        (5_000, 10_000, ""),
        (1_000, 50_000, "YuniKorn core: 487/s"),
        (1_000, 100_000, "YuniKorn core: no end in 300 s"),
    ] {
        let times = measure(
            || Cluster::b1(nodes, asks),
            |cluster| {
                assert_eq!(cluster.place(u64::MAX), asks, "every ask finds room");
            },
        );
        rate(&format!("{nodes} nodes × {asks} asks"), asks, &times, "/s", peer);
    }
    head("B1  cost of a placement by how many asks wait: the first 1,000 on 1,000 nodes");
    for asks in [1_000, 10_000, 100_000] {
        let times =
            measure(|| Cluster::b1_with_room(1_000, asks, 100_000), |cluster| cluster.place(1_000));
        rate(&format!("1,000 placements, {asks} asks wait"), 1_000, &times, "/s", "");
    }
}
