//! The proxy from outside: what the client sees, and what reaches the server. The server is a proxy too, one that answers
//! everything by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod faults;
mod onelake;
mod wire;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use deltaic_testing::{Action, Answer, Proxy, Rule};

/// A server that answers everything with `hello`.
pub fn server() -> Proxy {
    answering(Answer::status(200).header("x-from", "server").body("hello"))
}

pub fn answering(answer: Answer) -> Proxy {
    Proxy::start("127.0.0.1:1", [Rule::any().then(Action::Answer(answer))]).unwrap()
}

pub fn before(server: &Proxy, rules: impl IntoIterator<Item = Rule>) -> Proxy {
    Proxy::start(&server.address().to_string(), rules).unwrap()
}

/// One request on a connection of its own: status, head and body, or nothing where the connection broke.
pub fn ask(
    to: SocketAddr,
    method: &str,
    target: &str,
    body: &str,
) -> Option<(u16, String, String)> {
    let mut stream = TcpStream::connect(to).unwrap();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: store.example\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    answer(&mut stream)
}

/// Reads one answer whose length is said.
pub fn answer(stream: &mut TcpStream) -> Option<(u16, String, String)> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        seen.push(byte[0]);
    }
    let head = String::from_utf8(seen).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some((status, head, String::from_utf8(body).unwrap()))
}
