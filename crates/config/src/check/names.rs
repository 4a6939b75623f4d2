//! Checks of names with the functions of the core, so that the file and the runtime agree.

pub(crate) use headroom_core::config::legal::{
    QUEUE_NAME_MAX, RECOVERY_QUEUE, is_group_name, is_identifier, is_queue_name, is_user_name,
};
