//! Text in XML documents and other files.

use std::borrow::Cow;

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

/// Returns the character that replaces a character in XML. White space becomes a space; characters that XML does not
/// allow, and invisible ones that order the text around them, become U+FFFD. All others stay.
pub(super) const fn visible(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{0}'..='\u{1F}'
        | '\u{7F}'..='\u{9F}'
        // Embeddings, overrides and isolates of directions; deprecated and interlinear controls.
        | '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{206F}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{FFFE}'
        | '\u{FFFF}' => '\u{FFFD}',
        _ => character,
    }
}

/// Returns a text that does not change the order of the texts beside it.
///
/// Text that is written from right to left becomes an isolate. The text contains none yet: [`visible`] replaces them.
pub(super) fn isolated(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_from_right) {
        Cow::Owned(format!("\u{2068}{text}\u{2069}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether a character belongs to a script that is written from right to left, or makes text around it so.
const fn is_from_right(character: char) -> bool {
    matches!(
        character,
        '\u{590}'..='\u{8FF}'
            | '\u{200F}'
            | '\u{FB1D}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFC}'
            | '\u{10800}'..='\u{10FFF}'
            | '\u{1E800}'..='\u{1EFFF}'
    )
}

/// Returns text for element content and attribute values beside other texts.
pub(super) fn escape_isolated(text: &str) -> String {
    isolated(&escape(text)).into_owned()
}
