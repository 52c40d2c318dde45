//! Parameters of the history and of the past.

use super::{DIRECTIONS, text};
use crate::model::{ChangeAction, ChangedEntity};
use crate::service::input::DEFAULT_LIMIT;
use crate::service::routes::parameter::{Kind, Parameter};
use crate::wire::MAX_LIMIT;

/// A position is a text of 54 characters, and a time is shorter.
const MOMENT: Kind = text(0, 100);

pub(in crate::service::routes) const CHANGES_PAGE: &[Parameter] = &[
    Parameter::optional(
        "after",
        MOMENT,
        "Only entries after this position: the `next_cursor` of the previous page.",
    ),
    Parameter::optional("before", MOMENT, "Only entries before this position."),
    Parameter::optional(
        "since",
        MOMENT,
        "Only entries after the last one that is not later than this time or position.",
    ),
    Parameter::optional(
        "until",
        MOMENT,
        "Only entries up to the last one that is not later than this time or position.",
    ),
    Parameter::optional(
        "actor",
        text(0, MAX_ACTOR),
        "Only changes by this user or by the daemon with this API key, by its id; `System`: by the server itself; any \
         other text: by the part of the host application with this name.",
    ),
    Parameter::nullable("action", Kind::Choice(ChangeAction::TEXTS), "Only changes that do this."),
    Parameter::optional(
        "limit",
        Kind::Number { min: 0, max: MAX_LIMIT as i64, default: Some(DEFAULT_LIMIT as i64) },
        "The maximum number of entries; 0: no entry, and the newest position as `next_cursor`. A page may have fewer \
         although others follow.",
    ),
    Parameter::optional("order_direction", DIRECTIONS, "`desc`: the newest entries first."),
];

/// Maximum number of characters of the maker of changes.
const MAX_ACTOR: usize = 100;

pub(in crate::service::routes) const CHANGES_FILTERS: &[Parameter] = &[
    Parameter::nullable(
        "entity",
        Kind::Choice(ChangedEntity::TEXTS),
        "Only changes of this kind of records.",
    ),
    Parameter::optional("id", Kind::Id, "Only changes of the record with this id."),
];

pub(in crate::service::routes) const CHANGES_STREAM: &[Parameter] = &[Parameter::optional(
    "after",
    MOMENT,
    "The position to go on from; without one, the stream begins with the oldest entry. The header `Last-Event-ID` has precedence.",
)];

pub(in crate::service::routes) const AT: &[Parameter] = &[Parameter::optional(
    "at",
    MOMENT,
    "Returns the past state: that after the last entry of the history that is not later than this time or position.",
)];

#[cfg(feature = "topology")]
pub(in crate::service::routes) const GRAPH_MOMENTS: &[Parameter] = &[
    Parameter::optional(
        "at",
        MOMENT,
        "Returns the past state: that after the last entry of the history that is not later than this time or position. Tables of \
         devices, such as forwarding tables, are not in the history.",
    ),
    Parameter::optional(
        "compare",
        MOMENT,
        "Returns what has changed since this time or position: nodes and edges that were added, removed or moved say so. Not with \
         `detail=overview`.",
    ),
];

pub(in crate::service::routes) const ERASE: &[Parameter] = &[Parameter::optional(
    "erase",
    Kind::Flag(false),
    "`true`: also erases what the history says of the record, for Owners with a session. This is also possible when only its history is left.",
)];

pub(in crate::service::routes) const DIFF: &[Parameter] = &[
    Parameter::required("from", MOMENT, "The time or the position of the earlier state."),
    Parameter::nullable(
        "to",
        MOMENT,
        "The time or the position of the later state; without it, the present one.",
    ),
];

pub(in crate::service::routes) const SUMMARY: &[Parameter] = &[
    Parameter::nullable("since", MOMENT, "Only changes after this time or position."),
    Parameter::nullable("until", MOMENT, "Only changes up to this time or position."),
];

pub(in crate::service::routes) const REVERT: &[Parameter] = &[Parameter::required(
    "position",
    text(1, 100),
    "The position in the history whose state the record gets.",
)];
