//! The sections of a table, each with the entries of one interface.

use super::addresses::ip_address;
use super::line::Word;

/// The interface of the entries that follow.
pub(super) struct TableSection {
    pub(super) index: Option<i64>,
    pub(super) name: Option<String>,
}

impl TableSection {
    /// Reads the line `Interface: 192.0.2.5 --- 0xb` of Windows' `arp`, in any language, `Interface 11: Ethernet` of
    /// `netsh`, or `Interface: eth0, type: EN10MB, …` of `arp-scan`.
    pub(super) fn read(words: &[Word<'_>]) -> Option<Self> {
        if let [.., address, dashes, index] = words
            && dashes.text == "---"
            && ip_address(address.text).is_some()
        {
            let index = i64::from_str_radix(index.text.strip_prefix("0x")?, 16).ok()?;
            return Some(Self { index: Some(index), name: None });
        }
        let [title, index, name @ ..] = words else { return None };
        if title.text == "Interface:" && name.iter().take(2).any(|word| word.text == "type:") {
            let name = index.text.strip_suffix(',')?;
            return Some(Self { index: None, name: Some(name.to_owned()) });
        }
        // Titles in other letters than Latin ones are not listed.
        let is_title = !title.text.is_ascii() && title.text.chars().all(char::is_alphabetic);
        let is_titled = is_title || INTERFACE.contains(&title.text.to_lowercase().as_str());
        // French has a space before the colon.
        let (index, name) = match name {
            [colon, name @ ..] if colon.text == ":" => (index.text, name),
            _ => (index.text.strip_suffix(':')?, name),
        };
        let index = index.parse().ok().filter(|_| is_titled && !name.is_empty())?;
        let name: Vec<&str> = name.iter().map(|word| word.text).collect();
        Some(Self { index: Some(index), name: Some(name.join(" ")) })
    }
}

/// The word that begins the sections of `netsh`, in several languages.
const INTERFACE: &[&str] =
    &["interface", "schnittstelle", "interfaz", "interfaccia", "interfejs", "grensesnitt", "arabirim"];
