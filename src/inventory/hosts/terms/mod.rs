//! The terms by which hosts are found, such as when reports last showed them, and the filters that find them.

mod address;
#[cfg(feature = "discovery")]
mod identity;
mod words;

use sha2::{Digest, Sha256};

#[cfg(feature = "discovery")]
pub(in crate::inventory) use self::address::{ip_prefix_range, ip_range, mac_range};
use self::address::{ip_prefix_ranges, ip_terms, ipv6_text_terms, mac_prefix_range, mac_terms, text_ranges};
#[cfg(feature = "discovery")]
pub(in crate::inventory) use self::identity::{ADDRESS_ONLY, IDENTITY, address_only_value, identity_value};
use self::words::{QueryWord, Words, folded, query_words};
use crate::fair_threads::yield_turn;
use crate::inventory::{Error, Problem, custom};
use crate::model::{Host, Port, PortNumber, Protocol, Timestamp};
use crate::store::{Name, Term, TermFilter, TermRange};
use crate::wire::{HostQuery, PortFilter};

/// Open ports: the protocol and the number.
const PORT: Name = Name::new("open_port");
const DEFINITION: Name = Name::new("definition");
const SOURCE: Name = Name::new("source");
const HIDDEN: Name = Name::new("hidden");
const TAGGED: Name = Name::new("tagged");
/// Words of the names and description of a host, and addresses of its interfaces.
pub(in crate::inventory) const WORD: Name = Name::new("word");

/// Minimum number of characters of a search.
const MIN_SEARCH: usize = 2;
/// Maximum number of characters of a search.
const MAX_SEARCH: usize = 100;

/// Whether hosts are stored with terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::inventory) enum HostTerms {
    All,
    /// Hosts take less memory, and are not found by terms.
    None,
}

/// Returns the terms of a host.
pub(super) fn terms(host: &Host) -> Vec<Term> {
    let mut terms = Vec::with_capacity(64);
    for interface in &host.interfaces {
        terms.extend(ip_terms(interface.ip_address));
        terms.extend(interface.mac_address.into_iter().flat_map(mac_terms));
    }
    terms.extend(ipv6_text_terms(&host.interfaces));
    terms.extend(host.ports.iter().map(|port| Term::new(PORT, port_bytes(port))));
    yield_turn();
    let definitions = host.services.iter().map(|service| service.service_definition.as_str());
    terms.extend(definitions.map(|definition| Term::new(DEFINITION, definition_bytes(definition))));
    terms.push(Term::new(SOURCE, host.source.source_type().as_str()));
    terms.push(Term::new(HIDDEN, [u8::from(host.hidden)]));
    terms.push(Term::new(TAGGED, [u8::from(!host.tags.is_empty())]));
    terms.extend(age_terms(host));
    add_words(&mut terms, host);
    #[cfg(feature = "discovery")]
    terms.extend(identity::identity_terms(host).chain(identity::address_only_terms(host)));
    yield_turn();
    terms.sort_unstable();
    yield_turn();
    terms.dedup();
    terms
}

/// Adds the words by which a search finds a host. If there are too many, words of the description are left
/// out.
fn add_words(terms: &mut Vec<Term>, host: &Host) {
    let interfaces = host.interfaces.iter().map(|interface| interface.name.as_deref());
    let names = [Some(host.name.as_str()), host.hostname.as_deref()].into_iter().chain(interfaces).flatten();
    let (names, description) = (folded(names), folded(host.description.as_deref()));
    let mut words = Words::default();
    words.add_text(&names);
    words.add_text(&description);
    terms.extend(words.without_beginnings().into_iter().map(|word| Term::new(WORD, word)));
}

fn port_bytes(port: &Port) -> Vec<u8> {
    numbered(port.protocol, port.number)
}

fn numbered(protocol: Protocol, number: PortNumber) -> Vec<u8> {
    let protocol = match protocol {
        Protocol::Tcp => b'T',
        Protocol::Udp => b'U',
    };
    let [high, low] = number.get().to_be_bytes();
    vec![protocol, high, low]
}

/// Returns the ranges of the ports that a filter matches, one for each protocol.
fn port_ranges(filter: &PortFilter) -> impl Iterator<Item = TermRange> {
    let protocols = [Protocol::Tcp, Protocol::Udp].into_iter();
    let protocols = protocols.filter(|protocol| filter.protocol.is_none_or(|only| only == *protocol));
    protocols
        .map(|protocol| TermRange::between(numbered(protocol, filter.first), numbered(protocol, filter.last)))
}

