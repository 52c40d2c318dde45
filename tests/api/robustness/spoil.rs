//! Corrupts bytes.

use crate::common::SplitMix64;

/// Changes a few bytes of a text at random positions.
pub(super) fn spoil_bytes(text: &mut Vec<u8>, random: &mut SplitMix64) {
    for _ in 0..=random.below(3) {
        let place = random.below(text.len() + 1);
        match random.below(5) {
            0 if place < text.len() => text[place] = odd_byte(random),
            1 if place < text.len() => drop(text.remove(place)),
            2 => repeat_somewhere(text, place, random),
            3 if place < text.len() => text[place] ^= 1 << random.below(8),
            _ => text.insert(place, odd_byte(random)),
        }
    }
}

pub(super) fn cut_somewhere(text: &mut Vec<u8>, random: &mut SplitMix64) {
    text.truncate(random.below(text.len() + 1));
}

fn repeat_somewhere(text: &mut Vec<u8>, place: usize, random: &mut SplitMix64) {
    let end = (place + random.below(16)).min(text.len());
    let piece = text[place..end].to_vec();
    text.splice(place..place, piece);
}

/// Returns a random byte, more often one with a meaning in JSON, URIs or headers.
fn odd_byte(random: &mut SplitMix64) -> u8 {
    if random.once_in(3) {
        random.next().to_le_bytes()[0]
    } else {
        random.choose(b"\0\t\n \"\\/{}[]:,;=&?%+-._@#\x7f\x80\xc3\xff0129aAeE")
    }
}
