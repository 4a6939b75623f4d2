//! Selects the next user among candidates for the same amounts. The limit is computed once for each weight, and each
//! possible user is checked.

use alloc::borrow::Cow;

use smallvec::SmallVec;

use crate::books::{Books, LeafUser, LeafUsers};
use crate::id::ShapeId;
use crate::resource::{Quantity, Resources};
use crate::userlimit::{Among, Calculator, Decimal, Enforcement, Leaf, Limit, ShareQuery};

use crate::schedule::class::{ClassKey, Classes, Head};
use crate::schedule::class_list::ClassPosition;
use crate::schedule::min_tree::{Measure, MinTree};

use super::{FairShareCandidates, TYPES, Types, UsageLowerBound};

/// Limit of the users with one weight.
struct WeightLimit {
    weight: Decimal,
    /// Limit by type, in the order of [`FairShareCandidates::types`].
    most: [i64; TYPES],
    /// Full limit, if these types are not sufficient.
    limit: Option<Limit>,
}

/// A leaf that picks users by fair share.
pub(super) struct FairShareLeaf<'a> {
    pub(super) books: &'a Books,
    pub(super) users: LeafUsers<'a>,
    /// Properties of the leaf without its usage.
    pub(super) leaf: &'a Leaf,
}

/// State of one pick.
struct FairSharePick<'a> {
    turn: &'a FairShareLeaf<'a>,
    ask: &'a Resources,
    types: &'a Types,
    /// Limits by weight. Usually all weights are equal.
    bounds: SmallVec<[WeightLimit; 1]>,
    /// Whether each type is compared separately.
    by_type: bool,
}

impl FairSharePick<'_> {
    #[inline]
    fn bound(&mut self, weight: Decimal) -> &WeightLimit {
        let known = self.bounds.iter().position(|one| one.weight == weight);
        let place = known.unwrap_or_else(|| {
            self.bounds.push(self.turn.bound(weight, self.ask, self.types));
            self.bounds.len() - 1
        });
        &self.bounds[place]
    }

    /// Returns whether a user with at least this usage can be picked.
    fn may_be(&mut self, of: &UsageLowerBound) -> bool {
        if !of.known {
            return true;
        }
        let (turn, ask, types, by_type) = (self.turn, self.ask, self.types, self.by_type);
        let bound = self.bound(of.weight);
        match &bound.limit {
            Some(limit) if !by_type => {
                let used = types.iter().zip(of.used);
                let used: Resources =
                    used.map(|(resource, used)| (*resource, Quantity::of(used))).collect();
                turn.is(limit, &used, ask)
            }
            _ => of.used.iter().zip(&bound.most).all(|(used, most)| used <= most),
        }
    }

    /// Returns whether a user can be picked.
    fn is(&mut self, user: &LeafUser<'_>) -> bool {
        let (turn, ask, types) = (self.turn, self.ask, self.types);
        let bound = self.bound(user.weight);
        match &bound.limit {
            Some(limit) => turn.is(limit, &user.used(), ask),
            None => types
                .iter()
                .zip(bound.most)
                .all(|(resource, most)| user.used_of(*resource).get() <= most),
        }
    }
}

