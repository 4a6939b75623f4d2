//! One record of the journal, and its bytes.

use std::sync::Arc;

use prost::Message as _;

use headroom_core::{Command, Event, Rejection, Timestamp};

use crate::proto;
use crate::store::RECORD_BYTES_MAX;
use crate::wire::{At as _, Decoded, Fault, Field, required};

/// Version of the record format that this crate writes, and the newest version that it reads.
///
/// Versions add the following:
///
/// - 2: user limits of queues.
/// - 3: limits of applications and drivers.
/// - 4: fractions of queues by percent and weight, states of queues, lifetimes of applications, labels and block lists
///   of nodes.
/// - 5: one ask for all members of a task, and rejections without the requested object.
/// - 6: the placement of gangs.
/// - 7: preemption within a queue, and minimum run times.
/// - 8: holds of capacity.
/// - 9: the application that overtook a head of line.
/// - 10: limits of reservations.
pub const FORMAT: u32 = 10;

/// Maximum number of levels that queues, and rules that find a parent queue, can nest in a record.
///
/// This is twice the limit of a queue file, and small enough for a tree that is processed recursively.
pub const LEVELS_MAX: usize = 1_024;

/// One step: its cause and its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Number of the record. Records are counted from 1, without gaps.
    pub sequence: u64,
    /// Time of the step. Never earlier than the time of the previous record.
    pub time: Timestamp,
    /// Sender of the command, if known.
    pub origin: Option<Arc<Origin>>,
    /// The command. `None` if the scheduler acted by itself.
    pub command: Option<Command>,
    /// Facts that recovery applies.
    pub events: Vec<Event>,
}

/// Sender of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Authenticated identity. Empty without authentication.
    pub identity: String,
    /// ID that the sender chose. A repeated command with this ID gets the first answer again. Empty without an ID.
    pub command_id: String,
    /// ID of the request that contained the command, as in responses and logs. Empty without an ID. This ID does not
    /// identify a sender.
    pub request_id: String,
    /// Whether the command applies to any version of its target, because the sender specified none.
    pub any_version: bool,
}

/// Reason why bytes are not a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A later version wrote the record, and might give it a meaning that this version does not know.
    #[error(
        "the record has format {found}, but this version reads formats up to {known}. Use the \
         version that wrote the record"
    )]
    Newer {
        /// Format of the record.
        found: u32,
        /// Newest format that this version reads.
        known: u32,
    },
    /// The bytes are not a protobuf message.
    #[error("the record is not a journal message")]
    Malformed(#[source] prost::DecodeError),
    /// The record has fields that this version does not know.
    #[error("this version understands {understood} of the {found} bytes of the record")]
    Surplus {
        /// Length of the bytes.
        found: usize,
        /// Length of the known fields.
        understood: usize,
    },
    /// A field has an invalid value.
    #[error("the field {field} of the record {what}")]
    Field {
        /// Path of the field, from the outermost message on.
        field: String,
        /// The problem.
        what: What,
    },
}

/// Problem of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// A required field is missing.
    #[error("is missing")]
    Missing,
    /// The field must have one of several kinds. Perhaps a later version wrote a kind that this version does not know.
    #[error("has an unknown kind")]
    UnknownKind,
    /// The value of an enum is not known.
    #[error("has the unknown value {number}")]
    UnknownWord {
        /// Number of the value.
        number: i32,
    },
    /// The number is below the smallest amount.
    #[error("has the amount {number}, which is below the minimum")]
    TooSmall {
        /// The number.
        number: i64,
    },
    /// Names are not in order, or a name occurs twice.
    #[error("is not in ascending order")]
    Disorder,
    /// A queue has no parent, or the tree has a second root.
    #[error("fits under no parent queue")]
    NoParent,
    /// The nesting has more levels than any written record.
    #[error("is {levels} levels deep, but at most {LEVELS_MAX} are allowed")]
    TooDeep {
        /// Number of levels.
        levels: usize,
    },
    /// The text is not a decimal.
    #[error(
        "is not a decimal from 0 to 1000000 with up to six fraction digits, in its shortest form"
    )]
    NoDecimal,
    /// The format is 0.
    #[error("is not a version of the format")]
    NoFormat,
}

/// Reason why a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// The nesting is deeper than a reader accepts.
    #[error(
        "the record nests queues or rules {levels} levels deep, but at most {LEVELS_MAX} are allowed"
    )]
    TooDeep {
        /// Number of levels.
        levels: usize,
    },
    /// The record is larger than a store accepts.
    #[error("the record has {bytes} bytes, but at most {RECORD_BYTES_MAX} are allowed")]
    TooLarge {
        /// Size in bytes.
        bytes: usize,
    },
}

