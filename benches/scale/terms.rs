//! Pages of lists that are found through posting lists: addresses, ports, service definitions and words.
//!
//! The first request for a list is slow only once, so several lists of the same kind are requested and the median
//! counts.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};

use toposcope::inventory::{HostQuery, PortFilter};
use toposcope::model::{HostOrderField, PortNumber};

use crate::call::{call, each_frame};
use crate::clock::{median, time};
use crate::finding::{Family, Finding};
use crate::loaded::LoadedInventory;
use crate::page::{PAGE, describe, measure_parts, uri};
use crate::passes::in_passes;
use crate::reader::Reader;

/// Maximum time of the first request for one filter, in milliseconds. [`MAX_MILLIS_OF_SEVERAL`] is the maximum for several
/// filters. Neither includes the time for the postings that are read.
const MAX_MILLIS: f64 = 3.0;
const MAX_MILLIS_OF_SEVERAL: f64 = 5.0;

/// Maximum time for each posting, in milliseconds.
const MAX_MILLIS_PER_POSTING: f64 = 30e-6;

/// Number of lists of each kind.
const LISTS: usize = 5;

/// Lists of the same kind.
#[derive(Debug)]
struct Kind {
    label: &'static str,
    /// The filters of each list. A page of the first list is also measured when it is requested again.
    lists: Vec<Vec<HostQuery>>,
    /// The number of postings of one host and filter.
    postings: u64,
}

pub(crate) fn measure(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = Vec::new();
    for kind in kinds(loaded)? {
        for reader in [&loaded.readers[0], &loaded.readers[1], &loaded.readers[2]] {
            findings.push(measure_first(loaded, reader, &kind)?);
            let query = combined(&kind.lists[0])?;
            let label = format!("{}, {}", kind.label, describe(&query));
            let is_full = loaded.list(reader, &query)?.total >= PAGE as u64;
            let family = if is_full { Family::Terms } else { Family::FewTerms };
            findings.extend(in_passes(|| measure_parts(loaded, reader, family, &label, &query))?);
        }
    }
    Ok(findings)
}

fn measure_first(loaded: &LoadedInventory, reader: &Reader, kind: &Kind) -> Result<Finding, Box<dyn Error>> {
    let mut times = Vec::new();
    for list in &kind.lists {
        let mut query = combined(list)?;
        query.limit = Some(PAGE);
        let request = reader.get(&uri(&query))?;
        times.push(time(1, || each_frame(call(&loaded.api, request.clone()).into_body(), |_| ())));
    }
    let mut postings = 0;
    for mut filter in kind.lists[0].clone() {
        filter.limit = Some(1);
        postings += loaded.list(&loaded.readers[0], &filter)?.total * kind.postings;
    }
    let base = if kind.lists[0].len() > 1 { MAX_MILLIS_OF_SEVERAL } else { MAX_MILLIS };
    Ok(Finding::First {
        name: format!("{}: {}", reader.sees, kind.label),
        postings,
        time: median(times).as_secs_f64() * 1e3,
        most: base + MAX_MILLIS_PER_POSTING * postings as f64,
    })
}

/// Sets the filter of the list with this number.
type SetFilter<'f> = dyn Fn(usize, &mut HostQuery) -> Result<(), Box<dyn Error>> + 'f;

fn kinds(loaded: &LoadedInventory) -> Result<Vec<Kind>, Box<dyn Error>> {
    let lists_by = |filter: &SetFilter<'_>| {
        let list = |number| {
            let mut query = HostQuery::default();
            filter(number, &mut query).map(|()| vec![query])
        };
        (0..LISTS).map(list).collect::<Result<Vec<_>, _>>()
    };
    let prefixes = |label, length: u8| {
        let filter = |number: usize, query: &mut HostQuery| {
            let address = loaded.parts[number * loaded.parts.len() / LISTS].address;
            query.ips = Some(vec![network_of(address, length).parse()?]);
            Ok(())
        };
        Ok::<_, Box<dyn Error>>(Kind { label, lists: lists_by(&filter)?, postings: 1 })
    };
    let kind = |label, filter| Ok::<_, Box<dyn Error>>(Kind { label, lists: lists_by(filter)?, postings: 1 });
    Ok(vec![
        prefixes("an address", 32)?,
        prefixes("a /24", 24)?,
        prefixes("a /16", 16)?,
        prefixes("a /12", 12)?,
        kind("MAC addresses of a vendor", &|number, query| {
            query.macs = Some(vec![format!("00:1b:{number:02x}").parse()?]);
            Ok(())
        })?,
        kind("a port", &|number, query| {
            let number = PortNumber::try_from([22, 80, 161, 443, 8080][number])?;
            query.ports = Some(vec![PortFilter::new(number)]);
            Ok(())
        })?,
        kind("a service definition", &|number, query| {
            let definitions = ["Secure shell", "Web server", "Management agent"];
            query.service_definitions = Some(vec![definitions[number % definitions.len()].to_owned()]);
            Ok(())
        })?,
        words("a word of a hundredth", |number| vec![format!("4{number}")]),
        words("a word of a twelfth", |number| vec![format!("floor-{number}")]),
        words("a word of all", |number| vec!["switch"[..number].to_owned()]),
        words("words of a hundredth and of a twelfth", |number| {
            vec![format!("3{number}"), format!("floor-{number}")]
        }),
        words("words of a twelfth and of all", |number| vec![format!("floor-{number}"), "office".to_owned()]),
        words("two words of all", |number| vec!["switch"[..number].to_owned(), "office".to_owned()]),
    ])
}

/// Returns the prefix of this length that contains an IPv4 address.
fn network_of(address: IpAddr, length: u8) -> String {
    let IpAddr::V4(address) = address else { panic!("benchmark hosts have IPv4 addresses") };
    let network = Ipv4Addr::from(u32::from(address) & u32::MAX << (32 - length));
    format!("{network}/{length}")
}

/// Returns lists found by words. Names and hostnames have the same words, so each host has two postings per word.
fn words(label: &'static str, of: fn(usize) -> Vec<String>) -> Kind {
    let query = |word: String| {
        let mut query = HostQuery::default();
        query.search = Some(word);
        query
    };
    let lists = (2..2 + LISTS).map(|number| of(number).into_iter().map(query).collect());
    Kind { label, lists: lists.collect(), postings: 2 }
}

/// Returns the query with all filters of a list, by name.
fn combined(filters: &[HostQuery]) -> Result<HostQuery, Box<dyn Error>> {
    let mut query = filters.first().ok_or("there is no filter")?.clone();
    let words: Vec<&str> = filters.iter().filter_map(|filter| filter.search.as_deref()).collect();
    query.search = Some(words.join(" ")).filter(|_| !words.is_empty());
    query.order_by = Some(HostOrderField::Name);
    Ok(query)
}
