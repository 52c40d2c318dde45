//! Detects data in answers and logs that belongs to another organization or must stay secret.

use std::collections::{HashMap, HashSet};

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Prefix of every marker; a letter that identifies the organization follows.
const MARK: &str = "zqzq";

/// Text of the store's errors, which may appear in the log only.
pub(crate) const INTERNAL: &str = "vault.internal:5432";

/// Length of the pieces into which every secret, in each of its forms, is cut. No text that a client sees may
/// contain one.
const PIECE: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Leaks {
    owners: HashMap<Uuid, Uuid>,
    /// Pairs of a foreign id and the organization whose own records contain it. A client of that organization put the
    /// id there.
    noted: HashSet<(Uuid, Uuid)>,
    markers: Vec<(char, Uuid)>,
    pieces: HashSet<[u8; PIECE]>,
}

/// A text to check.
#[derive(Clone, Copy)]
pub(crate) struct Disclosure<'a> {
    pub(crate) text: &'a str,
    /// Organization whose data may be in the text.
    pub(crate) to: Option<Uuid>,
    /// Text sent by the client itself, as [`sent`](super::request::ApiRequest::sent).
    pub(crate) sent: &'a str,
}

impl Leaks {
    /// Returns the marker of a new organization.
    pub(crate) fn mark(&mut self, organization: Uuid) -> String {
        let letter = char::from(b'a' + u8::try_from(self.markers.len()).unwrap());
        self.markers.push((letter, organization));
        format!("{MARK}{letter}")
    }

    /// Remembers permanently which organization a record belongs to.
    pub(crate) fn own(&mut self, id: Uuid, organization: Uuid) {
        self.owners.insert(id, organization);
    }

    /// Returns whether a record with this id exists or existed.
    pub(crate) fn knows(&self, id: Uuid) -> bool {
        self.owners.contains_key(&id)
    }

    /// Remembers that an organization's own records contain an id that may be another organization's.
    pub(crate) fn note(&mut self, id: Uuid, organization: Uuid) {
        self.noted.insert((organization, id));
    }

    /// Remembers a secret and the values derived from it.
    pub(crate) fn keep(&mut self, secret: &str) {
        // The prefix of a key is not secret.
        let bare = ["topo_u_", "topo_d_"].iter().find_map(|prefix| secret.strip_prefix(prefix));
        self.keep_pieces(bare.unwrap_or(secret));
        self.keep_digest(secret);
    }

    /// Remembers the values derived from a secret that is still to be returned.
    pub(crate) fn keep_digest(&mut self, secret: &str) {
        let digest = Sha256::digest(secret);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.keep_pieces(&hex.to_uppercase());
        self.keep_pieces(&hex);
        // The store holds the halves separately.
        for part in [&digest[..], &digest[16..]] {
            self.keep_pieces(&Base64::encode_string(part));
            self.keep_pieces(&Base64UrlUnpadded::encode_string(part));
        }
    }

    fn keep_pieces(&mut self, text: &str) {
        let pieces = text.as_bytes().chunks_exact(PIECE);
        self.pieces.extend(pieces.map(|piece| <[u8; PIECE]>::try_from(piece).unwrap()));
    }

    /// Checks a text that a client receives.
    pub(crate) fn check(&self, disclosure: Disclosure<'_>) {
        assert!(!disclosure.text.contains(INTERNAL), "an error of the store is in {}", disclosure.text);
        self.check_text(disclosure, true);
    }

    /// Checks a text from the log, which may contain the store's error text.
    ///
    /// Operators read it. The span of a request names the organization of the credential even if the request is refused, and
    /// the audit names the records that were changed.
    pub(crate) fn check_log(&self, disclosure: Disclosure<'_>) {
        self.check_text(disclosure, false);
        for line in disclosure.text.lines().filter(|line| !line.contains("toposcope::audit:")) {
            let text = line.split_once("}: ").map_or(line, |(_, text)| text);
            self.check_text(Disclosure { text, ..disclosure }, true);
        }
    }

    fn check_text(&self, disclosure: Disclosure<'_>, with_ids: bool) {
        assert!(!disclosure.text.contains("$argon2"), "the hash of a password in {}", disclosure.text);
        for (place, _) in disclosure.text.match_indices('[') {
            let next = disclosure.text[place + 1..].chars().next();
            assert!(!next.is_some_and(|next| next.is_ascii_digit()), "bytes in {}", disclosure.text);
        }
        self.check_markers(disclosure);
        let is_apart = |letter: char| !letter.is_ascii_alphanumeric() && !"+/-_".contains(letter);
        for word in disclosure.text.split(is_apart).filter(|word| word.len() >= PIECE) {
            self.check_word(word, disclosure, with_ids);
        }
    }

    fn check_markers(&self, disclosure: Disclosure<'_>) {
        for (place, _) in disclosure.text.match_indices(MARK) {
            let letter = disclosure.text[place + MARK.len()..].chars().next();
            let owner = self.markers.iter().find(|(known, _)| Some(*known) == letter);
            let Some((_, owner)) = owner else { continue };
            assert_eq!(Some(*owner), disclosure.to, "text of another organization in {}", disclosure.text);
        }
    }

    fn check_word(&self, word: &str, disclosure: Disclosure<'_>, with_ids: bool) {
        if let Ok(id) = word.parse::<Uuid>() {
            if with_ids {
                self.check_id(id, disclosure);
            }
            return;
        }
        for piece in word.as_bytes().windows(PIECE) {
            assert!(!self.pieces.contains(piece), "a secret in {}", disclosure.text);
        }
        // An id may be part of a longer word.
        for piece in word.as_bytes().windows(36) {
            if with_ids && let Ok(id) = Uuid::try_parse_ascii(piece) {
                self.check_id(id, disclosure);
            }
        }
    }

    fn check_id(&self, id: Uuid, disclosure: Disclosure<'_>) {
        if disclosure.sent.contains(&id.simple().to_string()) {
            return;
        }
        let owner = self.owners.get(&id).copied();
        let is_noted = disclosure.to.is_some_and(|organization| self.noted.contains(&(organization, id)));
        let is_own = owner.is_some() && owner == disclosure.to;
        assert!(is_own || is_noted, "{id}, of {owner:?}, sent to {:?} in {}", disclosure.to, disclosure.text);
    }
}
