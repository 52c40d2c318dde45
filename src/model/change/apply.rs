//! Application of a change to the document of its record.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::{Change, ChangeAction};

/// The path of the order of a list, behind its name.
pub(crate) const ORDER: &str = "order";

/// The error for a change that was erased, or that updates a record which does not exist.
///
/// The record itself has to be read instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the change does not tell what the record is; read the record itself")]
#[non_exhaustive]
pub struct ApplyChangeError;

impl Change {
    /// Turns the state before the change into the state after it. `None` stands for a record that does not exist.
    ///
    /// Use it to keep a copy of the records current. Entries may be applied again, in their order, from any earlier one
    /// on: after the last one, the documents are right, even if the copy was newer than the first one.
    ///
    /// Entries count null as missing, and documents may leave out what is empty: to compare a document with what the API
    /// returns, read it as its type, such as [`Host`](crate::model::Host). `updated_at` becomes the time of the change; other
    /// times that only the server moves stay as they are. Entries about logins and other security events change nothing.
    ///
    /// ```
    /// use serde_json::{Map, Value, json};
    /// use toposcope::model::Change;
    ///
    /// let change: Change = serde_json::from_value(json!({
    ///     "position": "cG9zaXRpb24", "at": "2026-08-14T12:00:14Z", "actor": {"type": "System"},
    ///     "action": "updated", "entity": "Host", "id": "133e671d-8ee1-51bd-903c-32657d3d8ef1", "network_id": null,
    ///     "name": "core switch",
    ///     "fields": {"name": {"after": "core switch"}, "interfaces.7f5a.name": {"before": "eth0", "after": "eth1"}},
    /// }))?;
    /// let host = json!({"name": "switch", "interfaces": [{"id": "7f5a", "name": "eth0"}]});
    /// let mut host: Option<Map<String, Value>> = serde_json::from_value(host)?;
    /// change.apply(&mut host)?;
    /// assert_eq!(json!(host), json!({"name": "core switch", "interfaces": [{"id": "7f5a", "name": "eth1"}]}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The document is unchanged if the entry was erased, and if it is an update of a record that does not exist. A copy then reads
    /// the record itself, and takes a missing one as deleted.
    pub fn apply(&self, document: &mut Option<Map<String, Value>>) -> Result<(), ApplyChangeError> {
        match (self.action, document) {
            (ChangeAction::Deleted, document) => *document = None,
            (ChangeAction::Created | ChangeAction::Updated, _) if self.is_erased => {
                return Err(ApplyChangeError);
            }
            (ChangeAction::Created, document) => {
                let fields = self.fields.iter();
                let values = fields.filter_map(|(name, field)| Some((name.clone(), field.after.clone()?)));
                *document = Some(values.collect());
            }
            (ChangeAction::Updated, None) => return Err(ApplyChangeError),
            (ChangeAction::Updated, Some(members)) => {
                let fields = self.fields.iter();
                apply_fields(fields.map(|(path, field)| (path.as_str(), field.after.clone())), members);
                if let Some(updated_at) = members.get_mut("updated_at") {
                    *updated_at = Value::String(self.at.to_string());
                }
            }
            // Other actions do not change the record.
            _ => {}
        }
        Ok(())
    }
}

/// Sets fields of a document by their paths, in the order of the paths. `None` removes a field.
pub(crate) fn apply_fields<'f>(
    fields: impl IntoIterator<Item = (&'f str, Option<Value>)>,
    document: &mut Map<String, Value>,
) {
    let mut lists: BTreeMap<&'f str, PartList> = BTreeMap::new();
    for (path, value) in fields {
        let Some((outer, rest)) = path.split_once('.') else {
            set(document, path, value);
            continue;
        };
        match document.get_mut(outer) {
            Some(Value::Object(members)) => set(members, rest, value),
            Some(Value::Array(parts)) => {
                lists.entry(outer).or_insert_with(|| PartList::new(std::mem::take(parts))).set(rest, value);
            }
            _ => {}
        }
    }
    for (name, list) in lists {
        document.insert(name.to_owned(), Value::Array(list.into_parts()));
    }
}

/// Sets a member; `None` removes it.
pub(crate) fn set(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
}

/// A list whose elements have ids. An entry may change thousands of them.
struct PartList {
    /// `None`: an element that was removed.
    parts: Vec<Option<Value>>,
    places: HashMap<String, usize>,
    order: Option<Value>,
}

impl PartList {
    fn new(parts: Vec<Value>) -> Self {
        let id = |part: &Value| part.get("id").and_then(Value::as_str).map(str::to_owned);
        let places = parts.iter().enumerate().filter_map(|(place, part)| Some((id(part)?, place))).collect();
        Self { parts: parts.into_iter().map(Some).collect(), places, order: None }
    }

