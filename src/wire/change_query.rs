use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

#[cfg(feature = "service")]
use crate::model::ChangeActor;
use crate::model::{
    Change, ChangeAction, ChangePosition, ChangedEntity, NetworkId, OrderDirection, Timestamp,
};

/// The filters, the positions and the order of a page of the history.
///
/// Filters are combined with AND. The default is the oldest entries that the caller may see.
///
/// ```
/// use toposcope::inventory::ChangeQuery;
/// use toposcope::model::{ChangedEntity, OrderDirection};
///
/// let mut query = ChangeQuery::default();
/// query.entity = Some(ChangedEntity::Host);
/// query.order_direction = OrderDirection::Descending;
/// query.limit = Some(50);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeQuery {
    /// Only entries after this position.
    pub after: Option<ChangePosition>,
    /// Only entries before this position.
    pub before: Option<ChangePosition>,
    /// Only entries after the last one that is not later than this moment.
    pub since: Option<Moment>,
    /// Only entries up to the last one that is not later than this moment.
    pub until: Option<Moment>,
    /// Only changes of this kind of records.
    pub entity: Option<ChangedEntity>,
    /// Only changes of this record.
    pub id: Option<Uuid>,
    /// Only changes on this network. A network invisible to the caller gives an empty page.
    pub network_id: Option<NetworkId>,
    /// Only changes by this maker.
    pub actor: Option<ActorFilter>,
    /// Only changes of this kind.
    pub action: Option<ChangeAction>,
    /// Whether the oldest or the newest entries come first.
    pub order_direction: OrderDirection,
    /// The maximum number of entries, at most 1,000. With 0, the page has the newest position alone.
    pub limit: Option<usize>,
}

/// A page of the history.
///
/// It may have fewer entries than the limit although others follow: filters leave out entries, and a page has hardly
/// more than 1 MiB.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChangePage {
    /// The entries, in the order that was asked for.
    pub changes: Vec<Change>,
    /// The position to go on from: `after` of the next page, or its `before` in descending order.
    ///
    /// Entries that the filters left out are before it, too.
    pub next: ChangePosition,
    /// Whether further entries may follow now.
    pub has_more: bool,
}

impl ChangePage {
    pub(crate) const fn new(changes: Vec<Change>, next: ChangePosition, has_more: bool) -> Self {
        Self { changes, next, has_more }
    }
}

/// A moment of the history: the state after the last entry that is not later.
///
/// Its text is that of the time or of the position.
///
/// ```
/// use toposcope::inventory::Moment;
/// use toposcope::model::Timestamp;
///
/// let moment: Moment = "2026-08-14T12:00:00Z".parse()?;
/// assert_eq!(moment, Moment::Time("2026-08-14T12:00:00Z".parse::<Timestamp>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Moment {
    /// A time.
    Time(Timestamp),
    /// An entry.
    Position(ChangePosition),
}

/// The error for text that is neither a time nor a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a time nor a position")]
#[non_exhaustive]
pub struct MomentError;

impl FromStr for Moment {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        if let Ok(time) = text.parse() {
            return Ok(Self::Time(time));
        }
        // Only the server knows whether it has made a position.
        let is_position = !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || [b'-', b'_'].contains(&byte));
        if is_position { Ok(Self::Position(ChangePosition::new(text))) } else { Err(MomentError) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(formatter),
            Self::Position(position) => position.fmt(formatter),
        }
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self::Time(time)
    }
}

impl From<ChangePosition> for Moment {
    fn from(position: ChangePosition) -> Self {
        Self::Position(position)
    }
}

/// The maker of changes that a query asks for.
///
/// Its text is the id, the word `System`, or the name of a part of the host application.
///
/// ```
/// use toposcope::inventory::ActorFilter;
///
/// let filter: ActorFilter = "System".parse().unwrap();
/// assert_eq!(filter, ActorFilter::System);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ActorFilter {
    /// The user with this id, or the discovery daemon whose API key has it.
    Id(Uuid),
    /// The inventory itself, or the host application without a name.
    System,
    /// The part of the host application with this name.
    Application(String),
}

impl ActorFilter {
    const SYSTEM: &str = "System";

    /// Returns whether the filter matches this maker of changes.
    #[cfg(feature = "service")]
    pub(crate) fn matches(&self, actor: &ChangeActor) -> bool {
        match (self, actor) {
            (Self::Id(id), ChangeActor::User { id: user, .. }) => *id == user.uuid(),
            (Self::Id(id), ChangeActor::Daemon { id: key }) => *id == key.uuid(),
            (Self::System, ChangeActor::System) => true,
            (Self::Application(wanted), ChangeActor::Application { name }) => wanted == name,
            _ => false,
        }
    }
}

impl FromStr for ActorFilter {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match (text, text.parse()) {
            (Self::SYSTEM, _) => Self::System,
            (_, Ok(id)) => Self::Id(id),
            (name, Err(_)) => Self::Application(name.to_owned()),
        })
    }
}

impl fmt::Display for ActorFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::System => formatter.write_str(Self::SYSTEM),
            Self::Application(name) => formatter.write_str(name),
        }
    }
}
