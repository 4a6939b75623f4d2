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
              = help: write `placementrules`: keys are lower case

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
              = help: the keys are: name, queues, placementrules, limits, preemption, nodesortpolicy, usergroupresolver, limitprecedence, userlimits, applicationlimits, tenants
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
            error[YAML-DUP]: the key `name` is written twice
             --> queues.yaml:7:7
              |
            6 |     - name: a
              |       ---- first here
            7 |       name: b
              |       ^^^^ again here
              |
              = help: keep one of them

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
            error[Q-NAME]: `sales.eu` is not a queue name
             --> queues.yaml:6:13
              |
            6 |     - name: sales.eu
              |             ^^^^^^^^
              |
              = help: a name has 1 to 64 characters: ASCII letters, digits and _ : # / @ -

            error[Q-DUP]: `root` has two children called `dev`
             --> queues.yaml:8:13
              |
            7 |     - name: Dev
              |             --- first here
            8 |     - name: dev
              |             ^^^ again here
              |
              = help: give one of them another name; queue names are compared in lower case

            error[Q-RESERVED]: `@recovery@` is the name of the recovery queue
             --> queues.yaml:9:13
              |
            9 |     - name: '@recovery@'
              |             ^^^^^^^^^^^^
              |
              = help: choose another name: applications are put into that queue on recovery
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
              = help: remove it: the maximum of root is what the nodes have

            error[L-ROOTDIFF]: the limits of the partition differ from those of its root queue
              --> queues.yaml:11:5
               |
             9 |     - {users: [ann], maxapplications: 1}
               |       - limits of the root queue
            10 |   limits:
            11 |   - {users: [ann], maxapplications: 2}
               |     ^ limits of the partition
               |
               = help: keep one of the two; they mean the same

            error[P-DUP]: two partitions are called `default`
              --> queues.yaml:12:9
               |
             3 | - name: ''
               |         -- first here
            ...
            12 | - name: DEFAULT
               |         ^^^^^^^ again here
               |
               = help: give one of them another name; names differ by more than case

            error[Q-NONE]: partition `default` has no `queues`
              --> queues.yaml:12:9
               |
            12 | - name: DEFAULT
               |         ^^^^^^^
               |
               = help: write `queues: []` for a bare root queue
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
            error[R-SYNTAX]: `1.5Gi` is not an amount of memory: it must be digits and an optional suffix: no sign, decimal point or exponent
             --> queues.yaml:8:23
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                       ^^^^^
              |
              = help: write digits and at most one suffix: 500m of vcore, 16Gi of memory, 4

            error[R-OVERFLOW]: `10E` is not an amount of vcore: it is larger than 9223372036854775807 in the smallest unit
             --> queues.yaml:8:37
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                     ^^^
              |
              = help: write a smaller amount

            error[R-SUFFIX]: `500m` is not an amount of pods: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)
             --> queues.yaml:8:48
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                ^^^^
              |
              = help: leave out the `m`: only vcore counts in thousandths

            error[R-SUFFIX]: `1K` is not an amount of disk: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)
             --> queues.yaml:8:60
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                            ^^
              |
              = help: suffixes are case-sensitive: k M G T P E, or Ki Mi Gi Ti Pi Ei

            error[R-SYNTAX]: gpu has no amount
             --> queues.yaml:8:64
              |
            8 |         max: {memory: 1.5Gi, vcore: 10E, pods: 500m, disk: 1K, gpu: }
              |                                                                ^^^
              |
              = help: write digits and at most one suffix: 500m of vcore, 16Gi of memory, 4
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
            error[Q-G>M]: queue `sales` guarantees 50Gi of memory, its own maximum is 40Gi of memory
             --> queues.yaml:8:30
              |
            8 |         guaranteed: {memory: 50Gi}
              |                              ^^^^ too much
            9 |         max: {memory: 40Gi}
              |                       ---- the maximum: 40Gi of memory
              |
              = help: write 40Gi or less, or raise the maximum

            error[Q-SUMG>G]: the children of queue `sales` are guaranteed 60Gi of memory, the queue itself is guaranteed 50Gi of memory
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
               = help: raise it to 60Gi or lower the guarantees of the children

            error[Q-SUMG>M]: the children of queue `sales` are guaranteed 60Gi of memory, the queue may use 40Gi of memory
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
               = help: raise it to 60Gi or lower the guarantees of the children

            error[Q-M>PARENT]: queue `east` may use 60Gi of memory, a queue above it may use 40Gi of memory
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
            error[Q-APPS0]: queue `east` has no `maxapplications`, its parent `sales` has 10
             --> queues.yaml:9:15
              |
            7 |       maxapplications: 10
              |                        -- limited here
            8 |       queues:
            9 |       - name: east
              |               ^^^^
              |
              = help: write `maxapplications` for `east`, from 1 to 10

            error[Q-APPS>PARENT]: queue `west` allows 11 applications, its parent `sales` only 10
              --> queues.yaml:11:26
               |
             7 |       maxapplications: 10
               |                        -- limited here
            ...
            11 |         maxapplications: 11
               |                          ^^
               |
               = help: write 10 or less, or raise the parent
        "#]],
    );
}
