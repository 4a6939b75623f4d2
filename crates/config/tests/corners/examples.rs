//! Worked examples of queue files, and what was asked of a child that may have more than its
//! parent: the verdict, its code, its line and both numbers.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

use expect_test::expect;
use headroom_config::{Style, read};

use super::{below_root, told};

#[test]
#[doc(alias = "queues W5")]
fn a_guarantee_names_some_types_and_the_maximum_above_counts_the_others() {
    let parent = "
- name: p
  resources: {guaranteed: {memory: 50}}
  queues:
  - {name: a, resources: {guaranteed: {memory: 20, vcore: '1'}}}
  - {name: b, resources: {guaranteed: {memory: 25, vcore: '3'}}}
";
    told(
        &below_root(parent),
        expect![[r#"
        accepted
    "#]],
    );
    let below = parent.replace('\n', "\n  ");
    told(
        &below_root(&format!(
            "- name: g\n  resources: {{max: {{memory: 100, vcore: '2'}}}}\n  queues:{below}"
        )),
        expect![[r#"
            line 7, column 45: Q-SUMG>M: the child queues of `p` have guarantees of 4 vcore, but the maximum of the queue is 2 vcore
        "#]],
    );
    // P shows 50 of memory and no vcore upward, whatever its children have.
    for (guaranteed, accepted) in [("memory: 50, vcore: 1m", true), ("memory: 49", false)] {
        let queues =
            format!("- name: g\n  resources: {{guaranteed: {{{guaranteed}}}}}\n  queues:{below}");
        assert_eq!(read(&below_root(&queues)).is_ok(), accepted, "guaranteed {guaranteed}");
    }
}

#[test]
#[doc(alias = "queues W6")]
fn a_parent_without_a_guarantee_shows_the_sum_of_its_children() {
    let file = |amounts: &str| {
        format!(
            "
- name: g
  resources: {{{amounts}}}
  queues:
  - name: p
    queues:
    - {{name: a, resources: {{guaranteed: {{memory: 40}}}}}}
    - {{name: b, resources: {{guaranteed: {{memory: 30}}}}}}
"
        )
    };
    told(
        &below_root(&file("max: {memory: 60}")),
        expect![[r#"
        line 7, column 33: Q-SUMG>M: the child queues of `p` have guarantees of 70 bytes of memory, but the maximum of the queue is 60 bytes of memory
        line 7, column 33: Q-SUMG>M: the child queues of `g` have guarantees of 70 bytes of memory, but the maximum of the queue is 60 bytes of memory
    "#]],
    );
    told(
        &below_root(&file("guaranteed: {memory: 60}")),
        expect![[r#"
        line 7, column 40: Q-SUMG>G: the child queues of `g` have guarantees of 70 bytes of memory, but the queue itself has a guarantee of 60 bytes of memory
    "#]],
    );
    told(
        &below_root(&file("guaranteed: {memory: 70}, max: {memory: 70}")),
        expect![[r#"
        accepted
    "#]],
    );
}

#[test]
#[doc(alias = "queues W7")]
fn numbers_of_applications_are_compared_with_the_parents_and_not_summed() {
    let file = |parent: &str, first: &str, second: &str| {
        let number = |count: &str| {
            if count.is_empty() { String::new() } else { format!(", maxapplications: {count}") }
        };
        format!(
            "- {{name: p{}, queues: [{{name: a{}}}, {{name: b{}}}]}}",
            number(parent),
            number(first),
            number(second)
        )
    };
    told(
        &below_root(&file("10", "10", "10")),
        expect![[r#"
        accepted
    "#]],
    );
    told(
        &below_root(&file("10", "10", "")),
        expect![[r#"
        line 6, column 86: Q-APPS0: queue `b` has no `maxapplications`, but its parent `p` has 10
    "#]],
    );
    told(
        &below_root(&file("", "5", "")),
        expect![[r#"
        accepted
    "#]],
    );
    told(
        &below_root(&file("10", "10", "11")),
        expect![[r#"
        line 6, column 106: Q-APPS>PARENT: `maxapplications` of queue `b` is 11, but that of its parent `p` is 10
    "#]],
    );
}

#[test]
#[doc(alias = "queues W13")]
fn a_limit_is_compared_with_that_of_all_others_above() {
    let file = |limit: &str| {
        format!(
            "partitions:
- queues:
  - name: root
    limits:
    - {{users: ['*'], maxapplications: 4, maxresources: {{memory: 100}}}}
    queues:
    - name: q
      limits:
      - {{users: [bob], {limit}}}
"
        )
    };
    for (limit, expected) in [
        (
            "maxresources: {memory: 50}",
            expect![[r#"
            line 9, column 18: L-APPS>WILD: the limit of user `bob` in queue `q` sets no `maxapplications`, but the wildcard above allows 4
        "#]],
        ),
        (
            "maxresources: {memory: 50}, maxapplications: 3",
            expect![[r#"
            accepted
        "#]],
        ),
        (
            "maxresources: {memory: 150}, maxapplications: 3",
            expect![[r#"
            line 9, column 47: L-RES>WILD: user `bob` has a limit of 150 bytes of memory in queue `q`, but the wildcard above allows 100 bytes of memory
        "#]],
        ),
        (
            "maxresources: {memory: 150}",
            expect![[r#"
            line 9, column 18: L-APPS>WILD: the limit of user `bob` in queue `q` sets no `maxapplications`, but the wildcard above allows 4
            line 9, column 47: L-RES>WILD: user `bob` has a limit of 150 bytes of memory in queue `q`, but the wildcard above allows 100 bytes of memory
        "#]],
        ),
        (
            "maxresources: {vcore: 2}, maxapplications: 4",
            expect![[r#"
            accepted
        "#]],
        ),
        (
            "maxresources: {vcore: 2}, maxapplications: 5",
            expect![[r#"
            line 9, column 67: L-APPS>WILD: user `bob` has a limit of 5 applications in queue `q`, but the wildcard above allows 4
        "#]],
        ),
    ] {
        told(&file(limit), expected);
    }
}

#[test]
#[doc(alias = "SD-21")]
fn a_child_that_may_have_more_than_its_parent_is_refused_with_both_numbers() {
    let faults = read(&below_root(
        "
- name: parent
  resources:
    max: {memory: 900, vcore: 9}
  queues:
  - name: child
    resources:
      max:
        memory: 901
        vcore: 9
",
    ))
    .unwrap_err();
    expect![[r#"
        error[Q-M>PARENT]: queue `child` has a maximum of 901 bytes of memory, but a queue above it has a maximum of 900 bytes of memory
          --> queues.yaml:13:21
           |
         8 |         max: {memory: 900, vcore: 9}
           |                       --- the maximum above: 900 bytes of memory
        ...
        13 |             memory: 901
           |                     ^^^ too much
           |
           = help: write 900 or less, or raise the maximum above
    "#]].assert_eq(&format!("{}\n", faults.render("queues.yaml", Style::Plain)));
}

#[test]
#[doc(alias = "SD-21")]
fn what_children_may_have_together_is_not_compared_with_their_parent() {
    told(
        &below_root(
            "
- name: parent
  resources: {max: {memory: 900}}
  queues:
  - {name: child1}
  - {name: child2, resources: {max: {memory: 750}}}
  - {name: child3, resources: {max: {memory: 750}}}
",
        ),
        expect![[r#"
            accepted
        "#]],
    );
}
