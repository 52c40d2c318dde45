//! Text in XML documents.

/// Returns text for element content and attribute values, without line breaks.
///
/// XML 1.0 cannot carry most control characters, even escaped: they become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match visible(character) {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            visible => escaped.push(visible),
        }
    }
    escaped
}

/// Returns a space for white space, and U+FFFD for characters that XML does not allow.
pub(super) const fn visible(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        _ => character,
    }
}
