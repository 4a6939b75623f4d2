//! A story with something of everything, and how its books look in words.

use std::fmt::Write as _;

use headroom_core::books::Books;

/// Queues with limits, templates, and rules, two partitions, gangs, reserved nodes, preemption, foreign allocations,
/// applications that ended or were refused, questions, and answers.
pub(crate) const STORY: &str = "
    partition default
    queue root.a max vcore=12 gpu=2 guaranteed vcore=9 apps=5
    queue root.b guaranteed vcore=2 fair
    queue root.g
    queue root.t parent template max vcore=3 apps=2
    limit root user ann,* vcore=20 apps=9
    limit root.a user ann vcore=10
    limit root.a group dev vcore=11 apps=4
    limit root.b group * vcore=9
    rule provided
    rule tag namespace create below fixed t
    nodes binpacking vcore=3 memory=1
    partition gpu
    queue root.x

    node n1 vcore=8 memory=16 type m5
    node n2 vcore=8 memory=16 gpu=4
    node n3 vcore=2 drained
    foreign f1 n1 vcore=2
    app b1 root.b bob groups ops
    ask v1 b1 vcore=3 preemptable
    ask v2 b1 vcore=3 preemptable
    ask v3 b1 vcore=2 preemptable
    app a1 root.a ann groups dev,ops
    ask k1 a1 vcore=2 prio 5
    ask k2 a1 vcore=2 gpu=1
    ask k3 a1 vcore=4 prio 7 preempts
    wait 40s
    scan-outstanding
    ask d1 a1 vcore=1 requires n3
    node n4 vcore=4
    app g1 root.g cid gang vcore=4 hard timeout 60s
    ask p1 g1 vcore=2 placeholder group workers
    ask p2 g1 vcore=2 placeholder group workers
    ask m1 g1 vcore=2 group workers
    app r1 root.nowhere ann
    app t1 - dora tags namespace=team
    ask w1 t1 vcore=9
    app t2 root.a eve
    ask w2 t2 vcore=3 memory=1 preempts
    app e1 root.b eve
    ask z1 e1 vcore=1 on n3
    release z1
    wait 31s
    app e2 root.b eve
    ask z2 e2 vcore=1 on n3
    release z2
    partition gpu
    node x1 vcore=4
    node x2 vcore=4
    questions on victims at-once 8
    app q1 root.x ann
    ask q1a q1 vcore=1
    answer q1a x1=taint x2=taint
    ask q1b q1 vcore=2
";

/// The books, one line for each row; every field of it, as a developer sees it.
pub(crate) fn in_words(books: &Books) -> String {
    let mut text = String::new();
    let mut line = |what: &str, row: &dyn std::fmt::Debug| {
        writeln!(text, "{what} {row:?}").expect("a text takes everything");
    };
    line("types", books.types());
    line("checksum", books.checksum());
    line("questions put, events", &(books.questions_put(), books.changes()));
    line("deadline", &books.next_deadline());
    for (id, row) in books.partitions() {
        line(&format!("partition {id}"), row);
    }
    for (id, row) in books.queues().iter() {
        line(&format!("queue {id}"), row);
    }
    for (id, row) in books.nodes().iter() {
        line(&format!("node {id}"), row);
    }
    for (id, row) in books.applications().iter() {
        line(&format!("application {id}"), row);
    }
    for (id, row) in books.allocations().iter() {
        line(&format!("allocation {id}"), row);
    }
    for shape in books.shapes().iter() {
        line("shape", &shape);
    }
    let next = (
        books.queues().next_id(),
        books.nodes().next_id(),
        books.applications().next_id(),
        books.allocations().next_id(),
    );
    line("ids to come", &next);
    text
}
