use std::io;

/// The errors of an agent that refuses the rights to read, by RFC 3416: `noAccess` and `authorizationError`.
const REFUSALS: [i32; 2] = [6, 16];

/// Returns whether an agent refuses the rights to read by an error. Other errors, such as those for a missing object or one that the agent
/// fails to read, say nothing of the rights.
pub(super) fn is_refusal(status: i32) -> bool {
    REFUSALS.contains(&status)
}

/// The reason why an agent was not asked, or did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The allow-list does not have the address.
    #[error("the allow-list does not have the address, so nothing was sent to it")]
    NotAllowed,
    /// The host application has no secret for the address.
    #[error("there is no community or user for the address")]
    NoSecret,
    /// There was no answer in time.
    #[error("there was no answer")]
    Silent,
    /// The answers have a form that SNMP does not allow, such as a number without a byte.
    #[error("the answers of the device cannot be decoded")]
    Undecodable,
    /// The system did not send the packet.
    #[error("the packet could not be sent: {0}")]
    NotSent(io::ErrorKind),
    /// The agent refuses the user, or cannot be spoken to by SNMPv3.
    #[error(transparent)]
    Refused(#[from] SnmpRefusal),
    /// The agent knows the secret, and refuses it the system group, which every agent has. The number is that of RFC 3416, `error-status`.
    #[error("the device answered with error {0}; the user or community may lack the right to read it")]
    Denied(i32),
    /// The request has no valid form, such as one with an identifier that is too long.
    #[error("the request cannot be encoded")]
    NotEncoded,
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    NoRandomNumbers,
}

/// The reason why an agent and a user of SNMPv3 do not get along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnmpRefusal {
    /// The agent does not know the user.
    #[error("the device does not know the user")]
    UnknownUser,
    /// The password or the protocol of authentication is wrong.
    #[error("the password or the protocol of authentication is wrong")]
    WrongDigest,
    /// The password or the protocol of privacy is wrong.
    #[error("the password or the protocol of privacy is wrong")]
    DecryptionFailed,
    /// The user may not be used with or without authentication or privacy, as was tried.
    #[error("the device refuses the security level; add or remove authentication or privacy")]
    UnsupportedLevel,
    /// The clock of the agent jumps, so that it finds every message too old.
    #[error("the clock of the device jumps, so that it refuses every message")]
    UnstableClock,
    /// The engine id of the agent changes with every message.
    #[error("the engine id of the device is invalid, or changes with every message")]
    UnstableEngine,
    /// A password is shorter than 8 characters.
    #[error("a password of SNMPv3 has at least 8 characters")]
    BadPassword,
    /// The agent reports an error that SNMPv3 does not define for users.
    #[error("the device refuses the message for a reason of its own")]
    Other,
}
