//! The history of the organization.

use http::Method;

use super::row::route;
use crate::service::endpoints::history;
use crate::service::routes::groups;
use crate::service::routes::route::{ResponseContent, Route};
use crate::wire::ErrorCode;

pub(super) fn history() -> Vec<Route> {
    let stream = Route {
        answer: ResponseContent::Events(
            "Events named `change`, whose data is a change and whose id is its position. A client that connects again \
             sends the last id in the header `Last-Event-ID`.",
        ),
        ..route(
            Method::GET,
            "/api/v1/changes/stream",
            "stream_changes",
            "Sends changes as they are made.",
            history::stream_changes,
        )
    };
    vec![
        route(Method::GET, "/api/v1/changes", "get_changes", "Lists changes.", history::list_changes)
            .query(&[groups::CHANGES_PAGE, groups::CHANGES_FILTERS, groups::NETWORK])
            .feed(),
        stream.query(&[groups::CHANGES_STREAM]).errors(&[ErrorCode::PositionGone]),
    ]
}
