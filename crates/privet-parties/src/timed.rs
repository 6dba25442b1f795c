//! A socket with a deadline: it holds however slowly single bytes arrive.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum time of one read or write.
const SILENCE: Duration = Duration::from_secs(20);

/// A socket that is read and written until a deadline, if one is set; no single operation takes longer
/// than [`SILENCE`].
pub(crate) struct Timed {
    socket: TcpStream,
    until: Option<Instant>,
}

impl Timed {
    pub fn new(socket: TcpStream, until: Option<Instant>) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        Ok(Self { socket, until })
    }

    /// Sets the deadline from here on.
    pub fn ends(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(until) = self.until else { return Ok(Some(SILENCE)) };
        let left = until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(io::Error::new(ErrorKind::TimedOut, "it took too long in all")),
            false => Ok(Some(left.min(SILENCE))),
        }
    }

    /// Replaces a timeout by an error that says which limit was reached.
    fn late(&self, error: io::Error) -> io::Error {
        match (error.kind(), self.left()) {
            (ErrorKind::WouldBlock | ErrorKind::TimedOut, Err(late)) => late,
            (ErrorKind::WouldBlock | ErrorKind::TimedOut, Ok(_)) => {
                io::Error::new(ErrorKind::TimedOut, "nothing came or went for too long")
            }
            _ => error,
        }
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        self.socket.read(into).map_err(|error| self.late(error))
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        self.socket.write(bytes).map_err(|error| self.late(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn whoever_drips_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut dripping = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().unwrap();
        let until = Instant::now() + Duration::from_secs(3);
        let mut timed = Timed::new(socket, Some(until)).unwrap();
        dripping.write_all(&[1]).unwrap();
        let mut byte = [0];
        assert_eq!(timed.read(&mut byte).unwrap(), 1);
        let late = timed.read(&mut byte).unwrap_err();
        assert!(late.to_string().contains("too long in all"), "{late}");
        dripping.write_all(&[2]).unwrap();
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(timed.read(&mut byte).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(timed.write(&[1]).unwrap_err().kind(), ErrorKind::TimedOut);
        // Without a deadline it goes on.
        timed.ends(None);
        assert_eq!(timed.read(&mut byte).unwrap(), 1);
    }
}
