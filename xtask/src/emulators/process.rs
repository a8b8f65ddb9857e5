//! One running server: its start, the wait for its first answer, and its end.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::place::Place;
use super::servers::Server;
use crate::shell::Outcome;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// A server that runs until it is dropped.
pub struct Running {
    pub server: &'static Server,
    pub child: Child,
    pub place: Place,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        sweep(&self.leavings());
    }
}

/// Removes all that a server has left: its folder, and strays.
pub fn sweep(leavings: &[PathBuf]) {
    // A server that has just been asked to end may still write.
    for _ in 0..20 {
        for place in leavings {
            let _ = match place.is_dir() {
                true => fs::remove_dir_all(place),
                false => fs::remove_file(place),
            };
        }
        if leavings.iter().all(|place| !place.exists()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl Running {
    /// Starts a server and waits until it answers.
    pub fn start(server: &'static Server) -> Outcome<Running> {
        let installed = (server.install)()?;
        let place = Place::new(server.name, server.ports)?;
        let log = place.data.join("log");
        let file = File::create(&log).map_err(|e| e.to_string())?;
        let errors = file.try_clone().map_err(|e| e.to_string())?;
        let command = (server.command)(&installed, &place);
        let child = command.and_then(|mut command| {
            command
                .current_dir(&place.data)
                .stdin(Stdio::null())
                .stdout(file)
                .stderr(errors)
                .spawn()
                .map_err(|e| format!("{} does not start: {e}", server.name))
        });
        let child = child.inspect_err(|_| sweep(std::slice::from_ref(&place.data)))?;
        let mut running = Running {
            server,
            child,
            place,
        };
        running.wait(&log)?;
        println!("   {} on port {}", server.name, running.place.port());
        Ok(running)
    }

    /// What there is to remove after its end.
    pub fn leavings(&self) -> Vec<PathBuf> {
        let mut all = (self.server.strays)(&self.place);
        all.push(self.place.data.clone());
        all
    }

    fn wait(&mut self, log: &Path) -> Outcome {
        let until = Instant::now() + PATIENCE;
        while !answers(self.place.port()) {
            let ended = self.child.try_wait().map_err(|e| e.to_string())?;
            if ended.is_some() || Instant::now() > until {
                let said = fs::read_to_string(log).unwrap_or_default();
                let what = match ended {
                    Some(status) => format!("has ended ({status})"),
                    None => "does not answer".to_owned(),
                };
                return Err(format!(
                    "{} {what} on port {}: {said}",
                    self.server.name,
                    self.place.port()
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

/// Whether an HTTP server answers; what it says does not matter.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let asked = stream
        .set_read_timeout(Some(Duration::from_secs(2)))
        .and_then(|()| stream.write_all(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"));
    let mut head = [0; 5];
    asked.is_ok() && stream.read_exact(&mut head).is_ok() && head == *b"HTTP/"
}