impl From<Unwritable> for Rejection {
    fn from(why: Unwritable) -> Self {
        match why {
            Unwritable::TooDeep { levels } => Self::TooMany {
                what: "levels of queues or rules",
                count: levels,
                limit: LEVELS_MAX,
            },
            Unwritable::TooLarge { bytes } => {
                Self::CommandTooLarge { bytes, limit: RECORD_BYTES_MAX }
            }
        }
    }
}

impl Record {
    /// Returns the bytes of the record. Equal records have equal bytes.
    ///
    /// # Errors
    /// If the record nests deeper than [`LEVELS_MAX`], or is longer than [`RECORD_BYTES_MAX`].
    pub fn encode(&self) -> Result<Vec<u8>, Unwritable> {
        let message = self.to_message();
        let levels = levels_of(&message);
        if levels > LEVELS_MAX {
            return Err(Unwritable::TooDeep { levels });
        }
        let bytes = message.encode_to_vec();
        if bytes.len() > RECORD_BYTES_MAX {
            return Err(Unwritable::TooLarge { bytes: bytes.len() });
        }
        Ok(bytes)
    }

    /// Returns the record of these bytes.
    ///
    /// # Errors
    /// A [`DecodeError`] that names the version or the field that is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let message = proto::Record::decode(bytes).map_err(|error| match format_of(bytes) {
            Some(found) if found > FORMAT => DecodeError::Newer { found, known: FORMAT },
            _ => DecodeError::Malformed(error),
        })?;
        if message.format > FORMAT {
            return Err(DecodeError::Newer { found: message.format, known: FORMAT });
        }
        // Decoding skips unknown fields, so they are missing in the encoded length.
        let (found, understood) = (bytes.len(), message.encoded_len());
        if found != understood {
            return Err(DecodeError::Surplus { found, understood });
        }
        Self::from_message(message)
            .map_err(|fault| DecodeError::Field { field: fault.path(), what: fault.what })
    }

    /// Returns the record as a message.
    pub fn to_message(&self) -> proto::Record {
        let Self { sequence, time, origin, command, events } = self;
        proto::Record {
            format: FORMAT,
            sequence: *sequence,
            time: time.put(),
            origin: origin.as_ref().map(|origin| {
                let Origin { identity, command_id, request_id, any_version } =
                    Origin::clone(origin);
                proto::Origin { identity, command_id, request_id, any_version }
            }),
            command: command.as_ref().map(Field::put),
            events: events.put(),
        }
    }

    fn from_message(message: proto::Record) -> Decoded<Self> {
        let proto::Record { format, sequence, time, origin, command, events } = message;
        if format == 0 {
            return Err(Fault::new(What::NoFormat)).at("format");
        }
        let origin = origin.map(|origin| {
            let proto::Origin { identity, command_id, request_id, any_version } = origin;
            Arc::new(Origin { identity, command_id, request_id, any_version })
        });
        let command = command.map(|command| required(Some(command)).at("command")).transpose()?;
        let events = Vec::take(events).at("events")?;
        Ok(Self { sequence, time: Timestamp::from_millis(time), origin, command, events })
    }
}

/// Returns the format, which is the first field, even of bytes that cannot be decoded otherwise.
fn format_of(bytes: &[u8]) -> Option<u32> {
    let (1, prost::encoding::WireType::Varint) =
        prost::encoding::decode_key(&mut &bytes[..]).ok()?
    else {
        return None;
    };
    let mut rest = bytes.get(1..)?;
    prost::encoding::decode_varint(&mut rest).ok()?.try_into().ok()
}

/// Returns the depth of the deepest tree in a record.
fn levels_of(message: &proto::Record) -> usize {
    use proto::{command, event};
    let rules = |rules: &[proto::PlacementRule]| {
        rules.iter().map(|rule| rule.steps.len()).max().unwrap_or_default()
    };
    let settings = |settings: &Option<proto::PartitionSettings>| {
        settings.as_ref().map_or(0, |one| rules(&one.placement_rules))
    };
    let of_command = message.command.as_ref().map_or(0, |command| match &command.kind {
        Some(command::Kind::Configure(configuration)) => {
            let of = |partition: &proto::PartitionConfig| {
                let depths = partition.queues.iter().map(|queue| queue.depth as usize);
                depths.max().unwrap_or_default().max(rules(&partition.placement_rules))
            };
            configuration.partitions.iter().map(of).max().unwrap_or_default()
        }
        _ => 0,
    });
    let of_event = |event: &proto::Event| match &event.kind {
        Some(event::Kind::PartitionAdded(added)) => settings(&added.settings),
        Some(event::Kind::PartitionChanged(changed)) => settings(&changed.settings),
        _ => 0,
    };
    message.events.iter().map(of_event).fold(of_command, usize::max)
}
