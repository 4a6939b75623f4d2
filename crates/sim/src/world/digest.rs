//! A fingerprint of all decisions: equal digests mean equal histories.

use headroom_core::{AllocationEvent, ApplicationEvent, AskEvent, AskTraits, Event, Timestamp};
use xxhash_rust::xxh3::Xxh3;

/// The xxh3-128 digest of events with their times. Its input is fixed-width little-endian numbers and length-prefixed
/// text. The digest is therefore the same on every machine and in every build.
#[derive(Default)]
pub struct Digest {
    hash: Xxh3,
    line: Vec<u8>,
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.hex())
    }
}

impl Digest {
    /// Adds one event.
    pub fn event(&mut self, at: Timestamp, event: &Event) {
        self.line.clear();
        self.number(at.as_millis());
        if let Event::Ask(AskEvent::Placed { ask, node }) = event {
            self.number(1);
            self.id(*ask);
            self.id(*node);
        } else if let Event::Allocation(AllocationEvent::Released { allocation, termination }) =
            event
        {
            self.number(2);
            self.id(*allocation);
            self.number(*termination as u64);
        } else if let Event::Ask(AskEvent::Added {
            application,
            key,
            resources,
            priority,
            created,
            traits,
        }) = event
        {
            self.number(3);
            self.id(*application);
            self.text(key);
            self.number(resources.len() as u64);
            for (name, amount) in resources.iter() {
                self.text(name);
                self.number(amount.get().cast_unsigned());
            }
            self.number(i64::from(*priority).cast_unsigned());
            self.number(created.as_millis());
            let AskTraits {
                originator,
                placeholder,
                may_preempt,
                preemptable,
                task_group,
                required_node,
                node_label,
                blocked_nodes,
            } = traits;
            for one in [originator, placeholder, may_preempt, preemptable] {
                self.number(u64::from(*one));
            }
            for one in [task_group, required_node] {
                self.text(one.as_deref().unwrap_or_default());
            }
            // Adds nothing if neither is set, so that older digests remain valid.
            for one in node_label.iter().chain(blocked_nodes) {
                self.text(one);
            }
        } else if let Event::Application(ApplicationEvent::Moved { application, state, timer }) =
            event
        {
            self.number(4);
            self.id(*application);
            self.number(*state as u64);
            self.number(timer.map_or(u64::MAX, Timestamp::as_millis));
        } else {
            // Other events are rare. Their debug form contains every field, and no address or hash.
            self.number(5);
            let text = format!("{event:?}");
            self.text(&text);
        }
        self.hash.update(&self.line);
    }

    /// Returns the digest so far as 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.hash.digest128())
    }

    fn number(&mut self, number: u64) {
        self.line.extend_from_slice(&number.to_le_bytes());
    }

    fn id(&mut self, id: impl headroom_core::id::Id) {
        let slot = id.slot();
        self.number((slot.index() as u64) << 32 | u64::from(slot.generation()));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.line.extend_from_slice(text.as_bytes());
    }
}
