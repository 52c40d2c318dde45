use uuid::Uuid;

use super::{Key, Name, Record};

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
    /// Matches records of any of these networks; `None`: all records, including those of no network. The empty list
    /// matches nothing.
    pub networks: Option<Vec<Uuid>>,
    /// Matches records with any of these ids; `None`: all records. The empty list matches nothing.
    pub ids: Option<Vec<Uuid>>,
    /// Matches records that meet every filter; empty: all records.
    pub links: Vec<LinkFilter>,
    /// Matches records that have at least one term of every filter; empty: all records.
    pub terms: Vec<TermFilter>,
    /// Matches records whose sort keys are in the ranges of all filters; empty: all records.
    pub keys: Vec<KeyFilter>,
    /// Sort fields, most significant first. Records that are equal in all of them are ordered by ascending id.
    pub order: Vec<Order>,
    /// Position at which the page starts.
    pub start: Start,
    /// Maximum number of records on the page; `None`: no limit. With `Some(0)` the page has no records, only the
    /// total.
    pub limit: Option<usize>,
    /// Size of the page's bodies in bytes at which the page ends; `None`: no limit.
    ///
    /// The record whose body reaches the size is the last one. [`Page::unread`] has the keys of those after it.
    pub max_bytes: Option<usize>,
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
            terms: Vec::new(),
            keys: Vec::new(),
            order: Vec::new(),
            start: Start::Offset(0),
            limit: None,
            max_bytes: None,
        }
    }
}

/// A filter that matches records with any of these links, or with none of them.
///
/// ```
/// use toposcope::store::{LinkFilter, Name, Query};
/// use uuid::Uuid;
///
/// const TAG: Name = Name::new("tag");
/// let (core, edge, retired) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
/// let mut query = Query::new(Name::new("host"));
/// query.links = vec![LinkFilter::new(TAG, [core, edge]), LinkFilter::none(TAG, [retired])];
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkFilter {
    /// Relation of the links.
    pub relation: Name,
    /// Targets of the links. If it is empty, [`LinkCondition::Any`] matches no record, and [`LinkCondition::None`]
    /// every record.
    pub targets: Vec<Uuid>,
    /// Whether a record needs one of the links or must not have any.
    pub condition: LinkCondition,
}

/// The requirement of a [`LinkFilter`] on the links of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkCondition {
    /// The record has at least one of the links.
    #[default]
    Any,
    /// The record has none of the links.
    None,
}

impl LinkFilter {
    /// Creates a filter for records with at least one of these links.
    #[must_use]
    pub fn new(relation: Name, targets: impl Into<Vec<Uuid>>) -> Self {
        Self { relation, targets: targets.into(), condition: LinkCondition::Any }
    }

    /// Creates a filter for records with none of these links.
    #[must_use]
    pub fn none(relation: Name, targets: impl Into<Vec<Uuid>>) -> Self {
        Self { relation, targets: targets.into(), condition: LinkCondition::None }
    }
}

/// A filter that matches records whose [sort key](super::SortKey) of a name is in a range.
///
/// As in an order, a missing sort key counts as an empty value.
///
/// ```
/// use toposcope::store::{KeyFilter, Name, Query, TermRange};
///
/// let mut query = Query::new(Name::new("host"));
/// query.keys = vec![KeyFilter::new(Name::new("name"), TermRange::exact("gateway"))];
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyFilter {
    /// Name of the sort key.
    pub name: Name,
    /// Values that match.
    pub range: TermRange,
}

impl KeyFilter {
    /// Creates a filter.
    #[must_use]
    pub const fn new(name: Name, range: TermRange) -> Self {
        Self { name, range }
    }
}

/// A filter that matches records with a term in ANY of these ranges. Only [terms](super::Term) of this name are
/// compared.
///
/// ```
/// use toposcope::store::{Name, Query, TermFilter, TermRange};
///
/// let mut query = Query::new(Name::new("host"));
/// query.terms = vec![
///     TermFilter::new(Name::new("port"), [TermRange::exact([1, 187]), TermRange::exact([31, 144])]),
///     TermFilter::new(Name::new("word"), [TermRange::prefix("gate")]),
/// ];
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermFilter {
    /// Name of the terms.
    pub name: Name,
    /// Ranges of values; a term in one of them is enough to match. The empty list matches nothing.
    pub ranges: Vec<TermRange>,
}

impl TermFilter {
    /// Creates a filter.
    #[must_use]
    pub fn new(name: Name, ranges: impl Into<Vec<TermRange>>) -> Self {
        Self { name, ranges: ranges.into() }
    }
}

