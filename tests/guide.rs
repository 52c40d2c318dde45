//! The requests of the guide, sent to an API in process.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy.toml allows them in test functions only, and this file has helpers"
)]

use std::collections::HashMap;

use http::header::{AUTHORIZATION, ETAG};
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use serde_json::Value;
use toposcope::inventory::Bootstrap;
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

const PAGE: &str = include_str!("../src/guide/ten_requests.md");

/// Returns the commands of the page, each with the output that follows it.
fn commands() -> Vec<(&'static str, &'static str)> {
    let block = |section: &'static str, start| Some(section.split_once(start)?.1.split_once("\n```")?.0);
    let sections = PAGE.split("\n## ");
    sections
        .filter_map(|section| Some((block(section, "```sh\napi ")?, block(section, "```text\n")?)))
        .collect()
}

/// Splits a command into words as a shell does, with the values of variables.
fn words(command: &str, variables: &HashMap<&str, String>) -> Vec<String> {
    let (mut words, mut quote, mut rest) = (vec![String::new()], None, command);
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        let word = words.last_mut().unwrap();
        match (next, quote) {
            ('\'' | '"', None) => quote = Some(next),
            (_, Some(open)) if next == open => quote = None,
            ('$', None | Some('"')) => {
                let is_name = |character: char| character == '_' || character.is_ascii_alphabetic();
                let (name, after) = rest.split_at(rest.find(|next| !is_name(next)).unwrap_or(rest.len()));
                word.push_str(variables.get(name).unwrap_or_else(|| panic!("${name} is not set")));
                rest = after;
            }
            (' ', None) => words.push(String::new()),
            _ => word.push(next),
        }
    }
    words
}

/// Makes the request that curl sends for these words.
fn request(words: Vec<String>, file: &str) -> Request<String> {
    let (mut request, mut method, mut body) = (Request::builder(), None, None);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap();
        match word.as_str() {
            "-i" => {}
            ">" => drop(value()),
            "-X" => method = Some(value().parse().unwrap()),
            "-H" => {
                let header = value();
                let (name, value) = header.split_once(": ").unwrap();
                request = request.header(name, value);
            }
            "--json" => {
                request = request.header("content-type", "application/json");
                body = Some(value());
            }
            "--data-binary" => body = Some(value().replace("@hosts.jsonl", file)),
            _ => request = request.uri(word),
        }
    }
    let usual = if body.is_some() { Method::POST } else { Method::GET };
    request.method(method.unwrap_or(usual)).body(body.unwrap_or_default()).unwrap()
}

/// Checks that a response has the headers and the fields of the guide's output. Certain codes must be in both or in
/// neither.
fn assert_like(expected: &str, headers: &HeaderMap, body: &str) {
    let (head, json) = expected.split_at(expected.find('{').unwrap());
    let mut names = head.lines().filter_map(|line| Some(line.split_once(": ")?.0));
    assert!(names.all(|name| headers.contains_key(name)), "{head}: {headers:?}");
    for (end, _) in json.match_indices("\":") {
        let name = json[..end].rsplit('"').next().unwrap();
        assert!(body.contains(&format!("\"{name}\":")), "{name}: {body}");
    }
    for text in ["\"success\":true", "\"success\":false", "precondition_failed", "validation_out_of_range"] {
        assert_eq!(body.contains(text), expected.contains(text), "{text}: {body}");
    }
}

#[tokio::test]
async fn requests_of_the_guide_have_the_outputs_shown() {
    let inventory = Inventory::new(MemoryStore::new());
    let start = inventory.bootstrap(Bootstrap::new("Example", "me@example.net")).await.unwrap();
    let key = start.issued_key.unwrap();
    let api = Api::builder(inventory).build();
    let network = start.network.id.to_string();
    let mut variables = HashMap::from([("TOPOSCOPE_URL", String::new()), ("TOPOSCOPE_NETWORK", network)]);
    let (commands, mut previous) = (commands(), String::new());
    assert_eq!(commands.len(), 10);
    for (command, expected) in commands {
        let mut request = request(words(command, &variables), &previous);
        let authorization = format!("Bearer {}", key.plaintext()).parse().unwrap();
        request.headers_mut().insert(AUTHORIZATION, authorization);
        let (head, body) = api.clone().oneshot(request).await.unwrap().into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        assert_like(expected, &head.headers, &body);
        if !variables.contains_key("HOST") {
            let created: Value = serde_json::from_str(&body).unwrap();
            variables.insert("HOST", created["data"]["id"].as_str().unwrap().to_owned());
        } else if command.starts_with("-i") {
            variables.insert("ETAG", head.headers[ETAG].to_str().unwrap().to_owned());
        }
        previous = body;
    }
}
