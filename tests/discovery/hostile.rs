//! Input made to exhaust memory or time, or to read files.

use std::io::{self, BufRead, BufReader, Read};

use toposcope::discovery::{Format, ParseError, ParseErrorKind, parse};

use crate::support::{refused, with_reporter};

#[test]
fn entity_definitions_are_refused() {
    let external = r#"<!DOCTYPE nmaprun [<!ENTITY x SYSTEM "file:///etc/passwd">]><nmaprun scanner="&x;"/>"#;
    let bomb = r#"<!DOCTYPE nmaprun [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><nmaprun args="&b;"/>"#;
    for document in [external, bomb] {
        let error = refused(Format::Nmap, document);
        assert!(matches!(error.kind(), ParseErrorKind::EntityDefinition), "{error}");
        assert_eq!(error.byte(), 0);
    }
}

#[test]
fn undefined_entities_are_refused_wherever_they_are() {
    for document in ["<nmaprun scanner=\"&x;\"/>", "<nmaprun>&x;</nmaprun>"] {
        assert!(matches!(refused(Format::Nmap, document).kind(), ParseErrorKind::Syntax(_)), "{document}");
    }
}

#[test]
fn error_quotes_little_of_the_input_and_no_control_characters() {
    let long = "\u{1b}[31m".repeat(100_000);
    for (format, document) in [
        (Format::Nmap, format!("<nmaprun scanner=\"&{long};\"/>")),
        (Format::Nmap, format!("<nmaprun>&{long};</nmaprun>")),
        (Format::Nmap, format!("<nmaprun></{long}>")),
        (Format::Report, format!("{{\"devices\": {}}}", serde_json::json!(long))),
    ] {
        let sentence = refused(format, document).to_string();
        assert!(sentence.chars().count() < 150 && !sentence.contains(char::is_control), "{sentence:?}");
    }
}

#[test]
fn external_document_type_is_never_loaded() {
    let document =
        r#"<!DOCTYPE nmaprun PUBLIC "-//X" "http://192.0.2.1/x.dtd"><nmaprun scanner="nmap"></nmaprun>"#;
    assert!(parse(Format::Nmap, document.as_bytes(), &with_reporter()).unwrap().devices.is_empty());
}

#[test]
fn deep_nesting_is_refused() {
    let error = refused(Format::Nmap, format!("<nmaprun>{}", "<a>".repeat(100_000)));
    assert!(matches!(error.kind(), ParseErrorKind::TooLarge(_)));
    for format in [Format::Lldpctl, Format::Report] {
        assert!(matches!(
            refused(format, format!("{{\"lldp\":{}", "[".repeat(100_000))).kind(),
            ParseErrorKind::Syntax(_)
        ));
    }
}

#[test]
fn single_elements_of_any_size_do_not_grow_memory() {
    let error = endless(Format::Nmap, "<nmaprun><host a=\"", b'x');
    assert!(matches!(error.kind(), ParseErrorKind::TooLarge(_)), "{error}");
    let error = endless(Format::Lldpctl, "{\"lldp\":{\"interface\":{\"a\":[", b',');
    assert!(matches!(error.kind(), ParseErrorKind::Syntax(_)), "{error}");
    let list = "1,".repeat(100_000);
    let error = refused(Format::Lldpctl, format!("{{\"lldp\":{{\"interface\":{{\"a\":[{list}"));
    assert!(error.to_string().contains("too many values"), "{error}");
}

#[test]
fn lines_of_any_length_do_not_grow_memory() {
    let tail = "\n.1.3.6.1.2.1.1.5.0 = STRING: \"a\"\n".as_bytes();
    let long = io::repeat(b'x').take(64 << 20);
    let walk = ".1.3.6.1.2.1.1.1.0 = STRING: ".as_bytes().chain(long).chain(tail);
    let report = parse(Format::Snmpwalk, BufReader::new(walk), &with_reporter()).unwrap();
    assert_eq!(report.devices[0].sys_name.as_deref(), Some("a"));
    assert!(report.devices[0].sys_descr.as_ref().unwrap().len() <= 256 * 1024);
}

#[test]
fn read_errors_are_passed_on() {
    for format in Format::ALL {
        let error = parse(*format, Broken, &with_reporter()).unwrap_err();
        assert!(matches!(error.kind(), ParseErrorKind::Io(_)), "{format}: {error}");
        assert!(error.to_string().contains("unplugged"), "{format}: {error}");
    }
}

fn endless(format: Format, head: &str, byte: u8) -> ParseError {
    let input = head.as_bytes().chain(io::repeat(byte).take(32 << 20));
    parse(format, BufReader::new(input), &with_reporter()).unwrap_err()
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("unplugged"))
    }
}

impl BufRead for Broken {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Err(io::Error::other("unplugged"))
    }

    fn consume(&mut self, _: usize) {}
}
