//! The requests of the guide, sent to an API in process, and its excerpts of an example.

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

/// The files of the example that the page about stores explains. The example is a package of its own, which has tests.
const SQLITE_STORE: [&str; 4] = [
    include_str!("../examples/sqlite_store/src/lib.rs"),
    include_str!("../examples/sqlite_store/src/commit.rs"),
    include_str!("../examples/sqlite_store/src/list.rs"),
    include_str!("../examples/sqlite_store/src/schema.sql"),
];

#[test]
fn excerpts_of_the_guide_are_in_the_sqlite_store() {
    let page = include_str!("../src/guide/writing_a_store.md");
    let blocks = page.split("\n```").skip(1).step_by(2);
    let is_excerpt = |block: &&str| ["rust,ignore\n", "sql\n"].iter().any(|kind| block.starts_with(kind));
    let excerpts: Vec<&str> =
        blocks.filter(is_excerpt).filter_map(|block| block.split_once('\n')).map(|it| it.1).collect();
    assert!(excerpts.len() > 5, "{excerpts:?}");
    for excerpt in excerpts {
        assert!(SQLITE_STORE.iter().any(|file| file.contains(excerpt)), "{excerpt}");
    }
}

#[test]
fn sizes_of_stores_that_the_guide_names_are_true() {
    let lines = |files: &[&str]| files.iter().map(|file| file.lines().count()).sum::<usize>();
    let [rust @ .., sql] = SQLITE_STORE;
    assert!(lines(&rust) <= 560 && lines(&[sql]) <= 50, "{} and {}", lines(&rust), lines(&[sql]));
    assert!(lines(&[include_str!("../src/testing/reference.rs")]) <= 300);
    // Each wrapper: from its documentation to the next one.
    let wrappers = include_str!("../examples/wrapper.rs");
    let starts = [
        "/// Measures how",
        "/// The number of calls",
        "/// Encrypts the",
        "/// Stores an event",
        "/// In place of",
    ];
    let starts = starts.map(|start| wrappers.find(start).unwrap());
    for wrapper in [0, 2, 3].map(|number| &wrappers[starts[number]..starts[number + 1]]) {
        let code = wrapper.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//"));
        assert!(code.clone().count() <= 40, "{wrapper}");
    }
}

/// Dependencies below version 1 whose types are nowhere in the API.
const PRIVATE: &[&str] = &[
    "argon2",
    "csv-core",
    "ctutils",
    "fs2",
    "futures-util",
    "getrandom",
    "hashbrown",
    "hmac",
    "http-body-util",
    "lz4_flex",
    "matchit",
    "quick-xml",
    "serde_ignored",
    "serde_path_to_error",
    "sha2",
    "sled",
    "socket2",
    "tracing",
    "unicode-normalization",
];

#[test]
fn guide_names_every_dependency_of_the_api_that_is_below_version_1() {
    let manifest = include_str!("../Cargo.toml");
    let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let page = include_str!("../src/guide/embedding.md");
    let is_below_1 = |line: &str| line.contains("\"0.");
    for line in dependencies.lines().filter(|line| is_below_1(line)) {
        let name = line.split_once(' ').unwrap().0;
        let is_named = page.contains(&format!("| `{name}` 0."));
        assert_ne!(is_named, PRIVATE.contains(&name), "`{name}` must be either private or in the table");
    }
}
