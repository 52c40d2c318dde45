//! Child processes, which run a part of a test and can be killed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Environment variable with the scene that a child runs and its arguments.
const SCENE: &str = "TOPOSCOPE_SCENE";
const ARGUMENTS: &str = "TOPOSCOPE_SCENE_ARGUMENTS";

/// Prefix of the child's own messages. The test harness writes to the same output, sometimes on the same line.
const MARK: &str = "~ ";

/// Name of the test that runs the scene in the child.
const SCENE_TEST: &str = "durability::child_process_entry_point";

/// Time after which a child is considered to hang.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// A child process that runs one scene and is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    lines: Receiver<String>,
    errors: File,
}

/// How a child ended, and its unread messages.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) lines: Vec<String>,
    pub(crate) status: ExitStatus,
    pub(crate) errors: String,
}

impl Child {
    pub(crate) fn start(scene: &str, arguments: &[&str]) -> Self {
        Self::start_through(&[], scene, arguments)
    }

    /// Starts a child like [`start`](Self::start), through another command. The child's command line is appended to it.
    pub(crate) fn start_through(way: &[&str], scene: &str, arguments: &[&str]) -> Self {
        let own = std::env::current_exe().unwrap();
        let line = [SCENE_TEST, "--exact", "--ignored", "--nocapture", "--test-threads=1"];
        let mut words = way.iter().map(OsStr::new).chain([own.as_os_str()]);
        let mut command = Command::new(words.next().unwrap());
        let errors = tempfile::tempfile().unwrap();
        let mut process = command
            .args(words)
            .args(line)
            .env(SCENE, scene)
            .env(ARGUMENTS, serde_json::to_string(arguments).unwrap())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(errors.try_clone().unwrap())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || {
            let lines = output.split(b'\n').map_while(Result::ok);
            // The last line may be incomplete: it does not count then.
            for line in lines.filter_map(|line| String::from_utf8(line).ok()) {
                let message = line.split_once(MARK).and_then(|(_, message)| message.strip_suffix('.'));
                if message.is_some_and(|message| sender.send(message.to_owned()).is_err()) {
                    return;
                }
            }
        });
        Self { process, lines, errors }
    }

    /// Returns the next message of the child. `None`: it has ended, or sent nothing within `limit`.
    pub(crate) fn next(&self, limit: Duration) -> Option<String> {
        self.lines.recv_timeout(limit).ok()
    }

    /// Kills the child with `SIGKILL`.
    pub(crate) fn kill(mut self) -> Ended {
        let _ = self.process.kill();
        self.end(Instant::now() + TIMEOUT).expect("a process that is killed ends")
    }

    /// Waits until the child ends. Returns `None` if it hangs, after killing it.
    pub(crate) fn finish(mut self, limit: Duration) -> Option<Ended> {
        self.end(Instant::now() + limit)
    }

    fn end(&mut self, deadline: Instant) -> Option<Ended> {
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => return None,
                // The child has closed its output, so it is about to end.
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.process.wait().unwrap();
        Some(Ended { lines, status, errors: self.errors() })
    }

    /// Returns the text that the child has written to its standard error.
    pub(crate) fn errors(&mut self) -> String {
        let mut text = Vec::new();
        self.errors.rewind().and_then(|()| self.errors.read_to_end(&mut text)).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the scene that this process has to run. Returns `None` in the process of the tests.
pub(crate) fn scene() -> Option<(String, Vec<String>)> {
    let scene = std::env::var(SCENE).ok()?;
    Some((scene, serde_json::from_str(&std::env::var(ARGUMENTS).unwrap()).unwrap()))
}

/// Sends the parent a line in a single write. It arrives completely or not at all.
pub(crate) fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{MARK}{}.\n", line.replace('\n', " | ")).as_bytes()).unwrap();
    output.flush().unwrap();
}
