//! Pages at random positions, which are not in the nearest processor cache.
//!
//! This is true of the service and of the plain loop: between two turns of a page, hundreds of other pages are read,
//! about a hundred megabytes.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use http::Request;
use toposcope::inventory::HostQuery;
use toposcope::model::HostOrderField;

use crate::call::{call, each_frame};
use crate::clock::{median, time};
use crate::finding::{Family, Finding, Ratios};
use crate::host::Random;
use crate::loaded::LoadedInventory;
use crate::page::{PAGE, describe, uri};
use crate::reader::Reader;

const PAGES: usize = 900;

/// A page, and the indexes of its documents in the array.
#[derive(Debug)]
struct Scattered {
    request: Request<String>,
    places: Vec<usize>,
}

pub(crate) fn measure(loaded: &LoadedInventory, family: Family) -> Result<Vec<Finding>, Box<dyn Error>> {
    loaded.readers.iter().map(|reader| measure_of(loaded, family, reader)).collect()
}

fn measure_of(loaded: &LoadedInventory, family: Family, reader: &Reader) -> Result<Finding, Box<dyn Error>> {
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::Name);
    query.limit = Some(PAGE);
    let pages = pages(loaded, reader, &mut query)?;
    let mut buffer = Vec::with_capacity(1024 * 1024);
    let frames = |request: &Request<String>, visit: &mut dyn FnMut(&[u8])| {
        each_frame(call(&loaded.api, request.clone()).into_body(), visit);
    };
    let [mut copies, mut handed_out, mut reads] = [const { Vec::new() }; 3];
    for turn in 0..PAGES {
        let [to_copy, to_hand_out, to_read] = [0, 1, 2].map(|part| &pages[(turn + part * PAGES / 3) % PAGES]);
        buffer.clear();
        copies.push(time(1, || loaded.documents.copy(&to_copy.places, &mut buffer)));
        handed_out.push(time(1, || frames(&to_hand_out.request, &mut |frame| _ = black_box(frame))));
        buffer.clear();
        reads.push(time(1, || frames(&to_read.request, &mut |frame| buffer.extend_from_slice(frame))));
        black_box(&buffer);
    }
    let copy = median(copies).as_secs_f64();
    let ratio = |times: Vec<Duration>| median(times).as_secs_f64() / copy;
    Ok(Finding::Page {
        family,
        name: format!("{}: {}, from places by chance", reader.sees, describe(&query)),
        copy: copy * 1e6,
        ratios: Ratios { first: None, handed_out: ratio(handed_out), read: ratio(reads) },
    })
}

fn pages(
    loaded: &LoadedInventory,
    reader: &Reader,
    query: &mut HostQuery,
) -> Result<Vec<Scattered>, Box<dyn Error>> {
    let offsets = loaded.list(reader, query)?.total.saturating_sub(PAGE as u64).max(1);
    let mut random = Random::new(17);
    let mut pages = Vec::with_capacity(PAGES);
    for _ in 0..PAGES {
        query.offset = random.next() % offsets;
        let page = loaded.list(reader, query)?.documents;
        let places = loaded.documents.places(&page).ok_or("copied documents")?;
        pages.push(Scattered { request: reader.get(&uri(query))?, places });
    }
    Ok(pages)
}
