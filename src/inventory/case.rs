//! Comparison of texts regardless of case.

/// Returns a form that is the same for texts that differ only in case.
///
/// Lower case alone keeps letters apart that have the same upper case, such as `µ` and `μ`, or `ſ` and `s`. The upper
/// case of `ẞ` is itself, so that lower case comes first. Lower-casing gives `ς` at the end of a word and `σ`
/// elsewhere.
pub(super) fn without_case(text: &str) -> String {
    text.to_lowercase().to_uppercase().to_lowercase().replace('ς', "σ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All characters that have another case.
    fn letters() -> impl Iterator<Item = char> {
        let has_case =
            |letter: &char| letter.to_uppercase().ne([*letter]) || letter.to_lowercase().ne([*letter]);
        ('\0'..=char::MAX).filter(has_case)
    }

    #[test]
    fn every_letter_equals_its_upper_and_its_lower_case_anywhere_in_a_text() {
        for letter in letters() {
            let (upper, lower) = (letter.to_uppercase().to_string(), letter.to_lowercase().to_string());
            for (before, after) in [("", ""), ("a", ""), ("", "a"), ("a", "a"), ("a", " a")] {
                let compared = |letters: &str| without_case(&format!("{before}{letters}{after}"));
                let expected = compared(&letter.to_string());
                assert_eq!(compared(&upper), expected, "{letter:?}");
                assert_eq!(compared(&lower), expected, "{letter:?}");
                assert_eq!(without_case(&expected), expected, "{letter:?}");
            }
        }
    }

    #[test]
    fn texts_that_differ_only_in_case_are_equal_and_others_are_not() {
        for (left, right) in
            [("ΟΔΟΣ", "οδοσ"), ("ΟΔΟΣ", "οδος"), ("µ", "Μ"), ("ſ", "S"), ("STRAẞE", "straße")]
        {
            assert_eq!(without_case(left), without_case(right));
        }
        for (left, right) in [("e", "é"), ("i", "j"), ("a", "а"), ("1", "¹"), ("a b", "ab")] {
            assert_ne!(without_case(left), without_case(right));
        }
    }
}
