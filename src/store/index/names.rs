use crate::store::Name;

/// A [`Name`] as a number, in packed rows and in the keys of maps.
pub(super) type NameId = u16;

/// The names that were met, numbered. There are a dozen of them, so a scan beats a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<Name>);

impl Names {
    pub(super) fn find(&self, name: Name) -> Option<NameId> {
        self.0.iter().position(|known| *known == name).and_then(|place| NameId::try_from(place).ok())
    }

    pub(super) fn name(&self, id: NameId) -> Option<Name> {
        self.0.get(usize::from(id)).copied()
    }

    /// Whether so many more names can be numbered.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.0.len() + more <= usize::from(NameId::MAX)
    }

    /// `None` when 65,535 other names were met before.
    pub(super) fn intern(&mut self, name: Name) -> Option<NameId> {
        self.find(name).or_else(|| {
            let id = NameId::try_from(self.0.len()).ok()?;
            self.0.push(name);
            Some(id)
        })
    }
}
