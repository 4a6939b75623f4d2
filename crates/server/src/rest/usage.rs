//! Usage and limits of users and groups.

use headroom_api::wsv1::message;
use headroom_core::config::legal::{is_group_name, is_user_name};
use headroom_core::view::{GroupView, UserView, groups, users};

use crate::convert::usage::{group, user};

use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen};

pub(crate) async fn get_users(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let mut all = users(seen.books(), partition);
            all.retain(|one| seen.sight.sees_user(&one.user));
            Ok(all.into_iter().map(|one| user(&one)))
        })
        .await
}

pub(crate) async fn get_user(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let name = asked.decoded("user");
    let look = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        let name = name?;
        if !is_user_name(&name) {
            return Err(Refusal::bad(message::INVALID_USER_NAME));
        }
        let found = UserView::of(seen.books(), partition, &name);
        let found = found.filter(|_| seen.sight.sees_user(&name));
        let found = found.ok_or_else(|| Refusal::missing(message::USER_NOT_FOUND))?;
        Ok(user(&found))
    };
    asked.object(look).await
}

pub(crate) async fn get_groups(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let mut all = groups(seen.books(), partition);
            all.retain(|one| seen.sight.sees_group(&one.group));
            Ok(all.into_iter().map(|one| group(&one)))
        })
        .await
}

pub(crate) async fn get_group(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let name = asked.decoded("group");
    let look = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        let name = name?;
        // The group of all others, `*`, is only in the list, because its name is not valid.
        if !is_group_name(&name) {
            return Err(Refusal::bad(message::INVALID_GROUP_NAME));
        }
        let found = GroupView::of(seen.books(), partition, &name);
        let found = found.filter(|_| seen.sight.sees_group(&name));
        let found = found.ok_or_else(|| Refusal::missing(message::GROUP_NOT_FOUND))?;
        Ok(group(&found))
    };
    asked.object(look).await
}
