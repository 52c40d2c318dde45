//! The extents of nodes and of text, which is measured without a font and shortened to an extent.

use std::collections::BTreeSet;

use crate::invariant::Invariant;
use crate::model::NodeId;
use crate::topology::graph::shape::{Node, NodeKind};

/// Height of a node with an icon, in pixels.
pub(in crate::topology) const CARD_HEIGHT: f64 = 40.0;
/// Height of the title of a container, in pixels.
pub(in crate::topology) const HEADER_HEIGHT: f64 = 32.0;
/// Extent of an icon, in pixels.
pub(in crate::topology) const ICON: f64 = 28.0;
/// Distance between a border and what is within, in pixels.
pub(in crate::topology) const PADDING: f64 = 6.0;
/// Font size of labels, in pixels.
pub(in crate::topology) const LABEL_SIZE: u32 = 13;
/// Font size of details and ports, in pixels.
pub(in crate::topology) const DETAIL_SIZE: u32 = 11;

/// Largest width of a label, in pixels.
pub(in crate::topology::graph) const MAX_LABEL: u32 = 210;
/// Largest width of the second line of a node that stands for others, in pixels.
pub(in crate::topology::graph) const MAX_SUMMARY: u32 = 264;
/// Largest width of the title of a container, in pixels.
const MAX_TITLE: u32 = 330;

/// Sets the extent of each node, so that label and detail fit.
pub(in crate::topology::graph) fn measure(nodes: &mut [Node]) {
    let containers: BTreeSet<NodeId> = nodes.iter().filter_map(|node| node.parent_id).collect();
    for node in nodes {
        (node.width, node.height) = extent(node, containers.contains(&node.id));
    }
}

/// Returns the width that the content of a card needs.
pub(in crate::topology) fn content_width(node: &Node) -> f64 {
    extent(node, false).0
}

/// Returns the width and the height that a node needs.
pub(in crate::topology::graph) fn extent(node: &Node, is_container: bool) -> (f64, f64) {
    let detail = node.detail.as_deref().unwrap_or("");
    let icon = PADDING + ICON + PADDING;
    match node.kind {
        NodeKind::Subnet | NodeKind::Area if node.collapsed == 0 => {
            (title_width(&node.label, detail) + 4.0 * PADDING, HEADER_HEIGHT)
        }
        NodeKind::Segment => (label_width(&node.label, DETAIL_SIZE) + 4.0 * PADDING, 22.0),
        NodeKind::Service => (label_width(&node.label, LABEL_SIZE) + 4.0 * PADDING, 28.0),
        NodeKind::Host if is_container => {
            (icon + title_width(&node.label, detail) + 2.0 * PADDING, CARD_HEIGHT)
        }
        NodeKind::Host | NodeKind::Stub | NodeKind::Group | NodeKind::Subnet | NodeKind::Area => {
            let detail = f64::from(width(detail, DETAIL_SIZE).min(max_detail(node)));
            let text = label_width(&node.label, LABEL_SIZE).max(detail);
            (icon + text + 2.0 * PADDING, CARD_HEIGHT)
        }
    }
}

/// Returns the label as it is drawn on a card. Of a name that is too long, the middle is left out: its end is often what differs.
pub(in crate::topology) fn card_label(name: &str, size: u32) -> String {
    if width(name, size) <= MAX_LABEL {
        return shorten_to_width(name, size, MAX_LABEL);
    }
    // What follows the name of a host is its domain, which differs less.
    let host = name.split_once('.').map_or("", |(host, _)| host);
    let text = if host.is_empty() || name.contains(' ') { name } else { host };
    match width(text, size) {
        all if all <= MAX_LABEL.saturating_sub(width("\u{2026}", size)) => {
            return shorten_to_width(name, size, MAX_LABEL);
        }
        all if all <= MAX_LABEL => return text.to_owned(),
        _ => {}
    }
    let end = end_of(text, size, MAX_LABEL * 2 / 5);
    shorten_to_width(text, size, MAX_LABEL.saturating_sub(width(end, size))) + end
}

/// Returns the end of a text, of at most this width: all of its last words that fit, or else its last characters.
fn end_of(text: &str, size: u32, limit: u32) -> &str {
    let ends = text.char_indices().rev().take(MAX_CHARACTERS / 2).filter_map(|(start, _)| text.get(start..));
    let fitting: Vec<&str> = ends.take_while(|end| width(end, size) <= limit).collect();
    let before = |end: &str| text.strip_suffix(end).and_then(|rest| rest.chars().next_back());
    let is_whole = |end: &&str| !end.starts_with(is_mark) && before(end) != Some('\u{200D}');
    let is_word = |end: &&str| before(end).is_some_and(|last| "-._/: ".contains(last));
    let longest = || fitting.iter().copied().rev().filter(is_whole);
    longest().find(is_word).or_else(|| longest().next()).unwrap_or("")
}

/// Returns the second line of a card as it is drawn.
pub(in crate::topology) fn card_detail(node: &Node) -> Option<String> {
    node.detail.as_deref().map(|detail| shorten_to_width(detail, DETAIL_SIZE, max_detail(node)))
}

const fn max_detail(node: &Node) -> u32 {
    if node.collapsed > 0 { MAX_SUMMARY } else { MAX_LABEL }
}

/// Returns the label as it is drawn in the title of a container.
pub(in crate::topology) fn title_label(text: &str) -> String {
    shorten_to_width(text, LABEL_SIZE, MAX_TITLE)
}

