//! Disk format of the log: file headers and frames. Each frame holds one group of batches.

use crc32fast::Hasher;

use crate::invariant::Invariant;
use crate::store::log::batch::{AcceptedBatch, Bodies, put_batches};
use crate::store::log::codec::Decoder;

/// Length of a frame header: salt, LSN, payload length, checksum.
const FRAME_HEADER_BYTES: usize = 8 + 8 + 8 + 4;

/// Appends a frame to a buffer.
///
/// The salt is random and secret, so that no client can craft a body that looks like a frame.
pub(super) fn write_frame(bytes: &mut Vec<u8>, salt: u64, lsn: u64, group: &[AcceptedBatch]) {
    let start = bytes.len();
    bytes.resize(start + FRAME_HEADER_BYTES, 0);
    put_batches(bytes, group, Bodies::Inline);
    let Some((header, payload)) =
        bytes.get_mut(start..).and_then(|frame| frame.split_at_mut_checked(FRAME_HEADER_BYTES))
    else {
        return;
    };
    let length = payload.len() as u64;
    let checksum = frame_checksum(salt, lsn, length, payload);
    let fields =
        [&salt.to_le_bytes()[..], &lsn.to_le_bytes(), &length.to_le_bytes(), &checksum.to_le_bytes()];
    for (target, byte) in header.iter_mut().zip(fields.concat()) {
        *target = byte;
    }
}

fn frame_checksum(salt: u64, lsn: u64, length: u64, payload: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    for number in [salt, lsn, length] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(payload);
    hasher.finalize()
}

/// Returns the payload of the frame at the front, if it is intact. The frame must also have this salt and LSN.
pub(super) fn read_frame<'b>(decoder: &mut Decoder<'b>, salt: u64, lsn: u64) -> Option<&'b [u8]> {
    if decoder.u64()? != salt || decoder.u64()? != lsn {
        return None;
    }
    let length = decoder.u64()?;
    let expected = decoder.u32()?;
    let payload = decoder.take(usize::try_from(length).ok()?)?;
    (frame_checksum(salt, lsn, length, payload) == expected).then_some(payload)
}

const MAGIC: u64 = u64::from_le_bytes(*b"topojrnl");

pub(super) const FILE_HEADER_BYTES: usize = 8 + 8 + 8 + 8 + 8 + 4;

/// Header of a log file, rewritten each time the file is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileHeader {
    /// Number that increases with every reuse of any log file. The newest file has the highest.
    pub(super) generation: u64,
    /// LSN of the first frame.
    pub(super) first_lsn: u64,
    pub(super) salt: u64,
    /// Whether every frame was synced before the next was written.
    pub(super) is_synced: bool,
}

impl FileHeader {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        for number in [MAGIC, self.generation, self.first_lsn, self.salt, u64::from(self.is_synced)] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let checksum = crc32fast::hash(bytes.get(start..).asserted_or_default());
        bytes.extend_from_slice(&checksum.to_le_bytes());
    }

    /// Returns `None` if the header is incomplete. No frame after it can have been acknowledged then.
    pub(super) fn read(decoder: &mut Decoder<'_>) -> Option<Self> {
        let content = Decoder(decoder.0).take(FILE_HEADER_BYTES - 4)?;
        let magic = decoder.u64()?;
        let (generation, first_lsn, salt) = (decoder.u64()?, decoder.u64()?, decoder.u64()?);
        let header = Self { generation, first_lsn, salt, is_synced: decoder.u64()? != 0 };
        (decoder.u32()? == crc32fast::hash(content) && magic == MAGIC).then_some(header)
    }
}
