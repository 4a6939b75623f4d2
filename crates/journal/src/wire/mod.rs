//! Conversion between the types of the core and the messages of the journal.
//!
//! Every field of every message is named here. Structures and enums are destructured completely, in both directions, so
//! a new field in the core or in a message does not compile before it is converted.

mod application_limits;
mod capacity;
mod command;
mod configuration;
mod event;
mod life;
mod node_labels;
mod questions;
mod queue_preemption;
mod settings;
mod tasks;
mod tenants;
mod types;
mod user_limits;

use std::fmt;

use crate::record::What;

/// Conversion of a value to and from the field type `F` of a message.
pub(crate) trait Field<F>: Sized {
    /// Returns the field to write.
    fn put(&self) -> F;

    /// Returns the value of a field, after checking it.
    fn take(field: F) -> Decoded<Self>;
}

/// A decoded value, or the problem with it.
pub(crate) type Decoded<T> = Result<T, Fault>;

/// A problem in a message, and the field that has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Path of the field, the innermost part first.
    path: Vec<Place>,
    pub(crate) what: What,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Field(&'static str),
    Index(usize),
}

impl Fault {
    pub(crate) const fn new(what: What) -> Self {
        Self { path: Vec::new(), what }
    }

    /// Returns the path of the field, from the outermost message on: `events[2].settings.values`.
    pub(crate) fn path(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, place) in self.path.iter().rev().enumerate() {
            match place {
                Place::Field(name) if position == 0 => out.write_str(name)?,
                Place::Field(name) => write!(out, ".{name}")?,
                Place::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Adds a part to the path of a problem.
pub(crate) trait At {
    fn at(self, field: &'static str) -> Self;
    fn at_index(self, index: usize) -> Self;
}

impl<T> At for Decoded<T> {
    fn at(self, field: &'static str) -> Self {
        self.map_err(|mut fault| {
            fault.path.push(Place::Field(field));
            fault
        })
    }

    fn at_index(self, index: usize) -> Self {
        self.map_err(|mut fault| {
            fault.path.push(Place::Index(index));
            fault
        })
    }
}

/// Returns the value of a message field that is required.
pub(crate) fn required<T: Field<M>, M>(field: Option<M>) -> Decoded<T> {
    T::take(field.ok_or(Fault::new(What::Missing))?)
}

impl<T: Field<M>, M> Field<Vec<M>> for Vec<T> {
    fn put(&self) -> Vec<M> {
        self.iter().map(T::put).collect()
    }

    fn take(field: Vec<M>) -> Decoded<Self> {
        let values = field.into_iter().enumerate();
        values.map(|(index, one)| T::take(one).at_index(index)).collect()
    }
}

impl<T: Field<F>, F> Field<F> for Box<T> {
    fn put(&self) -> F {
        T::put(self)
    }

    fn take(field: F) -> Decoded<Self> {
        T::take(field).map(Self::new)
    }
}

/// Converts a structure whose fields have the same names on both sides. The message can be a field that is present or
/// required.
macro_rules! structure {
    ($type:ty = $message:ty { $($field:ident),* $(,)? }) => {
        impl $crate::wire::Field<$message> for $type {
            fn put(&self) -> $message {
                type Message = $message;
                let Self { $($field),* } = self;
                Message { $($field: $crate::wire::Field::put($field)),* }
            }

            fn take(field: $message) -> $crate::wire::Decoded<Self> {
                use $crate::wire::At as _;
                type Message = $message;
                let Message { $($field),* } = field;
                Ok(Self { $($field: $crate::wire::Field::take($field).at(stringify!($field))?),* })
            }
        }

        $crate::wire::message!($type = $message);
    };
}

/// Converts a required message.
macro_rules! message {
    ($type:ty = $message:ty) => {
        impl $crate::wire::Field<Option<$message>> for $type {
            fn put(&self) -> Option<$message> {
                Some($crate::wire::Field::put(self))
            }

            fn take(field: Option<$message>) -> $crate::wire::Decoded<Self> {
                $crate::wire::required(field)
            }
        }
    };
}

/// Converts an enum whose values have the same names on both sides.
macro_rules! words {
    ($type:ty = $message:ty { $($word:ident),* $(,)? }) => {
        impl $crate::wire::Field<i32> for $type {
            fn put(&self) -> i32 {
                type Message = $message;
                let word = match self {
                    $(Self::$word => Message::$word),*
                };
                word.into()
            }

            fn take(field: i32) -> $crate::wire::Decoded<Self> {
                use $crate::record::What;
                use $crate::wire::Fault;
                type Message = $message;
                match Message::try_from(field) {
                    $(Ok(Message::$word) => Ok(Self::$word),)*
                    Ok(Message::Unspecified) => Err(Fault::new(What::Missing)),
                    Err(_) => Err(Fault::new(What::UnknownWord { number: field })),
                }
            }
        }
    };
}

pub(crate) use {message, structure, words};
