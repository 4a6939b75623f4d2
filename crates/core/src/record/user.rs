//! Records of the usage of users and groups.

use crate::id::{ApplicationId, LevelId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity};

use super::builder::RecordBuilder;
use super::{Change, Detail, Kind};

impl RecordBuilder<'_> {
    /// Records a charge of the user and the group of an application.
    pub(super) fn charged(&mut self, application: ApplicationId, amount: &Amounts) {
        self.usage(application, Change::Add, amount, amount);
    }

    /// Records a refund of the user, and of the group as far as it was charged.
    pub(super) fn refunded(&mut self, application: ApplicationId, amount: &Amounts) {
        let charged = self.books.application(application).charged_to_group().unwrap_or_default();
        let charged = self.amounts(&charged);
        let back = amount.iter().map(|(name, wanted)| {
            (name.clone(), wanted.min(charged.get(name).unwrap_or_default()))
        });
        let of_group = back.filter(|(_, amount)| *amount > Quantity::ZERO).collect();
        self.usage(application, Change::Remove, amount, &of_group);
    }

    fn usage(
        &mut self,
        application: ApplicationId,
        change: Change,
        of_user: &Amounts,
        of_group: &Amounts,
    ) {
        let row = self.books.application(application);
        let Some(link) = row.link else { return };
        let user = (Detail::UserResource, row.user.clone(), of_user);
        let group = link.group.level().map(|level| self.name_of(application, level));
        let group = group.map(|name| (Detail::GroupResource, name, of_group));
        for (detail, name, amount) in core::iter::once(user).chain(group) {
            if !amount.is_empty() {
                let record = self.record(Kind::UserGroup, change, detail, &name);
                self.tell(record.with(&row.queue_path).of(amount.clone()));
            }
        }
    }

    /// Records that a group began or stopped to be charged for an application.
    pub(super) fn linked(&mut self, application: ApplicationId, group: &Name, change: Change) {
        let name = &self.books.application(application).name;
        let record = self.record(Kind::UserGroup, change, Detail::AppLink, group).with(name);
        self.tell(record);
    }

    /// Records that an application was unlinked from its group, with a refund of the charged amounts if `with_usage`.
    pub(super) fn unlinked(&mut self, application: ApplicationId, with_usage: bool) {
        let row = self.books.application(application);
        let Some(level) = row.link.and_then(|link| link.group.level()) else { return };
        let name = self.name_of(application, level);
        let charged = row.charged_to_group().filter(|one| with_usage && !one.is_empty());
        if let Some(charged) = charged {
            let record = self.record(Kind::UserGroup, Change::Remove, Detail::GroupResource, &name);
            let amounts = self.amounts(&charged);
            self.tell(record.with(&row.queue_path).of(amounts));
        }
        self.linked(application, &name, Change::Remove);
    }

    fn name_of(&self, application: ApplicationId, level: LevelId) -> Name {
        let partition = self.books.application(application).partition;
        let trackers = &self.books.partition(partition).trackers;
        trackers.tracker(trackers.level(level).tracker).name.clone()
    }
}
