//! Between the types of the core and the messages of the journal.
//!
//! Every type says here which message field holds it. Structures and enums are taken apart
//! without a rest, in both directions: what is new in the core, or in a message, does not
//! compile until it is written here.

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

/// How a value stands in the field `F` of a message.
pub(crate) trait Field<F>: Sized {
    /// What is written.
    fn put(&self) -> F;

    /// What was written, checked.
    fn take(field: F) -> Decoded<Self>;
}

/// A value that was read, or what is wrong with it.
pub(crate) type Decoded<T> = Result<T, Fault>;

/// What is wrong in a message, and in which field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The innermost first.
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

    /// The field, from the outermost message on: `events[2].settings.values`.
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

/// Says in which field a fault is.
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

/// A message that must be there.
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

/// Fields of the same name on both sides, in a message and where a message must be.
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

/// A message that must be there.
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

/// One of several words, of the same name on both sides.
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
