//! What people see when a file is wrong: its limits, access lists, nodes and placement rules.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

mod story;

use expect_test::expect;
use story::{below_root, check};

#[test]
fn who_is_named_in_limits() {
    check(
        &below_root(
            "
- name: sales
  limits:
  - users: []
    maxapplications: 1
  - users: [ann, '*', bob, 5th]
    groups: ['*']
    maxapplications: 1
  - users: [ann]
    maxapplications: 1
",
        ),
        &expect![[r#"
            error[L-EMPTY]: a limit of queue `sales` names no user and no group
             --> queues.yaml:8:9
              |
            8 |       - users: []
              |         ^^^^^
              |
              = help: name at least one user or group; `*` matches all others

            error[L-AFTERWILD]: user `bob` comes after the user wildcard `*`
              --> queues.yaml:10:27
               |
            10 |       - users: [ann, '*', bob, 5th]
               |                      ---  ^^^
               |                      |
               |                      the wildcard
               |
               = help: move the wildcard to the end

            error[L-USERNAME]: `5th` is not a valid user name
              --> queues.yaml:10:32
               |
            10 |       - users: [ann, '*', bob, 5th]
               |                                ^^^
               |
               = help: a user name begins with a letter or _ and continues with letters, digits and : # / _ . @ -

            error[L-ONLYWILDGROUP]: the group wildcard is the only group in the limits of this queue
              --> queues.yaml:11:18
               |
            11 |         groups: ['*']
               |                  ^^^
               |
               = help: name a group before the wildcard, or limit the user `*` instead

            error[L-DUPUSER]: user `ann` occurs twice in the limits of this queue
              --> queues.yaml:13:17
               |
            10 |       - users: [ann, '*', bob, 5th]
               |                 --- first entry
            ...
            13 |       - users: [ann]
               |                 ^^^ second entry
               |
               = help: remove one of the two entries
        "#]],
    );
}

#[test]
fn how_much_one_limit_allows() {
    check(
        &below_root(
            "
- name: sales
  maxapplications: 5
  resources:
    max: {memory: 10}
  limits:
  - users: [ann]
    maxresources: {memory: 11}
    maxapplications: 6
  - users: [bob]
    maxresources: {memory: 0}
  - groups: [ops]
",
        ),
        &expect![[r#"
            error[L-RES>QUEUE]: the limit allows 11 bytes of memory, but queue `sales` allows only 10 bytes of memory
              --> queues.yaml:12:32
               |
             9 |         max: {memory: 10}
               |                       -- the queue's maximum
            ...
            12 |         maxresources: {memory: 11}
               |                                ^^
               |
               = help: write 10 or less

            error[L-APPS>QUEUE]: the limit allows 6 applications, but queue `sales` allows only 5
              --> queues.yaml:13:26
               |
             7 |       maxapplications: 5
               |                        - the queue's number
            ...
            13 |         maxapplications: 6
               |                          ^
               |
               = help: write 5 or less

            error[L-ZERORES]: `maxresources` of the limit contains only zeros
              --> queues.yaml:15:23
               |
            15 |         maxresources: {memory: 0}
               |                       ^
               |
               = help: set at least one type above 0; a type at 0 cannot be used

            error[L-NOTHING]: the limit sets neither `maxresources` nor `maxapplications`
              --> queues.yaml:16:9
               |
            16 |       - groups: [ops]
               |         ^^^^^^
               |
               = help: set `maxresources` or `maxapplications`, or remove the limit
        "#]],
    );
}

#[test]
fn limits_down_the_tree() {
    check(
        &below_root(
            "
- name: sales
  limits:
  - users: [ann]
    maxresources: {vcore: 2}
  - users: ['*']
    maxresources: {vcore: 1}
    maxapplications: 4
  queues:
  - name: east
    limits:
    - users: [ann]
      maxresources: {vcore: 2500m}
    - users: [bob]
      maxresources: {vcore: 1500m}
    - users: ['*']
      maxapplications: 5
",
        ),
        &expect![[r#"
            error[L-RES>ANC]: user `ann` has a limit of 2500m vcore in queue `east`, but a queue above allows 2 vcore
              --> queues.yaml:17:33
               |
             9 |         maxresources: {vcore: 2}
               |                               - limited here
            ...
            17 |           maxresources: {vcore: 2500m}
               |                                 ^^^^^ too much
               |
               = help: write 2 or less, or raise the limit above

            error[L-APPS>WILD]: the limit of user `bob` in queue `east` sets no `maxapplications`, but the wildcard above allows 4
              --> queues.yaml:18:19
               |
            12 |         maxapplications: 4
               |                          - limited here
            ...
            18 |         - users: [bob]
               |                   ^^^
               |
               = help: set `maxapplications` to 4 or less

            error[L-RES>WILD]: user `bob` has a limit of 1500m vcore in queue `east`, but the wildcard above allows 1 vcore
              --> queues.yaml:19:33
               |
            11 |         maxresources: {vcore: 1}
               |                               - limited here
            ...
            19 |           maxresources: {vcore: 1500m}
               |                                 ^^^^^ too much
               |
               = help: write 1 or less, or raise the limit above

            error[L-APPS>ANC]: user `*` has a limit of 5 applications in queue `east`, but a queue above allows 4
              --> queues.yaml:21:28
               |
            12 |         maxapplications: 4
               |                          - limited here
            ...
            21 |           maxapplications: 5
               |                            ^ too many
               |
               = help: write 4 or less
        "#]],
    );
}

#[test]
fn access_and_nodes() {
    check(
        "
partitions:
- queues:
  - name: a
    submitacl: ann, bob dev
    adminacl: 'ann  dev'
  nodesortpolicy:
    type: Fair
    resourceweights: {memory: -0.5}
",
        &expect![[r#"
            error[A-SPACES]: `submitacl` has 3 words, but at most two are allowed: a list of users and a list of groups
             --> queues.yaml:5:16
              |
            5 |     submitacl: ann, bob dev
              |                ^^^^^^^^^^^^
              |
              = help: separate names with commas, and users from groups with one space, such as `ann,bob dev,ops`

            error[A-SPACES]: `adminacl` has 2 spaces, but only one is allowed, between users and groups
             --> queues.yaml:6:15
              |
            6 |     adminacl: 'ann  dev'
              |               ^^^^^^^^^^
              |
              = help: remove the other spaces

            error[N-POLICY]: the node sorting policy `Fair` does not exist
             --> queues.yaml:8:11
              |
            8 |     type: Fair
              |           ^^^^
              |
              = help: set `type` to `fair` or `binpacking`, in lower case

            error[N-WEIGHT]: the weight of memory is -0.5, but it must be 0 or more
             --> queues.yaml:9:31
              |
            9 |     resourceweights: {memory: -0.5}
              |                               ^^^^
              |
              = help: write 0 to ignore this type in the score
        "#]],
    );
}

const RULES: &str = "
partitions:
- queues:
  - name: leaf
  - name: teams
    parent: true
  placementrules:
  - {name: fixed, value: leaf.below}
  - {name: fixed, value: missing}
  - {name: fixed, value: root.teams}
  - {name: user, create: true, parent: {name: fixed, value: leaf}}
  - {name: fixed, value: root.leaf, parent: {name: fixed, value: teams}}
";

#[test]
fn placement_rules_and_the_queues_they_lead_to() {
    check(
        RULES,
        &expect![[r#"
            error[PR-UNDERLEAF]: queue `root.leaf.below` cannot exist, because `leaf` is a leaf
             --> queues.yaml:8:26
              |
            4 |   - name: leaf
              |           ---- this queue is a leaf
            ...
            8 |   - {name: fixed, value: leaf.below}
              |                          ^^^^^^^^^^
              |
              = help: set `parent: true` for the leaf, or use another path

            error[PR-NOQUEUE]: queue `root.missing` does not exist, and the rule does not set `create: true`
             --> queues.yaml:9:26
              |
            9 |   - {name: fixed, value: missing}
              |                          ^^^^^^^
              |
              = help: set `create: true` in the rule, or set `value` to the path of a queue of the file

            error[PR-NOTLEAF]: queue `root.teams` is a parent and accepts no applications
              --> queues.yaml:10:26
               |
             5 |   - name: teams
               |           ----- this queue is a parent
            ...
            10 |   - {name: fixed, value: root.teams}
               |                          ^^^^^^^^^^
               |
               = help: set `value` to a leaf below this queue

            error[PR-NOTPARENT]: the rule creates queues below `root.leaf`, which is a leaf
              --> queues.yaml:11:61
               |
             4 |   - name: leaf
               |           ---- this queue is a leaf
            ...
            11 |   - {name: user, create: true, parent: {name: fixed, value: leaf}}
               |                                                             ^^^^
               |
               = help: set `parent: true` for the leaf

            error[PR-QUALIFIED]: `root.leaf` is a full path, but the parent rule already selects `root.teams`
              --> queues.yaml:12:26
               |
            12 |   - {name: fixed, value: root.leaf, parent: {name: fixed, value: teams}}
               |                          ^^^^^^^^^                               ----- the parent rule
               |
               = help: write a path without `root`, or remove the parent rule

            warning[PR-VALUE]: a rule with a path from `root` cannot have a parent; the partition starts without rules and rejects every application
              --> queues.yaml:12:26
               |
            12 |   - {name: fixed, value: root.leaf, parent: {name: fixed, value: teams}}
               |                          ^^^^^^^^^
               |
               = help: write queue names separated by dots, and begin with `root` only without a parent rule
        "#]],
    );
}

#[test]
fn placement_rules_by_themselves() {
    check(
        "
partitions:
- queues: []
  placementrules:
  - {name: by-user}
  - {name: user, filter: {type: refuse, users: ['*'], groups: [a/b]}}
",
        &expect![[r#"
            error[PR-NAME]: `by-user` is not a placement rule
             --> queues.yaml:5:12
              |
            5 |   - {name: by-user}
              |            ^^^^^^^
              |
              = help: set `name` to one of provided, user, fixed, tag, reject

            error[PR-FTYPE]: `type` of the filter is `refuse`, but it must be `allow` or `deny`
             --> queues.yaml:6:33
              |
            6 |   - {name: user, filter: {type: refuse, users: ['*'], groups: [a/b]}}
              |                                 ^^^^^^
              |
              = help: write `allow` or `deny`

            error[PR-FUSER]: `*` is neither a valid user name nor a regular expression
             --> queues.yaml:6:49
              |
            6 |   - {name: user, filter: {type: refuse, users: ['*'], groups: [a/b]}}
              |                                                 ^^^ not a valid regular expression: repetition operator missing expression
              |
              = help: write one user name, several names, or one regular expression

            error[PR-FGROUP]: `a/b` is neither a valid group name nor a regular expression
             --> queues.yaml:6:64
              |
            6 |   - {name: user, filter: {type: refuse, users: ['*'], groups: [a/b]}}
              |                                                                ^^^ not a regular expression, because it contains none of ^ $ * + ? ( ) [ { } ] |
              |
              = help: write one group name, several names, or one regular expression
        "#]],
    );
}
