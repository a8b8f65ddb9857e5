//! Counts the requests of a command: `requests VARIABLE COUNTS -- COMMAND…` puts a proxy before the server that a variable
//! names, runs the command with the variable changed to the proxy, and writes what went through into the file COUNTS as
//! JSON: `{"requests": {"GET Commit": 3, …}, "total": 3, "sent": 0, "received": 4096}` (bytes of bodies). A latency for
//! every request is set by DELTAIC_LATENCY_MS.

use std::process::{Command, ExitCode};
use std::time::Duration;

use deltaic_testing::{Proxy, Server};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("requests: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [variable, counts, dashes, program, arguments @ ..] = words.as_slice() else {
        return Err("usage: requests VARIABLE COUNTS -- COMMAND…".to_owned());
    };
    if dashes != "--" {
        return Err(format!("-- stands before the command, not {dashes}"));
    }
    let server = Server::named(variable)?;
    let proxy = Proxy::start(&server.upstream()?, []).map_err(|e| e.to_string())?;
    if let Ok(text) = std::env::var("DELTAIC_LATENCY_MS") {
        let millis = text
            .parse()
            .map_err(|_| format!("DELTAIC_LATENCY_MS is no number: {text}"))?;
        proxy.set_latency(Duration::from_millis(millis));
    }
    let near = server.through(&proxy);
    let status = Command::new(program)
        .args(arguments)
        .env(variable, near.to_variable())
        .status()
        .map_err(|e| format!("cannot start {program}: {e}"))?;
    let log = proxy.log();
    let requests: Vec<String> = log
        .counts()
        .iter()
        .map(|((method, class), count)| format!("\"{method} {class:?}\": {count}"))
        .collect();
    let (sent, received) = log.bytes();
    let json = format!(
        "{{\"requests\": {{{}}}, \"total\": {}, \"sent\": {sent}, \"received\": {received}}}\n",
        requests.join(", "),
        log.total()
    );
    std::fs::write(counts, json).map_err(|e| format!("{counts}: {e}"))?;
    Ok(status.success())
}
