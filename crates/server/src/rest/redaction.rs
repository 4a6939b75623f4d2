//! Why something waits, as the caller may see it: of bounds whose use they do not see, they get the name, and no
//! figure of what others use. The table of reasons says who sees what.

use headroom_core::books::Books;
use headroom_core::books::tracker::TrackerKind;
use headroom_core::id::{AllocationId, QueueId};
use headroom_core::{About, AtQueue, Blocker, SeenBy, Wait};

use super::visible::{Extent, Visibility};

impl Visibility {
    /// Whether the caller sees the figures of a reason.
    pub fn sees_use_of(&self, books: &Books, blocker: Blocker) -> bool {
        self.is_among(books, blocker.row().figures, blocker.about())
    }

    /// Whether the caller sees how much there may be at all. They see it of tenants above their own; what the whole
    /// cluster has is no bound that anybody set.
    pub fn sees_bound_of(&self, books: &Books, blocker: Blocker) -> bool {
        let root = matches!(blocker, Blocker::QueueMax(queue) if books.queue(queue).depth == 0);
        !root || self.counts_hidden() || self.sees_use_of(books, blocker)
    }

    /// Returns what sets the bound, without the name of any user, group, or node that the caller does not see.
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

    /// Returns why an ask waits in a sentence, if the caller sees all that it contains.
    pub fn sentence(&self, books: &Books, wait: &Wait, ask: AllocationId) -> Option<String> {
        let open =
            self.sees_use_of(books, wait.blocker) && self.sees_subject_of(books, wait.blocker);
        open.then(|| wait.sentence(books, ask))
    }

    /// Returns the same sentence; for other callers the code and what sets the bound.
    pub fn reason(&self, books: &Books, wait: &Wait, ask: AllocationId) -> String {
        self.sentence(books, wait, ask).unwrap_or_else(|| {
            format!("{} {}", wait.code(books, ask).as_str(), self.scope_of(books, wait.blocker))
        })
    }

    /// Whether the caller sees the name of what a reason is about.
    fn sees_subject_of(&self, books: &Books, blocker: Blocker) -> bool {
        self.is_among(books, blocker.row().subject, blocker.about())
    }

    /// Whether the caller is one of those who see something of this subject.
    fn is_among(&self, books: &Books, seen_by: SeenBy, about: About) -> bool {
        match seen_by {
            SeenBy::Everybody => true,
            SeenBy::WhoSeesUse => self.sees_use_at(books, about),
            SeenBy::WhoSeesCounts => self.counts_hidden(),
            SeenBy::WhoSeesAll => self.is_all(),
        }
    }

    /// Whether the caller sees what is used of the bound of a queue, a user, or a group.
    fn sees_use_at(&self, books: &Books, about: About) -> bool {
        let sees = |queue: QueueId| self.extent(books, queue) >= Extent::Figures;
        if let Some(at) = about.level(books) {
            return self.sees_name(&at) || sees(at.queue);
        }
        about.queue().map_or_else(|| self.is_all(), sees)
    }

    /// Whether the caller sees the name of a user or group.
    fn sees_name(&self, at: &AtQueue<'_>) -> bool {
        match at.kind {
            TrackerKind::User => self.sees_user(at.name),
            TrackerKind::Group => self.sees_group(at.name),
        }
    }
}
