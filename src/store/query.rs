use uuid::Uuid;

use super::{Name, Record};

/// A query for one page of a list: filters, order, start and limit.
///
/// All filters must match. A value that occurs twice in a filter counts once.
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
#[non_exhaustive]
pub struct Query {
    /// Kind of the records.
    pub kind: Name,
    /// Matches records of this organization; `None`: all records, including those of no organization.
    pub organization: Option<Uuid>,
    /// Matches records of any of these networks; `None`: all records, including those of no network. The empty list matches
    /// nothing.
    pub networks: Option<Vec<Uuid>>,
    /// Matches records with any of these ids; `None`: all records. The empty list matches nothing.
    pub ids: Option<Vec<Uuid>>,
    /// Matches records that have at least one link of every filter; empty: all records.
    pub links: Vec<LinkFilter>,
    /// Terms of the order, most significant first. Records that are equal in all terms are ordered by ascending id.
    pub order: Vec<Order>,
    /// Position at which the page starts.
    pub start: Start,
    /// Maximum number of records on the page; `None`: no limit; `Some(0)`: no records, only the total.
    pub limit: Option<usize>,
}

impl Query {
    /// Creates a query for all records of a kind, ordered by id.
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

/// A filter that matches records with ANY of these links.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkFilter {
    /// Relation of the links.
    pub relation: Name,
    /// Targets of the links; one is enough to match. The empty list matches nothing.
    pub targets: Vec<Uuid>,
}

impl LinkFilter {
    /// Creates a filter.
    #[must_use]
    pub fn new(relation: Name, targets: impl Into<Vec<Uuid>>) -> Self {
        Self { relation, targets: targets.into() }
    }
}

/// One term of an order: a sort key and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Name of the sort key.
    pub name: Name,
    /// Direction in which the sort key is ordered.
    pub direction: Direction,
}

impl Order {
    /// Creates a term.
    #[must_use]
    pub const fn new(name: Name, direction: Direction) -> Self {
        Self { name, direction }
    }
}

/// The direction of one term of an order.
///
/// It does not apply to the id that breaks ties, which is always ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smallest key first.
    Ascending,
    /// Greatest key first.
    Descending,
}

/// The position at which a page starts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// After skipping this number of records.
    Offset(u64),
    /// After the position of this cursor, whether or not its record still exists.
    After(Cursor),
}

/// A position in a list, immediately after a record.
///
/// It consists of the record's sort keys, one for each term of the order, and its id. The position does not change when
/// records are added or deleted around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    keys: Vec<Vec<u8>>,
    id: Uuid,
}

impl Cursor {
    /// Creates the cursor after a record, for the backend that builds a page.
    #[must_use]
    pub const fn new(keys: Vec<Vec<u8>>, id: Uuid) -> Self {
        Self { keys, id }
    }

    /// Returns the record's sort keys, one for each term of the order.
    #[must_use]
    pub fn keys(&self) -> &[Vec<u8>] {
        &self.keys
    }

    /// Returns the record's id.
    #[must_use]
    pub const fn id(&self) -> Uuid {
        self.id
    }
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Records of the page, in the order of the query.
    pub records: Vec<Record>,
    /// Number of all records that pass the filters, wherever the page starts and ends.
    pub total: u64,
    /// Cursor after the last record of the page; `None`: no records follow it.
    pub next: Option<Cursor>,
}

impl Page {
    /// Creates a page.
    #[must_use]
    pub const fn new(records: Vec<Record>, total: u64, next: Option<Cursor>) -> Self {
        Self { records, total, next }
    }
}
