//! Vectors with little spare capacity: an index holds some for every few records.
//!
//! They grow and shrink by a new allocation. `realloc` takes a lock of glibc's allocator every time, and most allocations
//! none: threads that fill an index while others decode and encode would wait for these.

/// Makes room for so many more values, and for no others.
pub(super) fn reserve<T: Copy>(values: &mut Vec<T>, more: usize) {
    let mut larger = Vec::with_capacity(values.len() + more);
    larger.extend_from_slice(values);
    *values = larger;
}

/// Gives the spare capacity back.
pub(super) fn shrink<T: Copy>(values: &mut Vec<T>) {
    if values.len() < values.capacity() {
        *values = values.to_vec();
    }
}
