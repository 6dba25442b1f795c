//! Frames between a server and the program that computes for it, on the program's standard input and
//! output.
//!
//! A frame is one address byte, its length in four bytes, least significant first, and its bytes. On the
//! input the address is the index of the server that sent the frame; on the output the index of its
//! recipient, or [`OUTCOME`]: the share of the noise, sixteen bytes per number, least significant first.

use std::io::{self, Read, Write};

/// Protocol version that a server and the program must share.
pub const PROTOCOL: u32 = 1;
/// Address of the share of the noise, for the server itself.
pub const OUTCOME: u8 = 255;
/// Maximum bytes of a frame.
pub const FRAME: usize = 1 << 24;

/// Writes a frame.
pub fn write(to: &mut impl Write, whom: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length as usize <= FRAME);
    let length = length.ok_or_else(|| io::Error::other("a frame is too long to be written"))?;
    let mut head = [whom, 0, 0, 0, 0];
    head[1..].copy_from_slice(&length.to_le_bytes());
    to.write_all(&head)?;
    to.write_all(bytes)?;
    to.flush()
}

/// Reads a frame; `None` at the end of the input.
pub fn read(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut whom = [0];
    loop {
        match from.read(&mut whom) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is too long"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some((whom[0], bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_went_and_others_are_refused() {
        let mut bytes = Vec::new();
        write(&mut bytes, 3, b"abc").unwrap();
        write(&mut bytes, OUTCOME, b"").unwrap();
        let mut from = &bytes[..];
        assert_eq!(read(&mut from).unwrap(), Some((3, b"abc".to_vec())));
        assert_eq!(read(&mut from).unwrap(), Some((OUTCOME, vec![])));
        assert_eq!(read(&mut from).unwrap(), None);
        for cut in 1..8 {
            assert!(read(&mut &bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(read(&mut &[1, 255, 255, 255, 255, 0][..]).is_err());
        assert!(write(&mut Vec::new(), 0, &vec![0; FRAME + 1]).is_err());
    }
}
