//! Strict readers of the formats.

use quick_xml::Reader;
use quick_xml::events::Event;
use toposcope::topology::graph::Graph;
use toposcope::topology::render::{Format, Picture};

/// Renders a graph in all formats, and panics when one is not well-formed.
pub(super) fn render_all(graph: &Graph, title: &str) {
    for format in Format::ALL {
        let file = Picture::new(graph, title).render(*format).unwrap();
        match format {
            Format::Svg | Format::GraphMl | Format::DrawIo => assert_xml(&file),
            Format::Mermaid => assert_mermaid(&file),
            Format::Dot => assert_dot(&file),
            Format::Json => {
                serde_json::from_str::<Graph>(&file).unwrap();
            }
            _ => panic!("unknown format"),
        }
    }
}

/// Panics unless the text is a well-formed document with the characters that XML 1.0 allows.
pub(super) fn assert_xml(text: &str) {
    let is_allowed = |character: char| {
        matches!(character, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..) && character != '\u{7F}'
    };
    assert!(text.chars().all(is_allowed), "a character that XML cannot carry");
    let mut reader = Reader::from_str(text);
    let mut depth = 0_i64;
    let mut roots = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                roots += i64::from(depth == 0);
                depth += 1;
                check_attributes(&start);
            }
            Event::Empty(start) => check_attributes(&start),
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((depth, roots), (0, 1));
}

fn check_attributes(start: &quick_xml::events::BytesStart<'_>) {
    let name = start.name();
    let name: &str = name.as_ref();
    assert!(!["script", "foreignObject", "iframe", "image", "a"].contains(&name), "element {name}");
    for attribute in start.attributes() {
        let attribute = attribute.unwrap();
        let key: &str = attribute.key.as_ref();
        assert!(!key.starts_with("on"), "attribute {key}");
        assert!(!attribute.value.contains('<'));
    }
}

/// Panics unless quotes and subgraphs are balanced, and all quoted text is harmless. Comments must be harmless too.
fn assert_mermaid(text: &str) {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flowchart TB"));
    let mut depth = 0;
    for line in lines.map(str::trim_start) {
        let harmless = |text: &str| {
            text.replace("<br/>", " ").chars().all(|character| {
                !character.is_ascii() || character.is_ascii_alphanumeric() || " .-_/,#;".contains(character)
            })
        };
        if let Some(comment) = line.strip_prefix("%% ") {
            assert!(harmless(&comment.replace('?', "")), "{line}");
            continue;
        }
        if line == "end" {
            depth -= 1;
            continue;
        }
        depth += i32::from(line.starts_with("subgraph "));
        let quotes: Vec<&str> = line.split('"').collect();
        assert!(quotes.len() == 1 || quotes.len() == 3, "{line}");
        if let [before, label, after] = quotes[..] {
            assert!(harmless(label), "{line}");
            assert!(before.len() < 100 && after.len() < 50, "{line}");
        }
    }
    assert_eq!(depth, 0);
}

/// Panics unless quotes and braces are balanced, and nothing within quotes is special to Graphviz.
fn assert_dot(text: &str) {
    let mut depth = 0;
    for line in text.lines() {
        let parts: Vec<&str> = line.split('"').collect();
        assert!(parts.len() % 2 == 1, "{line}");
        for (index, part) in parts.iter().enumerate() {
            if index % 2 == 0 {
                depth += part.matches('{').count() as i64 - part.matches('}').count() as i64;
                assert!(part.is_ascii(), "{line}");
            } else {
                assert!(!part.replace("\\n", "").contains('\\') && !part.contains('<'), "{line}");
                assert!(!part.chars().any(char::is_control), "{line}");
            }
        }
    }
    assert_eq!(depth, 0);
}
