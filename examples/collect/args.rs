//! The program's arguments.

use std::env;
use std::ffi::OsString;
use std::net::IpAddr;

use toposcope::collect::{AllowList, SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use super::failure::Failure;

pub(crate) const USAGE: &str = "\
Usage: cargo run --features collect --example collect -- [FLAG]… ADDRESS…

  ADDRESS              an address to begin with
  --within CIDR        devices in this prefix may be asked, and no others; repeatable, or separated by commas [required]
  --community-env VAR  the environment variable with a community of SNMPv2c
  --v1                 use the community for SNMPv1, too
  --user NAME          a user of SNMPv3
  --auth-env VAR       the environment variable with the password of authentication
  --auth PROTOCOL      md5, sha1, sha224, sha256, sha384 or sha512 [sha256]
  --priv-env VAR       the environment variable with the password of privacy
  --priv PROTOCOL      des, aes128, aes192, aes256, aes192-cisco or aes256-cisco [aes128]
  --arp                also ask the addresses in the ARP caches of devices
  --depth N            the number of neighbors to follow from the first addresses [32]
  --help               print this help
";

/// The parsed command line.
pub(crate) struct Args {
    pub(crate) seeds: Vec<IpAddr>,
    pub(crate) within: AllowList,
    pub(crate) secrets: Vec<SnmpSecret>,
    pub(crate) follows_arp: bool,
    pub(crate) depth: Option<u32>,
}

/// The flags with values.
#[derive(Default)]
struct Flags {
    within: Vec<String>,
    community: Option<String>,
    user: Option<String>,
    auth_password: Option<String>,
    auth: Option<String>,
    priv_password: Option<String>,
    privacy: Option<String>,
    is_v1: bool,
}

impl Args {
    /// Parses the arguments; `None` if they ask for help.
    pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let mut arguments = arguments.map(|argument| {
            argument.into_string().map_err(|_| Failure::usage("An argument is not valid Unicode"))
        });
        let (mut seeds, mut follows_arp, mut depth, mut flags) = (Vec::new(), false, None, Flags::default());
        while let Some(argument) = arguments.next().transpose()? {
            let mut value = || {
                let value = arguments.next().transpose()?.filter(|value| !value.is_empty());
                value.ok_or_else(|| Failure::usage(format_args!("{argument} requires a value")))
            };
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--within" => flags.within.push(value()?),
                "--community-env" => flags.community = Some(variable(&value()?)?),
                "--v1" => flags.is_v1 = true,
                "--user" => flags.user = Some(value()?),
                "--auth-env" => flags.auth_password = Some(variable(&value()?)?),
                "--auth" => flags.auth = Some(value()?),
                "--priv-env" => flags.priv_password = Some(variable(&value()?)?),
                "--priv" => flags.privacy = Some(value()?),
                "--arp" => follows_arp = true,
                "--depth" => {
                    let number = value()?.parse();
                    depth = Some(number.map_err(|_| Failure::usage("--depth requires a number"))?);
                }
                flag if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                address => {
                    let address = address.parse();
                    let what = || Failure::usage(format_args!("{argument} is not an address"));
                    seeds.push(address.map_err(|_| what())?);
                }
            }
        }
        if seeds.is_empty() {
            return Err(Failure::usage("An ADDRESS is required"));
        }
        let within = flags.within.join(",").parse();
        let within = within.map_err(|error| Failure::usage(format_args!("--within: {error}")))?;
        Ok(Some(Self { seeds, within, secrets: flags.secrets()?, follows_arp, depth }))
    }
}

impl Flags {
    fn secrets(self) -> Result<Vec<SnmpSecret>, Failure> {
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
fn variable(name: &str) -> Result<String, Failure> {
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
