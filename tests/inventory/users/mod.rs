//! Users: their logins and their rights.

mod creating;
mod deleting;
mod enabling;
mod passwords;
mod rights;