/// Encodes a service definition, which may be of any length, as a digest.
///
/// Eight bytes suffice: a collision could only confuse definitions of the same organization.
fn definition_bytes(definition: &str) -> Vec<u8> {
    Sha256::digest(definition).iter().take(8).copied().collect()
}

/// Returns the filters of a query that terms answer, each with its field.
///
/// # Errors
/// `Invalid` for a search without any letter or digit.
pub(super) fn filters(query: &HostQuery) -> Result<Vec<(&'static str, TermFilter)>, Error> {
    let mut filters = Vec::new();
    let mut add = |field, name, ranges: Option<Vec<TermRange>>| {
        filters.extend(ranges.map(|ranges| (field, TermFilter::new(name, ranges))));
    };
    let ips = query.ips.as_ref();
    add("ip", WORD, ips.map(|ips| ips.iter().copied().flat_map(ip_prefix_ranges).collect()));
    add("mac", WORD, ranges(&query.macs, mac_prefix_range));
    add("port", PORT, query.ports.as_ref().map(|ports| ports.iter().flat_map(port_ranges).collect()));
    let definition = |definition: &String| TermRange::exact(definition_bytes(definition));
    add("service_definition", DEFINITION, ranges(&query.service_definitions, definition));
    add("source", SOURCE, ranges(&query.sources, |source| TermRange::exact(source.as_str())));
    add("hidden", HIDDEN, query.hidden.map(|hidden| vec![TermRange::exact([u8::from(hidden)])]));
    add("without_tags", TAGGED, query.without_tags.map(|none| vec![TermRange::exact([u8::from(!none)])]));
    add("seen_since", SEEN, query.seen_since.map(|time| vec![seen_since(time)]));
    add("stale", STALE, query.stale.map(|stale| vec![stale_range(stale)]));
    filters.extend(query.custom.iter().map(|(name, text)| ("custom", custom::filter(name, text))));
    if let Some(search) = &query.search {
        let length = search.chars().count();
        if length < MIN_SEARCH {
            return Err(Error::invalid("search", Problem::MinLength { min: MIN_SEARCH }));
        }
        if length > MAX_SEARCH {
            return Err(Error::invalid("search", Problem::MaxLength { max: MAX_SEARCH }));
        }
        let words = query_words(search);
        if words.is_empty() {
            return Err(Error::invalid("search", Problem::InvalidFormat));
        }
        filters.extend(words.iter().map(|word| ("search", TermFilter::new(WORD, word_ranges(word)))));
    }
    Ok(filters)
}

fn ranges<T>(values: &Option<Vec<T>>, range: impl Fn(&T) -> TermRange) -> Option<Vec<TermRange>> {
    values.as_ref().map(|values| values.iter().map(range).collect())
}

/// Returns the ranges of the words and addresses that begin with a word.
fn word_ranges(word: &QueryWord) -> Vec<TermRange> {
    let words = TermRange::prefix(word.text.as_str());
    [words].into_iter().chain(text_ranges(&word.address)).collect()
}

const SEEN: Name = Name::new("seen");
const STALE: Name = Name::new("stale");

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// The first byte of the term of a host that is not stale. The hour of the latest report follows, if there is one.
///
/// Hosts that become stale are thus one range, however many are stale already.
const FRESH: u8 = 0;

/// Returns the terms of the age of a host.
fn age_terms(host: &Host) -> impl Iterator<Item = Term> {
    let hour = host.last_seen_at.map(hour);
    let seen = hour.map(|hour| Term::new(SEEN, hour));
    let stale = if host.is_stale { vec![1] } else { fresh(hour.as_ref()) };
    seen.into_iter().chain([Term::new(STALE, stale)])
}

fn fresh(hour: Option<&[u8; 8]>) -> Vec<u8> {
    std::iter::once(&FRESH).chain(hour.into_iter().flatten()).copied().collect()
}

/// Returns the range of hosts that reports have shown in the hour of a time, or later.
fn seen_since(time: Timestamp) -> TermRange {
    TermRange::new(hour(time), None)
}

/// Returns the range of hosts that are stale, or of those that are not.
fn stale_range(is_stale: bool) -> TermRange {
    if is_stale { TermRange::exact([1]) } else { TermRange::prefix([FRESH]) }
}

/// Encodes the hour of a time, so that the bytes sort by time.
fn hour(time: Timestamp) -> [u8; 8] {
    (time.unix_micros().div_euclid(HOUR) ^ i64::MIN).to_be_bytes()
}

/// Returns the filter of hosts that are not stale and were last seen before the end of the hour of a time.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn becoming_stale(time: Timestamp) -> TermFilter {
    let range = TermRange::between(fresh(Some(&[0; 8])), fresh(Some(&hour(time))));
    TermFilter::new(STALE, [range])
}
