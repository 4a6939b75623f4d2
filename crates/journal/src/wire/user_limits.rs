//! User limits of leaves.

use std::sync::Arc;

use headroom_core::Name;
use headroom_core::config::{UserFactor, UserLimitsConfig};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};

use super::types::ascending;
use super::{At as _, Decoded, Fault, Field, structure, words};
use crate::proto;
use crate::record::What;

words!(Formula = proto::UserFormula { Yarn27, Yarn3, Smooth });
words!(Enforcement = proto::UserEnforcement { Progress, Strict, Overshoot });
words!(Calculator = proto::UserCalculator { Componentwise, Dominant, Memory });

/// Converts an enum that can be absent. The number 0 means absent.
macro_rules! absent {
    ($($type:ty),*) => {$(
        impl Field<i32> for Option<$type> {
            fn put(&self) -> i32 {
                self.as_ref().map_or(0, Field::put)
            }

            fn take(field: i32) -> Decoded<Self> {
                (field != 0).then(|| Field::take(field)).transpose()
            }
        }
    )*};
}

absent!(Formula, Enforcement, Calculator);

structure!(
    UserLimitsConfig = proto::UserLimits {
        formula,
        enforcement,
        calculator,
        floor,
        factor,
        weights,
        minimum_allocation,
        increment,
        maximum_allocation,
    }
);

impl Field<Option<proto::UserLimits>> for Option<UserLimitsConfig> {
    fn put(&self) -> Option<proto::UserLimits> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::UserLimits>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}

impl Field<Option<proto::UserLimits>> for Option<Arc<UserLimitsConfig>> {
    fn put(&self) -> Option<proto::UserLimits> {
        self.as_deref().map(Field::put)
    }

    fn take(field: Option<proto::UserLimits>) -> Decoded<Self> {
        field.map(|one| UserLimitsConfig::take(one).map(Arc::new)).transpose()
    }
}

impl Field<String> for Decimal {
    fn put(&self) -> String {
        self.to_string()
    }

    fn take(field: String) -> Decoded<Self> {
        // Each decimal has one spelling, so that equal records have equal bytes.
        let read = Self::parse(&field).filter(|read| read.to_string() == field);
        read.ok_or(Fault::new(What::NoDecimal))
    }
}

impl Field<Option<String>> for Option<Decimal> {
    fn put(&self) -> Option<String> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<String>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}

impl Field<Option<proto::UserFactor>> for Option<UserFactor> {
    fn put(&self) -> Option<proto::UserFactor> {
        use proto::user_factor::Factor;
        let factor = match self.as_ref()? {
            UserFactor::Times(times) => Factor::Times(times.put()),
            UserFactor::Off => Factor::Off(proto::NoUserFactor {}),
        };
        Some(proto::UserFactor { factor: Some(factor) })
    }

    fn take(field: Option<proto::UserFactor>) -> Decoded<Self> {
        use proto::user_factor::Factor;
        let Some(proto::UserFactor { factor }) = field else {
            return Ok(None);
        };
        Ok(Some(match factor {
            Some(Factor::Times(times)) => UserFactor::Times(Field::take(times).at("times")?),
            Some(Factor::Off(proto::NoUserFactor {})) => UserFactor::Off,
            None => return Err(Fault::new(What::Missing)),
        }))
    }
}

impl Field<Vec<proto::UserWeight>> for Vec<(Name, Decimal)> {
    fn put(&self) -> Vec<proto::UserWeight> {
        let weight = |(user, weight): &(Name, Decimal)| proto::UserWeight {
            user: user.put(),
            weight: weight.put(),
        };
        self.iter().map(weight).collect()
    }

    fn take(field: Vec<proto::UserWeight>) -> Decoded<Self> {
        ascending(field.iter().map(|one| &one.user))?;
        let weight = |(index, proto::UserWeight { user, weight }): (usize, proto::UserWeight)| {
            let weight = Field::take(weight).at("weight").at_index(index)?;
            Ok((Name::from(user), weight))
        };
        field.into_iter().enumerate().map(weight).collect()
    }
}