/// A half-open range of values of terms or sort keys: those at or after `from` and before `to`.
///
/// Values are compared as unsigned bytes, a prefix before its extensions. In SQL: `value >= from AND value < to`. A
/// range whose end is at or before its start contains nothing.
///
/// ```
/// use toposcope::store::TermRange;
///
/// assert_eq!(TermRange::exact("ab"), TermRange::new("ab", Some(b"ab\0".to_vec())));
/// assert_eq!(TermRange::prefix("ab"), TermRange::new("ab", Some(b"ac".to_vec())));
/// assert_eq!(TermRange::prefix([7, 255]), TermRange::new([7, 255], Some(vec![8])));
/// assert_eq!(TermRange::prefix([255]), TermRange::new([255], None));
/// assert!(TermRange::between([10, 0], [10, 255]).contains(&[10, 255]));
/// assert!(!TermRange::between([10, 0], [10, 255]).contains(&[10, 255, 0]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct TermRange {
    /// First value of the range.
    pub from: Vec<u8>,
    /// First value after the range; `None`: the range has no end.
    pub to: Option<Vec<u8>>,
}

impl TermRange {
    /// Creates a range from its bounds.
    #[must_use]
    pub fn new(from: impl Into<Vec<u8>>, to: Option<Vec<u8>>) -> Self {
        Self { from: from.into(), to }
    }

    /// Creates the range of a single value.
    #[must_use]
    pub fn exact(value: impl Into<Vec<u8>>) -> Self {
        let value = value.into();
        Self { to: Some(successor(value.clone())), from: value }
    }

    /// Creates the range of all values that start with a prefix, including the prefix itself.
    #[must_use]
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        let from = prefix.into();
        let mut to = from.clone();
        while to.pop_if(|last| *last == u8::MAX).is_some() {}
        let has_end = to.last_mut().map(|last| *last += 1).is_some();
        Self { from, to: has_end.then_some(to) }
    }

    /// Creates the range from one value to another, both included. Extensions of the last value are not in it.
    #[must_use]
    pub fn between(first: impl Into<Vec<u8>>, last: impl Into<Vec<u8>>) -> Self {
        Self { from: first.into(), to: Some(successor(last.into())) }
    }

    /// Returns whether a value is in the range.
    #[must_use]
    pub fn contains(&self, value: &[u8]) -> bool {
        self.from.as_slice() <= value && self.to.as_deref().is_none_or(|to| value < to)
    }
}

/// Returns the smallest value that is greater.
fn successor(mut value: Vec<u8>) -> Vec<u8> {
    value.push(0);
    value
}

/// A sort field of an order: a sort key and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Name of the sort key.
    pub name: Name,
    /// Direction in which the sort key is ordered.
    pub direction: Direction,
}

impl Order {
    /// Creates a sort field.
    #[must_use]
    pub const fn new(name: Name, direction: Direction) -> Self {
        Self { name, direction }
    }
}

/// The direction of one sort field of an order.
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
/// It consists of the record's sort keys, one for each sort field of the order, and its id. The position does not change when
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

    /// Returns the record's sort keys, one for each sort field of the order.
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
    /// Keys of the further records of the page that were not read, in order. Empty unless the bodies of the others
    /// reach [`Query::max_bytes`].
    pub unread: Vec<Key>,
    /// Cursor after the last record of the page, read or unread; `None`: no records follow it.
    pub next: Option<Cursor>,
}

impl Page {
    /// Creates a page.
    #[must_use]
    pub const fn new(records: Vec<Record>, total: u64, next: Option<Cursor>) -> Self {
        Self { records, total, unread: Vec::new(), next }
    }

    /// Ends the page with the record whose body brings the size of the bodies to `max_bytes`.
    ///
    /// A backend that has all bodies in memory anyway implements [`Query::max_bytes`] with it. A page may be cut again, to
    /// a smaller size.
    ///
    /// ```
    /// use toposcope::store::{Key, Name, Page, Record, Version};
    /// use uuid::Uuid;
    ///
    /// let record = |id| Record {
    ///     key: Key::new(Name::new("note"), Uuid::from_u128(id)),
    ///     version: Version(1),
    ///     body: "four".into(),
    /// };
    /// let page = Page::new((1..=5).map(record).collect(), 5, None).cut(Some(6));
    /// assert_eq!((page.records.len(), page.unread.len()), (2, 3));
    ///
    /// let page = page.cut(Some(4));
    /// assert!(page.unread.iter().map(|key| key.id.as_u128()).eq(2..=5));
    /// ```
    #[must_use]
    pub fn cut(mut self, max_bytes: Option<usize>) -> Self {
        let lengths = self.records.iter().map(|record| record.body.len());
        let end = max_bytes.map_or(self.records.len(), |max| reached_at(lengths, max.max(1)));
        if end < self.records.len() {
            let cut = self.records.drain(end..).map(|record| record.key);
            // The cut records come before those that the store has not read.
            self.unread.splice(..0, cut);
        }
        self
    }
}

/// Returns the number of lengths up to the one with which their sum reaches a maximum.
fn reached_at(lengths: impl Iterator<Item = usize>, max: usize) -> usize {
    let mut sum = 0_usize;
    let before = lengths.take_while(|length| {
        let has_reached = sum >= max;
        sum = sum.saturating_add(*length);
        !has_reached
    });
    before.count()
}