    /// Changes a field of an element, a whole element, or the order.
    fn set(&mut self, path: &str, value: Option<Value>) {
        match (path.split_once('.'), value) {
            (None, order) if path == ORDER => self.order = order,
            (None, value) => {
                // A new element is the last one. A newer copy may have it already.
                if let Some(known) = self.place_of(path) {
                    *known = None;
                }
                self.places.remove(path);
                if let Some(part) = value {
                    self.places.insert(path.to_owned(), self.parts.len());
                    self.parts.push(Some(part));
                }
            }
            (Some((id, field)), value) => {
                if let Some(Some(Value::Object(members))) = self.place_of(id) {
                    set(members, field, value);
                }
            }
        }
    }

    fn place_of(&mut self, id: &str) -> Option<&mut Option<Value>> {
        self.parts.get_mut(*self.places.get(id)?)
    }

    fn into_parts(self) -> Vec<Value> {
        let mut parts: Vec<Value> = self.parts.into_iter().flatten().collect();
        if let Some(Value::Array(order)) = self.order {
            let ids = order.iter().filter_map(Value::as_str);
            let places: HashMap<&str, usize> = ids.enumerate().map(|(place, id)| (id, place)).collect();
            let place = |part: &Value| part.get("id").and_then(Value::as_str).and_then(|id| places.get(id));
            // Elements that the order does not name come last: a copy that is newer than the entry has them.
            parts.sort_by_cached_key(|part| place(part).copied().unwrap_or(usize::MAX));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Change, ChangeAction, apply_fields};

    fn change(action: ChangeAction, fields: &Value) -> Change {
        let change = json!({
            "position": "cG9zaXRpb24", "at": "2026-08-14T12:00:14Z", "actor": {"type": "System"}, "action": action,
            "entity": "Host", "id": "133e671d-8ee1-51bd-903c-32657d3d8ef1", "network_id": null, "name": "switch",
            "fields": fields,
        });
        serde_json::from_value(change).unwrap()
    }

    fn updated(fields: &Value) -> Change {
        change(ChangeAction::Updated, fields)
    }

    fn parts(ids: &str) -> Value {
        json!({"parts": ids.chars().map(|id| json!({"id": id})).collect::<Vec<_>>()})
    }

    /// Applies changes to the present document again.
    fn after(document: &Value, changes: &[Change]) -> Value {
        let mut document: Option<Map<String, Value>> = serde_json::from_value(document.clone()).unwrap();
        changes.iter().for_each(|change| change.apply(&mut document).unwrap());
        json!(document)
    }

    #[test]
    fn document_newer_than_the_changes_is_right_in_the_end() {
        let new = |id: &str| updated(&json!({format!("parts.{id}"): {"after": {"id": id}}}));
        let gone = |id: &str| updated(&json!({format!("parts.{id}"): {"before": {"id": id}}}));
        let order = |ids: &[&str]| updated(&json!({"parts.order": {"before": [], "after": ids}}));
        let changes = [order(&["y", "x"]), new("z"), gone("y"), new("y"), new("a"), gone("x")];
        let states = ["xy", "yx", "yxz", "xz", "xzy", "xzya", "zya"].map(parts);
        for (count, document) in states.iter().enumerate() {
            // The document already contains the first `count` changes, so those from `first` to `count` are applied
            // twice.
            for first in 0..=count {
                assert_eq!(
                    after(document, &changes[first..]),
                    states[6],
                    "state {count} from change {first} on"
                );
            }
        }
    }

    #[test]
    fn members_of_objects_may_have_dots_and_the_name_of_an_order() {
        let change = updated(
            &json!({"custom.a.b": {"after": 1}, "custom.order": {"after": 2}, "custom.c": {"before": 0}}),
        );
        let document = json!({"custom": {"c": 0, "d": 3}, "updated_at": "2025-01-01T00:00:00Z"});
        let expected =
            json!({"custom": {"a.b": 1, "d": 3, "order": 2}, "updated_at": "2026-08-14T12:00:14Z"});
        assert_eq!(after(&document, &[change]), expected);
    }

    #[test]
    fn unknown_states_are_errors_and_change_nothing() {
        let mut erased = updated(&json!({}));
        erased.is_erased = true;
        let mut document = Some(Map::new());
        erased.apply(&mut document).unwrap_err();
        assert_eq!(document, Some(Map::new()));
        updated(&json!({"name": {"after": "a"}})).apply(&mut None).unwrap_err();
        erased.action = ChangeAction::Deleted;
        erased.apply(&mut document).unwrap();
        assert_eq!(document, None);
    }

    #[test]
    fn parts_are_added_and_removed_by_the_thousands() {
        let count = 20_000;
        let paths: Vec<String> = (0..count).map(|id| format!("parts.{id}")).collect();
        let id = |number: usize| json!({"id": number.to_string()});
        let new = paths.iter().enumerate().map(|(number, path)| (path.as_str(), Some(id(number))));
        let mut document = Map::from_iter([("parts".to_owned(), json!([]))]);
        apply_fields(new, &mut document);
        assert_eq!(document["parts"].as_array().unwrap().len(), count);
        apply_fields(paths.iter().map(|path| (path.as_str(), None)), &mut document);
        assert_eq!(document["parts"], json!([]));
    }
}
