//! The real inventory, listed in every order and compared with a sort of the input.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::IpAddr;

use serde::Deserialize;
use serde_json::Value;
use toposcope::inventory::HostQuery;
use toposcope::model::{HostId, HostOrderField, InterfaceId, NetworkId, OrderDirection};

use super::imported::moment;
use super::{Real, real};
use crate::support::owner_of;

const DIRECTIONS: [OrderDirection; 2] = [OrderDirection::Ascending, OrderDirection::Descending];

/// The fields of a line that determine its order.
#[derive(Deserialize)]
struct Line {
    id: HostId,
    name: String,
    hostname: Option<String>,
    network_id: NetworkId,
    created_at: Value,
    updated_at: Value,
    virtualization: Option<Value>,
    interfaces: Vec<Address>,
}

#[derive(Deserialize)]
struct Address {
    id: InterfaceId,
    position: i64,
    ip_address: IpAddr,
}

/// Returns the numbers and the other characters of a text without case, and the leading zeros of each number. Numbers
/// have the order of digits.
fn natural(text: &str) -> (Vec<(char, u128)>, Vec<usize>) {
    let text = text.to_lowercase();
    let mut rest = text.as_str();
    let (mut parts, mut zeros) = (vec![], vec![]);
    while let Some(first) = rest.chars().next() {
        let digits = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
        let (taken, others) = rest.split_at(digits.max(if digits == 0 { first.len_utf8() } else { 0 }));
        if digits == 0 {
            parts.push((first, 0));
        } else {
            parts.push(('0', taken.parse().unwrap()));
            zeros.push(taken[..digits - 1].bytes().take_while(|digit| *digit == b'0').count());
        }
        rest = others;
    }
    (parts, zeros)
}

impl Line {
    /// Compares by a field, ascending and without the tie-breaking ids.
    fn compare(&self, other: &Self, field: HostOrderField) -> Ordering {
        match field {
            HostOrderField::CreatedAt => time(&self.created_at).cmp(&time(&other.created_at)),
            HostOrderField::UpdatedAt => time(&self.updated_at).cmp(&time(&other.updated_at)),
            HostOrderField::Name => self.name.chars().cmp(other.name.chars()),
            HostOrderField::Hostname => {
                let text = |line: &'_ Self| line.hostname.clone().unwrap_or_default();
                text(self).chars().cmp(text(other).chars())
            }
            HostOrderField::NameNatural => natural(&self.name).cmp(&natural(&other.name)),
            HostOrderField::HostnameNatural => {
                let text = |line: &'_ Self| natural(line.hostname.as_deref().unwrap_or_default());
                text(self).cmp(&text(other))
            }
            HostOrderField::NetworkId => self.network_id.cmp(&other.network_id),
            HostOrderField::VirtualizedBy => {
                assert!(self.virtualization.is_none(), "none of these hosts is a guest");
                Ordering::Equal
            }
            HostOrderField::InterfaceIp => self.address().cmp(&other.address()),
            _ => panic!("an order that this test does not know"),
        }
    }

    /// Returns a sort key: IPv4 before IPv6, and hosts without an address last.
    fn address(&self) -> (bool, Option<IpAddr>) {
        let first = self.interfaces.iter().min_by_key(|interface| (interface.position, interface.id));
        (first.is_none(), first.map(|interface| interface.ip_address))
    }
}

/// Returns a time truncated to the microsecond, as the store does it.
fn time(value: &Value) -> (String, String) {
    let (seconds, decimals) = moment(value);
    (seconds, format!("{decimals:0<6}")[..6].to_owned())
}

fn by_id(_: &Line, _: &Line) -> Ordering {
    Ordering::Equal
}

fn sorted(lines: &mut [Line], order: impl Fn(&Line, &Line) -> Ordering) -> Vec<HostId> {
    lines.sort_by(|left, right| order(left, right).then(left.id.cmp(&right.id)));
    lines.iter().map(|line| line.id).collect()
}

fn directed(ordering: Ordering, direction: OrderDirection) -> Ordering {
    if direction == OrderDirection::Ascending { ordering } else { ordering.reverse() }
}

/// The hosts of all documents by the addresses of the documents in memory. A page can be identified by them because it
/// shares the documents of the store.
struct Documents(HashMap<*const u8, HostId>);

impl Documents {
    async fn of(real: &Real, lines: &mut [Line]) -> Self {
        #[derive(Deserialize)]
        struct Named {
            id: HostId,
        }
        let all = list(real, &HostQuery::default()).await;
        let named = all.iter().map(|body| (body.as_ptr(), serde_json::from_slice::<Named>(body).unwrap().id));
        let documents = Self(named.collect());
        assert_eq!(documents.0.len(), lines.len());
        let mut ids: Vec<HostId> = documents.ids(&all);
        ids.sort_unstable();
        assert_eq!(ids, sorted(lines, by_id), "without a limit there is every host, each once");
        documents
    }

    fn ids(&self, page: &[bytes::Bytes]) -> Vec<HostId> {
        page.iter().map(|body| self.0[&body.as_ptr()]).collect()
    }
}

async fn list(real: &Real, query: &HostQuery) -> Vec<bytes::Bytes> {
    let page = real.inventory.hosts().list(&owner_of(real.organization), query).await.unwrap();
    assert_eq!(page.total, 1953);
    page.documents
}

#[tokio::test]
async fn pages_and_whole_lists_have_every_host_once_in_every_order() {
    let Some(real) = real() else { return };
    let mut lines: Vec<Line> = real.lines().map(|line| serde_json::from_slice(line).unwrap()).collect();
    let documents = Documents::of(real, &mut lines).await;
    for field in HostOrderField::ALL.iter().copied() {
        for direction in DIRECTIONS {
            let expected = sorted(&mut lines, |left, right| directed(left.compare(right, field), direction));
            let mut query = HostQuery::default();
            query.order_by = Some(field);
            query.order_direction = direction;
            let whole = documents.ids(&list(real, &query).await);
            assert!(whole == expected, "{field} {}", direction.as_str());
            query.limit = Some(50);
            for page in expected.chunks(50) {
                let found = documents.ids(&list(real, &query).await);
                assert!(found == page, "{field} {} from {}", direction.as_str(), query.offset);
                query.offset += 50;
            }
            assert!(list(real, &query).await.is_empty());
        }
    }
    grouped(real, &documents, &mut lines).await;
}

async fn grouped(real: &Real, documents: &Documents, lines: &mut [Line]) {
    for group in [HostOrderField::NetworkId, HostOrderField::Name, HostOrderField::VirtualizedBy] {
        for field in HostOrderField::ALL.iter().copied() {
            for direction in DIRECTIONS {
                let order = |left: &Line, right: &Line| {
                    let within = directed(left.compare(right, field), direction);
                    let within = if group == field { Ordering::Equal } else { within };
                    left.compare(right, group).then(within)
                };
                let expected = sorted(lines, order);
                let mut query = HostQuery::default();
                (query.group_by, query.order_by) = (Some(group), Some(field));
                query.order_direction = direction;
                let whole = documents.ids(&list(real, &query).await);
                assert!(whole == expected, "{group}, {field} {}", direction.as_str());
                (query.limit, query.offset) = (Some(501), 501);
                let found = documents.ids(&list(real, &query).await);
                assert!(found == expected[501..1002], "{group}, {field} {}", direction.as_str());
            }
        }
    }
}
