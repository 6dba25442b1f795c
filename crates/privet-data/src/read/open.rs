//! Files and bytes as one stream, decompressed while reading.

use super::fence::catch_panic;
use crate::error::{DataError, Place};
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Chain, Cursor, Read},
    path::Path,
};

const BUFFER: usize = 1 << 17;
/// Bytes between two calls of the progress callback.
const BYTES_PER_REPORT: u64 = 1 << 20;

/// The source of bytes.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    Path(&'a Path),
    Bytes(&'a [u8]),
}

/// A stream of plain bytes with its origin.
pub(super) struct Stream<'a> {
    pub(super) bytes: Box<dyn BufRead + 'a>,
    pub(super) origin: Origin,
}

/// The source of a stream, for errors.
pub(super) struct Origin {
    compression: Option<&'static str>,
    place: Place,
}

impl Origin {
    /// The error of a failed read: damaged data inside a compressed file, the system's error otherwise.
    pub(super) fn failed(&self, source: io::Error) -> DataError {
        let file = self.place.clone();
        match self.compression {
            Some(format) => DataError::Damaged { file, format },
            None => DataError::File { file, source },
        }
    }
}

/// The way compression is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownBy {
    /// By the file's first bytes, or its name.
    Content,
    /// By the name alone: the first bytes are a record's, which must not decide how others are read.
    Name,
}

impl<'a> Input<'a> {
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Path(path) => Place::Path(path.to_path_buf()),
            Self::Bytes(_) => Place::Memory,
        }
    }

    /// Opens the stream, decompressed where it is gzip or Zstandard.
    pub(super) fn open(
        self,
        known_by: KnownBy,
        progress: Option<&'a dyn Fn(u64, u64)>,
    ) -> Result<Stream<'a>, DataError> {
        let place = self.place();
        let refused = |source| DataError::File { file: place.clone(), source };
        let (raw, total): (Box<dyn Read + 'a>, u64) = match self {
            Self::Bytes(bytes) => (Box::new(bytes), bytes.len() as u64),
            Self::Path(path) => {
                let file = File::open(path).map_err(refused)?;
                let facts = file.metadata().map_err(refused)?;
                if facts.is_dir() {
                    let source = io::Error::new(io::ErrorKind::NotFound, "a folder, not a file");
                    return Err(refused(source));
                }
                (Box::new(file), facts.len())
            }
        };
        let counted = CountingReader { inner: raw, read: 0, told: 0, total, progress };
        let mut source = BufReader::with_capacity(BUFFER, counted);
        let start = source.fill_buf().map_err(refused)?;
        let named = |ending: &str| match self {
            Self::Path(path) => path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending)),
            Self::Bytes(_) => false,
        };
        let empty = start.is_empty();
        let start = if known_by == KnownBy::Content { start } else { &[] };
        let gzip = start.starts_with(&[0x1f, 0x8b]) || named("gz");
        let zstd =
            start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || carries_no_data(start) || named("zst");
        let (bytes, compression): (Box<dyn BufRead + 'a>, _) = match (empty, gzip, zstd) {
            (false, true, _) => {
                let decoder = PanicGuard(MultiGzDecoder::new(source));
                (Box::new(BufReader::with_capacity(BUFFER, decoder)), Some("gzip"))
            }
            (false, _, true) => {
                let decoder = PanicGuard(ZstdFrames { state: Frames::Between(source) });
                (Box::new(BufReader::with_capacity(BUFFER, decoder)), Some("zstd"))
            }
            _ => (Box::new(source), None),
        };
        Ok(Stream { bytes, origin: Origin { compression, place } })
    }
}

/// The largest size that [`decompressed`] accepts, in bytes; three times the largest data set of the
/// catalog.
const LARGEST_WHOLE: usize = 1 << 31;

/// Reads a whole file, decompressed where it is gzip or Zstandard; at most 2 GiB.
pub fn decompressed(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut stream = Input::Path(path).open(KnownBy::Content, None)?;
    let mut bytes = Vec::new();
    match stream.bytes.by_ref().take(LARGEST_WHOLE as u64 + 1).read_to_end(&mut bytes) {
        Ok(count) if count > LARGEST_WHOLE => {
            Err(DataError::TooLarge { file: Place::Path(path.into()), most: LARGEST_WHOLE })
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(stream.origin.failed(error)),
    }
}

/// Counts the bytes read of the raw file and reports progress.
struct CountingReader<'a, R> {
    inner: R,
    read: u64,
    told: u64,
    total: u64,
    progress: Option<&'a dyn Fn(u64, u64)>,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        if let Some(progress) =
            self.progress.filter(|_| count == 0 || self.read >= self.told + BYTES_PER_REPORT)
        {
            self.told = self.read;
            progress(self.read, self.total.max(self.read));
        }
        Ok(count)
    }
}

/// Turns a decoder's panic into an error: damaged data must not end the program.
struct PanicGuard<R>(R);

impl<R: Read> Read for PanicGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        catch_panic(|| self.0.read(buffer))
            .unwrap_or_else(|| Err(io::Error::new(io::ErrorKind::InvalidData, "decoder failed")))
    }
}

/// Zstandard frames one after the other, each with its checksum compared; frames without data are
/// skipped.
struct ZstdFrames<R: BufRead> {
    state: Frames<R>,
}

/// A source whose next four bytes have been read already.
type Peeked<R> = Chain<Cursor<[u8; 4]>, R>;

enum Frames<R: BufRead> {
    Between(R),
    Inside(Box<StreamingDecoder<Peeked<R>, FrameDecoder>>),
    Failed,
}

/// True if these are the first bytes of a frame without data: 0x184D2A5x, least byte first.
fn carries_no_data(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "zstd frame");
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, Frames::Failed) {
                Frames::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        self.state = Frames::Between(source);
                        return Ok(0);
                    }
                    let mut magic = [0; 4];
                    source.read_exact(&mut magic)?;
                    if carries_no_data(&magic) {
                        let mut length = [0; 4];
                        source.read_exact(&mut length)?;
                        let length = u64::from(u32::from_le_bytes(length));
                        if io::copy(&mut source.by_ref().take(length), &mut io::sink())? < length {
                            return Err(damaged());
                        }
                        self.state = Frames::Between(source);
                        continue;
                    }
                    let peeked = Cursor::new(magic).chain(source);
                    let decoder = StreamingDecoder::new(peeked).map_err(|_| damaged())?;
                    self.state = Frames::Inside(Box::new(decoder));
                }
                Frames::Inside(mut decoder) => {
                    let count = decoder.read(buffer)?;
                    if count > 0 {
                        self.state = Frames::Inside(decoder);
                        return Ok(count);
                    }
                    let (stored, found) = (
                        decoder.decoder.get_checksum_from_data(),
                        decoder.decoder.get_calculated_checksum(),
                    );
                    if stored.is_some() && stored != found {
                        return Err(damaged());
                    }
                    let (_, source) = decoder.into_inner().into_inner();
                    self.state = Frames::Between(source);
                }
                Frames::Failed => return Err(damaged()),
            }
        }
    }
}
