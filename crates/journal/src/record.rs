//! One record of the journal, and its bytes.

use prost::Message as _;

use headroom_core::{Command, Event, Rejection, Timestamp};

use crate::proto;
use crate::store::RECORD_BYTES_MAX;
use crate::wire::{At as _, Decoded, Fault, Field, required};

/// The version of the record format that this crate writes, and the newest that it reads.
///
/// What each brought: 2 user limits of queues; 3 limits of applications and drivers; 4 fractions of queues by
/// percent and weight, states of queues, lifetimes of applications, labels and block lists of nodes; 5 one ask for
/// all members of a task, and refusals without what was asked for.
pub const FORMAT: u32 = 9;

/// How deep queues, and the rules that find a parent queue, may nest in a record.
///
/// Twice what a queue file may, and little enough for a tree that is taken apart recursively.
pub const LEVELS_MAX: usize = 1_024;

/// What happened in one step, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Counts records from 1, without gaps.
    pub sequence: u64,
    /// When; never earlier than the record before.
    pub time: Timestamp,
    /// Who gave the command, where that is known.
    pub origin: Option<Origin>,
    /// None where the scheduler moved by itself.
    pub command: Option<Command>,
    /// The facts, which recovery applies.
    pub events: Vec<Event>,
}

/// Who gave a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// As authenticated; empty for nobody in particular.
    pub identity: String,
    /// The id that the sender chose, so that a repeat gets the first answer again; empty for none.
    pub command_id: String,
    /// The request that it came with, as responses and logs name it; empty for none. Tells nobody apart.
    pub request_id: String,
    /// Whether it holds whatever version there was of what it changes: its sender did not say one.
    pub any_version: bool,
}

/// Why bytes are no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It was written by a later version, which may mean more by it than this one understands.
    #[error(
        "the record has format {found}, but this version reads formats up to {known}. Use the \
         version that wrote the record"
    )]
    Newer {
        /// Its format.
        found: u32,
        /// The newest that is read.
        known: u32,
    },
    /// The bytes are no message at all.
    #[error("the record is not a journal message")]
    Malformed(#[source] prost::DecodeError),
    /// There is something in it that no field takes.
    #[error("this version understands {understood} of the {found} bytes of the record")]
    Surplus {
        /// Its length.
        found: usize,
        /// The length of what was understood.
        understood: usize,
    },
    /// A field does not hold what it should.
    #[error("the field {field} of the record {what}")]
    Field {
        /// From the outermost message on.
        field: String,
        /// What is wrong with it.
        what: What,
    },
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum What {
    /// It must be there.
    #[error("is missing")]
    Missing,
    /// One of several kinds must be there; a later version may know more of them.
    #[error("has an unknown kind")]
    UnknownKind,
    /// A word that is not known.
    #[error("has the unknown value {number}")]
    UnknownWord {
        /// Its number.
        number: i32,
    },
    /// Below the smallest amount.
    #[error("has the amount {number}, which is below the minimum")]
    TooSmall {
        /// The amount.
        number: i64,
    },
    /// Names are not in order, or one comes twice.
    #[error("is not in ascending order")]
    Disorder,
    /// A queue without a queue above it, or a second root.
    #[error("fits under no parent queue")]
    NoParent,
    /// More levels than anybody writes.
    #[error("is {levels} levels deep, but at most {LEVELS_MAX} are allowed")]
    TooDeep {
        /// How many.
        levels: usize,
    },
    /// A text that should be a decimal.
    #[error(
        "is not a decimal from 0 to 1000000 with up to six fraction digits, in its shortest form"
    )]
    NoDecimal,
    /// Format 0.
    #[error("is not a version of the format")]
    NoFormat,
}

/// Why a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    /// Nobody could read it again.
    #[error(
        "the record nests queues or rules {levels} levels deep, but at most {LEVELS_MAX} are allowed"
    )]
    TooDeep {
        /// How many levels.
        levels: usize,
    },
    /// No store takes it.
    #[error("the record has {bytes} bytes, but at most {RECORD_BYTES_MAX} are allowed")]
    TooLarge {
        /// Its size.
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
    /// The bytes of the record; equal records have equal bytes.
    ///
    /// # Errors
    /// When it nests deeper than [`LEVELS_MAX`], or is longer than [`RECORD_BYTES_MAX`].
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

    /// The record of these bytes.
    ///
    /// # Errors
    /// [`DecodeError`] names the version or the field that is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let message = proto::Record::decode(bytes).map_err(|error| match format_of(bytes) {
            Some(found) if found > FORMAT => DecodeError::Newer { found, known: FORMAT },
            _ => DecodeError::Malformed(error),
        })?;
        if message.format > FORMAT {
            return Err(DecodeError::Newer { found: message.format, known: FORMAT });
        }
        // Fields that are not known were passed over, and are missing here.
        let (found, understood) = (bytes.len(), message.encoded_len());
        if found != understood {
            return Err(DecodeError::Surplus { found, understood });
        }
        Self::from_message(message)
            .map_err(|fault| DecodeError::Field { field: fault.path(), what: fault.what })
    }

    /// The record as a message.
    pub fn to_message(&self) -> proto::Record {
        let Self { sequence, time, origin, command, events } = self;
        proto::Record {
            format: FORMAT,
            sequence: *sequence,
            time: time.put(),
            origin: origin.as_ref().map(|origin| {
                let Origin { identity, command_id, request_id, any_version } = origin.clone();
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
            Origin { identity, command_id, request_id, any_version }
        });
        let command = command.map(|command| required(Some(command)).at("command")).transpose()?;
        let events = Vec::take(events).at("events")?;
        Ok(Self { sequence, time: Timestamp::from_millis(time), origin, command, events })
    }
}

/// The format, which is written first, of bytes that may not be readable otherwise.
fn format_of(bytes: &[u8]) -> Option<u32> {
    let (1, prost::encoding::WireType::Varint) =
        prost::encoding::decode_key(&mut &bytes[..]).ok()?
    else {
        return None;
    };
    let mut rest = bytes.get(1..)?;
    prost::encoding::decode_varint(&mut rest).ok()?.try_into().ok()
}

/// How deep the deepest tree in a record is.
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
