//! Path data of icons: read strictly, and written anew.
//!
//! The text of a theme never reaches a picture: only the numbers read from it do, relative to the corner of the icon
//! and scaled to its extent.

use std::fmt::Write;

use crate::topology::graph::ICON;
use crate::topology::render::words::number;

/// Maximum length of the data of a path, in bytes.
pub(super) const MAX_LENGTH: usize = 2_000;

/// Returns path data in relative coordinates for an icon of the usual extent. The data is for a square whose side has the
/// length `side`.
///
/// # Errors
/// The fault of the data, as the end of a sentence.
pub(super) fn relative(data: &str, side: f64) -> Result<String, String> {
    if data.len() > MAX_LENGTH {
        return Err(format!("is longer than {MAX_LENGTH} characters"));
    }
    let mut pen = Pen::new(ICON / side, side);
    let mut reader = Reader { rest: data };
    let Some(mut command) = reader.command().filter(|command| command.eq_ignore_ascii_case(&'m')) else {
        return Err("does not begin with the command M".to_owned());
    };
    loop {
        let is_closing = command.eq_ignore_ascii_case(&'z');
        pen.draw(command, &mut reader)?;
        command = match reader.command() {
            Some(next) => next,
            None if reader.is_at_end() => return Ok(pen.written),
            None if is_closing => return Err("has numbers after the command Z".to_owned()),
            // Further numbers repeat the command; after a move, they draw lines.
            None if command == 'M' => 'L',
            None if command == 'm' => 'l',
            None => command,
        };
    }
}

struct Pen {
    scale: f64,
    side: f64,
    /// The point that the last command has reached, in the units of the data.
    at: [f64; 2],
    start: [f64; 2],
    /// The same points as they were written, so that rounding does not add up.
    written_at: [f64; 2],
    written_start: [f64; 2],
    written: String,
}

impl Pen {
    const fn new(scale: f64, side: f64) -> Self {
        let origin = [0.0; 2];
        Self {
            scale,
            side,
            at: origin,
            start: origin,
            written_at: origin,
            written_start: origin,
            written: String::new(),
        }
    }

    /// Draws a command with its numbers.
    fn draw(&mut self, command: char, reader: &mut Reader<'_>) -> Result<(), String> {
        let missing =
            || format!("has too few numbers, or something else than numbers, after the command {command}");
        let origin = if command.is_ascii_lowercase() { self.at } else { [0.0; 2] };
        let [x, y] = origin;
        let lower = command.to_ascii_lowercase();
        self.written.push(lower);
        match lower {
            'z' => (self.at, self.written_at) = (self.start, self.written_start),
            'h' | 'v' => {
                let value = reader.number().ok_or_else(missing)?;
                let to = if lower == 'h' { [x + value, self.at[1]] } else { [self.at[0], y + value] };
                let to = self.within(to)?;
                let written = self.point(to);
                let along = if lower == 'h' { written[0] } else { written[1] };
                let _ = write!(self.written, "{}", number(along));
                self.reach(to, written);
            }
            'a' => {
                for _ in 0..2 {
                    let radius = reader.number().filter(|radius| (0.0..=self.side).contains(radius));
                    let radius = radius.ok_or("has an arc with a radius beyond the side of the square")?;
                    let _ = write!(self.written, "{} ", number(radius * self.scale));
                }
                let turn = reader.number().filter(|turn| turn.abs() <= 360.0).ok_or_else(missing)?;
                let [large, sweep] = [reader.flag().ok_or_else(missing)?, reader.flag().ok_or_else(missing)?];
                let _ = write!(self.written, "{} {large} {sweep} ", number(turn));
                self.points(1, origin, reader).ok_or_else(missing)??;
            }
            'c' => self.points(3, origin, reader).ok_or_else(missing)??,
            's' | 'q' => self.points(2, origin, reader).ok_or_else(missing)??,
            _ => self.points(1, origin, reader).ok_or_else(missing)??,
        }
        if lower == 'm' {
            (self.start, self.written_start) = (self.at, self.written_at);
        }
        Ok(())
    }

    /// Writes points, and goes to the last of them. `None` if numbers are missing.
    fn points(
        &mut self,
        count: usize,
        [x, y]: [f64; 2],
        reader: &mut Reader<'_>,
    ) -> Option<Result<(), String>> {
        let mut last = (self.at, [0.0; 2]);
        for index in 0..count {
            let point = [x + reader.number()?, y + reader.number()?];
            let point = match self.within(point) {
                Ok(point) => point,
                Err(problem) => return Some(Err(problem)),
            };
            let written = self.point(point);
            let space = if index > 0 { " " } else { "" };
            let _ = write!(self.written, "{space}{} {}", number(written[0]), number(written[1]));
            last = (point, written);
        }
        self.reach(last.0, last.1);
        Some(Ok(()))
    }

