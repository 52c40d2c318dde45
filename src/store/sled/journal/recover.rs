use std::io;

use super::super::codec::Reader;
use super::file::Header;
use super::frame::{self, Replayed};
use super::{Journal, Sealed, decode};

/// What the journal holds beyond the records.
#[derive(Debug, Default)]
pub(in crate::store::sled) struct Recovered {
    pub(in crate::store::sled) batches: Vec<Replayed>,
    /// The sequence of the last frame, or of the last that is in the records already.
    pub(in crate::store::sled) last: u64,
    /// The greatest version that was given, and the greatest number of a body, among the batches.
    pub(in crate::store::sled) version: u64,
    pub(in crate::store::sled) body: u64,
    /// The files that the batches stand in.
    pub(in crate::store::sled) sealed: Vec<Sealed>,
    /// Whether frames that were on the disk once are missing before others.
    pub(in crate::store::sled) has_gap: bool,
    /// The files with frames that follow others which are missing, and of which nobody was promised that they would be there.
    pub(in crate::store::sled) unreached: Vec<Sealed>,
}

/// The sequence of the first frame in the file that was begun first; `None` when none was begun.
pub(in crate::store::sled) fn first_sequence(journal: &mut Journal) -> io::Result<Option<u64>> {
    let mut headers = Vec::new();
    for file in &mut journal.files {
        headers.extend(Header::read(&mut Reader(&file.read()?)));
    }
    Ok(headers.iter().min_by_key(|header| header.number).map(|header| header.first))
}

/// Reads what was appended after the sequence up to which everything is in the records. What is given back is on the disk:
/// it may be of one who was killed before it was, or who never asked for that.
pub(in crate::store::sled) fn recover(journal: &mut Journal, applied: u64) -> io::Result<Recovered> {
    let mut found = Vec::new();
    for (place, file) in journal.files.iter_mut().enumerate() {
        let content = file.read()?;
        if let Some(header) = Header::read(&mut Reader(&content)) {
            found.push((header, place, content));
        }
    }
    found.sort_unstable_by_key(|(header, ..)| header.number);
    journal.number = found.last().map_or(0, |(header, ..)| header.number);
    let mut recovered = Recovered { last: applied, ..Recovered::default() };
    for (turn, (header, place, content)) in found.iter().enumerate() {
        // A frame that failed may be there whole although its writer was refused. The next frame has its sequence then,
        // in its place or, where the file was changed meanwhile, at the beginning of the next.
        let until = found.get(turn + 1).map_or(u64::MAX, |(next, ..)| next.first);
        let before = recovered.last;
        let is_reached = read_file(*header, content, until, &mut recovered);
        let Some(file) = journal.files.get_mut(*place) else { continue };
        if recovered.last > before {
            recovered.sealed.push(Sealed(*place));
            file.sync()?;
        }
        if !is_reached && header.is_synced {
            recovered.has_gap = true;
        } else if !is_reached {
            recovered.unreached.push(Sealed(*place));
        }
    }
    journal.sealed.clone_from(&recovered.sealed);
    Ok(recovered)
}

/// Reads the frames of a file that are not in the records. Whether they follow what was read before.
fn read_file(header: Header, content: &[u8], until: u64, recovered: &mut Recovered) -> bool {
    let mut reader = Reader(content);
    let _ = Header::read(&mut reader);
    let mut sequence = header.first;
    while sequence < until
        && let Some(payload) = frame::read(&mut reader, header.salt, sequence)
    {
        if sequence > recovered.last {
            let batches = decode(payload).filter(|_| sequence == recovered.last + 1);
            let Some(batches) = batches else { return false };
            for replayed in batches {
                recovered.version = recovered.version.max(replayed.accepted.version.0);
                recovered.body = recovered.body.max(replayed.accepted.last_body());
                recovered.batches.push(replayed);
            }
            recovered.last = sequence;
        }
        sequence += 1;
    }
    true
}
