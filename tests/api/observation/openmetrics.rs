//! The text of figures, read by a strict parser of OpenMetrics 1.0.

use std::collections::{BTreeMap, BTreeSet};

use toposcope::figures::{CONTENT_TYPE, Latencies};

use crate::backend::run_with;
use crate::common::{Fixture, OFFICE, get, host, with_key};

/// A metric family.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    unit: Option<String>,
    help: Option<String>,
    samples: Vec<Sample>,
}

#[derive(Clone, Debug, PartialEq)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

type Families = BTreeMap<String, Family>;

fn parse(text: &str) -> Result<Families, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("the text does not end with # EOF")?;
    let mut families = Families::new();
    let mut current = String::new();
    for line in body.lines() {
        let fault = |what: &str| format!("{what}: {line}");
        if line.trim() != line || line.is_empty() {
            return Err(fault("blanks"));
        }
        if let Some(metadata) = line.strip_prefix("# ") {
            let (keyword, rest) = metadata.split_once(' ').ok_or_else(|| fault("no name"))?;
            let (name, value) = rest.split_once(' ').ok_or_else(|| fault("no value"))?;
            if keyword == "TYPE" {
                check_name(name).map_err(|what| fault(&what))?;
                current = name.to_owned();
                let family = Family { kind: value.to_owned(), ..Family::default() };
                if families.insert(current.clone(), family).is_some() {
                    return Err(fault("the family is not in one piece"));
                }
                continue;
            }
            let family =
                families.get_mut(name).filter(|_| name == current).ok_or_else(|| fault("another family"))?;
            let place = match keyword {
                "UNIT" => &mut family.unit,
                "HELP" => &mut family.help,
                _ => return Err(fault("unknown metadata")),
            };
            if place.replace(unescape(value)?).is_some() || !family.samples.is_empty() {
                return Err(fault("repeated or late metadata"));
            }
            continue;
        }
        let sample = parse_sample(line).map_err(|what| fault(&what))?;
        families.get_mut(&current).ok_or_else(|| fault("no family"))?.samples.push(sample);
    }
    families.iter().try_for_each(|(name, family)| {
        check_family(name, family).map_err(|what| format!("{name}: {what}"))
    })?;
    Ok(families)
}

fn check_name(name: &str) -> Result<(), String> {
    let is_valid = |(place, byte): (usize, u8)| {
        byte == b'_' || byte.is_ascii_lowercase() || place > 0 && byte.is_ascii_digit()
    };
    if !name.is_empty() && name.bytes().enumerate().all(is_valid) {
        Ok(())
    } else {
        Err(format!("name {name}"))
    }
}

fn parse_sample(line: &str) -> Result<Sample, String> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let (name, mut rest) = line.split_at(end);
    check_name(name)?;
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or("no label")?;
            check_name(label)?;
            let mut is_escaped = false;
            let end = after.find(|next| {
                let is_end = next == '"' && !is_escaped;
                is_escaped = next == '\\' && !is_escaped;
                is_end
            });
            let (value, after) = after.split_at(end.ok_or("an open label")?);
            labels.push((label.to_owned(), unescape(value)?));
            match after[1..].chars().next() {
                Some(',') => rest = &after[2..],
                Some('}') => {
                    rest = &after[2..];
                    break;
                }
                _ => return Err("after a label".to_owned()),
            }
        }
    }
    let value = rest.strip_prefix(' ').ok_or("no blank before the value")?;
    let value = value.parse().map_err(|_| format!("value {value}"))?;
    Ok(Sample { name: name.to_owned(), labels, value })
}

fn unescape(text: &str) -> Result<String, String> {
    let (mut plain, mut characters) = (String::new(), text.chars());
    while let Some(next) = characters.next() {
        plain.push(match next {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some(escaped @ ('"' | '\\')) => escaped,
                _ => return Err(format!("escape in {text}")),
            },
            '"' | '\n' => return Err(format!("unescaped in {text}")),
            other => other,
        });
    }
    Ok(plain)
}

