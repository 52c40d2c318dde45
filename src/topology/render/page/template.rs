use crate::invariant::Invariant;

/// Returns the template with each `{{name}}` replaced by the value of this name.
///
/// Values are not searched for names, so that no value can bring in another one. A name without a value is left out.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut filled = String::with_capacity(template.len().saturating_add(length));
    let mut parts = template.split("{{");
    filled.push_str(parts.next().asserted_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or(("", part));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        filled.push_str(value);
        filled.push_str(rest);
    }
    filled
}
