//! The flags with secrets, which `collect` and `daemon` have in common.

use std::env;

use toposcope::collect::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use super::failure::Failure;

/// The lines about these flags, for `--help`.
pub(crate) const SECRETS_USAGE: &str = "\
  --community-env VAR  the environment variable with a community of SNMPv2c
  --v1                 use the community for SNMPv1, too
  --user NAME          a user of SNMPv3
  --auth-env VAR       the environment variable with the password of authentication
  --auth PROTOCOL      md5, sha1, sha224, sha256, sha384 or sha512 [sha256]
  --priv-env VAR       the environment variable with the password of privacy
  --priv PROTOCOL      des, aes128, aes192, aes256, aes192-cisco or aes256-cisco [aes128]
";

/// The flags with secrets.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct SecretFlags {
    community: Option<String>,
    user: Option<String>,
    auth_password: Option<String>,
    auth: Option<String>,
    priv_password: Option<String>,
    privacy: Option<String>,
    is_v1: bool,
}

impl SecretFlags {
    /// Takes a flag. Returns `false` if it is none of these.
    pub(crate) fn take(
        &mut self,
        flag: &str,
        mut value: impl FnMut() -> Result<String, Failure>,
    ) -> Result<bool, Failure> {
        match flag {
            "--community-env" => self.community = Some(variable(&value()?)?),
            "--v1" => self.is_v1 = true,
            "--user" => self.user = Some(value()?),
            "--auth-env" => self.auth_password = Some(variable(&value()?)?),
            "--auth" => self.auth = Some(value()?),
            "--priv-env" => self.priv_password = Some(variable(&value()?)?),
            "--priv" => self.privacy = Some(value()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the secrets that the flags name.
    pub(crate) fn secrets(self) -> Result<Vec<SnmpSecret>, Failure> {
        if self.priv_password.is_some() && self.auth_password.is_none() {
            return Err(Failure::usage("--priv-env requires --auth-env: messages cannot be encrypted only"));
        }
        if self.auth_password.is_some() && self.user.is_none() {
            return Err(Failure::usage("--auth-env requires --user"));
        }
        if self.is_v1 && self.community.is_none() {
            return Err(Failure::usage("--v1 requires --community-env"));
        }
        let mut secrets = Vec::new();
        if let Some(name) = self.user {
            let mut user = SnmpUser::new(name);
            if let Some(password) = self.auth_password {
                user = user.authentication(authentication(self.auth.as_deref())?, password);
            }
            if let Some(password) = self.priv_password {
                user = user.privacy(privacy(self.privacy.as_deref())?, password);
            }
            secrets.push(SnmpSecret::v3(user));
        }
        if let Some(community) = self.community {
            secrets.push(SnmpSecret::v2c(community.as_str()));
            if self.is_v1 {
                secrets.push(SnmpSecret::v1(community));
            }
        }
        if secrets.is_empty() {
            Err(Failure::usage("--community-env or --user is required"))
        } else {
            Ok(secrets)
        }
    }
}

/// Reads a secret from the environment, where it is in no list of processes and no history of a shell.
pub(crate) fn variable(name: &str) -> Result<String, Failure> {
    let value = env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| Failure::usage(format_args!("The environment variable {name} is not set")))
}

fn authentication(name: Option<&str>) -> Result<SnmpAuthentication, Failure> {
    Ok(match name.unwrap_or("sha256") {
        "md5" => SnmpAuthentication::Md5,
        "sha1" => SnmpAuthentication::Sha1,
        "sha224" => SnmpAuthentication::Sha224,
        "sha256" => SnmpAuthentication::Sha256,
        "sha384" => SnmpAuthentication::Sha384,
        "sha512" => SnmpAuthentication::Sha512,
        other => return Err(Failure::usage(format_args!("Unknown protocol {other}"))),
    })
}

fn privacy(name: Option<&str>) -> Result<SnmpPrivacy, Failure> {
    Ok(match name.unwrap_or("aes128") {
        "des" => SnmpPrivacy::Des,
        "aes128" => SnmpPrivacy::Aes128,
        "aes192" => SnmpPrivacy::Aes192,
        "aes256" => SnmpPrivacy::Aes256,
        "aes192-cisco" => SnmpPrivacy::Aes192Cisco,
        "aes256-cisco" => SnmpPrivacy::Aes256Cisco,
        other => return Err(Failure::usage(format_args!("Unknown protocol {other}"))),
    })
}
