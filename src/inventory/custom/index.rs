//! The custom fields by which hosts and networks are filtered and ordered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{CUSTOM_FILTER_EXAMPLE, CUSTOM_ORDER_EXAMPLE, CUSTOM_PREFIX, is_custom_name};
use crate::inventory::collections::CustomFilters;
use crate::inventory::{Error, ErrorKind, Inventory, Problem};
use crate::model::Custom;
use crate::store::{Direction, Facets, Name, Order, SortKey, Term, TermFilter, TermRange};

/// The name of the terms.
const CUSTOM: Name = Name::new("custom");

/// The maximum length of the value of a sort key. Longer texts are ordered by their beginnings.
const MAX_SORT_KEY: usize = 128;

/// The kinds of records that are indexed by custom fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexedKind {
    Hosts,
    Networks,
}

/// The custom fields that an inventory indexes. Clones share the notes on completeness.
#[derive(Clone, Debug, Default)]
pub(in crate::inventory) struct CustomIndex(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The names of the fields, sorted.
    names: Vec<String>,
    /// Whether all stored hosts are known to be indexed.
    are_hosts_complete: AtomicBool,
    /// Whether all stored networks are known to be indexed.
    are_networks_complete: AtomicBool,
}

impl CustomIndex {
    fn new(names: impl IntoIterator<Item = String>) -> Self {
        let (valid, others): (BTreeSet<String>, BTreeSet<String>) =
            names.into_iter().partition(|name| is_custom_name(name));
        for name in others {
            tracing::warn!(name, "no custom field can have this name, so that it is not indexed");
        }
        Self(Arc::new(Inner { names: valid.into_iter().collect(), ..Inner::default() }))
    }

    /// Returns the names of the fields, sorted.
    pub(in crate::inventory) fn names(&self) -> &[String] {
        &self.0.names
    }

    /// Returns the note whether all stored records of a kind are known to be indexed.
    fn completeness(&self, kind: IndexedKind) -> &AtomicBool {
        match kind {
            IndexedKind::Hosts => &self.0.are_hosts_complete,
            IndexedKind::Networks => &self.0.are_networks_complete,
        }
    }

    /// Adds the terms and sort keys of the indexed fields to the facets of a record.
    pub(in crate::inventory) fn add_to(&self, facets: &mut Facets, custom: &Custom) {
        if custom.is_empty() || self.0.names.is_empty() {
            return;
        }
        for name in &self.0.names {
            let Some(value) = custom.get(name) else { continue };
            facets.terms.extend(term(name, value));
            facets.sort_keys.extend(sort_key(name, value));
        }
        facets.terms.sort_unstable();
        facets.terms.dedup();
    }

    /// Returns whether a field is indexed.
    fn contains(&self, name: &str) -> bool {
        self.0.names.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
    }
}

/// Returns the filter of the records whose field has this text.
pub(in crate::inventory) fn filter(name: &str, text: &str) -> TermFilter {
    TermFilter::new(CUSTOM, [TermRange::exact(digest_of(name, text))])
}

/// Returns the order by a field. Records without it come first in ascending order, then numbers, booleans and texts.
pub(in crate::inventory) fn order(name: &str, direction: Direction) -> Order {
    Order::new(sort_name(name), direction)
}

/// Returns the term of a value in a field; `None` for null, lists and objects.
pub(in crate::inventory) fn term(name: &str, value: &Value) -> Option<Term> {
    text_of(value).map(|text| Term::new(CUSTOM, digest_of(name, &text)))
}

/// Returns the sort key of a value in a field; `None` for null, lists and objects.
pub(in crate::inventory) fn sort_key(name: &str, value: &Value) -> Option<SortKey> {
    sort_value(value).map(|value| SortKey::new(sort_name(name), value))
}

/// Returns the text by which a value is found; `None` for null, lists and objects.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Encodes a name and a text, which may be long, as a digest.
///
/// Eight bytes suffice: a collision could only confuse values of the same organization.
fn digest_of(name: &str, text: &str) -> Vec<u8> {
    let digest = Sha256::new().chain_update(name).chain_update([0]).chain_update(text).finalize();
    digest.iter().take(8).copied().collect()
}

/// Returns the name of the sort key of a field, which may be longer than such names.
fn sort_name(name: &str) -> Name {
    let digest = Sha256::digest(name);
    let digits: String = digest.iter().take(7).map(|byte| format!("{byte:02x}")).collect();
    Name::parse(&format!("c:{digits}")).unwrap_or(CUSTOM)
}

