//! The proxy: takes requests on a free port of this machine, and hands them to a server unless a rule says otherwise. Heads
//! go through as they came, so that signatures over the host still hold.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::http::{Length, Reader, Request};
use crate::log::{self, Entry, KeyClass, RequestLog};
use crate::rule::{Action, Answer, Rule};

/// How long the server may take to be there.
const CONNECT: Duration = Duration::from_secs(10);

struct Shared {
    upstream: String,
    rules: Mutex<Vec<Rule>>,
    latency: Mutex<Duration>,
    seed: u64,
    log: RequestLog,
}

/// A proxy that runs until it is dropped, on a thread of its own.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy before a server (`127.0.0.1:9000`).
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn start(upstream: &str, rules: impl IntoIterator<Item = Rule>) -> io::Result<Proxy> {
        Proxy::seeded(upstream, rules, 0)
    }

    /// Starts a proxy whose rules that act by chance follow this seed.
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn seeded(
        upstream: &str,
        rules: impl IntoIterator<Item = Rule>,
        seed: u64,
    ) -> io::Result<Proxy> {
        let listener = StdListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            rules: Mutex::new(rules.into_iter().collect()),
            latency: Mutex::new(Duration::ZERO),
            seed,
            log: RequestLog::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("fault-proxy".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = serve(listener, serving) => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Proxy {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where the proxy listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://` and the address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Other rules from now on.
    pub fn set_rules(&self, rules: impl IntoIterator<Item = Rule>) {
        *self
            .shared
            .rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = rules.into_iter().collect();
    }

    /// A wait before every request from now on.
    pub fn set_latency(&self, latency: Duration) {
        *self
            .shared
            .latency
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = latency;
    }

    /// What has gone through.
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rules = self
            .shared
            .rules
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        write!(
            f,
            "Proxy({} before {}, seed {}, {rules:?})",
            self.address, self.shared.upstream, self.shared.seed
        )
    }
}

async fn serve(listener: StdListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                let shared = Arc::clone(&shared);
                // A connection that breaks is the client's to notice.
                tokio::spawn(async move { connection(client, &shared).await });
            }
            // Too many open files, as a rule: some will close.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// Whether the connection may take another request.
#[derive(PartialEq)]
enum Then {
    Next,
    Close,
    Reset,
}

async fn connection(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_nodelay(true)?;
    let then = {
        let (read, mut write) = client.split();
        let mut reader = Reader::new(read);
        loop {
            let Some(request) = reader.request(&mut write).await? else {
                return Ok(());
            };
            match one(&request, shared, &mut write).await {
                Then::Next => {}
                then => break then,
            }
        }
    };
    if then == Then::Reset {
        client.set_zero_linger()?;
    }
    Ok(())
}

/// What the rules say of a request: how long to wait, and what then.
fn decide(request: &Request, shared: &Shared) -> (Duration, Option<Action>) {
    let mut wait = *shared
        .latency
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let rules = shared.rules.lock().unwrap_or_else(PoisonError::into_inner);
    for rule in rules.iter() {
        match rule.decide(&request.head, shared.seed) {
            Some(Action::Delay(delay)) => wait += *delay,
            Some(action) => return (wait, Some(action.clone())),
            None => {}
        }
    }
    (wait, None)
}

async fn one(
    request: &Request,
    shared: &Shared,
    client: &mut (impl tokio::io::AsyncWrite + Unpin),
) -> Then {
    let (wait, action) = decide(request, shared);
    if wait > Duration::ZERO {
        tokio::time::sleep(wait).await;
    }
    let entry = shared.log.begin(log::Request {
        method: request.head.method.clone(),
        path: request.head.path.clone(),
        query: request.head.query.clone(),
        class: KeyClass::of(&request.head),
        status: None,
        applied: false,
        faulty: action.is_some(),
        sent: request.body.len() as u64,
        received: 0,
    });
    // A server that breaks off is shown as such.
    act(request, action, shared, client, &entry)
        .await
        .unwrap_or(Then::Reset)
}

async fn act(
    request: &Request,
    action: Option<Action>,
    shared: &Shared,
    client: &mut (impl tokio::io::AsyncWrite + Unpin),
    entry: &Entry<'_>,
) -> io::Result<Then> {
    match action {
        Some(Action::Answer(answer)) => give(&answer, request, client, entry).await,
        Some(Action::ApplyThenAnswer(answer)) => {
            apply(request, shared, entry).await?;
            give(&answer, request, client, entry).await
        }
        Some(Action::Reset) => Ok(Then::Reset),
        Some(Action::ApplyThenReset) => {
            apply(request, shared, entry).await?;
            Ok(Then::Reset)
        }
        Some(Action::CutBody(bytes)) => {
            let server = ask(&request.to_bytes(), shared, entry).await?;
            pass_answer(Reader::new(server), request, Some(bytes), client, entry).await
        }
        Some(Action::Hide(header)) => {
            let server = ask(&request.without(header), shared, entry).await?;
            pass_answer(Reader::new(server), request, None, client, entry).await
        }
        Some(Action::Delay(_)) | None => {
            let server = ask(&request.to_bytes(), shared, entry).await?;
            pass_answer(Reader::new(server), request, None, client, entry).await
        }
    }
}

/// A connection of its own for each request: one that the server has closed in between would look like a fault.
async fn ask(request: &[u8], shared: &Shared, entry: &Entry<'_>) -> io::Result<TcpStream> {
    let connecting = TcpStream::connect(&shared.upstream);
    let mut server = tokio::time::timeout(CONNECT, connecting).await??;
    server.set_nodelay(true)?;
    server.write_all(request).await?;
    entry.set(|request| request.applied = true);
    Ok(server)
}

/// Lets the server do it, and waits until it has.
async fn apply(request: &Request, shared: &Shared, entry: &Entry<'_>) -> io::Result<()> {
    let server = ask(&request.to_bytes(), shared, entry).await?;
    let mut reader = Reader::new(server);
    let head = reader.answer().await?;
    let length = head.length(&request.head.method);
    reader
        .pass_body(length, None, &mut tokio::io::sink(), |_| {})
        .await?;
    Ok(())
}

async fn pass_answer(
    mut server: Reader<impl AsyncRead + Unpin>,
    request: &Request,
    limit: Option<u64>,
    client: &mut (impl tokio::io::AsyncWrite + Unpin),
    entry: &Entry<'_>,
) -> io::Result<Then> {
    let head = server.answer().await?;
    let length = head.length(&request.head.method);
    entry.set(|request| request.status = Some(head.status));
    client.write_all(&head.raw).await?;
    let counted = |bytes| entry.set(|request| request.received += bytes);
    let whole = server.pass_body(length, limit, client, counted).await?;
    Ok(match (whole, length) {
        (false, _) => Then::Reset,
        (true, Length::UntilClosed) => Then::Close,
        (true, _) => Then::Next,
    })
}

async fn give(
    answer: &Answer,
    request: &Request,
    client: &mut (impl tokio::io::AsyncWrite + Unpin),
    entry: &Entry<'_>,
) -> io::Result<Then> {
    let mut text = format!("HTTP/1.1 {} Injected\r\n", answer.status);
    for (name, value) in &answer.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", answer.body.len()));
    if request.head.method != "HEAD" {
        text.push_str(&answer.body);
    }
    entry.set(|noted| {
        noted.status = Some(answer.status);
        noted.received = match request.head.method.as_str() {
            "HEAD" => 0,
            _ => answer.body.len() as u64,
        };
    });
    client.write_all(text.as_bytes()).await?;
    client.flush().await?;
    Ok(Then::Next)
}
