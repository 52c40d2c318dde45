//! Comparison of texts regardless of case, and natural sort keys: `sw2` comes before `sw10`.

use sha2::{Digest, Sha256};

use crate::invariant::Invariant;

/// Maximum length of a key, in bytes. Longer ones end in a digest, so that different texts have different keys.
const MAX_LENGTH: usize = 256;

/// Length of the digest.
const DIGEST: usize = 32;

/// Separates the text from its leading zeros. A NUL of the text is followed by [`ESCAPED`].
const END: [u8; 2] = [0, 1];
const ESCAPED: u8 = u8::MAX;

/// Returns the sort key of a text.
///
/// Texts that differ only in case have the same key, and all others different ones. Numbers are compared by their value.
/// Texts that differ only in leading zeros are neighbors. The order is otherwise the one of Unicode code points, of about
/// the first 200 bytes.
pub(super) fn natural_key(text: &str) -> Vec<u8> {
    let folded = without_case(text);
    let mut key = Vec::with_capacity(folded.len() + 4);
    let mut zeros = Vec::new();
    let mut rest = folded.as_bytes();
    while let Some(first) = rest.first() {
        let is_number = first.is_ascii_digit();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit() == is_number).count();
        let (run, others) = rest.split_at(length);
        rest = others;
        if is_number {
            push_number(run, &mut key, &mut zeros);
        } else {
            run.iter().for_each(|byte| push_byte(*byte, &mut key));
        }
    }
    // Trailing counts of no zeros mean nothing.
    while zeros.pop_if(|zeros| *zeros == 0).is_some() {}
    if !zeros.is_empty() {
        key.extend(END);
        zeros.into_iter().for_each(|count| push_count(count, &mut key));
    }
    if key.len() > MAX_LENGTH {
        key.truncate(MAX_LENGTH - DIGEST);
        key.extend(Sha256::digest(&folded));
    }
    key
}

fn push_byte(byte: u8, key: &mut Vec<u8>) {
    key.push(byte);
    if byte == 0 {
        key.push(ESCAPED);
    }
}

/// Adds a number: its number of digits, and the digits without leading zeros, whose count is noted.
fn push_number(digits: &[u8], key: &mut Vec<u8>, zeros: &mut Vec<usize>) {
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    // The last zero of 0 is its only digit.
    let leading = leading.min(digits.len() - 1);
    zeros.push(leading);
    let digits = digits.get(leading..).asserted_or_default();
    let mut length = digits.len();
    // A digit of 9 is followed by the rest of the length.
    while length >= 9 {
        key.push(b'9');
        length -= 9;
    }
    key.push(b'0' + length as u8);
    key.extend_from_slice(digits);
}

fn push_count(mut count: usize, key: &mut Vec<u8>) {
    while count >= usize::from(u8::MAX) {
        key.push(u8::MAX);
        count -= usize::from(u8::MAX);
    }
    key.push(count as u8);
}

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

    #[test]
    fn numbers_are_ordered_by_value_and_letters_regardless_of_case() {
        let mut texts: Vec<&str> = [
            "sw10",
            "sw2",
            "SW1",
            "sw",
            "sw2-1",
            "sw02",
            "sw 3",
            "rack9-sw10",
            "rack10-sw9",
            "",
            "sw123456789",
            "sw99999999",
            "sw1234567890123456789012345678901234567890",
            "10.0.0.2",
            "10.0.0.10",
            "9.0.0.1",
            "0",
            "00",
        ]
        .into();
        texts.sort_by_key(|text| natural_key(text));
        let expected = [
            "",
            "0",
            "00",
            "9.0.0.1",
            "10.0.0.2",
            "10.0.0.10",
            "rack9-sw10",
            "rack10-sw9",
            "sw",
            "sw 3",
            "SW1",
            "sw2",
            "sw2-1",
            "sw02",
            "sw10",
            "sw99999999",
            "sw123456789",
            "sw1234567890123456789012345678901234567890",
        ];
        let positions = |text: &str| texts.iter().position(|other| *other == text).unwrap();
        // Leading zeros only decide between texts that are equal without them.
        assert!(positions("sw2") < positions("sw02") && positions("sw02") < positions("sw2-1"));
        texts.retain(|text| *text != "sw02");
        let expected: Vec<&str> = expected.into_iter().filter(|text| *text != "sw02").collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn only_texts_that_differ_in_case_have_the_same_key() {
        let long = "x1".repeat(400);
        let texts = [
            "a",
            "a0",
            "a00",
            "a1",
            "a01",
            "a001",
            "a1b1",
            "a01b1",
            "a1b01",
            "a01b01",
            "a\0",
            "a\0\u{1}",
            "a\0\u{1}\u{1}",
            "1",
            "01",
            "11",
            "011",
            "a1\0\u{1}\u{1}",
            &long,
            &long[..798],
        ];
        for (place, left) in texts.iter().enumerate() {
            assert_eq!(natural_key(left), natural_key(&left.to_uppercase()));
            assert!(natural_key(left).len() <= MAX_LENGTH);
            for right in texts.iter().skip(place + 1) {
                assert_ne!(natural_key(left), natural_key(right), "{left:?} and {right:?}");
            }
        }
        assert_ne!(
            natural_key(&format!("a{}1", "0".repeat(300))),
            natural_key(&format!("a{}1", "0".repeat(299)))
        );
    }

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
