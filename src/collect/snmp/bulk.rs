//! Whether an agent is asked by GETBULK, and for how many variables.

/// Maximum number of variables that one answer is asked for.
const MAX_REPETITIONS: u32 = 30;

/// Maximum number of times that GETBULK is sent to an agent that has answered it.
const MAX_TRIES: usize = 5;

/// Maximum number of times that GETBULK is sent to an agent that has not answered it yet, or not the last time.
const MAX_FIRST_TRIES: usize = 2;

/// How an agent is asked for the next variables: by GETBULK, or by GETNEXT.
///
/// An agent that refuses GETBULK is asked by GETNEXT from then on, or until the end of the table if it has answered GETBULK before. Silence may
/// also mean that packets were lost: after it, the agent is asked by GETNEXT until the end of the table, and by GETBULK once more at the
/// next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BulkReading {
    /// The number of variables that GETBULK asks for; `None`: it is not used.
    repetitions: Option<u32>,
    has_answered: bool,
    /// The number for which it asked when the agent answered last; `None`: the agent never has.
    answered: Option<u32>,
    /// The number for which GETBULK asks at the next table.
    next: Option<u32>,
    is_last_chance: bool,
}

impl BulkReading {
    /// Begins with an agent of which nothing is known. SNMPv1 has no GETBULK.
    pub(super) const fn new(is_v1: bool) -> Self {
        let repetitions = if is_v1 { None } else { Some(MAX_REPETITIONS) };
        Self { repetitions, has_answered: false, answered: None, next: None, is_last_chance: false }
    }

    /// Begins another table.
    pub(super) const fn begin_table(&mut self) {
        if let Some(repetitions) = self.next.take() {
            (self.repetitions, self.is_last_chance) = (Some(repetitions), !self.has_answered);
        }
    }

    /// Returns the number of variables to ask for by GETBULK; `None`: the agent is asked by GETNEXT.
    pub(super) const fn repetitions(&self) -> Option<u32> {
        self.repetitions
    }

    /// Returns how often a GETBULK is sent without an answer.
    pub(super) const fn tries(&self) -> usize {
        if self.has_answered { MAX_TRIES } else { MAX_FIRST_TRIES }
    }

    /// Notes an answer with variables.
    pub(super) const fn note_answer(&mut self) {
        (self.has_answered, self.is_last_chance) = (true, false);
        self.answered = self.repetitions;
    }

    /// Uses GETBULK again at the next table, if the agent has ever answered it: its silence was that of some tables.
    pub(super) const fn restore(&mut self) {
        if self.repetitions.is_none() {
            self.next = self.answered;
        }
    }

    /// Notes an answer without variables.
    pub(super) const fn note_refusal(&mut self) {
        if self.has_answered {
            self.next = self.repetitions;
        }
        self.repetitions = None;
    }

    /// Notes that the answer would be too big. Returns `false` if no smaller one can be asked for.
    pub(super) const fn halve(&mut self) -> bool {
        match self.repetitions {
            Some(repetitions) if repetitions > 1 => {
                self.repetitions = Some(repetitions / 2);
                true
            }
            _ => false,
        }
    }

    /// Notes that there was no answer.
    pub(super) const fn note_silence(&mut self) {
        if !self.is_last_chance {
            self.next = self.repetitions;
        }
        (self.repetitions, self.has_answered) = (None, false);
    }
}
