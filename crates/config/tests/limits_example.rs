//! The worked example of queues and limits §11 that is a rule of the queue file.

use headroom_config::read;

#[test]
#[doc(alias = "queues W13")]
fn a_limit_below_the_one_of_all_others_above() {
    let file = |memory_or_vcore: &str, applications: &str| {
        format!(
            "
partitions:
- name: default
  queues:
  - name: root
    limits:
    - users: ['*']
      maxapplications: 4
      maxresources: {{memory: 100}}
    queues:
    - name: q
      limits:
      - users: [bob]
        maxresources: {{{memory_or_vcore}}}
        {applications}
"
        )
    };
    for (limit, applications, expected) in [
        ("memory: 50", "", Some("L-APPS>WILD")),
        ("memory: 50", "maxapplications: 3", None),
        ("memory: 150", "maxapplications: 3", Some("L-RES>WILD")),
        ("vcore: 2", "maxapplications: 4", None),
    ] {
        let faults = read(&file(limit, applications)).err();
        let codes = faults.map(|faults| faults.to_string()).unwrap_or_default();
        match expected {
            Some(code) => assert!(codes.contains(code), "{limit}: {codes}"),
            None => assert_eq!(codes, "", "{limit}"),
        }
    }
}
