/// Sort keys in their stored form. A key that starts with the whole previous key shares its bytes.
#[derive(Debug)]
pub(super) struct SharedKeys<'a> {
    /// The bytes of each key that the previous key does not contain.
    pub(super) stored: Vec<&'a [u8]>,
    /// Twice the end of each key, plus one for a key that shares bytes. Such a key shares the bytes of the previous
    /// one.
    pub(super) ends: Vec<usize>,
    pub(super) end: usize,
}

impl<'a> SharedKeys<'a> {
    pub(super) fn new(keys: &[&'a [u8]], start: usize) -> Self {
        let mut shared =
            Self { stored: Vec::with_capacity(keys.len()), ends: Vec::with_capacity(keys.len()), end: start };
        let mut former: &[u8] = &[];
        for key in keys {
            let rest = key.strip_prefix(former).filter(|_| !former.is_empty());
            let stored = rest.unwrap_or(key);
            shared.end += stored.len();
            shared.stored.push(stored);
            shared.ends.push(2 * shared.end + usize::from(rest.is_some()));
            former = key;
        }
        shared
    }

    pub(super) const fn is_shared(end: usize) -> bool {
        end % 2 == 1
    }

    pub(super) const fn end(end: usize) -> usize {
        end / 2
    }
}
