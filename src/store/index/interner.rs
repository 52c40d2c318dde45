use crate::store::Name;

/// The number of a [`Name`], used in packed rows and as map keys.
pub(super) type NameId = u16;

/// Numbers names. There are about a dozen, so a linear scan is faster than a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner(Vec<Name>);

impl Interner {
    pub(super) fn find(&self, name: Name) -> Option<NameId> {
        self.0.iter().position(|known| *known == name).and_then(|place| NameId::try_from(place).ok())
    }

    pub(super) fn name(&self, id: NameId) -> Option<Name> {
        self.0.get(usize::from(id)).copied()
    }

    /// Returns whether this many more names can be numbered.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.0.len() + more <= usize::from(NameId::MAX)
    }

    /// Returns the number of a name, and assigns one to a new name. `None` after 65,535 names.
    pub(super) fn intern(&mut self, name: Name) -> Option<NameId> {
        self.find(name).or_else(|| {
            let id = NameId::try_from(self.0.len()).ok()?;
            self.0.push(name);
            Some(id)
        })
    }
}
