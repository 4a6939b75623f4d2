//! Settings of tenants.

use headroom_core::config::TenantSettings;
use headroom_core::config::tenant::{
    INSTANCES, OnLower, Oversized, WaitingPolicy, WaitingStrategy,
};
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{Command, Millis, Name, SetTenant};

use super::{ORDERS, Player, to_i64};
use crate::model::{AGING, HEAD_WAIT, Lower, Order, Said, Sizes, amount};

impl Player {
    /// Returns random settings of a tenant.
    pub(super) fn say(&mut self, above: Option<&'static str>) -> Said {
        let scale = if above.is_none() { 2 } else { 1 };
        let mut quota = Sizes::new();
        for (one, least, most) in
            [("vcore", 4, 14), ("memory", 4, 14), ("gpu", 1, 4), (INSTANCES, 2, 8)]
        {
            if self.dice.one_in(2) {
                let none = self.dice.one_in(15);
                let amount = if none { 0 } else { least + self.dice.below(most) };
                quota.insert(one, scale * to_i64(amount));
            }
        }
        Said {
            parent: above,
            quota,
            order: self.dice.of(&ORDERS).expect("there are some"),
            overtakes: u32::try_from(self.dice.below(4)).expect("small"),
            max_waiting: self.dice.one_in(8).then(|| self.dice.below(6)),
            lower: match self.dice.below(5) {
                0 => Lower::Refuse,
                1 | 2 => Lower::Preempt(self.dice.below(20_000)),
                _ => Lower::Block,
            },
            park: self.dice.one_in(2),
            suspended: self.dice.one_in(30),
            lowered: None,
        }
    }

    /// Say something else of a tenant: its quota, its order, or whether it is suspended.
    pub(super) fn change(&mut self) {
        let tenant = self.tenant();
        let known = self.pair.model.tenants[tenant].clone();
        let fresh = self.say(known.parent);
        let said = match self.dice.below(8) {
            0 => Said { order: fresh.order, ..known },
            1 => Said { suspended: !known.suspended && self.dice.one_in(2), ..known },
            2 => Said { overtakes: fresh.overtakes, max_waiting: fresh.max_waiting, ..known },
            3 | 4 => Said { quota: fresh.quota, ..known },
            5 => {
                let quota = known.quota.iter().map(|(one, amount)| (*one, amount / 2)).collect();
                Said { quota, ..known }
            }
            6 => Said { lower: fresh.lower, park: fresh.park, ..known },
            _ => fresh,
        };
        self.set_tenant(tenant, said);
    }

    /// Lower the quota of a tenant below what it uses.
    pub(super) fn lower(&mut self) {
        let model = &self.pair.model;
        let busy: Vec<_> = model.tenants.keys().filter(|one| !model.used(one).is_empty()).collect();
        let busy: Vec<&'static str> = busy.into_iter().copied().collect();
        let Some(tenant) = self.dice.of(&busy) else { return };
        let known = self.pair.model.tenants[tenant].clone();
        let half = |amount: i64| (amount / 2).max(1);
        let used = self.pair.model.used(tenant).into_iter();
        let quota = used.map(|(one, amount)| (one, half(amount))).collect();
        let lower =
            if self.dice.one_in(4) { known.lower } else { Lower::Preempt(self.dice.below(5_000)) };
        self.set_tenant(tenant, Said { quota, lower, ..known });
    }

    pub(super) fn set_tenant(&mut self, tenant: &'static str, mut said: Said) {
        let known = self.pair.model.tenants.get(tenant).cloned();
        let quota_before = known.as_ref().map(|known| known.quota.clone()).unwrap_or_default();
        let is_lower = |(one, limit): &(&&str, &i64)| {
            quota_before.get(**one).is_none_or(|before| *limit < before)
        };
        let lowered: Vec<_> = said.quota.iter().filter(is_lower).collect();
        let used = known.as_ref().map(|_| self.pair.model.used(tenant)).unwrap_or_default();
        let below = lowered.iter().any(|(one, limit)| **limit < amount(&used, one));
        let refused = (below && said.lower == Lower::Refuse).then_some("TENANT_BELOW_USE");
        // The time to stop tasks begins when a quota is first below what is used, and ends with one that is
        // not, or with a look that finds the use within.
        let over = said.quota.iter().any(|(one, limit)| *limit < amount(&used, one));
        let stops = over && matches!(said.lower, Lower::Preempt(_));
        let since = known.as_ref().and_then(|known| known.lowered);
        let is_same = |known: &Said| known.quota == said.quota && known.lower == said.lower;
        said.lowered = match &known {
            Some(known) if is_same(known) => since,
            _ => stops.then(|| since.unwrap_or(self.pair.model.now)),
        };
        let command = SetTenant {
            partition: self.pair.partition.clone(),
            tenant: Name::new(tenant),
            settings: settings_of(&said),
            ..SetTenant::default()
        };
        let outcome = self.pair.send(&Command::SetTenant(Box::new(command)));
        assert_eq!(outcome.err(), refused, "{tenant}: {said:?}");
        if let Some(code) = refused {
            return self.pair.count(format!("refused {code}"));
        }
        if said.suspended {
            self.pair.count("suspended");
        }
        if below {
            self.pair.count("above its quota");
        }
        self.pair.model.tenants.insert(tenant, said);
    }
}

fn settings_of(said: &Said) -> TenantSettings {
    let mut quota = Amounts::EMPTY;
    for (one, amount) in &said.quota {
        quota.set(*one, Quantity::of(*amount));
    }
    let strategy = match said.order {
        Order::Fifo => WaitingStrategy::Fifo,
        Order::Backfill => WaitingStrategy::FifoBackfill,
        Order::Priority => WaitingStrategy::Priority,
        Order::Urgency => WaitingStrategy::Urgency,
    };
    let (interval, step, most) = AGING;
    TenantSettings {
        parent: said.parent.map(Name::new),
        suspended: said.suspended,
        quota: Some(quota),
        max_waiting: said.max_waiting,
        waiting: Some(WaitingPolicy {
            strategy,
            aging_interval: Some(Millis::new(interval)),
            aging_step: Some(step),
            aging_max: Some(most),
            max_overtakes: Some(said.overtakes),
            max_head_wait: Some(Millis::new(HEAD_WAIT)),
            max_wait: None,
        }),
        on_lower: Some(match said.lower {
            Lower::Block => OnLower::Block,
            Lower::Preempt(grace) => OnLower::Preempt { grace: Millis::new(grace) },
            Lower::Refuse => OnLower::Refuse,
        }),
        oversized: Some(if said.park { Oversized::Park } else { Oversized::Reject }),
        ..TenantSettings::default()
    }
}
