use uuid::Uuid;

use super::{Name, Record};

/// Which records a list is made of, in which order, and which part of it is wanted.
///
/// The filters combine with AND. A value that stands twice in a filter counts once.
///
/// ```
/// use toposcope::store::{Direction, Name, Order, Query, Start};
/// use uuid::Uuid;
///
/// let mut query = Query::new(Name::new("host"));
/// query.organization = Some(Uuid::nil());
/// query.order = vec![Order::new(Name::new("name"), Direction::Descending)];
/// query.start = Start::Offset(100);
/// query.limit = Some(50);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The kind of the records.
    pub kind: Name,
    /// Only records of this organization; `None`: of all, and of none.
    pub organization: Option<Uuid>,
    /// Only records of one of these networks; `None`: of any, and of none. The empty list matches nothing.
    pub networks: Option<Vec<Uuid>>,
    /// Only records with one of these ids; `None`: any.
    pub ids: Option<Vec<Uuid>>,
    /// Only records with at least one link of each of these filters.
    pub links: Vec<LinkFilter>,
    /// The order, first term first; records that are equal in all terms follow each other by id, ascending.
    pub order: Vec<Order>,
    /// Where the page begins.
    pub start: Start,
    /// How many records the page holds at most; `None`: all the rest, `Some(0)`: none, only the total is wanted.
    pub limit: Option<usize>,
}

impl Query {
    /// All records of a kind, by id.
    #[must_use]
    pub const fn new(kind: Name) -> Self {
        Self {
            kind,
            organization: None,
            networks: None,
            ids: None,
            links: Vec::new(),
            order: Vec::new(),
            start: Start::Offset(0),
            limit: None,
        }
    }
}

/// Records that have ANY of these links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFilter {
    /// The relation.
    pub relation: Name,
    /// The targets, of which one is enough.
    pub targets: Vec<Uuid>,
}

/// One term of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The name of the sort key.
    pub name: Name,
    /// Which way.
    pub direction: Direction,
}

impl Order {
    /// A term.
    #[must_use]
    pub const fn new(name: Name, direction: Direction) -> Self {
        Self { name, direction }
    }
}

/// Which way a term orders. It says nothing of the id that breaks ties: that is always ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smallest key first.
    Ascending,
    /// Greatest key first.
    Descending,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// After so many records of the list.
    Offset(u64),
    /// After the place of a record in the list, whether or not that record is still there.
    After(Cursor),
}

/// A place in a list: the sort keys, one for each term of the order, and the id of the record it lies behind. It stays
/// where it is whatever is added or deleted around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    keys: Vec<Vec<u8>>,
    id: Uuid,
}

impl Cursor {
    /// The place behind a record, for the backend that makes a page.
    #[must_use]
    pub const fn new(keys: Vec<Vec<u8>>, id: Uuid) -> Self {
        Self { keys, id }
    }

    /// The record's sort keys, one for each term of the order.
    #[must_use]
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// The record's id.
    #[must_use]
    pub const fn id(&self) -> Uuid {
        self.id
    }
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The records, in the order asked for.
    pub records: Vec<Record>,
    /// How many records match the filters in all, wherever the page begins and ends.
    pub total: u64,
    /// The place behind the last record of the page, when others follow it.
    pub next: Option<Cursor>,
}
