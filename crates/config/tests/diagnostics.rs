//! What people see when a file is wrong: its text, its queues, its resources.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

mod story;

use expect_test::expect;
use story::{below_root, check};

#[test]
fn text_that_is_not_yaml() {
    check(
        "partitions:\n\t- name: default\n",
        &expect![[r#"
            error[YAML]: tabs disallowed within this context (block indentation)
             --> queues.yaml:2:2
              |
            2 |     - name: default
              |     ^
              |
              = help: indent with spaces
        "#]],
    );
}

#[test]
fn keys_that_nobody_reads() {
    check(
        "partitions:\n- name: default\n  queues: []\n  placementRules: []\n  limit: []\n  colour: red\n",
        &expect![[r#"
            error[YAML-KEY]: a partition has no key `placementRules`
             --> queues.yaml:4:3
              |
            4 |   placementRules: []
              |   ^^^^^^^^^^^^^^
              |
              = help: write `placementrules`; keys are lower case

            error[YAML-KEY]: a partition has no key `limit`
             --> queues.yaml:5:3
              |
            5 |   limit: []
              |   ^^^^^
              |
              = help: did you mean `limits`?

            error[YAML-KEY]: a partition has no key `colour`
             --> queues.yaml:6:3
              |
            6 |   colour: red
              |   ^^^^^^
              |
              = help: use one of these keys: name, queues, placementrules, limits, preemption, nodesortpolicy, usergroupresolver, limitprecedence, gangs, starvation, reservations, userlimits, applicationlimits, tenants
        "#]],
    );
}

#[test]
fn a_key_written_twice_and_values_of_the_wrong_kind() {
    check(
        &below_root(
            "
- name: a
  name: b
  parent: 'true'
  maxapplications: -1
  resources: 5
",
        ),
        &expect![[r#"
            error[YAML-DUP]: the key `name` occurs twice
             --> queues.yaml:7:7
              |
            6 |     - name: a
              |       ---- first entry
            7 |       name: b
              |       ^^^^ second entry
              |
              = help: remove one of the two entries

            error[YAML-TYPE]: `parent` must be true or false
             --> queues.yaml:8:15
              |
            8 |       parent: 'true'
              |               ^^^^^^ this is a text in quotes
              |
              = help: write true or false, without quotes

            error[YAML-TYPE]: `maxapplications` must be a whole number from 0 to 18446744073709551615
             --> queues.yaml:9:24
              |
            9 |       maxapplications: -1
              |                        ^^ this is a number
              |
              = help: write digits only, without quotes or sign

            error[YAML-TYPE]: `resources` must be a mapping
              --> queues.yaml:10:18
               |
            10 |       resources: 5
               |                  ^ this is a number
               |
               = help: write the value after the key, or indented below it
        "#]],
    );
}

#[test]
fn names_of_queues() {
    check(
        &below_root(
            "
- name: sales.eu
- name: Dev
- name: dev
- name: '@recovery@'
",
        ),
        &expect![[r#"
            error[Q-NAME]: `sales.eu` is not a valid queue name
             --> queues.yaml:6:13
              |
            6 |     - name: sales.eu
              |             ^^^^^^^^
              |
              = help: a name has 1 to 64 characters: ASCII letters, digits and _ : # / @ -

            error[Q-DUP]: queue `root` has two child queues with the name `dev`
             --> queues.yaml:8:13
              |
            7 |     - name: Dev
              |             --- first entry
            8 |     - name: dev
              |             ^^^ second entry
              |
              = help: rename one of the queues; queue names ignore case

            error[Q-RESERVED]: `@recovery@` is reserved for the recovery queue
             --> queues.yaml:9:13
              |
            9 |     - name: '@recovery@'
              |             ^^^^^^^^^^^^
              |
              = help: choose another name; after a restart, applications that no placement rule places go to the recovery queue
        "#]],
    );
}

#[test]
fn partitions_and_their_roots() {
    check(
        "
partitions:
- name: ''
  queues:
  - name: root
    resources:
      max: {memory: 10}
    limits:
    - {users: [ann], maxapplications: 1}
  limits:
  - {users: [ann], maxapplications: 2}
- name: DEFAULT
",
        &expect![[r#"
            error[Q-ROOTRES]: the root queue must not have `resources.max`
             --> queues.yaml:7:12
              |
            7 |       max: {memory: 10}
              |            ^
              |
              = help: remove `resources.max`; the nodes provide the capacity of root

            error[L-ROOTDIFF]: the limits of the partition differ from those of its root queue
              --> queues.yaml:11:5
               |
             9 |     - {users: [ann], maxapplications: 1}
               |       - limits of the root queue
            10 |   limits:
            11 |   - {users: [ann], maxapplications: 2}
               |     ^ limits of the partition
               |
               = help: remove one of the two; both apply to the root queue

            error[P-DUP]: two partitions have the name `default`
              --> queues.yaml:12:9
               |
             3 | - name: ''
               |         -- first entry
            ...
            12 | - name: DEFAULT
               |         ^^^^^^^ second entry
               |
               = help: rename one of the partitions; names ignore case

            error[Q-NONE]: partition `default` has no `queues`
              --> queues.yaml:12:9
               |
            12 | - name: DEFAULT
               |         ^^^^^^^
               |
               = help: set `queues: []` to have only a root queue
        "#]],
    );
}

#[test]
fn quantities() {
    check(
        &below_root(
            "
- name: a
  resources:
    max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
",
        ),
        &expect![[r#"
            error[R-SYNTAX]: `1.5Gi` is not a valid amount of memory: it must be digits and an optional suffix: no sign, decimal point or exponent
             --> queues.yaml:8:23
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                       ^^^^^
              |
              = help: write digits and at most one suffix, such as 500m for vcore, 16Gi for memory, or 4

            error[R-OVERFLOW]: `10E` is not a valid amount of vcore: it is larger than 9223372036854775807 in the smallest unit
             --> queues.yaml:8:37
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                     ^^^
              |
              = help: write a smaller amount

            error[R-SUFFIX]: `500m` is not a valid amount of pods: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)
             --> queues.yaml:8:48
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                ^^^^
              |
              = help: remove the suffix `m`; only vcore has thousandths

            error[R-SUFFIX]: `1K` is not a valid amount of disk: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)
             --> queues.yaml:8:60
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                            ^^
              |
              = help: write the suffix as one of k M G T P E, or Ki Mi Gi Ti Pi Ei; suffixes are case-sensitive

            error[R-SYNTAX]: gpu has no amount
             --> queues.yaml:8:64
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                                ^^^
              |
              = help: write digits and at most one suffix, such as 500m for vcore, 16Gi for memory, or 4
        "#]],
    );
}

#[test]
fn guarantees_and_maxima_of_a_tree() {
    check(
        &below_root(
            "
- name: sales
  resources:
    guaranteed: {memory: 50Gi}
    max: {memory: 40Gi}
  queues:
  - name: east
    resources:
      max: {memory: 60Gi}
      guaranteed: {memory: 30Gi}
  - name: west
    resources:
      guaranteed: {memory: 30Gi}
",
        ),
        &expect![[r#"
            error[Q-G>M]: queue `sales` has a guarantee of 50Gi of memory, but its own maximum is 40Gi of memory
             --> queues.yaml:8:30
              |
            8 |         guaranteed: {memory: 50Gi}
              |                              ^^^^ too much
            9 |         max: {memory: 40Gi}
              |                       ---- the maximum: 40Gi of memory
              |
              = help: write 40Gi or less, or raise the maximum

            error[Q-SUMG>G]: the child queues of `sales` have guarantees of 60Gi of memory, but the queue itself has a guarantee of 50Gi of memory
              --> queues.yaml:8:30
               |
             8 |         guaranteed: {memory: 50Gi}
               |                              ^^^^ 50Gi of memory here
            ...
            14 |           guaranteed: {memory: 30Gi}
               |                                ---- 30Gi of memory there
            ...
            17 |           guaranteed: {memory: 30Gi}
               |                                ---- 30Gi of memory there
               |
               = help: raise it to 60Gi, or lower the guarantees of the child queues

            error[Q-SUMG>M]: the child queues of `sales` have guarantees of 60Gi of memory, but the maximum of the queue is 40Gi of memory
              --> queues.yaml:9:23
               |
             9 |         max: {memory: 40Gi}
               |                       ^^^^ 40Gi of memory here
            ...
            14 |           guaranteed: {memory: 30Gi}
               |                                ---- 30Gi of memory there
            ...
            17 |           guaranteed: {memory: 30Gi}
               |                                ---- 30Gi of memory there
               |
               = help: raise it to 60Gi, or lower the guarantees of the child queues

            error[Q-M>PARENT]: queue `east` has a maximum of 60Gi of memory, but a queue above it has a maximum of 40Gi of memory
              --> queues.yaml:13:25
               |
             9 |         max: {memory: 40Gi}
               |                       ---- the maximum above: 40Gi of memory
            ...
            13 |           max: {memory: 60Gi}
               |                         ^^^^ too much
               |
               = help: write 40Gi or less, or raise the maximum above
        "#]],
    );
}

#[test]
fn applications_of_a_tree() {
    check(
        &below_root(
            "
- name: sales
  maxapplications: 10
  queues:
  - name: east
  - name: west
    maxapplications: 11
",
        ),
        &expect![[r#"
            error[Q-APPS0]: queue `east` has no `maxapplications`, but its parent `sales` has 10
             --> queues.yaml:9:15
              |
            7 |       maxapplications: 10
              |                        -- the limit
            8 |       queues:
            9 |       - name: east
              |               ^^^^
              |
              = help: set `maxapplications` of `east` to a number from 1 to 10

            error[Q-APPS>PARENT]: `maxapplications` of queue `west` is 11, but that of its parent `sales` is 10
              --> queues.yaml:11:26
               |
             7 |       maxapplications: 10
               |                        -- the limit
            ...
            11 |         maxapplications: 11
               |                          ^^
               |
               = help: write 10 or less, or raise `maxapplications` of the parent
        "#]],
    );
}
