//! Numbers as text.

/// Largest absolute value of a coordinate.
const LARGEST: f64 = 10_000_000.0;

/// Returns a coordinate with at most two decimals and without needless digits. 0 for a value that is not a number.
pub(super) fn number(value: f64) -> String {
    let rounded = (sane(value) * 100.0).round() / 100.0;
    // Adding zero turns a negative zero into a positive one.
    (rounded + 0.0).to_string()
}

/// Returns a coordinate within the range that all formats can express.
pub(super) fn sane(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-LARGEST, LARGEST) } else { 0.0 }
}

/// Returns a speed as engineers write it, such as `10G`.
pub(super) fn speed(bits_per_second: u64) -> String {
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"), (1, "")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bits_per_second >= *unit).unwrap_or((1, ""));
    let tenths = bits_per_second / (unit / 10).max(1);
    match (unit, tenths % 10) {
        (1, _) | (_, 0) => format!("{}{name}", bits_per_second / unit),
        (_, tenth) => format!("{}.{tenth}{name}", bits_per_second / unit),
    }
}

/// Returns the width of a line in quarters of a pixel. It grows with the logarithm of the speed.
pub(super) const fn line_width(bits_per_second: Option<u64>) -> u32 {
    match bits_per_second {
        None | Some(0) => 6,
        Some(speed) => {
            let step = speed.ilog2().saturating_sub(20);
            let width = step.saturating_add(2);
            if width < 4 {
                4
            } else if width > 20 {
                20
            } else {
                width
            }
        }
    }
}
