//! Reasons of a wait, from the view of a caller. If the usage of a limit is hidden, the caller gets the name of the
//! limit, but no usage of others. The table of reasons defines the visible parts.

use headroom_core::books::Books;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::{About, AtQueue, Blocker, SeenBy, Wait};

use super::visible::{Extent, Visibility};

impl Visibility {
    /// Returns whether the caller sees the usage in a reason.
    pub fn sees_use_of(&self, books: &Books, blocker: Blocker) -> bool {
        self.is_among(books, blocker.row().figures, blocker.about())
    }

    /// Returns whether the caller sees the limit in a reason. Callers see the limits of ancestors of their tenants. The
    /// size of the whole cluster is hidden, because this size is not a configured limit.
    pub fn sees_bound_of(&self, books: &Books, blocker: Blocker) -> bool {
        let root = matches!(blocker, Blocker::QueueMax(queue) if books.queue(queue).depth == 0);
        !root || self.counts_hidden() || self.sees_use_of(books, blocker)
    }

    /// Returns the object that has the limit. Omits the name of any user, group, or node that the caller does not
    /// see.
    pub fn scope_of(&self, books: &Books, blocker: Blocker) -> String {
        if let Some(at) = blocker.about().level(books)
            && !self.sees_name(&at)
        {
            let kind = match at.kind {
                TrackerKind::User => "user",
                TrackerKind::Group => "group",
            };
            return format!("another {kind} at {}", books.queue(at.queue).path);
        }
        if self.sees_subject_of(books, blocker) {
            return blocker.subject(books);
        }
        let kind = match blocker.about() {
            About::Queue(_) => "a queue",
            About::Level(..) => "a user or group",
            About::Node(_) | About::AnyNode(_) | About::RequiredNode(_) => "a node",
            About::Partition(_) => "the partition",
            About::Answer(_) | About::Manager(_) | About::AbsentManager(_) => "the RM",
            About::Application(_) => "an application",
            About::Gang(_) => "a gang",
        };
        kind.to_owned()
    }

    /// Returns why an ask waits as a sentence. `None` if the sentence has something that is hidden from the caller.
    pub fn sentence(&self, books: &Books, wait: &Wait, ask: AllocationId) -> Option<String> {
        let open =
            self.sees_use_of(books, wait.blocker) && self.sees_subject_of(books, wait.blocker);
        open.then(|| wait.sentence(books, ask))
    }

    /// Returns the sentence of a reason. If the sentence is hidden, returns the code and the object that has the limit.
    pub fn reason(&self, books: &Books, wait: &Wait, ask: AllocationId) -> String {
        self.sentence(books, wait, ask).unwrap_or_else(|| {
            format!("{} {}", wait.code(books, ask).as_str(), self.scope_of(books, wait.blocker))
        })
    }

    /// Returns whether the caller sees the name of the object of a reason.
    fn sees_subject_of(&self, books: &Books, blocker: Blocker) -> bool {
        self.is_among(books, blocker.row().subject, blocker.about())
    }

    /// Returns whether `seen_by` includes the caller, for this object.
    fn is_among(&self, books: &Books, seen_by: SeenBy, about: About) -> bool {
        match seen_by {
            SeenBy::Everybody => true,
            SeenBy::WhoSeesUse => self.sees_use_at(books, about),
            SeenBy::WhoSeesCounts => self.counts_hidden(),
            SeenBy::WhoSeesAll => self.is_all(),
        }
    }

    /// Returns whether the caller sees the usage of the limit of a queue, a user, or a group.
    fn sees_use_at(&self, books: &Books, about: About) -> bool {
        let sees = |queue: QueueId| self.extent(books, queue) >= Extent::Figures;
        if let Some(at) = about.level(books) {
            return self.sees_name(&at) || sees(at.queue);
        }
        about.queue().map_or_else(|| self.is_all(), sees)
    }

    /// Returns whether the caller sees the name of a user or group.
    fn sees_name(&self, at: &AtQueue<'_>) -> bool {
        match at.kind {
            TrackerKind::User => self.sees_user(at.name),
            TrackerKind::Group => self.sees_group(at.name),
        }
    }
}