fn check_family(name: &str, family: &Family) -> Result<(), String> {
    let units = ["seconds", "bytes"];
    let unit = units.into_iter().find(|unit| name.ends_with(&format!("_{unit}")));
    if family.unit.as_deref() != unit || family.help.as_ref().is_none_or(String::is_empty) {
        return Err("unit or help".to_owned());
    }
    if !name.starts_with("toposcope_") || name.ends_with("_total") {
        return Err("name".to_owned());
    }
    let mut seen = BTreeSet::new();
    for sample in &family.samples {
        let suffix = sample.name.strip_prefix(name).ok_or_else(|| format!("sample {}", sample.name))?;
        let is_expected = match family.kind.as_str() {
            "counter" => suffix == "_total",
            "gauge" => suffix.is_empty(),
            "histogram" => matches!(suffix, "_bucket" | "_count" | "_sum"),
            _ => return Err("type".to_owned()),
        };
        let names: BTreeSet<&String> = sample.labels.iter().map(|(label, _)| label).collect();
        let has_le = names.iter().any(|label| *label == "le");
        if !is_expected || names.len() != sample.labels.len() || has_le != (suffix == "_bucket") {
            return Err(format!("{sample:?}"));
        }
        if !seen.insert(format!("{}{:?}", sample.name, sample.labels)) {
            return Err(format!("twice: {sample:?}"));
        }
        if family.kind != "gauge" && sample.value < 0.0 {
            return Err(format!("negative: {sample:?}"));
        }
    }
    if family.kind == "histogram" { check_histogram(name, family) } else { Ok(()) }
}

/// Checks that the buckets of each series grow, end with all, and come before the count and the sum.
fn check_histogram(name: &str, family: &Family) -> Result<(), String> {
    let length = Latencies::BOUNDS.len() + 3;
    if !family.samples.len().is_multiple_of(length) {
        return Err("not whole".to_owned());
    }
    for series in family.samples.chunks(length) {
        let (buckets, ends) = series.split_at(length - 2);
        let bound = |sample: &Sample| sample.labels.last().unwrap().1.clone();
        let bounds: Vec<f64> = buckets.iter().map(|sample| bound(sample).parse().unwrap()).collect();
        let others = |sample: &Sample| sample.labels[..sample.labels.len() - 1].to_vec();
        let is_one_series = buckets.iter().all(|bucket| others(bucket) == ends[0].labels);
        let is_whole =
            bound(buckets.last().unwrap()) == "+Inf" && buckets.last().unwrap().value == ends[0].value;
        let is_sorted =
            bounds.is_sorted_by(|one, next| one < next) && buckets.is_sorted_by_key(|bucket| bucket.value);
        let are_named = ends[0].name == format!("{name}_count") && ends[1].name == format!("{name}_sum");
        // Canonical numbers have a point.
        let are_canonical =
            buckets.iter().all(|bucket| bound(bucket) == "+Inf" || bound(bucket).contains('.'));
        if !(is_one_series
            && is_whole
            && is_sorted
            && are_named
            && are_canonical
            && ends[0].labels == ends[1].labels)
        {
            return Err(format!("{series:?}"));
        }
    }
    Ok(())
}

fn value(families: &Families, family: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: Vec<(String, String)> =
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let found = families[family].samples.iter().find(|sample| sample.labels == labels);
    found.unwrap_or_else(|| panic!("no {family} {labels:?}: {:?}", families[family])).value
}

