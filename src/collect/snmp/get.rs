use super::agent::SnmpAgent;
use super::error::AskError;
use super::message::Question;
use super::system::UP_TIME;
use super::value::{ObjectId, Variable};

/// Maximum number of times that the request is sent.
const MAX_TRIES: usize = 3;

impl SnmpAgent {
    /// Reads some objects by one request. The objects that the agent does not have are left out.
    ///
    /// An agent of SNMPv1 answers with nothing if it lacks one of them.
    ///
    /// # Errors
    /// Returns an error if the agent cannot be asked, and if it does not answer.
    pub async fn get(&mut self, objects: &[ObjectId]) -> Result<Vec<Variable>, AskError> {
        let answer = self.ask(Question::Get, objects, MAX_TRIES).await?;
        let has_failed = answer.status != 0;
        let present = |variable: &Variable| !has_failed && !variable.value.is_absent();
        Ok(answer.variables.into_iter().filter(present).collect())
    }

    /// Asks an agent for `sysUpTime` that is silent to requests for tables, and returns whether it answers.
    ///
    /// If it does, further requests for tables are sent less often until one is answered.
    pub(in crate::collect) async fn answers_for_clock(&mut self) -> bool {
        let answer = self.get(&[ObjectId::new(UP_TIME)]).await;
        self.is_selective = matches!(answer, Ok(_) | Err(AskError::Undecodable));
        self.is_selective
    }
}
