//! A large queue file.

use std::fmt::Write as _;

/// A queue file with so many queues and as many limits, in teams of 100.
pub fn many(queues: usize) -> String {
    let mut text = "\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
"
    .to_owned();
    for queue in 0..queues {
        let team = queue / 100;
        // Writing into a string cannot fail.
        let _ = if queue % 100 == 0 {
            write!(
                text,
                "          - name: team{team}
            resources:
              guaranteed: {{vcore: 100, memory: 400Gi}}
              max: {{vcore: 1000, memory: 4000Gi}}
            limits:
              - limit: the lead
                users: [lead{team}]
                maxresources: {{vcore: 500}}
            queues:
"
            )
        } else {
            write!(
                text,
                "              - name: q{queue}
                resources:
                  guaranteed: {{vcore: 1, memory: 4Gi}}
                  max: {{vcore: 100, memory: 400Gi}}
                properties:
                  application.sort.policy: fair
                limits:
                  - limit: one owner, and all others
                    users: [user{queue}, '*']
                    maxresources: {{vcore: 50, memory: 200Gi}}
                    maxapplications: 10
"
            )
        };
    }
    text
}
