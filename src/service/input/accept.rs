//! The media types that a client prefers, by the `Accept` header (RFC 9110, section 12.5.1).

use std::cmp::Reverse;

use http::header::ACCEPT;
use http::request::Parts;

/// The weight of a range that states none, in thousandths.
const FULL_WEIGHT: u16 = 1_000;

/// The media ranges of a request.
#[derive(Clone, Copy)]
pub(in crate::service) struct Accept<'r>(&'r Parts);

/// How much a client prefers a media type. More weight counts first, then the more specific range, then the earlier
/// one.
type Preference = (u16, Specificity, Reverse<usize>);

/// How exactly a range describes the media types in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Specificity {
    /// `*/*`, or no header.
    Anything,
    /// `text/*`.
    MainType,
    /// `text/csv`.
    Exact,
}

impl<'r> Accept<'r> {
    pub(in crate::service) const fn of(request: &'r Parts) -> Self {
        Self(request)
    }

    /// Returns the media type that the client prefers: the first, unless it prefers another one.
    ///
    /// A client that accepts none of them gets the first, too. That is more useful than a refusal.
    pub(in crate::service) fn choose(self, usual: &'static str, others: &[&'static str]) -> &'static str {
        if others.is_empty() {
            return usual;
        }
        let (mut chosen, mut max) = (usual, self.preference(usual));
        for other in others.iter().copied() {
            let preference = self.preference(other);
            if preference.0 > 0 && preference > max {
                (chosen, max) = (other, preference);
            }
        }
        chosen
    }

    /// Returns whether the client names exactly this media type, and accepts it.
    #[cfg(feature = "topology")]
    pub(in crate::service) fn names(self, media_type: &str) -> bool {
        matches!(self.preference(media_type), (1.., Specificity::Exact, _))
    }

    fn preference(self, media_type: &str) -> Preference {
        let headers = self.0.headers.get_all(ACCEPT).iter();
        let ranges = headers.flat_map(|header| header.as_bytes().split(|byte| *byte == b','));
        let ranges = ranges.map(<[u8]>::trim_ascii).filter(|range| !range.is_empty());
        let mut best = None;
        let mut is_any = true;
        for (place, range) in ranges.enumerate() {
            is_any = false;
            if let Some((specificity, weight)) = matched(range, media_type) {
                best = best.max(Some((specificity, weight, Reverse(place))));
            }
        }
        match best {
            Some((specificity, weight, place)) => (weight, specificity, place),
            None if is_any => (FULL_WEIGHT, Specificity::Anything, Reverse(0)),
            None => (0, Specificity::Anything, Reverse(usize::MAX)),
        }
    }
}

/// Returns how exactly a range describes a media type, and the range's weight; `None` if the type is not in it.
fn matched(range: &[u8], media_type: &str) -> Option<(Specificity, u16)> {
    let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let name = parts.next()?;
    let media_type = media_type.split(';').next()?.trim_end();
    let main_type = media_type.split('/').next()?;
    let specificity = match name.strip_suffix(b"/*") {
        _ if name.eq_ignore_ascii_case(media_type.as_bytes()) => Specificity::Exact,
        Some(main) if main.eq_ignore_ascii_case(main_type.as_bytes()) => Specificity::MainType,
        Some(b"*") => Specificity::Anything,
        // Some old clients send it.
        None if name == b"*" => Specificity::Anything,
        _ => return None,
    };
    Some((specificity, parts.find_map(weight).unwrap_or(FULL_WEIGHT)))
}

/// Returns the weight that a parameter states, in thousandths; `None` if it is another parameter or no weight.
fn weight(parameter: &[u8]) -> Option<u16> {
    let (name, value) = parameter.split_at_checked(2)?;
    if !name.eq_ignore_ascii_case(b"q=") {
        return None;
    }
    let value: f32 = str::from_utf8(value).ok()?.parse().ok()?;
    (0.0..=1.0).contains(&value).then(|| (value * f32::from(FULL_WEIGHT)) as u16)
}
