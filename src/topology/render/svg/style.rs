//! The styles of pictures.

use base64ct::{Base64, Encoding};

use crate::sha256::sha256;
use crate::topology::render::Theme;

/// The style that does not depend on the theme.
///
/// Browsers lay text out only once at all scales if it is to be geometrically precise, and they need no layer for nodes
/// that are faded by the opacity of their colors. Text is faded less, so that its contrast stays at least 4.5.
const COMMON_STYLE: &str = "\
.topology text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif;font-size:13px;text-rendering:geometricPrecision;unicode-bidi:isolate}\
.topology .title{font-size:20px;font-weight:600}\
.topology .subtitle,.topology .detail,.topology .legend text,.topology .note,.topology .segment text{font-size:11px}\
.topology .port,.topology .speed{font-size:11px;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}\
.topology .speed{font-weight:600;text-anchor:middle}\
.topology .heading{font-weight:600}\
.topology .line,.topology .core{fill:none;stroke-linejoin:round}\
.topology .parallel .core{stroke-dasharray:6 3}\
.topology .reported .line{stroke-dasharray:9 4}\
.topology .inferred .line{stroke-dasharray:2 4}\
.topology .conflicting .line{stroke-dasharray:9 3 2 3}\
.topology .state-dormant .line{stroke-dasharray:18 9}\
.topology .state-testing .line{stroke-dasharray:2 3 2 3 2 10}\
.topology .state-degraded .line{stroke-dasharray:20 4 5 4 5 4}\
.topology .state-down .line{stroke-dasharray:6 8}\
.topology .state-disabled .line{stroke-dasharray:1.5 9}\
.topology .with-states .state-unknown.confirmed .line,.topology .with-states.state-unknown .line{stroke-dasharray:26 2}\
.topology .card,.topology .frame{stroke-width:1.25px}\
.topology .node.state-down .card{stroke-width:2.5px}\
.topology .sign{fill:none;stroke-width:1.75px;stroke-linecap:round}\
.topology .stub .card,.topology .implied .frame,.topology .legend .unscanned{stroke-dasharray:4 3}\
.topology .stub .label{font-style:italic}\
.topology .stub,.topology .stale{fill-opacity:.62;stroke-opacity:.62}\
.topology .stub text,.topology .stale text{fill-opacity:.88}\
.topology .pictogram{fill:none;stroke:#fff;stroke-width:1.75px;stroke-linecap:round;stroke-linejoin:round}\
.topology .router .badge,.topology .internet .badge{fill:#0072b2}\
.topology .switch .badge{fill:#009e73}\
.topology .firewall .badge{fill:#d55e00}\
.topology .access-point .badge,.topology .wireless-controller .badge{fill:#56b4e9}\
.topology .server .badge,.topology .guest .badge{fill:#cc79a7}\
.topology .hypervisor .badge{fill:#e69f00}\
.topology .storage .badge{fill:#f0e442}\
.topology .printer .badge,.topology .phone .badge,.topology .camera .badge,.topology .workstation .badge,\
.topology .ups .badge,.topology .industrial-controller .badge,.topology .media .badge,.topology .iot .badge,\
.topology .unknown .badge{fill:#6b7785}\
.topology .access-point .pictogram,.topology .wireless-controller .pictogram,.topology .guest .pictogram,.topology .server .pictogram,.topology .hypervisor .pictogram,\
.topology .storage .pictogram{stroke:#16202b}";

const LIGHT_STYLE: &str = "\
.topology .ground{fill:#fff}\
.topology text{fill:#16202b}\
.topology .subtitle,.topology .detail,.topology .port,.topology .speed{fill:#46535f}\
.topology .port,.topology .speed{stroke:#fff}\
.topology .line{stroke:#5a6774}\
.topology .member .line{stroke:#84909b}\
.topology .conflicting .line{stroke:#d55e00}\
.topology .state-dormant .line{stroke:#0072b2}\
.topology .state-testing .line{stroke:#8a3ea8}\
.topology .state-degraded .line{stroke:#a86200}\
.topology .state-down .line{stroke:#c1121f}\
.topology .state-disabled .line{stroke:#6b7785}\
.topology .core{stroke:#fff}\
.topology .card{fill:#fff;stroke:#8a96a3}\
.topology .node.state-down .card{stroke:#c1121f}\
.topology .state-degraded .mark{fill:#a86200}\
.topology .state-down .mark{fill:#c1121f}\
.topology .state-disabled .mark{fill:#5a6774}\
.topology .sign{stroke:#fff}\
.topology .frame{fill:#f3f6f9;stroke:#aab4bf}\
.topology .frame .frame{fill:#fff}\
.topology .segment .card{fill:#e3e8ed}";

const DARK_STYLE: &str = "\
.topology .ground{fill:#12171d}\
.topology text{fill:#e6ebf0}\
.topology .subtitle,.topology .detail,.topology .port,.topology .speed{fill:#b3bec9}\
.topology .port,.topology .speed{stroke:#12171d}\
.topology .line{stroke:#93a0ad}\
.topology .member .line{stroke:#74818e}\
.topology .conflicting .line{stroke:#ff8a3d}\
.topology .state-dormant .line{stroke:#56b4e9}\
.topology .state-testing .line{stroke:#d69be8}\
.topology .state-degraded .line{stroke:#f0b429}\
.topology .state-down .line{stroke:#ff6b6b}\
.topology .state-disabled .line{stroke:#8793a0}\
.topology .core{stroke:#12171d}\
.topology .card{fill:#1d252d;stroke:#6b7885}\
.topology .node.state-down .card{stroke:#ff6b6b}\
.topology .state-degraded .mark{fill:#f0b429}\
.topology .state-down .mark{fill:#ff6b6b}\
.topology .state-disabled .mark{fill:#93a0ad}\
.topology .sign{stroke:#12171d}\
.topology .frame{fill:#171e25;stroke:#4d5965}\
.topology .segment .card{fill:#2a343e}";

/// Returns the text of a picture's `<style>` element. It is for a page that contains the picture.
#[must_use]
pub(super) fn css(theme: Theme) -> String {
    match theme {
        Theme::Light => format!("{COMMON_STYLE}{LIGHT_STYLE}"),
        Theme::Dark => format!("{COMMON_STYLE}{DARK_STYLE}"),
        // Programs that ignore media queries show the light colors.
        Theme::Auto => {
            format!("{COMMON_STYLE}{LIGHT_STYLE}@media(prefers-color-scheme:dark){{{DARK_STYLE}}}")
        }
    }
}

/// Returns the source expression that allows the styles of a picture in a Content-Security-Policy.
///
/// ```
/// use toposcope::topology::render::{Theme, style_source};
///
/// let policy = format!("default-src 'none'; style-src {}; sandbox", style_source(Theme::Auto));
/// assert!(policy.contains("style-src 'sha256-"));
/// ```
#[must_use]
pub fn style_source(theme: Theme) -> String {
    format!("'sha256-{}'", Base64::encode_string(&sha256(css(theme).as_bytes())))
}
