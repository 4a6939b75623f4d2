//! The server as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::Folder;

/// A server that is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// The one line that it says.
    pub(crate) line: String,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let log = std::fs::File::options().create(true).append(true).open(folder.path("log"));
        let mut command = folder.command(&all);
        let mut child = command.stdout(Stdio::piped()).stderr(log.unwrap()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("://").nth(1).and_then(|rest| rest.split([' ', ',']).next());
        let address =
            address.unwrap_or_else(|| panic!("{line:?}: {}", folder.read("log"))).to_owned();
        Self { child, line, address }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// How it ended, and how long that took.
    pub(crate) fn end(&mut self) -> (ExitStatus, Duration) {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, begin.elapsed());
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
