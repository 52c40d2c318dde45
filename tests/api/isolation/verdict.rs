//! Compares an answer with the oracle's.

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde_json::Value;

use super::arena::session_of;
use super::oracle::{Decision, Success};
use super::refusal::Refusal;
use crate::common::Reply;

/// Returns the difference from the expected answer, if any. `shown` is the expected `data`.
pub(crate) fn compare(
    decision: &Decision,
    shown: Option<&Value>,
    is_head: bool,
    reply: &Reply,
) -> Result<(), String> {
    match &decision.answer {
        Ok(success) => compare_success(success, shown, is_head, reply),
        Err(refusal) => compare_refusal(refusal, is_head, reply),
    }
}

fn equal<T: PartialEq + Debug + ?Sized>(what: &str, expected: &T, given: &T) -> Result<(), String> {
    if expected == given { Ok(()) } else { Err(format!("{what}: expected {expected:?}\ngiven    {given:?}")) }
}

fn compare_success(
    success: &Success,
    shown: Option<&Value>,
    is_head: bool,
    reply: &Reply,
) -> Result<(), String> {
    equal("status", &200, &reply.status.as_u16())?;
    let cookie = match success {
        // Only the answer determines the id.
        Success::LoggedIn(_) => Some((session_of(reply), 604_800)),
        Success::LoggedOut => Some((String::new(), 0)),
        _ => None,
    };
    if let Some((id, seconds)) = cookie {
        equal("characters of the session id", &if seconds == 0 { 0 } else { 43 }, &id.len())?;
        let cookie = format!("session_id={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}; Secure");
        equal("cookie", cookie.as_str(), reply.header("set-cookie"))?;
    }
    if is_head {
        return Ok(());
    }
    if let Success::Page { pagination, .. } = success {
        equal("pagination", pagination, &reply.json["meta"]["pagination"])?;
    }
    equal("data", shown.ok_or("the oracle shows nothing")?, &reply.json["data"])
}

fn compare_refusal(refusal: &Refusal, is_head: bool, reply: &Reply) -> Result<(), String> {
    equal("status", &refusal.status, &reply.status.as_u16())?;
    if let Some(methods) = refusal.allow {
        let given: BTreeSet<&str> = reply.header("allow").split(", ").collect();
        equal("allow", &methods.iter().copied().collect(), &given)?;
    }
    if is_head {
        return Ok(());
    }
    equal("code", &Value::from(refusal.code), &reply.json["code"])?;
    match &refusal.params {
        Some(params) => equal("params", params, &reply.json["params"]),
        None => Ok(()),
    }
}
