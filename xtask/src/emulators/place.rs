//! Where a server is: free ports and a temporary folder.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::shell::Outcome;

/// Below the ports that systems give to outgoing connections, even with [`SECOND`] added.
const PORTS: std::ops::Range<u16> = 20_000..22_700;
/// Servers that talk gRPC among their parts do so this much above each port.
pub const SECOND: u16 = 10_000;

/// Where a server is: its ports and its folder.
pub struct Place {
    /// The first of as many ports as the server asked for.
    first: u16,
    /// A temporary folder for data, sockets and log.
    pub data: PathBuf,
}

impl Place {
    /// Free ports and an empty folder.
    pub fn new(name: &str, ports: u16) -> Outcome<Place> {
        let first = free_ports(ports)?;
        let data = std::env::temp_dir().join(format!("deltaic-{name}-{first}"));
        // What a run that was killed has left; its server is gone, as its port is free.
        let _ = fs::remove_dir_all(&data);
        fs::create_dir(&data).map_err(|e| format!("{}: {e}", data.display()))?;
        Ok(Place { first, data })
    }

    /// The port that answers to tests; the others follow it.
    pub fn port(&self) -> u16 {
        self.first
    }
}

/// The first of `count` free ports in a row. Runs that begin at the same time begin to look at different places.
fn free_ports(count: u16) -> Outcome<u16> {
    let clock = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos());
    let seed = clock.wrapping_add(std::process::id().wrapping_mul(7919));
    let many = u32::from(PORTS.end - PORTS.start);
    for step in 0..many / 10 {
        let at = (seed % many + step * 10) % many;
        let Ok(offset) = u16::try_from(at) else {
            continue;
        };
        let first = PORTS.start + offset;
        if (first..first + count).all(|port| is_free(port) && is_free(port + SECOND)) {
            return Ok(first);
        }
    }
    Err(format!("no {count} free ports from {}", PORTS.start))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}
