//! Sessions of a tenant's users, in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openidconnect::CsrfToken;
use toposcope::access::Caller;

/// The number of logins of a tenant whose sessions are kept. The session of the oldest ends for a new one.
pub const MAX_SESSIONS: usize = 1_000;

#[derive(Default)]
pub(crate) struct Sessions(Mutex<State>);

#[derive(Default)]
struct State {
    callers: HashMap<String, Caller>,
    /// Ids of sessions in the order of their beginning, also of those that have been ended.
    order: VecDeque<String>,
}

impl Sessions {
    /// Begins a session and returns its id, a secret of 32 random bytes.
    pub(crate) fn begin(&self, caller: Caller) -> String {
        let id = CsrfToken::new_random_len(32).into_secret();
        let mut state = self.lock();
        if state.order.len() >= MAX_SESSIONS {
            let oldest = state.order.pop_front().unwrap_or_default();
            state.callers.remove(&oldest);
        }
        state.order.push_back(id.clone());
        state.callers.insert(id.clone(), caller);
        id
    }

    /// Returns the caller of a session. The API refuses it once the session has expired.
    pub(crate) fn caller(&self, id: &str) -> Option<Caller> {
        self.lock().callers.get(id).cloned()
    }

    /// Ends a session and returns its caller.
    pub(crate) fn end(&self, id: &str) -> Option<Caller> {
        self.lock().callers.remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use toposcope::access::Scope;
    use toposcope::model::{OrganizationId, Permission, UserId};

    use super::*;

    fn caller() -> Caller {
        Caller::new(OrganizationId::nil(), UserId::nil(), Permission::Viewer, Scope::all())
    }

    #[test]
    fn oldest_session_ends_for_a_new_one() {
        let sessions = Sessions::default();
        let ids: Vec<_> = (0..=MAX_SESSIONS).map(|_| sessions.begin(caller())).collect();
        assert!(sessions.caller(&ids[0]).is_none());
        assert!(sessions.caller(&ids[1]).is_some() && sessions.caller(&ids[MAX_SESSIONS]).is_some());
    }

    #[test]
    fn sessions_that_have_been_ended_take_bounded_memory() {
        let sessions = Sessions::default();
        for _ in 0..3 * MAX_SESSIONS {
            let id = sessions.begin(caller());
            sessions.end(&id);
        }
        let state = sessions.lock();
        assert_eq!((state.order.len(), state.callers.len()), (MAX_SESSIONS, 0));
    }
}
