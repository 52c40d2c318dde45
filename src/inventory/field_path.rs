use serde_path_to_error::{Path, Segment};

/// Returns the dotted path of a value, such as `tags.3`; `None` for the root.
pub(crate) fn dotted(path: &Path) -> Option<String> {
    let steps = path.iter().filter_map(|segment| match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    });
    let steps: Vec<String> = steps.collect();
    if steps.is_empty() { None } else { Some(steps.join(".")) }
}
