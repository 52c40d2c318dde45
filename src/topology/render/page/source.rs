use std::sync::LazyLock;

/// The style of all pages.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| compact(&[include_str!("page.css")]));

/// The script of pages that show a picture. Its last part starts the others.
pub(super) static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    compact(&[
        include_str!("script/document.js"),
        include_str!("script/words.js"),
        include_str!("script/network.js"),
        include_str!("script/camera.js"),
        include_str!("script/selection.js"),
        include_str!("script/panel.js"),
        include_str!("script/pointer.js"),
        include_str!("script/keyboard.js"),
        include_str!("script/search.js"),
        include_str!("script/minimap.js"),
        include_str!("script/files.js"),
        include_str!("script/tables.js"),
        include_str!("script/start.js"),
        include_str!("script/password.js"),
    ])
});

/// Joins the parts without indentation and comments, which only developers need.
///
/// A comment takes whole lines, and no string in the parts reaches over several lines.
fn compact(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let is_comment = |line: &&str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let mut compacted = String::new();
    for line in lines.filter(|line| !line.is_empty() && !is_comment(line)) {
        compacted.push_str(line);
        compacted.push('\n');
    }
    compacted
}
