//! Draws one server's share of the noise of one round: the program that `privet party serve` runs where an agreement says
//! `--noise joint`.
//!
//! `privet-joint-noise PLACE SERVERS STEPS COORDINATES`: the server's place from 0, how many there are, σ in steps of the
//! grid as the sixteen hexadecimal digits of its 64 bits, and how many numbers. What goes to and comes from the other servers
//! passes through standard output and input ([`privet_joint::pipe`]): it opens no connection itself, and whoever
//! started it keeps the lines private and authenticated. Random bits are the operating system's. It ends with 1, and
//! a line on standard error, where no noise was drawn.
#![forbid(unsafe_code)]

use privet_joint::{NOISE_LAW_DISTANCE, COORDINATES_PER_EVALUATION, JointGaussian, Law, pipe};
use privet_joint_engine::{Lines, Stream, evaluations, noise, system};
use std::error::Error;
use std::io::{self, BufWriter, Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use zeroize::{Zeroize, Zeroizing};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word] = &arguments[..]
        && word == "--version"
    {
        println!("privet-joint-noise {}", pipe::PROTOCOL);
        return ExitCode::SUCCESS;
    }
    match drawn(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn drawn(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [place, servers, steps, coordinates] = arguments else {
        return Err(
            "privet-joint-noise PLACE SERVERS STEPS COORDINATES: it is run by `privet party serve`"
                .into(),
        );
    };
    let (place, servers): (usize, usize) = (place.parse()?, servers.parse()?);
    let steps = f64::from_bits(u64::from_str_radix(steps, 16)?);
    let coordinates: usize = coordinates.parse()?;
    if place >= servers || servers > usize::from(pipe::OUTCOME) {
        return Err(format!("place {place} among {servers} servers is not accepted").into());
    }
    let law = JointGaussian::new(steps)?;
    if law.distance() >= NOISE_LAW_DISTANCE {
        return Err("the law is too far from the one asked for".into());
    }
    let lines = lines(place, servers);
    let mut share = Zeroizing::new(Vec::with_capacity(16 * coordinates));
    let mut left = coordinates;
    while left > 0 {
        let now = left.min(COORDINATES_PER_EVALUATION as usize);
        // What is charged counts on it.
        if evaluations(&law, servers as u32, now) != 1 {
            return Err("so many numbers take more than one evaluation".into());
        }
        for number in noise(&law, now, &lines, &mut system)?.iter() {
            share.extend(number.to_le_bytes());
        }
        left -= now;
    }
    // Whatever is left to be said to the others comes first.
    drop(lines);
    let mut out = io::stdout().lock();
    for part in share.chunks(pipe::FRAME) {
        pipe::write(&mut out, pipe::OUTCOME, part)?;
    }
    Ok(())
}

/// Lines to all other servers through this program's input and output.
fn lines(place: usize, servers: usize) -> Lines {
    let out = Arc::new(Mutex::new(io::stdout()));
    let mut inboxes: Vec<Option<Sender<Vec<u8>>>> = Vec::new();
    let mut streams: Vec<Option<Stream>> = Vec::new();
    for other in 0..servers {
        if other == place {
            inboxes.push(None);
            streams.push(None);
            continue;
        }
        let (inbox, from) = channel();
        inboxes.push(Some(inbox));
        let reader = Inbox { from, bytes: Vec::new(), read: 0 };
        let writer = Outbox { out: Arc::clone(&out), to: other as u8 };
        // A length and its message go together.
        let writer = BufWriter::with_capacity(1 << 16, writer);
        streams.push(Some((Box::new(reader), Box::new(writer))));
    }
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        // At its end all lines close.
        while let Ok(Some((from, bytes))) = pipe::read(&mut input) {
            let Some(Some(inbox)) = inboxes.get(usize::from(from)) else { break };
            if inbox.send(bytes).is_err() {
                break;
            }
        }
    });
    Lines::over(place, streams)
}

struct Inbox {
    from: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    read: usize,
}

impl Read for Inbox {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.read == self.bytes.len() {
            self.bytes.zeroize();
            match self.from.recv() {
                Ok(bytes) => (self.bytes, self.read) = (bytes, 0),
                Err(_) => return Ok(0),
            }
        }
        let count = into.len().min(self.bytes.len() - self.read);
        into[..count].copy_from_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

struct Outbox {
    out: Arc<Mutex<io::Stdout>>,
    to: u8,
}

impl Write for Outbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(1 << 20)];
        if !bytes.is_empty() {
            let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            pipe::write(&mut out.lock(), self.to, bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
