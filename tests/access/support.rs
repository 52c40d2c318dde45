//! Shared helpers: known keys, sources of randomness, and a cheap hasher.

use toposcope::access::{PasswordCost, PasswordHasher, RandomError, RandomSource};

pub(crate) const USER_KEY: &str = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
pub(crate) const DAEMON_KEY: &str = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";

/// A source that counts upwards from a first byte.
#[derive(Debug)]
pub(crate) struct Counting(pub(crate) u8);

impl RandomSource for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = self.0.wrapping_add(u8::try_from(index).map_err(RandomError::new)?);
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Constant(pub(crate) u8);

impl RandomSource for Constant {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(self.0);
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Failing;

impl RandomSource for Failing {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(7);
        Err(RandomError::new("unplugged"))
    }
}

pub(crate) fn fast() -> PasswordHasher {
    PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap())
}