/// Encodes a value so that bytes have the order of values.
fn sort_value(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Number(number) => {
            let bits = number.as_f64()?.to_bits();
            // With this correction of the sign, the bytes of floating-point numbers sort like the numbers.
            let ordered = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
            Some([&[1], ordered.to_be_bytes().as_slice()].concat())
        }
        Value::Bool(value) => Some(vec![2, u8::from(*value)]),
        Value::String(text) => {
            let beginning = text.as_bytes().iter().take(MAX_SORT_KEY).copied();
            Some(std::iter::once(3).chain(beginning).collect())
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Inventory {
    /// Checks that the records of a list can be filtered and ordered by the custom fields of its query.
    ///
    /// # Errors
    /// `Invalid` for a field that is not to be indexed; `IndexIncomplete` until all stored records are indexed.
    pub(in crate::inventory) async fn require_custom_index(
        &self,
        possible: CustomFilters,
        filters: &BTreeMap<String, String>,
        order: Option<&String>,
    ) -> Result<(), Error> {
        if filters.is_empty() && order.is_none() {
            return Ok(());
        }
        let is_indexed = |name: &str| match possible {
            CustomFilters::None => false,
            CustomFilters::Indexed(_) => self.custom_index.contains(name),
            CustomFilters::Any => true,
        };
        let problem = |name: &str, example| match name.strip_prefix(CUSTOM_PREFIX) {
            // Lists of other records have no custom fields to index.
            _ if possible == CustomFilters::None => Problem::Unsupported,
            Some(name) if is_indexed(name) => Problem::CustomForm { example },
            _ => Problem::NotIndexed,
        };
        if let Some(name) = filters.keys().find(|name| !is_indexed(name)) {
            return Err(Error::invalid(
                format!("{CUSTOM_PREFIX}{name}"),
                problem(name, CUSTOM_FILTER_EXAMPLE),
            ));
        }
        if let Some(name) = order.filter(|name| !is_indexed(name)) {
            return Err(Error::invalid("order_by_custom", problem(name, CUSTOM_ORDER_EXAMPLE)));
        }
        let CustomFilters::Indexed(kind) = possible else { return Ok(()) };
        let is_complete = self.custom_index.completeness(kind);
        if is_complete.load(Ordering::Relaxed) {
            return Ok(());
        }
        let indexed = self.indexed_fields(kind).await?;
        if !self.custom_index.names().iter().all(|name| indexed.contains(name)) {
            return Err(ErrorKind::IndexIncomplete.into());
        }
        is_complete.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Indexes custom fields of hosts and networks, by which lists can then be filtered and ordered. Default: none.
    ///
    /// A filter matches a text exactly, and a number or a boolean by its JSON: `custom.asset_tag=A-17`,
    /// `custom.rack=7`. All processes that use a store must index the same fields. Records that are stored before a
    /// field is indexed are indexed by [`upgrade`](Self::upgrade), which [`bootstrap`](Self::bootstrap) includes. Until
    /// it has ended, lists that need the index fail with
    /// [`IndexIncomplete`](crate::inventory::ErrorKind::IndexIncomplete), which the API answers with
    /// 503. An inventory [without terms](Self::without_host_terms) can order hosts by these fields, but not filter them.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::HostQuery;
    /// # use toposcope::model::{Host, Network};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new()).with_custom_index(["asset_tag"]);
    /// inventory.upgrade().await?;
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let mut printer = Host::new(network.id, "printer");
    /// printer.custom.insert("asset_tag".to_owned(), "A-17".into());
    /// inventory.hosts().put(&caller, printer).await?;
    ///
    /// let mut query = HostQuery::default();
    /// query.custom.insert("asset_tag".to_owned(), "A-17".to_owned());
    /// assert_eq!(inventory.hosts().list(&caller, &query).await?.total, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_custom_index<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        Self { custom_index: CustomIndex::new(names.into_iter().map(Into::into)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sort_values_have_the_order_of_values() {
        let values = [
            json!(-1e300),
            json!(-2),
            json!(-0.5),
            json!(0),
            json!(1),
            json!(2.5),
            json!(10),
            json!(u64::MAX),
            json!(false),
            json!(true),
            json!(""),
            json!("10"),
            json!("2"),
            json!("a"),
        ];
        let keys: Vec<_> = values.iter().map(|value| sort_value(value).unwrap()).collect();
        assert!(keys.is_sorted_by(|left, right| left < right), "{keys:?}");
        for value in [json!(null), json!([1]), json!({})] {
            assert_eq!((sort_value(&value), text_of(&value)), (None, None));
        }
    }

    #[test]
    fn names_that_no_field_can_have_are_not_indexed() {
        let index = CustomIndex::new(["b", "A b", "a", "b"].map(str::to_owned));
        assert_eq!(index.names(), ["a", "b"]);
        assert!(index.contains("a") && !index.contains("A b"));
    }
}
