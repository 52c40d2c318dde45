//! The array that the plain loop copies out of.

use bytes::Bytes;

/// The documents of all hosts, those of the store itself and not copies, as they were loaded.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    all: Vec<Bytes>,
    /// Where each begins in memory, in order, and its place in the array.
    addresses: Vec<(usize, usize)>,
}

impl Documents {
    pub(crate) fn new(all: Vec<Bytes>) -> Self {
        let mut addresses: Vec<_> =
            all.iter().enumerate().map(|(place, document)| (address(document), place)).collect();
        addresses.sort_unstable();
        Self { all, addresses }
    }

    /// Where the documents of a page are in the array. `None` when one of them was copied.
    pub(crate) fn places(&self, page: &[Bytes]) -> Option<Vec<usize>> {
        let place = |document: &Bytes| {
            let found =
                self.addresses.binary_search_by_key(&address(document), |(address, _)| *address).ok()?;
            Some(self.addresses[found].1)
        };
        page.iter().map(place).collect()
    }

    /// The plain loop.
    pub(crate) fn copy(&self, places: &[usize], buffer: &mut Vec<u8>) {
        places.iter().for_each(|place| buffer.extend_from_slice(&self.all[*place]));
    }
}

fn address(document: &Bytes) -> usize {
    document.as_ptr() as usize
}