#[test]
fn text_has_all_figures_in_the_format_of_openmetrics() {
    run_with(
        async || Fixture::with([host(1, OFFICE)]).await.on_one_instance(),
        async |fixture| {
            for _ in 0..3 {
                fixture.list("limit=3").await;
            }
            fixture.send(get("/api/v1/hosts")).await;
            fixture.send(with_key(get("/nowhere"), &fixture.key)).await;
            let figures = fixture.server.api.figures();
            let families = parse(&figures.to_openmetrics()).unwrap();
            let requests = |method, route, status| {
                value(
                    &families,
                    "toposcope_requests",
                    &[("method", method), ("route", route), ("status", status)],
                )
            };
            assert_eq!(requests("GET", "/api/v1/hosts", "200"), 3.0);
            assert_eq!(requests("GET", "/api/v1/hosts", "401"), 1.0);
            assert_eq!(requests("", "unmatched", "404"), 1.0);
            let hosts = [("method", "GET"), ("route", "/api/v1/hosts")];
            let durations = &families["toposcope_request_duration_seconds"].samples;
            let count = durations.iter().find(|sample| sample.name.ends_with("_count")).unwrap();
            assert_eq!(count.labels, hosts.map(|(name, value)| (name.to_owned(), value.to_owned())));
            assert_eq!(count.value, 4.0);
            assert_eq!(value(&families, "toposcope_cache_hits", &[("cache", "pages")]), 1.0);
            assert_eq!(value(&families, "toposcope_slots_limit", &[("slots", "whole_lists")]), 64.0);
            assert!(value(&families, "toposcope_store_calls", &[("call", "list")]) >= 1.0);
            assert_eq!(value(&families, "toposcope_requests_dropped", &[]), 0.0);
            assert!(CONTENT_TYPE.starts_with("application/openmetrics-text; version=1.0.0"));

            let of_inventory = parse(&fixture.inventory.figures().to_openmetrics()).unwrap();
            assert!(of_inventory.keys().all(|family| families.contains_key(family)));
            assert!(of_inventory.contains_key("toposcope_password_wait_seconds"));
        },
    );
}

#[test]
fn every_metric_that_the_guide_names_exists() {
    run_with(
        async || Fixture::new().await.on_one_instance(),
        async |fixture| {
            fixture.send(get("/api/version")).await;
            let families = parse(&fixture.server.api.figures().to_openmetrics()).unwrap();
            let samples: BTreeSet<&str> = families
                .values()
                .flat_map(|family| &family.samples)
                .map(|sample| sample.name.as_str())
                .collect();
            let guide = include_str!("../../../src/guide/operations.md");
            let is_name = |character: char| character == '_' || character.is_ascii_lowercase();
            let named: BTreeSet<&str> = guide.split(|character| !is_name(character)).collect();
            let named: Vec<&str> = named.into_iter().filter(|name| name.starts_with("toposcope_")).collect();
            assert!(named.len() >= 8, "{named:?}");
            for name in named {
                assert!(samples.contains(name), "{name}");
            }
        },
    );
}

#[test]
fn labels_are_escaped() {
    run_with(Fixture::new, async |fixture| {
        let mut figures = fixture.server.api.figures();
        figures.page_cache.name = "a \"quoted\" \\ name\nof two lines";
        let text = figures.to_openmetrics();
        let families = parse(&text).unwrap();
        value(&families, "toposcope_cache_hits", &[("cache", figures.page_cache.name)]);
        assert!(text.contains(r#"{cache="a \"quoted\" \\ name\nof two lines"}"#));
    });
}

#[test]
fn parser_of_this_test_refuses_what_is_no_openmetrics() {
    let family = "# TYPE toposcope_x counter\n# HELP toposcope_x A help.\n";
    parse(&format!("{family}toposcope_x_total{{a=\"b\"}} 1\n# EOF\n")).unwrap();
    for text in [
        format!("{family}toposcope_x_total 1\n"),
        format!("{family}toposcope_x 1\n# EOF\n"),
        format!("{family}toposcope_x_total -1\n# EOF\n"),
        format!("{family}toposcope_x_total{{a=\"b}} 1\n# EOF\n"),
        format!("{family}toposcope_x_total{{a=\"b\\c\"}} 1\n# EOF\n"),
        format!("{family}toposcope_x_total 1\ntoposcope_x_total 1\n# EOF\n"),
        format!("{family}{family}# EOF\n"),
        "# TYPE toposcope_x_seconds gauge\n# HELP toposcope_x_seconds A help.\n# EOF\n".to_owned(),
        "toposcope_x_total 1\n# EOF\n".to_owned(),
    ] {
        assert!(parse(&text).is_err(), "{text}");
    }
}
