//! The scripts of pages. Each is one text, by whose hash the policy allows it.

use std::sync::LazyLock;

use super::compact;
use super::policy::source_of;

/// A script, and the source expression that allows it.
pub(super) struct Script {
    text: String,
    /// The source expression of the policy.
    source: String,
}

impl Script {
    fn new(parts: &[&str]) -> Self {
        let text = compact::script(parts);
        Self { source: source_of(&text), text }
    }

    /// Returns the element with the script.
    pub(super) fn element(&self) -> String {
        format!("<script type=\"module\">{}</script>", self.text)
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// The parts of all pages that show a picture.
const PICTURE: &[&str] = &[
    include_str!("script/document.js"),
    include_str!("script/words.js"),
    include_str!("script/network.js"),
    include_str!("script/camera.js"),
    include_str!("script/selection.js"),
    include_str!("script/panel.js"),
    include_str!("script/pointer.js"),
    include_str!("script/keyboard.js"),
    include_str!("script/search.js"),
    include_str!("script/minimap.js"),
    include_str!("script/files.js"),
    include_str!("script/tables.js"),
    include_str!("script/tools/order.js"),
    include_str!("script/tools/permalink.js"),
    include_str!("script/tools/filters.js"),
    include_str!("script/tools/replace.js"),
    include_str!("script/start.js"),
];

/// The script of the page of a share.
pub(super) static SHARE: LazyLock<Script> = LazyLock::new(|| {
    let parts = [
        include_str!("script/share/folds.js"),
        include_str!("script/share/refresh.js"),
        include_str!("script/password.js"),
    ];
    Script::new(&[PICTURE, &parts].concat())
});

/// The script of the page of a network. Its last part starts the others.
pub(super) static NETWORK: LazyLock<Script> = LazyLock::new(|| {
    let parts = [
        include_str!("script/work/server.js"),
        include_str!("script/work/words.js"),
        include_str!("script/work/path.js"),
        include_str!("script/work/views.js"),
        include_str!("script/work/undrawn.js"),
        include_str!("script/work/time.js"),
        include_str!("script/work/files.js"),
        include_str!("script/work/reading.js"),
        include_str!("script/work/pins.js"),
        include_str!("script/work/moving.js"),
        include_str!("script/work/links.js"),
        include_str!("script/work/start.js"),
    ];
    Script::new(&[PICTURE, &parts].concat())
});

/// The script of the login form.
pub(super) static LOGIN: LazyLock<Script> = LazyLock::new(|| Script::new(&[include_str!("script/login.js")]));

#[cfg(test)]
mod tests {
    use super::{LOGIN, NETWORK, SHARE};

    #[test]
    fn properties_of_the_browser_keep_their_names() {
        for script in [&SHARE, &NETWORK, &LOGIN] {
            for object in ["classList", "dataset", "document", "location", "navigator", "style", "window"] {
                assert!(!script.text.contains(&format!("{object}.$")), "a short name of {object}");
            }
        }
    }
}
