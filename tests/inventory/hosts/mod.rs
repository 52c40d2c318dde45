//! Hosts: validity, storage, and concurrent changes.

mod races;
mod storage;
mod validity;
mod virtualized_by;
