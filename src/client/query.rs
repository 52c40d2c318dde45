//! The query strings of lists, made from the types with which the server reads them.

use std::borrow::Cow;
use std::fmt::Display;

use form_urlencoded::Serializer;

use super::ClientError;
use crate::model::HostId;
use crate::wire::{HostQuery, ListQuery, PageCursor};

/// The filters, the order and the page of a list. Implemented by the query types of the collections.
pub trait Parameters: PagedQuery {}

impl<Q: PagedQuery> Parameters for Q {}

/// A query of a list that is read in pages.
pub trait PagedQuery: Clone + Send + Sync + 'static {
    /// Returns the page that the query asks for.
    fn page(&mut self) -> PageOf<'_>;

    /// Writes the filters and the order.
    fn write(&self, text: &mut QueryText);
}

/// The page that a query asks for.
#[derive(Debug)]
pub struct PageOf<'q> {
    pub(super) limit: &'q mut Option<usize>,
    pub(super) offset: &'q mut u64,
    pub(super) cursor: &'q mut Option<PageCursor>,
}

/// A query string being written.
#[derive(Debug)]
pub struct QueryText {
    pairs: Vec<(Cow<'static, str>, String)>,
    /// The first parameter whose value has no text form.
    invalid: Option<&'static str>,
}

/// A query for the interfaces, ports, services or interface entries of a host, or of all hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartQuery {
    /// Only parts of this host; `None`: of all hosts.
    pub host_id: Option<HostId>,
    /// Further filters, the order and the page.
    pub list: ListQuery,
}

impl PartQuery {
    /// Creates a query for all parts of a host.
    #[must_use]
    pub fn new(host_id: HostId) -> Self {
        Self { host_id: Some(host_id), list: ListQuery::default() }
    }
}

/// The parameter that may be empty, which stands for the start of a list.
const CURSOR: &str = "cursor";

/// Returns the query string of a list.
///
/// # Errors
/// `Request` for values that a query string cannot express: empty lists and texts, which the server would leave out; texts with
/// a comma in a list; and a limit of 0 records, because `limit=0` means no limit.
pub(super) fn query_text(query: &impl PagedQuery) -> Result<String, ClientError> {
    let mut query = query.clone();
    let mut text = QueryText { pairs: Vec::new(), invalid: None };
    let PageOf { limit, offset, cursor } = query.page();
    match *limit {
        Some(0) => text.invalid = Some("limit"),
        limit => text.value("limit", Some(limit.unwrap_or(0))),
    }
    match cursor {
        // An empty cursor starts at the beginning, and makes the server return the cursor of the next page.
        None if *offset > 0 => text.value("offset", Some(*offset)),
        cursor => text.value(CURSOR, Some(cursor.take().unwrap_or_default())),
    }
    query.write(&mut text);
    text.finish()
}

/// Returns the query string that `write` writes.
///
/// # Errors
/// `Request` for empty values.
pub(super) fn text_of(write: impl FnOnce(&mut QueryText)) -> Result<String, ClientError> {
    let mut text = QueryText { pairs: Vec::new(), invalid: None };
    write(&mut text);
    text.finish()
}

impl QueryText {
    fn finish(self) -> Result<String, ClientError> {
        match self.invalid {
            Some(name) => Err(ClientError::request(format!(
                "`{name}` must be neither empty nor 0, and texts in a list have no comma."
            ))),
            None => Ok(Serializer::new(String::new()).extend_pairs(self.pairs).finish()),
        }
    }

    pub(super) fn value(&mut self, name: &'static str, value: Option<impl Display>) {
        let Some(text) = value.map(|value| value.to_string()) else { return };
        if text.is_empty() && name != CURSOR {
            self.invalid = Some(name);
        }
        self.pairs.push((name.into(), text));
    }

