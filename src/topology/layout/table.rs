//! Lists that accept any index.

/// A list of fixed length. Elements beyond its end have the default value and cannot be changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Table<T>(Vec<T>);

impl<T: Clone + Default> Table<T> {
    pub(super) fn new(length: usize) -> Self {
        Self(vec![T::default(); length])
    }

    pub(super) fn of(length: usize, value: T) -> Self {
        Self(vec![value; length])
    }

    pub(super) fn set(&mut self, index: usize, value: T) {
        if let Some(element) = self.0.get_mut(index) {
            *element = value;
        }
    }

    pub(super) fn change(&mut self, index: usize, change: impl FnOnce(&mut T)) {
        if let Some(element) = self.0.get_mut(index) {
            change(element);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    pub(super) fn into_inner(self) -> Vec<T> {
        self.0
    }
}

impl<T: Copy + Default> Table<T> {
    pub(super) fn at(&self, index: usize) -> T {
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl<T> Table<Vec<T>> {
    pub(super) fn list(&self, index: usize) -> &[T] {
        self.0.get(index).map_or(&[], Vec::as_slice)
    }

    pub(super) fn push(&mut self, index: usize, value: T) {
        if let Some(list) = self.0.get_mut(index) {
            list.push(value);
        }
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}
