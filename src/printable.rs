//! Text from outside as a part of a sentence.

/// Returns the first characters of a text, at most `most`. A cut text ends with `…`.
///
/// Control characters are escaped, and those that change the direction of text: neither may alter how the rest of the
/// sentence is shown.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let mut characters = text.chars().flat_map(escaped);
    let mut printable: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        printable.push('…');
    }
    printable
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
        for (text, most, expected) in [
            ("O'Brien \"Büro\"", 64, "O'Brien \"Büro\""),
            ("a\0b\n\u{1b}[31m\u{202e}c", 64, "a\\0b\\n\\u{1b}[31m\\u{202e}c"),
            ("日本語", 3, "日本語"),
            ("日本語", 2, "日本…"),
            ("\n\n", 3, "\\n\\…"),
            ("", 0, ""),
        ] {
            assert_eq!(printable(text, most), expected);
        }
    }
}