    /// Filters by a custom field.
    fn custom(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            self.invalid = Some("custom");
        }
        self.pairs.push((format!("custom.{name}").into(), value.to_owned()));
    }

    /// Repeats the parameter for each text, which may have commas.
    fn texts(&mut self, name: &'static str, texts: Option<&[String]>) {
        let Some(texts) = texts else { return };
        for text in texts {
            self.value(name, Some(text));
        }
        if texts.is_empty() {
            self.invalid = Some(name);
        }
    }

    /// Repeats the parameter for each value. The server also splits each at its commas.
    fn list<T: Display>(&mut self, name: &'static str, values: Option<&[T]>) {
        let Some(values) = values else { return };
        for value in values {
            self.value(name, Some(value));
        }
        let mut new = self.pairs.iter().rev().take(values.len());
        if values.is_empty() || new.any(|(_, text)| text.contains(',')) {
            self.invalid = Some(name);
        }
    }
}

impl PagedQuery for ListQuery {
    fn page(&mut self) -> PageOf<'_> {
        PageOf { limit: &mut self.limit, offset: &mut self.offset, cursor: &mut self.cursor }
    }

    fn write(&self, text: &mut QueryText) {
        // Every field is named, so that a new one cannot be forgotten here.
        let Self {
            network_id,
            ids,
            tag_ids,
            contains,
            cidr,
            name,
            custom,
            order_by,
            order_by_custom,
            order_direction,
            limit: _,
            offset: _,
            cursor: _,
        } = self;
        text.value("contains", *contains);
        text.value("cidr", *cidr);
        text.value("name", name.as_deref());
        text.value("network_id", *network_id);
        text.list("ids", ids.as_deref());
        text.list("tag_ids", tag_ids.as_deref());
        for (name, value) in custom {
            text.custom(name, value);
        }
        match order_by_custom {
            Some(name) => text.value("order_by_custom", Some(name)),
            None => text.value("order_by", Some(order_by)),
        }
        text.value("order_direction", Some(order_direction));
    }
}

impl PagedQuery for HostQuery {
    fn page(&mut self) -> PageOf<'_> {
        PageOf { limit: &mut self.limit, offset: &mut self.offset, cursor: &mut self.cursor }
    }

    fn write(&self, text: &mut QueryText) {
        let Self {
            network_id,
            ids,
            tag_ids,
            tag_ids_all,
            tag_ids_none,
            without_tags,
            name,
            hostname,
            updated_since,
            ips,
            macs,
            ports,
            service_definitions,
            subnet_ids,
            sources,
            hidden,
            seen_since,
            stale,
            search,
            custom,
            group_by,
            order_by,
            order_by_custom,
            order_direction,
            at,
            limit: _,
            offset: _,
            cursor: _,
        } = self;
        text.value("at", at.as_ref());
        text.value("network_id", *network_id);
        text.list("ids", ids.as_deref());
        text.list("tag_ids", tag_ids.as_deref());
        text.list("tag_ids_all", tag_ids_all.as_deref());
        text.list("tag_ids_none", tag_ids_none.as_deref());
        text.value("without_tags", *without_tags);
        text.value("name", name.as_deref());
        text.value("hostname", hostname.as_deref());
        text.value("updated_since", *updated_since);
        text.list("ip", ips.as_deref());
        text.list("mac", macs.as_deref());
        text.list("port", ports.as_deref());
        text.texts("service_definition", service_definitions.as_deref());
        text.list("subnet_id", subnet_ids.as_deref());
        text.list("source", sources.as_deref());
        text.value("hidden", *hidden);
        text.value("seen_since", *seen_since);
        text.value("stale", *stale);
        text.value("search", search.as_deref());
        for (name, value) in custom {
            text.custom(name, value);
        }
        text.value("group_by", *group_by);
        text.value("order_by", *order_by);
        text.value("order_by_custom", order_by_custom.as_deref());
        text.value("order_direction", Some(order_direction));
    }
}

impl PagedQuery for PartQuery {
    fn page(&mut self) -> PageOf<'_> {
        self.list.page()
    }

    fn write(&self, text: &mut QueryText) {
        text.value("host_id", self.host_id);
        self.list.write(text);
    }
}
