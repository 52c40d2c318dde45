//! A reader of HTML that is stricter than browsers: every element must be closed.

const VOID: [&str; 5] = ["input", "link", "meta", "br", "img"];
const RAW: [&str; 2] = ["script", "style"];

/// An element with the text directly and indirectly inside it.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The elements of a document, in their order.
pub(super) struct Document {
    pub(super) elements: Vec<Element>,
}

impl Document {
    /// Reads a document.
    ///
    /// # Panics
    /// If an element is not closed, or an attribute is not quoted.
    pub(super) fn parse(html: &str) -> Self {
        let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("the document type");
        let mut elements: Vec<Element> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        while let Some((text, tag)) = rest.split_once('<') {
            open.iter().for_each(|index| elements[*index].text.push_str(&unescape(text)));
            if let Some(end) = tag.strip_prefix('/') {
                let (name, after) = end.split_once('>').expect("the end of a tag");
                let index = open.pop().expect("an open element");
                assert_eq!(elements[index].name, name);
                rest = after;
                continue;
            }
            let (element, is_closed, after) = read_tag(tag);
            rest = after;
            let is_raw = RAW.contains(&element.name.as_str());
            let is_open = !is_closed && !VOID.contains(&element.name.as_str());
            elements.push(element);
            let index = elements.len() - 1;
            if is_raw {
                let end = format!("</{}>", elements[index].name);
                let (text, after) = rest.split_once(&end).expect("the end of raw text");
                text.clone_into(&mut elements[index].text);
                rest = after;
            } else if is_open {
                open.push(index);
            }
        }
        assert!(open.is_empty(), "elements are open at the end");
        Self { elements }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.name == name)
    }

    pub(super) fn with_id(&self, id: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.attribute("id") == Some(id))
    }
}

/// Reads a tag after its `<`: the element, whether it closes itself, and the rest.
fn read_tag(tag: &str) -> (Element, bool, &str) {
    let end = tag.find([' ', '>', '/']).expect("the end of a name");
    let (name, mut rest) = tag.split_at(end);
    assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "the tag {name:?}");
    let mut element = Element { name: name.to_owned(), attributes: Vec::new(), text: String::new() };
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            return (element, true, after);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (element, false, after);
        }
        let end = rest.find(['=', ' ', '>']).expect("the end of an attribute");
        let (name, after) = rest.split_at(end);
        let (value, after) = match after.strip_prefix("=\"") {
            Some(quoted) => quoted.split_once('"').expect("the end of a value"),
            None => {
                assert!(!after.starts_with('='), "the value of {name} is not quoted");
                ("", after)
            }
        };
        element.attributes.push((name.to_owned(), unescape(value)));
        rest = after;
    }
}

fn unescape(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}
