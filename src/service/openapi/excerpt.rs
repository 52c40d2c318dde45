//! Parts of the document, for the documents of host applications.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::invariant::Invariant;

/// Where references to components begin.
const COMPONENTS: &str = "#/components/";

/// Returns the document with the operations whose tags `is_wanted` accepts. Components that only other operations
/// use are left out. All paths begin with `prefix`, and no server is named.
pub(in crate::service) fn excerpt(document: Value, prefix: &str, is_wanted: &dyn Fn(&str) -> bool) -> Value {
    let Value::Object(mut document) = document else { return document };
    document.remove("servers");
    let is_tag_wanted = |tag: &Value| tag.as_str().is_some_and(is_wanted);
    let mut paths = Map::new();
    for (path, mut operations) in object(document.remove("paths")) {
        let Value::Object(of_path) = &mut operations else { continue };
        of_path.retain(|_, operation| operation.pointer("/tags/0").is_some_and(is_tag_wanted));
        if !of_path.is_empty() {
            paths.insert(format!("{prefix}{path}"), operations);
        }
    }
    let paths = Value::Object(paths);
    if let Some(Value::Array(tags)) = document.get_mut("tags") {
        tags.retain(|tag| tag.get("name").is_some_and(is_tag_wanted));
    }
    let mut components = object(document.remove("components"));
    keep_used(&mut components, &paths);
    document.insert("components".to_owned(), components.into());
    document.insert("paths".to_owned(), paths);
    document.into()
}

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => None.asserted_or_default(),
    }
}

/// Removes the components to which the paths do not refer, neither directly nor by other components.
pub(super) fn keep_used(components: &mut Map<String, Value>, paths: &Value) {
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    add_references(paths, &mut found);
    while let Some(reference) = found.pop_first() {
        let Some((kind, name)) = reference.split_once('/') else { continue };
        let component = components.get(kind).and_then(|of_kind| of_kind.get(name)).asserted();
        if let Some(component) = component
            && used.insert((kind.to_owned(), name.to_owned()))
        {
            add_references(component, &mut found);
        }
    }
    components.retain(|kind, of_kind| {
        let Value::Object(of_kind) = of_kind else { return false };
        of_kind.retain(|name, _| used.contains(&(kind.clone(), name.clone())));
        !of_kind.is_empty()
    });
}

/// Adds the components to which a value refers: `schemas/Host`, or `securitySchemes/session`.
fn add_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("$ref", Value::String(target)) => {
                        found.extend(target.strip_prefix(COMPONENTS).map(str::to_owned));
                    }
                    ("security", Value::Array(alternatives)) => {
                        let schemes = alternatives.iter().filter_map(Value::as_object).flat_map(Map::keys);
                        found.extend(schemes.map(|scheme| format!("securitySchemes/{scheme}")));
                    }
                    _ => add_references(member, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_references(item, found)),
        _ => {}
    }
}
