//! Users: who may sign in, and what they may do.

mod creating;
mod deleting;
mod enabling;
mod passwords;
mod rights;
