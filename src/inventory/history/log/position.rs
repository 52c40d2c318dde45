//! Places in the history, and the positions that clients see.

use base64ct::{Base64UrlUnpadded, Encoding};
use ctutils::CtEq;
use serde::{Deserialize, Serialize};

use crate::access::{CodeSecret, RandomError, RandomSource};
use crate::model::{ChangePosition, OrganizationId};

/// The number of bytes of a place.
const LENGTH: usize = 4 + 8 + 4 + 8;
/// The number of bytes of the code before them, which shows that this server has made the position.
const CODE: usize = 16;

/// The place of an entry: its era, the version of its commit, and its number within the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(in crate::inventory::history) struct Place {
    pub(in crate::inventory::history) era: u32,
    pub(in crate::inventory::history) version: u64,
    pub(in crate::inventory::history) number: u32,
    /// A random number that the commit has chosen. Another log may have another commit with the same version.
    pub(in crate::inventory::history) commit: u64,
}

/// The secret under which positions are sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::inventory::history) struct PositionKey(CodeSecret);

impl Place {
    /// The place before the first entry.
    pub(in crate::inventory::history) const BEGINNING: Self =
        Self { era: 0, version: 0, number: 0, commit: 0 };

    /// Returns a place that is before this one and not before any entry that is. `None`: nothing is before it.
    pub(in crate::inventory::history) fn predecessor(self) -> Option<Self> {
        let Self { era, version, number, .. } = self;
        let commit = u64::MAX;
        match (number.checked_sub(1), version.checked_sub(1), era.checked_sub(1)) {
            (Some(number), ..) => Some(Self { number, commit, ..self }),
            (None, Some(version), _) => Some(Self { version, number: u32::MAX, commit, era }),
            (None, None, Some(era)) => Some(Self { era, version: u64::MAX, number: u32::MAX, commit }),
            (None, None, None) => None,
        }
    }

    /// Returns the sort key of the records of a commit, as a store completes it.
    pub(in crate::inventory::history) fn commit_key(self) -> Vec<u8> {
        [self.era.to_be_bytes().as_slice(), &self.version.to_be_bytes()].concat()
    }

    /// Returns the sort key of a run of which this is the last entry.
    pub(in crate::inventory::history) fn entry_key(self) -> Vec<u8> {
        [self.commit_key().as_slice(), &self.number.to_be_bytes()].concat()
    }

    fn to_bytes(self) -> [u8; LENGTH] {
        let Self { era, version, number, commit } = self;
        let [era, number] = [era, number].map(u32::to_be_bytes);
        let [version, commit] = [version, commit].map(u64::to_be_bytes);
        let mut bytes = [0; LENGTH];
        let parts = era.into_iter().chain(version).chain(number).chain(commit);
        bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        bytes
    }

    fn from_bytes(bytes: [u8; LENGTH]) -> Option<Self> {
        let (era, rest) = bytes.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let version = u64::from_be_bytes(*version);
        let commit = u64::from_be_bytes(rest.try_into().ok()?);
        Some(Self { era: u32::from_be_bytes(*era), version, number: u32::from_be_bytes(*number), commit })
    }
}

impl ChangePosition {
    /// Returns whether the text has the form of positions.
    pub(in crate::inventory::history) fn has_form(&self) -> bool {
        let mut bytes = [0; CODE + LENGTH];
        let decoded = Base64UrlUnpadded::decode(self.as_str(), &mut bytes);
        decoded.is_ok_and(|decoded| decoded.len() == CODE + LENGTH)
    }
}

impl PositionKey {
    pub(in crate::inventory::history) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        CodeSecret::generate(random).map(Self)
    }

    /// Returns the position of a place in the history of an organization.
    ///
    /// The code is made from the place, and the place is concealed by a code of that code. So equal places have equal positions,
    /// and different ones have nothing in common.
    pub(in crate::inventory::history) fn seal(
        &self,
        organization: OrganizationId,
        place: Place,
    ) -> ChangePosition {
        let bytes = place.to_bytes();
        let code = self.code(organization, &bytes);
        let text = [code.as_slice(), &self.concealed(organization, &code, bytes)].concat();
        ChangePosition::new(Base64UrlUnpadded::encode_string(&text))
    }

    /// Returns the place of a position. `None`: this server has not made it for this organization.
    pub(in crate::inventory::history) fn open(
        &self,
        organization: OrganizationId,
        position: &ChangePosition,
    ) -> Option<Place> {
        let mut bytes = [0; CODE + LENGTH];
        let decoded = Base64UrlUnpadded::decode(position.as_str(), &mut bytes).ok()?;
        let (code, concealed) = decoded.split_first_chunk::<CODE>()?;
        let bytes = self.concealed(organization, code, concealed.try_into().ok()?);
        let is_own = self.code(organization, &bytes).ct_eq(code).to_bool();
        is_own.then(|| Place::from_bytes(bytes)).flatten()
    }

    fn code(&self, organization: OrganizationId, place: &[u8; LENGTH]) -> [u8; CODE] {
        let code = self.0.code(&[b"place", organization.as_bytes().as_slice(), place].concat());
        code.first_chunk().copied().unwrap_or_default()
    }

    /// Conceals a place, or reveals a concealed one.
    fn concealed(
        &self,
        organization: OrganizationId,
        code: &[u8; CODE],
        mut place: [u8; LENGTH],
    ) -> [u8; LENGTH] {
        let mask = self.0.code(&[b"mask.", organization.as_bytes().as_slice(), code].concat());
        place.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        place
    }
}
