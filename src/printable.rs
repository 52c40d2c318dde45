//! Text from outside as a part of a sentence.

/// Returns the first characters of a text, at most `max`. A cut text ends with `…`.
///
/// Control characters are escaped, and those that change the direction of text: neither may alter how the rest of the
/// sentence is shown.
pub(crate) fn printable(text: &str, max: usize) -> String {
    let mut characters = text.chars().flat_map(escaped);
    let mut printable: String = characters.by_ref().take(max).collect();
    if characters.next().is_some() {
        printable.push('…');
    }
    printable
}

/// Returns whether a character is a format character. Such a character has no appearance of its own, and may change
/// that of others.
pub(crate) const fn is_format(character: char) -> bool {
    // The general category Cf of Unicode 16.
    matches!(
        character,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0001}'
            | '\u{e0020}'..='\u{e007f}'
    )
}

fn escaped(character: char) -> impl Iterator<Item = char> {
    let changes_direction = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_escaped = character.is_control() || changes_direction;
    let itself = (!is_escaped).then_some(character);
    itself.into_iter().chain(is_escaped.then(|| character.escape_debug()).into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn text_is_escaped_and_cut() {
        for (text, max, expected) in [
            ("O'Brien \"Büro\"", 64, "O'Brien \"Büro\""),
            ("a\0b\n\u{1b}[31m\u{202e}c", 64, "a\\0b\\n\\u{1b}[31m\\u{202e}c"),
            ("日本語", 3, "日本語"),
            ("日本語", 2, "日本…"),
            ("\n\n", 3, "\\n\\…"),
            ("", 0, ""),
        ] {
            assert_eq!(printable(text, max), expected);
        }
    }
}