fn label_width(text: &str, size: u32) -> f64 {
    f64::from(width(text, size).min(MAX_LABEL))
}

fn title_width(label: &str, detail: &str) -> f64 {
    let gap = if detail.is_empty() { 0.0 } else { 10.0 };
    f64::from(width(label, LABEL_SIZE).min(MAX_TITLE)) + gap + label_width(detail, DETAIL_SIZE)
}

/// Returns the width of text in a sans-serif font of this size. The width is in pixels, rounded up.
///
/// It suffices for Helvetica and for DejaVu Sans, which is wider and the only font of many machines.
pub(in crate::topology) fn width(text: &str, size: u32) -> u32 {
    let hundredths = text.chars().fold(0_u32, |sum, character| sum.saturating_add(advance(character)));
    hundredths.saturating_mul(size).div_ceil(100)
}

/// Returns the advance of a character in hundredths of the font's size.
const fn advance(character: char) -> u32 {
    match character {
        'i' | 'j' | 'l' | 'I' | '\'' => 29,
        ' ' | '.' | ',' | ':' | ';' | '/' | '\\' | '|' => 34,
        'f' | 't' | '-' => 39,
        'r' | '(' | ')' | '[' | ']' | '!' => 41,
        '"' | '`' => 50,
        's' | 'z' => 53,
        'c' | 'k' | 'v' | 'x' | 'y' => 59,
        'w' | '+' | '=' | '<' | '>' | '~' | '#' | '&' => 84,
        'm' | 'M' => 97,
        'W' | '@' | '%' | '\u{2026}' => 100,
        'C' | 'D' | 'G' | 'H' | 'N' | 'O' | 'Q' | 'U' => 79,
        'A'..='Z' => 70,
        '\u{0}'..='\u{7F}' => 64,
        // Characters without an advance of their own: combining marks, joiners, directions, variations.
        '\u{300}'..='\u{36F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' => 0,
        '\u{80}'..='\u{10FF}' => 72,
        // Scripts of full width, and everything unknown.
        _ => 105,
    }
}

/// Returns text with at most this many characters. The last one is `…` when some are left out.
pub(in crate::topology) fn shorten(text: &str, characters: usize) -> String {
    cut(text, |taken, _| taken > characters)
}

/// Largest number of characters of a text in a graph.
pub(in crate::topology::graph) const MAX_TEXT: usize = 256;

/// Returns a text as graphs show it: with at most 256 characters. Texts of records may be much longer.
pub(in crate::topology::graph) fn cut_text(text: &str) -> String {
    if text.len() <= MAX_TEXT { text.to_owned() } else { shorten(text, MAX_TEXT) }
}

/// Returns whether a text of a graph may have been cut.
pub(in crate::topology::graph) fn may_be_cut(text: &str) -> bool {
    // Spaces before the place of the cut are left out.
    text.ends_with('\u{2026}') || text.chars().count() >= MAX_TEXT
}

/// Largest number of characters in a picture. Marks have no width, so that the width alone does not limit them.
const MAX_CHARACTERS: usize = 120;

/// Returns text of at most this width. The last character is `…` when some are left out.
pub(in crate::topology) fn shorten_to_width(text: &str, size: u32, limit: u32) -> String {
    cut(text, |taken, hundredths| {
        taken > MAX_CHARACTERS || hundredths.saturating_mul(size).div_ceil(100) > limit
    })
}

/// Cuts text where it exceeds a limit, `…` included. The limit is one of characters or of hundredths of the font's
/// size.
fn cut(text: &str, exceeds: impl Fn(usize, u32) -> bool) -> String {
    const ELLIPSIS: char = '\u{2026}';
    let (mut end, mut taken, mut width) = (0, 0_usize, 0_u32);
    let mut is_open = true;
    for (start, character) in text.char_indices() {
        taken = taken.saturating_add(1);
        width = width.saturating_add(advance(character));
        if exceeds(taken, width) {
            let kept = text.get(..end).asserted_or_default();
            let kept = kept.trim_end_matches(|last: char| last.is_whitespace() || last == '\u{200D}');
            return format!("{kept}{ELLIPSIS}");
        }
        let room = !exceeds(taken.saturating_add(1), width.saturating_add(advance(ELLIPSIS)));
        is_open = is_open && room;
        // A mark belongs to the character before it, and must not be torn off.
        let is_joined =
            text.get(start.saturating_add(character.len_utf8())..).and_then(|rest| rest.chars().next());
        if is_open && !is_joined.is_some_and(|next| is_mark(next) || character == '\u{200D}') {
            end = start.saturating_add(character.len_utf8());
        }
    }
    text.to_owned()
}

const fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{20D0}'..='\u{20FF}' | '\u{200D}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}'
    )
}

/// Number of digits to which numbers are padded in keys for sorting.
const DIGITS: usize = 12;

/// Returns a key by which texts are sorted as people expect: `sw-9` comes before `sw-10`.
pub(in crate::topology::graph) fn sort_key(text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 2 * DIGITS);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|other: char| other.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (run, others) = rest.split_at(end);
        if is_number {
            let digits = run.trim_start_matches('0');
            key.extend(std::iter::repeat_n('0', DIGITS.saturating_sub(digits.len())));
            key.push_str(digits);
        } else {
            key.push_str(run);
        }
        rest = others;
    }
    key
}
