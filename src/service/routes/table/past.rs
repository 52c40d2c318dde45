//! Diffs between two moments, and summaries of
//! changes.

use http::Method;

use super::row::route;
use crate::service::endpoints::past;
use crate::service::routes::groups;
use crate::service::routes::route::Route;
use crate::wire::ErrorCode;

const ERRORS: &[ErrorCode] = &[ErrorCode::PositionGone, ErrorCode::ValidationInvalidFormat];

pub(super) fn past() -> Vec<Route> {
    vec![
        route(
            Method::GET,
            "/api/v1/changes/diff",
            "get_diff",
            "Returns what differs between two states.",
            past::get_diff,
        )
        .query(&[groups::NETWORK, groups::DIFF])
        .value("StateDiff")
        .errors(ERRORS),
        route(
            Method::GET,
            "/api/v1/changes/summary",
            "get_change_summary",
            "Counts the changes by day, kind of record, action and actor.",
            past::get_change_summary,
        )
        .query(&[groups::NETWORK, groups::SUMMARY])
        .value("ChangeSummary")
        .errors(ERRORS),
    ]
}
