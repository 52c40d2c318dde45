//! Users: their logins and their rights.

mod deletion;
mod passwords;
mod rights;
