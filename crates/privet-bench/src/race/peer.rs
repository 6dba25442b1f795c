//! A peer: a process that answers each JSON line with one JSON line.
//!
//! Peers are Python scripts (`peers/*.py`) or, where memory is measured, this program again. Querying
//! the entrants in turns, question by question, keeps a race fair on a busy machine.

use super::RaceError;
use crate::error::BenchError;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The time limit for a peer to load its packages and data.
const LOADING: Duration = Duration::from_secs(120);
/// Number of characters of its last line that are repeated.
const LAST_WORDS: usize = 300;

/// A running peer; stopped when dropped.
pub struct Peer {
    name: String,
    child: Child,
    questions: Option<ChildStdin>,
    answers: Receiver<String>,
    log: PathBuf,
    /// Its description of itself when it was ready.
    about: Value,
}

impl Peer {
    /// Starts a command and waits for its `{"ready": …}`. Its standard error goes to `log`.
    pub fn start<A: AsRef<OsStr>>(
        name: &str,
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        log: &Path,
    ) -> Result<Self, BenchError> {
        let words = File::create(log).map_err(BenchError::on_path(log))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(words)
            .spawn()
            .map_err(BenchError::on_path(program))?;
        let (sender, answers) = channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let questions = child.stdin.take();
        let name = name.to_owned();
        let mut peer =
            Self { name, child, questions, answers, log: log.into(), about: Value::Null };
        peer.about = peer.answer(LOADING)?["ready"].take();
        Ok(peer)
    }

    /// The version that it stated of a package.
    pub fn version(&self, package: &str) -> &str {
        self.about[package].as_str().unwrap_or("unknown")
    }

    /// Sends a question and waits for the answer; a peer that takes longer than the limit is stopped.
    pub fn ask(&mut self, question: &Value, limit: Duration) -> Result<Value, RaceError> {
        let sent = match &mut self.questions {
            Some(input) => writeln!(input, "{question}").and_then(|()| input.flush()),
            None => Ok(()),
        };
        if sent.is_err() {
            return Err(self.silent());
        }
        self.answer(limit)
    }

    fn answer(&mut self, limit: Duration) -> Result<Value, RaceError> {
        match self.answers.recv_timeout(limit) {
            Ok(line) => serde_json::from_str(&line).map_err(|_| RaceError::Silent {
                who: self.name.clone(),
                reason: format!("'{}' is not JSON", shorten_line(&line)),
            }),
            Err(RecvTimeoutError::Timeout) => {
                self.stop();
                Err(RaceError::Slow { who: self.name.clone(), seconds: limit.as_secs() })
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.silent()),
        }
    }

    fn silent(&mut self) -> RaceError {
        self.stop();
        let words = fs::read_to_string(&self.log).unwrap_or_default();
        let last = words.lines().rfind(|line| !line.trim().is_empty());
        let reason = last.map_or_else(|| "it ended without a word".into(), shorten_line);
        RaceError::Silent { who: self.name.clone(), reason }
    }

    fn stop(&mut self) {
        self.questions = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A line cut to fit into a message.
pub(super) fn shorten_line(line: &str) -> String {
    line.trim().chars().take(LAST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shell(script: &str) -> Result<Peer, BenchError> {
        let folder = tempfile::tempdir().unwrap();
        Peer::start("a shell", Path::new("/bin/sh"), ["-c", script], &folder.path().join("log"))
    }

    #[test]
    fn a_peer_answers_line_by_line_until_it_ends_or_dawdles() {
        let quick = LOADING;
        let echo = r#"echo '{"ready":{"echo":"1.0"}}'; read a; echo "$a"; read b; echo "not json""#;
        let mut peer = shell(echo).unwrap();
        assert_eq!((peer.version("echo"), peer.version("other")), ("1.0", "unknown"));
        assert_eq!(peer.ask(&json!({"x": 1}), quick).unwrap(), json!({"x": 1}));
        let garbled = peer.ask(&json!(2), quick).unwrap_err().to_string();
        assert!(garbled.contains("a shell") && garbled.contains("not json"), "{garbled}");
        let ended = peer.ask(&json!(3), quick).unwrap_err();
        assert!(matches!(ended, RaceError::Silent { .. }), "{ended}");

        let mut slow = shell(r#"echo '{"ready":{}}'; exec sleep 60"#).unwrap();
        let late = slow.ask(&json!(1), Duration::from_millis(50)).unwrap_err();
        assert!(matches!(late, RaceError::Slow { .. }), "{late}");

        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let gone = Peer::start("x", Path::new("/no/such/program"), [""], &log);
        assert!(matches!(gone, Err(BenchError::File { .. })));
    }
}
