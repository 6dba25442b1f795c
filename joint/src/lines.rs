//! Lines between servers that carry messages of the secure computation, and count them.
//!
//! Every line has a thread that writes and one that reads, so that no server waits for another to read before it goes on.
//! Lines that are dropped write what is left to be written and close, so that the others hear of it at once. A message is
//! its length in eight bytes, least significant first, and its bytes.

use polytune::channel::Channel;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest message that is read, in bytes.
const LONGEST: u64 = 1 << 31;
/// How long a message is waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// What is read from a server, and what is written to it. Writing must close its direction when it is dropped.
pub type Stream = (Box<dyn Read + Send>, Box<dyn Write + Send>);

/// One server's lines to all others.
pub struct Lines {
    place: usize,
    to: Vec<Option<UnboundedSender<Vec<u8>>>>,
    from: Vec<Option<Mutex<UnboundedReceiver<Vec<u8>>>>>,
    sent: AtomicU64,
    patience: Duration,
    writers: Vec<JoinHandle<()>>,
}

impl Lines {
    /// The lines of the server at this place, over streams: one for each server in order, none at its own place.
    ///
    /// Streams are to be private and authenticated by whoever made them.
    pub fn over(place: usize, streams: Vec<Option<Stream>>) -> Self {
        let (mut to, mut from, mut writers) = (vec![], vec![], vec![]);
        for stream in streams {
            let Some((mut reader, mut writer)) = stream else {
                to.push(None);
                from.push(None);
                continue;
            };
            let (outbound, mut queue) = unbounded_channel::<Vec<u8>>();
            let (inbound, received) = unbounded_channel();
            writers.push(std::thread::spawn(move || {
                while let Some(message) = queue.blocking_recv() {
                    if write_message(&mut writer, &message).is_err() {
                        break;
                    }
                }
            }));
            std::thread::spawn(move || {
                while let Ok(message) = read_message(&mut reader) {
                    if inbound.send(message).is_err() {
                        break;
                    }
                }
            });
            to.push(Some(outbound));
            from.push(Some(Mutex::new(received)));
        }
        Self { place, to, from, sent: AtomicU64::new(0), patience: PATIENCE, writers }
    }

    /// The same over connections of TCP, which by themselves are neither: for a tunnel's ends, or one machine.
    pub fn over_tcp(place: usize, streams: Vec<Option<TcpStream>>) -> io::Result<Self> {
        let streams = streams.into_iter().map(|stream| stream.map(Self::tcp).transpose());
        Ok(Self::over(place, streams.collect::<io::Result<_>>()?))
    }

    /// Both directions of a connection.
    pub fn tcp(stream: TcpStream) -> io::Result<Stream> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let reader = io::BufReader::with_capacity(1 << 16, stream.try_clone()?);
        Ok((Box::new(reader), Box::new(Closing(stream))))
    }

    /// Lines between servers of one process.
    pub fn in_process(servers: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..servers)
            .map(|place| Self {
                place,
                to: (0..servers).map(|_| None).collect(),
                from: (0..servers).map(|_| None).collect(),
                sent: AtomicU64::new(0),
                patience: PATIENCE,
                writers: vec![],
            })
            .collect();
        for (a, b) in (0..servers).flat_map(|a| (0..servers).map(move |b| (a, b))) {
            if a != b {
                let (to, from) = unbounded_channel();
                all[a].to[b] = Some(to);
                all[b].from[a] = Some(Mutex::new(from));
            }
        }
        all
    }

    /// Waits this long for a message, and no longer (ten minutes unless said).
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whose lines they are.
    pub fn place(&self) -> usize {
        self.place
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.to.len()
    }

    /// Bytes sent so far, to all.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // Without anyone to send the writers come to their ends.
        self.to.clear();
        for writer in self.writers.drain(..) {
            let _ = writer.join();
        }
    }
}

/// A connection that says so when nothing more is written.
struct Closing(TcpStream);

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

fn write_message(writer: &mut impl Write, message: &[u8]) -> io::Result<()> {
    writer.write_all(&(message.len() as u64).to_le_bytes())?;
    writer.write_all(message)?;
    writer.flush()
}

fn read_message(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    reader.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is too long"));
    }
    // Grows with what comes, so that a length alone takes no memory.
    let mut message = Vec::new();
    if reader.take(length).read_to_end(&mut message)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(message)
}

impl Channel for Lines {
    type SendError = &'static str;
    type RecvError = &'static str;

    async fn send_bytes_to(
        &self,
        party: usize,
        data: Vec<u8>,
        _phase: &str,
    ) -> Result<(), Self::SendError> {
        self.sent.fetch_add(data.len() as u64 + 8, Ordering::Relaxed);
        let line = self.to.get(party).and_then(Option::as_ref).ok_or("there is no such server")?;
        line.send(data).map_err(|_| "the line was closed")
    }

    async fn recv_bytes_from(
        &self,
        party: usize,
        _phase: &str,
    ) -> Result<Vec<u8>, Self::RecvError> {
        let line =
            self.from.get(party).and_then(Option::as_ref).ok_or("there is no such server")?;
        let mut line = line.lock().await;
        let message = tokio::time::timeout(self.patience, line.recv()).await;
        message.map_err(|_| "a server was silent too long")?.ok_or("the line was closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_lengths_alone_take_nothing() {
        let mut bytes = Vec::new();
        write_message(&mut bytes, b"a share").unwrap();
        write_message(&mut bytes, b"").unwrap();
        let mut from = &bytes[..];
        assert_eq!(read_message(&mut from).unwrap(), b"a share");
        assert_eq!(read_message(&mut from).unwrap(), b"");
        assert!(read_message(&mut from).is_err());
        assert!(read_message(&mut &u64::MAX.to_le_bytes()[..]).is_err());
        let mut cut = (1_u64 << 30).to_le_bytes().to_vec();
        cut.extend(b"short");
        assert!(read_message(&mut &cut[..]).is_err());
    }
}
