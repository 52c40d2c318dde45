//! The array that the plain loop copies from.

use bytes::Bytes;

/// The documents of all hosts, in loading order. They share the memory of the store's documents.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    all: Vec<Bytes>,
    /// Address of each document and its index in the array, in ascending order.
    addresses: Vec<(usize, usize)>,
}

impl Documents {
    pub(crate) fn new(all: Vec<Bytes>) -> Self {
        let mut addresses: Vec<_> =
            all.iter().enumerate().map(|(place, document)| (address(document), place)).collect();
        addresses.sort_unstable();
        Self { all, addresses }
    }

    /// Returns the indexes of a page's documents. Returns `None` if one of them is a copy.
    pub(crate) fn places(&self, page: &[Bytes]) -> Option<Vec<usize>> {
        let place = |document: &Bytes| {
            let found =
                self.addresses.binary_search_by_key(&address(document), |(address, _)| *address).ok()?;
            Some(self.addresses[found].1)
        };
        page.iter().map(place).collect()
    }

    /// Runs the plain loop.
    pub(crate) fn copy(&self, places: &[usize], buffer: &mut Vec<u8>) {
        places.iter().for_each(|place| buffer.extend_from_slice(&self.all[*place]));
    }
}

fn address(document: &Bytes) -> usize {
    document.as_ptr() as usize
}
