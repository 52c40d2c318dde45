use super::{Error, Problem};

/// A name without the white space around it, of 1 to `max` characters.
pub(super) fn name(field: &str, text: &str, max: usize) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid(field, Problem::Empty));
    }
    if text.chars().count() > max {
        return Err(Error::invalid(field, Problem::MaxLength { max }));
    }
    Ok(text.to_owned())
}

/// An e-mail address in lower case. Whether mail arrives there only mail can tell; the form is checked loosely.
pub(super) fn email(field: &str, text: &str) -> Result<String, Error> {
    let text = name(field, text, 254)?.to_lowercase();
    match text.split_once('@') {
        Some((local, domain))
            if !local.is_empty() && !domain.is_empty() && !text.contains(char::is_whitespace) =>
        {
            Ok(text)
        }
        _ => Err(Error::invalid(field, Problem::InvalidFormat)),
    }
}