    /// Returns a point if it is within the square.
    fn within(&self, point: [f64; 2]) -> Result<[f64; 2], String> {
        // Relative coordinates with rounded numbers go a little beyond.
        let allowed = -0.05 * self.side..=1.05 * self.side;
        if point.iter().all(|value| allowed.contains(value)) {
            Ok(point)
        } else {
            Err(format!("leaves its square of {0} × {0}", number(self.side)))
        }
    }

    /// Returns a point relative to the one that was written last.
    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let round = |value: f64| (value * self.scale * 100.0).round() / 100.0;
        [round(x) - self.written_at[0], round(y) - self.written_at[1]]
    }

    fn reach(&mut self, at: [f64; 2], written: [f64; 2]) {
        self.at = at;
        self.written_at = [self.written_at[0] + written[0], self.written_at[1] + written[1]];
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.rest.is_empty()
    }

    fn command(&mut self) -> Option<char> {
        self.skip_spaces();
        let command = self.rest.chars().next().filter(|first| "MmLlHhVvCcSsQqTtAaZz".contains(*first))?;
        self.rest = self.rest.get(1..)?;
        Some(command)
    }

    /// Skips the separator of two numbers: spaces, and one comma.
    fn skip_separator(&mut self) {
        self.skip_spaces();
        if let Some(rest) = self.rest.strip_prefix(',') {
            self.rest = rest;
            self.skip_spaces();
        }
    }

    /// Reads a flag of an arc, which is one digit, whatever follows it.
    fn flag(&mut self) -> Option<char> {
        self.skip_separator();
        let flag = self.rest.chars().next().filter(|first| matches!(first, '0' | '1'))?;
        self.rest = self.rest.get(1..)?;
        Some(flag)
    }

    fn number(&mut self) -> Option<f64> {
        self.skip_separator();
        let (number, rest) = self.rest.split_at_checked(number_length(self.rest)?)?;
        self.rest = rest;
        number.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

/// Returns the length of the number that a text begins with.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits_from = |start: usize| {
        bytes.get(start..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits_from(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits_from(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let digits = digits_from(end + 1 + sign);
        if digits > 0 {
            end += 1 + sign + digits;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn absolute_and_relative_data_give_the_same_path() {
        let expected = Ok("m0 0l28 0l0 28l-28 0z".to_owned());
        assert_eq!(relative("M0 0L24 0L24,24L0 24Z", 24.0), expected);
        assert_eq!(relative("m0,0 24 0 0 24-24 0z", 24.0), expected);
        assert_eq!(relative("M0 0H14V14H0Z", 14.0), Ok("m0 0h28v28h-28z".to_owned()));
    }

    #[test]
    fn numbers_need_no_spaces_where_svg_needs_none() {
        assert_eq!(relative("M.5.5-.0.5", 28.0), Ok("m0.5 0.5l-0.5 0".to_owned()));
        assert_eq!(relative("M1 14a13 13 0 1126 0", 28.0), Ok("m1 14a13 13 0 1 1 26 0".to_owned()));
        assert_eq!(relative("M1e1 1E+1l1e-1 0", 28.0), Ok("m10 10l0.1 0".to_owned()));
        assert_eq!(
            relative("M1 1c1 1 2 2 3 3s2 2 3 3q1 1 2 2t1 1", 28.0).unwrap(),
            "m1 1c1 1 2 2 3 3s2 2 3 3q1 1 2 2t1 1"
        );
    }

    #[test]
    fn rounding_does_not_add_up() {
        let path = relative(&format!("M0 0{}", "l.004 0".repeat(200)), 28.0).unwrap();
        let reached: f64 =
            path.split('l').skip(1).map(|part| part.split(' ').next().unwrap().parse::<f64>().unwrap()).sum();
        assert!((reached - 0.8).abs() < 0.011, "{reached}");
    }

    #[test]
    fn anything_but_a_path_within_its_square_is_refused() {
        for (data, problem) in [
            ("", "does not begin with the command M"),
            ("L1 1", "does not begin with the command M"),
            ("M1", "too few numbers"),
            ("M1 1 2", "too few numbers"),
            ("M1 1L\"/><script>", "too few numbers"),
            ("M1 1Z5 5", "numbers after the command Z"),
            ("M1 1A1 1 0 2 0 3 3", "too few numbers"),
            ("M1 1a99 1 0 0 0 3 3", "a radius beyond"),
            ("M1 1a-1 1 0 0 0 3 3", "a radius beyond"),
            ("M1 1L1e9 1", "leaves its square of 24 × 24"),
            ("M1 1l1e999 1", "too few numbers"),
            ("M1 1lNaN 1", "too few numbers"),
            ("M-9 1", "leaves its square"),
            ("M1 1,,2 2", "too few numbers"),
            ("M1 1 url(x)", "too few numbers"),
            ("M1 1é", "too few numbers"),
        ] {
            let refused = relative(data, 24.0).unwrap_err();
            assert!(refused.contains(problem), "{data}: {refused}");
        }
        assert!(relative(&"M1 1".repeat(501), 24.0).unwrap_err().contains("longer than 2000"));
    }
}
