//! Hosts: validity, storage, concurrent changes, and their management by users.

mod managed;
mod parts;
mod parts_at_random;
mod parts_in_place;
mod races;
mod service_access;
mod setup;
mod storage;
mod texts;
mod upgrade;
mod validity;
mod virtualized_by;