impl FairShareLeaf<'_> {
    pub(super) fn ask(&self, shape: ShapeId) -> Cow<'_, Resources> {
        self.users.counted(self.books.shapes().get(shape))
    }

    pub(super) fn limit(&self, weight: Decimal, ask: &Resources) -> Limit {
        self.users.rules().limit(&self.users.state(), part(weight, ask))
    }

    pub(super) fn is(&self, limit: &Limit, used: &Resources, ask: &Resources) -> bool {
        self.users.rules().is_turn(self.leaf, limit, used, ask)
    }

    fn user(&self, key: ClassKey) -> LeafUser<'_> {
        let level = key.sharer().expect("who shares is tied to a user");
        self.users.user(level).expect("who waits has a row")
    }

    /// Returns whether shares alone determine the pick, type by type.
    fn is_by_share(&self) -> bool {
        let rules = self.users.rules();
        rules.is_by_type() && rules.enforcement == Enforcement::Progress
    }

    /// Returns the types that determine the pick, and whether they are complete.
    fn types(&self, ask: &Resources) -> (Types, bool) {
        let by_type = self.users.rules().calculator == Calculator::Componentwise;
        let of = if by_type { ask } else { &self.leaf.total };
        let is_split = |resource| !self.is_by_share() || self.leaf.guaranteed.has(resource);
        let some =
            of.iter().filter(|(resource, amount)| *amount > Quantity::ZERO && is_split(*resource));
        let mut some = some.map(|(resource, _)| resource);
        let types = some.by_ref().take(TYPES).collect();
        (types, some.next().is_none())
    }

    fn bound(&self, weight: Decimal, ask: &Resources, types: &Types) -> WeightLimit {
        let (rules, mut most) = (self.users.rules(), [i64::MAX; TYPES]);
        if self.is_by_share() {
            let leaf = self.users.state();
            for (most, resource) in most.iter_mut().zip(types) {
                let share = rules.share_of(&leaf, part(weight, ask), *resource);
                *most = share.unwrap_or(i64::MAX);
            }
            let is_all = types.len() < TYPES || self.types(ask).1;
            return WeightLimit { weight, most, limit: (!is_all).then(|| self.limit(weight, ask)) };
        }
        let limit = self.limit(weight, ask);
        for (most, resource) in most.iter_mut().zip(types) {
            let asked = ask.get_or_zero(*resource).get();
            *most = match (rules.enforcement, limit.soft.get(*resource), limit.limit.get(*resource))
            {
                (Enforcement::Progress, Some(soft), _) => soft.get(),
                (Enforcement::Overshoot, _, Some(limit)) => limit.get(),
                // A user at the largest possible amount stays there with the ask, because sums saturate.
                (Enforcement::Strict, _, Some(limit)) if limit.get() < i64::MAX => {
                    limit.get().saturating_sub(asked)
                }
                _ => i64::MAX,
            };
        }
        WeightLimit { weight, most, limit: Some(limit) }
    }

    /// Returns the class of the next user among candidates for these amounts.
    pub(super) fn choose(
        &self,
        classes: &Classes,
        shape: ShapeId,
        of: &mut FairShareCandidates,
    ) -> Option<ClassPosition> {
        let ask = self.ask(shape);
        if let Some(first) = of.ranking.foremost() {
            // A user who certainly has less than their share needs no exact comparison.
            let user = self.user(classes.rows[first.1].key);
            if self.users.fast_admits(&user, &ask) {
                return Some(first.clone());
            }
        }
        of.tell_by(self.types(&ask).0);
        debug_assert!(
            self.knows(classes, of),
            "the known usage of a user never exceeds the actual usage"
        );
        let FairShareCandidates { ranking, types } = of;
        let by_type = self.users.rules().calculator == Calculator::Componentwise;
        let mut choice =
            FairSharePick { turn: self, ask: &ask, types, bounds: SmallVec::new(), by_type };
        let mut next = ranking.first_seat(|of| choice.may_be(of));
        while let Some(seat) = next {
            let (place, measure) = ranking.at(seat);
            let user = self.user(classes.rows[place.1].key);
            if choice.is(&user) {
                return Some(place.clone());
            }
            // The usage of the user can have increased since the last check.
            let now = UsageLowerBound::of(self.leaf, &user, types);
            if *measure != now {
                ranking.set_at(seat, now);
            }
            next = ranking.first_behind(seat, |of| choice.may_be(of));
        }
        if self.users.rules().enforcement != Enforcement::Progress {
            return None;
        }
        self.least_served(classes, ranking, types)
    }

    /// Returns whether every known measure is a lower bound of the usage of its user.
    fn knows(&self, classes: &Classes, of: &FairShareCandidates) -> bool {
        of.ranking.entries().all(|(place, known)| {
            let now =
                UsageLowerBound::of(self.leaf, &self.user(classes.rows[place.1].key), &of.types);
            let mut lowest = *known;
            lowest.lower(&now);
            !known.known || lowest == *known
        })
    }

    /// Returns the first class among the least served users.
    fn least_served(
        &self,
        classes: &Classes,
        ranking: &mut MinTree<ClassPosition, UsageLowerBound>,
        types: &Types,
    ) -> Option<ClassPosition> {
        loop {
            let least = ranking.lowest()?.served;
            let seat = ranking.first_seat(|of| of.served <= least)?;
            let (place, _) = ranking.at(seat);
            let now = UsageLowerBound::of(self.leaf, &self.user(classes.rows[place.1].key), types);
            if now.served <= least {
                let (head, class) = place;
                return Some((Head { beyond: Some(least), ..head.clone() }, *class));
            }
            ranking.set_at(seat, now);
        }
    }
}

/// Returns the query for the share of a user with this weight.
const fn part(weight: Decimal, ask: &Resources) -> ShareQuery<'_> {
    ShareQuery { weight, among: Among::Active, ask }
}
