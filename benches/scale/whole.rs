//! Measures all hosts together: loading time, memory, and the list without a limit.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use crate::call::{call, each_frame};
use crate::finding::Finding;
use crate::loaded::{LoadedInventory, Spread};
use crate::memory::{forget_peak, memory};

/// Names of the figures reported for an inventory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    loading: &'static str,
    json: &'static str,
    pub(crate) beside: &'static str,
    pub(crate) whole: &'static str,
    whole_time: &'static str,
}

pub(crate) const TEN: Names = Names {
    loading: "10 networks, tags, guests: loading, s",
    json: "10 networks, tags, guests: JSON of a host, bytes",
    beside: "10 networks, tags, guests: bytes a host beyond its JSON",
    whole: "10 networks: limit=0, MB beyond the store",
    whole_time: "10 networks: limit=0, s",
};

pub(crate) const THOUSAND: Names = Names {
    loading: "1,000 networks: loading, s",
    json: "1,000 networks: JSON of a host, bytes",
    beside: "1,000 networks: bytes a host beyond its JSON",
    whole: "1,000 networks: limit=0 of a member, MB beyond the store",
    whole_time: "1,000 networks: limit=0 of a member, s",
};

pub(crate) const WITHOUT_TERMS: Names = Names {
    loading: "10 networks, without terms: loading, s",
    json: "10 networks, without terms: JSON of a host, bytes",
    beside: "10 networks, without terms: bytes a host beyond its JSON",
    whole: "10 networks, without terms: limit=0, MB beyond the store",
    whole_time: "10 networks, without terms: limit=0, s",
};

/// Loads an inventory and requests its whole list, frame by frame.
pub(crate) fn load(size: usize, spread: Spread) -> Result<(LoadedInventory, Vec<Finding>), Box<dyn Error>> {
    // The code of the program is not counted: it takes as much for a thousand hosts as for a million.
    let before = memory("RssAnon:")?;
    let start = Instant::now();
    let loaded = LoadedInventory::load(size, spread)?;
    let loading = start.elapsed().as_secs_f64();
    let occupied = memory("RssAnon:")?;
    // The owner's ordering exists already; that of a member is merged from those of the networks.
    let (names, reader) = match spread {
        Spread::Ten => (TEN, &loaded.readers[0]),
        Spread::Thousand => (THOUSAND, &loaded.readers[1]),
        Spread::TenWithoutTerms => (WITHOUT_TERMS, &loaded.readers[0]),
    };
    let request = reader.get("/api/v1/hosts?limit=0")?;
    let resident = memory("VmRSS:")?;
    forget_peak()?;
    let start = Instant::now();
    let mut bytes = 0;
    each_frame(call(&loaded.api, request).into_body(), |frame| bytes += black_box(frame).len());
    let whole_time = start.elapsed().as_secs_f64();
    let whole = memory("VmHWM:")?.saturating_sub(resident);
    // One comma per host is negligible.
    let json = bytes as f64 / size as f64;
    let beside = (occupied - before) as f64 / size as f64 - json;
    let figures = [
        (names.loading, loading),
        (names.json, json),
        (names.beside, beside),
        (names.whole, whole as f64 / 1e6),
        (names.whole_time, whole_time),
    ];
    let finding = |(name, value): (&str, f64)| Finding::Figure { name: name.to_owned(), value };
    Ok((loaded, figures.into_iter().map(finding).collect()))
}
