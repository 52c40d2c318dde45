use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::MAX_UNCOUNTED;
use crate::inventory::Error;
use crate::service::budget::{Budget, BudgetExhausted, Holder, Reservation};

/// Additional size of the envelope and of fields that the server sets: bytes, and a fraction of the record.
const ENVELOPE_SIZE: (usize, usize) = (512, 8);

/// The bytes that a request holds while it is processed: those of its body, and those reserved for its answer.
///
/// A write reserves them before it is executed: then it must be answered, and can no longer be refused. Other answers may be
/// refused when they are known, and reserve nothing before.
pub(in crate::service) struct RequestRoom<'r> {
    bodies: [&'r Arc<Budget>; 2],
    holder: Holder,
    body: Mutex<Option<Reservation>>,
    answer: AnswerRoom,
}

/// The bytes that a write has reserved for its answer. Other requests reserve nothing before their answer is known.
///
/// It can be shared with the thread on which a large record is changed.
#[derive(Clone, Default)]
pub(in crate::service) struct AnswerRoom(Option<Arc<Mutex<Reservation>>>);

impl<'r> RequestRoom<'r> {
    /// Creates room without any bytes. Those of the body will be taken from `bodies`: the budgets of all bodies, and of
    /// those that have not arrived to their end.
    pub(in crate::service) fn new(bodies: [&'r Arc<Budget>; 2], holder: Holder) -> Self {
        Self { bodies, holder, body: Mutex::default(), answer: AnswerRoom::default() }
    }

    /// Reserves the maximum size of the answers to most writes.
    ///
    /// # Errors
    /// `BudgetExhausted`.
    pub(in crate::service) fn begin_write(&mut self, answers: &Arc<Budget>) -> Result<(), BudgetExhausted> {
        let reservation = answers.reserve(self.holder, MAX_UNCOUNTED)?;
        self.answer = AnswerRoom(Some(Arc::new(Mutex::new(reservation))));
        Ok(())
    }

    /// Begins the reservation of a body, which grows as the body arrives.
    pub(in crate::service) fn begin_body(&self) -> IncomingBody {
        let [bodies, incoming] = self.bodies;
        IncomingBody {
            held: bodies.begin(self.holder),
            incoming: incoming.begin(self.holder.of_organization()),
        }
    }

    /// Holds the bytes of a body that has arrived.
    pub(in crate::service) fn hold_body(&self, body: IncomingBody) {
        *lock(&self.body) = Some(body.into_arrived());
    }

    /// Returns the room for the answer.
    pub(in crate::service) const fn answer(&self) -> &AnswerRoom {
        &self.answer
    }

    /// Returns a reservation for an answer of this size. A write has made its reservation before.
    ///
    /// # Errors
    /// `BudgetExhausted`.
    pub(in crate::service) fn into_answer(
        self,
        answers: &Arc<Budget>,
        bytes: usize,
    ) -> Result<Reservation, BudgetExhausted> {
        let Some(reserved) = self.answer.0 else { return answers.reserve(self.holder, bytes) };
        let mut answer = mem::replace(&mut *lock(&reserved), answers.begin(self.holder));
        answer.resize(bytes);
        Ok(answer)
    }
}

/// The bytes of a body that has not arrived to its end.
pub(in crate::service) struct IncomingBody {
    held: Reservation,
    incoming: Reservation,
}

impl IncomingBody {
    /// Reserves further bytes, up to `bytes` altogether.
    ///
    /// # Errors
    /// `BudgetExhausted`. The body must not be received then.
    pub(in crate::service) fn grow(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        self.incoming.grow(bytes)?;
        self.held.grow(bytes)
    }

    /// Returns the reservation of the body, which has arrived.
    pub(in crate::service) fn into_arrived(self) -> Reservation {
        self.held
    }
}

impl AnswerRoom {
    /// Reserves a number of bytes for the answer to a write.
    ///
    /// # Errors
    /// `BudgetExhausted`: the write must not be executed.
    pub(in crate::service) fn reserve(&self, bytes: usize) -> Result<(), BudgetExhausted> {
        self.0.as_ref().map_or(Ok(()), |answer| lock(answer).grow(bytes))
    }

    /// Reserves the size of a record as it will be stored, whose times and ids may not be set yet.
    ///
    /// # Errors
    /// `BudgetExhausted` as an internal error, which becomes the refusal again.
    pub(in crate::service) fn reserve_record(&self, record: &impl Serialize) -> Result<(), Error> {
        let mut size = Size(0);
        serde_json::to_writer(&mut size, record).map_err(Error::internal)?;
        let (bytes, fraction) = ENVELOPE_SIZE;
        Ok(self.reserve(size.0.saturating_add(size.0 / fraction).saturating_add(bytes))?)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the bytes that are written to it.
struct Size(usize);

impl Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
