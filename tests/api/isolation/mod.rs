//! No request lets a caller see or change anything outside its own organization and scope.
//!
//! Random requests come from all kinds of callers, to every endpoint and about every kind of record, while
//! the data changes. Each answer must equal that of a naive oracle, which knows the API contract and none of
//! the crate's code. The store must hold what the oracle expects. No answer and no log line may contain
//! another organization's data or a secret.

mod arena;
mod ask;
mod fickle;
mod json;
mod leaks;
mod oracle;
mod records;
mod refusal;
mod requests;
mod run;
mod verdict;

use std::thread;

use run::{Run, Seen};

use crate::backend::Backend;

/// One world per seed.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Number of requests sent in each world.

/// Outcomes that must occur; otherwise the requests would prove less than they seem to.
const REACHED: [&str; 41] = [
    "Version 200",
    "LogIn 200",
    "LogIn auth_invalid_credentials",
    "LogOut 200",
    "LogOut auth_cross_site_request",
    "Hosts 200",
    "Hosts auth_not_authenticated",
    "Hosts auth_user_context_required",
    "Hosts billing_feature_not_available",
    "Hosts entity_disabled",
    "Hosts entity_expired",
    "Hosts validation_invalid_format",
    "Hosts validation_unknown_parameter",
    "Port 200",
    "Port auth_cross_site_request",
    "Port auth_permission_denied",
    "Port entity_access_denied",
    "Port entity_already_exists",
    "Port entity_in_use",
    "Port entity_network_mismatch",
    "Port entity_not_found",
    "Port entity_reference_invalid",
    "Port request_unsupported_media_type",
    "Port validation_malformed_json",
    "Port validation_required",
    "DaemonKeys 200",
    "DaemonKeys entity_access_denied",
    "DaemonKeys entity_reference_invalid",
    "DaemonKeys validation_out_of_range",
    "UserKey 200",
    "UserKey auth_user_context_required",
    "UserKey auth_permission_denied",
    "UserKey entity_access_denied",
    "UserKey entity_not_found",
    "UserKey entity_reference_invalid",
    "UserKey entity_update_forbidden",
    "Share 200",
    "Share entity_not_found",
    "Referral 200",
    "nothing route_not_found",
    "nothing method_not_allowed",
];

/// Steps from which the rare outcomes below must occur too.
const IN_TIME: usize = 2_500;
const REACHED_IN_TIME: [&str; 8] = [
    "LogIn auth_too_many_attempts",
    "LogIn validation_empty",
    "Hosts auth_session_expired",
    "Hosts store_unavailable",
    "Port internal_error",
    "Port request_too_large",
    "Referral validation_max_length",
    "UserKey validation_invalid_format",
];

#[test]
fn nobody_sees_or_changes_what_is_not_theirs_whatever_they_send() {
    let steps = Backend::current().effort(700, 25_000);
    let runs = SEEDS.map(|seed| thread::spawn(move || Run::new(seed).send(steps)));
    let mut seen = Seen::default();
    for run in runs {
        seen.extend(run.join().expect("every answer is the oracle's"));
    }
    let in_time = if steps < IN_TIME { &[][..] } else { &REACHED_IN_TIME };
    for what in REACHED.iter().chain(in_time) {
        assert!(seen.contains(*what), "no answer was {what:?}: {seen:#?}");
    }
}
