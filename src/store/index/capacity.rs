//! The capacity of the many small vectors of an index.
//!
//! They are copied into a new allocation instead of being reallocated: `realloc` always takes a lock of glibc's
//! allocator, for which threads that decode and encode hosts would wait, too. Most other small allocations need none.

/// Reserves capacity for exactly `additional` more values, like [`Vec::reserve_exact`].
pub(super) fn reserve_exact<T: Copy>(values: &mut Vec<T>, additional: usize) {
    let mut larger = Vec::with_capacity(values.len() + additional);
    larger.extend_from_slice(values);
    *values = larger;
}

/// Drops the spare capacity, like [`Vec::shrink_to_fit`].
pub(super) fn shrink_to_fit<T: Copy>(values: &mut Vec<T>) {
    if values.len() < values.capacity() {
        *values = values.to_vec();
    }
}
