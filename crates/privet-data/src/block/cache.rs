//! Cache of the encoded rows of a table that does not fit into memory: one finished file of rows for
//! each file of the table.
//!
//! A cache is a folder `.privet-rows-…` that only its owner may enter (one that others may enter is
//! refused), named by a hash of the table's path and the schema. In it each file of the table has its
//! rows, named by its index and a **stamp**: a hash of its path, size, times of change and inode, of
//! the schema, and of [`ENCODER`]. A file of rows is reused if its stamp matches, both in its name and
//! inside under its checksum, if it is finished, and if every block has its checksum: so interrupted
//! encoding resumes with the missing files, and a file of the table that changed is encoded again.
//! Unfinished files are recognised by their names and removed. Indices of records are indices in the
//! files of rows, assigned once.
//!
//! - One process at a time: the folder is locked.
//! - [`CacheRetention`] declares what remains at the end, and [`tidy_all`] applies it when the process is
//!   interrupted.
//! - Stamps detect changes by accident, not by deceit.

use super::{BLOCK_ROWS, BlockError, BlockFile, BlockWriter, UNFINISHED_PREFIX, folder};
use crate::encode::Encoding;
use crate::error::{DataError, Place};
use crate::keyed::{self, Key};
use crate::read::{ReadOptions, Report, file_changed, read_pieces, state_of};
use crate::schema::{Schema, Storage, TargetKind};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const KEY: Key = *b"privet: rows key";
/// Bytes that decoding one file may take; as many files are encoded in parallel as fit.
const A_FILE: u64 = 1 << 27;
/// Version of the encoder, raised whenever the same record and schema are encoded into other numbers:
/// rows of another version are not reused.
const ENCODER: u32 = 1;

/// The part of a cache that remains at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheRetention {
    /// Nothing, on success or failure.
    Never,
    /// Finished files, but nothing after success.
    UntilDone,
    /// Finished files, always.
    Kept,
}

/// Open caches of this process.
static LIVE: Mutex<Vec<(PathBuf, CacheRetention)>> = Mutex::new(Vec::new());

/// Removes what must not remain, before the process ends: unfinished files, and caches that are
/// [`CacheRetention::Never`].
pub fn tidy_all() {
    let live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    for (folder, lasting) in live.iter() {
        tidy(folder, *lasting);
    }
    // The lock is never released: a thread that still encodes stops here.
    std::mem::forget(live);
}

fn tidy(folder: &Path, lasting: CacheRetention) {
    if lasting == CacheRetention::Never {
        // A thread that still finishes a file may recreate an entry meanwhile.
        for _ in 0..5 {
            let gone = fs::remove_dir_all(folder);
            if gone.is_ok()
                || matches!(&gone, Err(error) if error.kind() == io::ErrorKind::NotFound)
            {
                return;
            }
        }
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED_PREFIX) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A folder of encoded rows. Dropping it without [`Cache::done`] leaves what its [`CacheRetention`] keeps on
/// failure.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    lasting: CacheRetention,
    /// The schema and the encoder's version, as bytes.
    written: Vec<u8>,
    /// Bytes after which the disk is full.
    #[cfg(test)]
    room: Option<u64>,
    /// The folder's lock.
    _lock: File,
}

/// The result of encoding a table.
#[derive(Debug)]
pub struct Encoded {
    /// The files of rows, in order.
    pub files: Vec<PathBuf>,
    /// The number of them that were reused.
    pub reused: usize,
    /// Reports of the files that were read now.
    pub reports: Vec<Report>,
}

/// The approximate size in bytes of a row in a file.
fn bytes_of_a_row(schema: &Schema) -> u64 {
    let encoding = Encoding::new(schema);
    let features = match encoding.storage() {
        Storage::Dense => 4 * encoding.width() as u64,
        Storage::Csr => 4 + (8.0 * encoding.expected_entries()).ceil() as u64,
    };
    features + if matches!(schema.target().kind, TargetKind::Classes(_)) { 4 } else { 8 }
}

impl Cache {
    /// The approximate size in bytes of this many rows, from public facts alone.
    pub fn bytes(schema: &Schema, rows: u64) -> u64 {
        rows.saturating_mul(bytes_of_a_row(schema))
    }

    /// Opens the cache of a table in the folder `under`; created if there is none.
    pub fn open(
        under: &Path,
        table: &Path,
        schema: &Schema,
        lasting: CacheRetention,
    ) -> Result<Self, BlockError> {
        let table = fs::canonicalize(table).unwrap_or_else(|_| table.into());
        let written = cache_key(schema);
        let name = keyed::hash("table", &KEY, &[path_bytes(&table).as_slice(), &written]);
        let folder = under.join(format!(".privet-rows-{name:016x}"));
        folder::ensure_private_folder(&folder)?;
        let lock = folder::lock_folder(&folder)?;
        LIVE.lock().unwrap_or_else(PoisonError::into_inner).push((folder.clone(), lasting));
        // Removes unfinished files of another process.
        tidy(&folder, CacheRetention::Kept);
        Ok(Self {
            folder,
            lasting,
            written,
            #[cfg(test)]
            room: None,
            _lock: lock,
        })
    }

    /// The cache's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns an error if this many rows would not fit on the disk.
    pub fn check_room(&self, schema: &Schema, rows: u64) -> Result<(), BlockError> {
        let there: u64 = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some(entry.metadata().ok()?.len()))
            .sum();
        let needed = Self::bytes(schema, rows).saturating_sub(there);
        match free(&self.folder) {
            Some(free) if free < needed => {
                let folder = self.folder.display().to_string();
                Err(BlockError::Full { folder, needed: needed - free })
            }
            _ => Ok(()),
        }
    }

    /// Encodes the files of a table that are not encoded yet, as many in parallel as fit into `memory`
    /// bytes. If several cannot be read, returns the first error.
    pub fn encode(
        &self,
        files: &[PathBuf],
        schema: &Schema,
        options: &ReadOptions<'_>,
        memory: u64,
    ) -> Result<Encoded, DataError> {
        let at_a_time = (memory / A_FILE).clamp(1, rayon::current_num_threads() as u64) as usize;
        // The progress callback stays on its thread.
        let (purpose, unit_key, any_storage) =
            (options.purpose, options.unit_key, options.any_storage);
        let failed = AtomicBool::new(false);
        let first = files.first().map(|file| Place::Path(file.clone()));
        let encode = |(place, file): (usize, &PathBuf)| {
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let options = ReadOptions {
                purpose,
                unit_key,
                any_storage,
                allow_empty: true,
                keep: None,
                progress: None,
            };
            let encoded = self.encode_file(place, file, schema, &options);
            failed.fetch_or(encoded.is_err(), Ordering::Relaxed);
            Some(encoded.map_err(|error| match &first {
                Some(first) => error.differing_from(first),
                None => error,
            }))
        };
        let all = in_turn(files.len(), at_a_time, |place| encode((place, &files[place])));
        let (mut encoded, mut rows) =
            (Encoded { files: Vec::new(), reused: 0, reports: Vec::new() }, 0);
        for one in all.into_iter().flatten() {
            let (path, report) = one?;
            rows += BlockFile::open(&path)?.rows();
            encoded.reused += usize::from(report.is_none());
            encoded.reports.extend(report);
            encoded.files.push(path);
        }
        if rows == 0 && !options.allow_empty {
            return Err(DataError::Empty { file: first.unwrap_or(Place::Memory) });
        }
        self.remove_others(&encoded.files);
        Ok(encoded)
    }

    /// The file of rows of one file of the table, with the report if it was read now.
    fn encode_file(
        &self,
        place: usize,
        file: &Path,
        schema: &Schema,
        options: &ReadOptions<'_>,
    ) -> Result<(PathBuf, Option<Report>), DataError> {
        let path = self.rows_of(place, file)?;
        // A file of rows that was truncated or changed, or is of an earlier format, is made again.
        if BlockFile::open(&path).and_then(|file| file.verify()).is_ok() {
            return Ok((path, None));
        }
        let mut writer = BlockWriter::create(&path)?;
        #[cfg(test)]
        writer.limit_disk(self.room);
        let mut keep = |rows: &crate::Dataset| Ok(writer.push(rows)?);
        let report = read_pieces(file, schema, options, BLOCK_ROWS, &mut keep)
            .map_err(|error| self.full(error, file))?;
        self.check_same(place, file, &path)?;
        writer.finish().map_err(|error| self.full(error.into(), file))?;
        Ok((path, Some(report)))
    }

    /// The path of the rows of a file of the table, for the file's present state.
    fn rows_of(&self, place: usize, file: &Path) -> Result<PathBuf, DataError> {
        let stamp = stamp(file, &self.written)?;
        Ok(self.folder.join(format!("{place:06}-{stamp:016x}.rows")))
    }

    /// Returns an error if a file of the table is no longer the one of these rows.
    fn check_same(&self, place: usize, file: &Path, rows: &Path) -> Result<(), DataError> {
        if self.rows_of(place, file)? == rows { Ok(()) } else { Err(file_changed(file)) }
    }

    /// The same error, or that the disk is full with an estimate of the missing space: encoded rows are
    /// rarely larger than four times their text.
    fn full(&self, error: DataError, file: &Path) -> DataError {
        match error {
            DataError::NotKept(BlockError::File { source, .. })
                if source.kind() == io::ErrorKind::StorageFull =>
            {
                let text = fs::metadata(file).map_or(0, |found| found.len());
                let folder = self.folder.display().to_string();
                BlockError::Full { folder, needed: text.saturating_mul(4) }.into()
            }
            error => error,
        }
    }

    /// Removes files of rows that belong to no file of the table any more.
    fn remove_others(&self, wanted: &[PathBuf]) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "rows") && !wanted.contains(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Closes the cache after success, leaving what its [`CacheRetention`] keeps then.
    pub fn done(mut self) {
        if self.lasting == CacheRetention::UntilDone {
            self.lasting = CacheRetention::Never;
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        tidy(&self.folder, self.lasting);
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|(folder, _)| *folder != self.folder);
    }
}

/// Runs `work` for each index on `at_a_time` threads, each at one index at a time. They are threads of
/// their own: a thread of a pool that waits for its part of one index would start another meanwhile,
/// and hold the memory of both.
fn in_turn<T: Send>(places: usize, at_a_time: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(places)));
    std::thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, places.max(1)) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= places {
                        return;
                    }
                    let outcome = work(place);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// A hash of a file's state.
fn stamp(file: &Path, written: &[u8]) -> Result<u64, DataError> {
    let failed = |source| DataError::File { file: Place::Path(file.into()), source };
    let Some(state) = state_of(file).map_err(failed)? else {
        return Err(failed(io::Error::new(
            io::ErrorKind::NotFound,
            "a table that is encoded on disk may be read more than once; a file is accepted, not a pipe",
        )));
    };
    let path = fs::canonicalize(file).unwrap_or_else(|_| file.into());
    Ok(keyed::hash("file", &KEY, &[&path_bytes(&path), &state, written]))
}

fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

/// The schema and the encoder's version, as bytes.
fn cache_key(schema: &Schema) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(schema).unwrap_or_default();
    bytes.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    bytes.extend_from_slice(&ENCODER.to_le_bytes());
    bytes
}

/// Free bytes on the disk of a folder, if known.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockFiles;
    use crate::read::read;

    const SCHEMA: &str = "bias = true\n[clip]\nnorm = \"l2\"\nradius = 1.0\n[target]\ncolumn = \"y\"\n\
        classes = [\"a\", \"b\"]\n[[columns]]\nname = \"x\"\ntype = \"number\"\nbounds = [0, 1000]\n";

    fn part(folder: &Path, name: &str, from: usize, to: usize) {
        let lines =
            (from..to).map(|k| format!("{},{}\n", k % 1000, if k % 3 == 0 { "a" } else { "b" }));
        fs::write(folder.join(name), format!("x,y\n{}", lines.collect::<String>())).unwrap();
    }

    fn names(cache: &Cache) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(cache.folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_cache_is_taken_up_again_and_holds_the_rows_of_the_table() {
        let (folder, under) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let schema = Schema::from_toml(SCHEMA).unwrap();
        part(folder.path(), "a.csv", 0, 6000);
        part(folder.path(), "b.csv", 6000, 6000);
        part(folder.path(), "c.csv", 6000, 15_000);
        let files = crate::read::files_of(folder.path()).unwrap();
        let open = |lasting| Cache::open(under.path(), folder.path(), &schema, lasting).unwrap();
        let options = ReadOptions::default();
        let encode = |cache: &Cache| cache.encode(&files, &schema, &options, 1 << 30).unwrap();

        let cache = open(CacheRetention::UntilDone);
        let encoded = encode(&cache);
        assert_eq!((encoded.files.len(), encoded.reused), (3, 0));
        let rows = BlockFiles::open(&encoded.files).unwrap();
        let whole = read(folder.path(), &schema, &options).unwrap();
        assert_eq!(rows.rows(), 15_000);
        let piece = rows.piece(5000..11_000).unwrap();
        let places: Vec<usize> = (5000..11_000).collect();
        let expected = whole.select(&places);
        assert!(piece.target == expected.target);
        assert!((0..6000).all(|k| piece.features.dense_row(k) == expected.features.dense_row(k)));
        assert!(rows.rows_at(&[1, 5999, 6000, 14_999]).unwrap().rows() == 4);
        let refused = Cache::open(under.path(), folder.path(), &schema, CacheRetention::Never);
        assert!(matches!(refused, Err(BlockError::InUse { .. })), "one at a time");
        assert!(matches!(cache.check_room(&schema, 1 << 50), Err(BlockError::Full { .. })));
        cache.check_room(&schema, 15_000).unwrap();

        // Interrupted: unfinished files are removed, finished ones stay, and one that was truncated is
        // made again.
        fs::write(cache.folder().join(".half-xyz"), "begun").unwrap();
        let cut = encoded.files[2].clone();
        let bytes = fs::read(&cut).unwrap();
        fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
        drop(cache);
        let cache = open(CacheRetention::UntilDone);
        assert!(names(&cache).iter().all(|name| !name.starts_with(".half-")));
        assert_eq!(encode(&cache).reused, 2);
        assert_eq!(fs::read(&cut).unwrap(), bytes);

        // One byte changed in the middle of a block or in the table of contents, or an earlier format:
        // made again, too.
        let rotten = {
            let mut changed = bytes.clone();
            changed[bytes.len() / 4] ^= 0x80;
            changed
        };
        let earlier = {
            let mut changed = bytes.clone();
            let place = changed.len() - 2;
            changed[place] = b'1';
            changed
        };
        let listed = {
            let mut changed = bytes.clone();
            let said = b"\"classes\":2";
            let place = changed.windows(said.len()).position(|some| some == said).unwrap();
            changed[place + said.len() - 1] = b'3';
            changed
        };
        for damaged in [rotten, earlier, listed] {
            fs::write(&cut, damaged).unwrap();
            assert_eq!(encode(&cache).reused, 2);
            assert_eq!(fs::read(&cut).unwrap(), bytes);
        }

        // A file under another's name is finished, but is not that other's.
        fs::copy(&encoded.files[0], &cut).unwrap();
        assert!(matches!(BlockFiles::open(&[&cut]), Err(BlockError::Damaged { .. })));
        assert_eq!(encode(&cache).reused, 2);
        assert_eq!(fs::read(&cut).unwrap(), bytes);

        // A file replaced by another of the same size and time is encoded again.
        #[cfg(unix)]
        {
            let (table, other) = (folder.path().join("c.csv"), folder.path().join("c.new"));
            let time = fs::metadata(&table).unwrap().modified().unwrap();
            let text = fs::read_to_string(&table).unwrap().replacen(",a", ",b", 1);
            fs::write(&other, text).unwrap();
            File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
            fs::rename(&other, &table).unwrap();
            assert_eq!(encode(&cache).reused, 2);
        }

        // A file that changed is encoded again, and its old rows are removed.
        drop(cache);
        part(folder.path(), "c.csv", 6000, 15_001);
        let cache = open(CacheRetention::UntilDone);
        let encoded = encode(&cache);
        assert_eq!((encoded.reused, BlockFiles::open(&encoded.files).unwrap().rows()), (2, 15_001));
        assert_eq!(names(&cache).len(), 4);
        cache.done();
        assert_eq!(fs::read_dir(under.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_bad_file_is_named_and_columns_that_differ_name_both() {
        let (folder, under) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let schema = Schema::from_toml(SCHEMA).unwrap();
        part(folder.path(), "a.csv", 0, 10);
        part(folder.path(), "b.csv", 0, 10);
        let cache =
            Cache::open(under.path(), folder.path(), &schema, CacheRetention::Never).unwrap();
        let refused = |text: &str| {
            fs::write(folder.path().join("b.csv"), text).unwrap();
            let files = crate::read::files_of(folder.path()).unwrap();
            let encoded = cache.encode(&files, &schema, &ReadOptions::default(), 0);
            let together = read(folder.path(), &schema, &ReadOptions::default());
            let words = encoded.unwrap_err().to_string();
            assert_eq!(words, together.err().unwrap().to_string());
            words
        };
        let words = refused("x,y\n1,a\nnine,a\n");
        assert!(words.contains("b.csv, row 3") && !words.contains("nine"), "{words}");
        let words = refused("x,z\n1,a\n");
        assert!(words.contains("b.csv") && words.contains("a.csv"), "{words}");
        let words = refused("x,y,z\n1,a,3\n");
        assert!(words.contains("b.csv") && words.contains("a.csv"), "{words}");
        let folder = cache.folder().to_path_buf();
        drop(cache);
        assert!(!folder.exists());
    }

    /// A disk that is full in the middle of a file: the error states what is missing, no unfinished
    /// file remains, and finished files are reused once there is room.
    #[test]
    fn a_disk_that_is_full_in_the_middle_of_a_file_is_told() {
        let (folder, under) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let schema = Schema::from_toml(SCHEMA).unwrap();
        part(folder.path(), "a.csv", 0, 5000);
        part(folder.path(), "b.csv", 0, 400_000);
        let files = crate::read::files_of(folder.path()).unwrap();
        let mut cache =
            Cache::open(under.path(), folder.path(), &schema, CacheRetention::UntilDone).unwrap();
        // 12 bytes per row, plus the table of contents: the second file is cut within its rows, or at
        // its very end.
        for room in [2_000_000, 4_800_100] {
            cache.room = Some(room);
            let refused = cache.encode(&files, &schema, &ReadOptions::default(), 0).unwrap_err();
            let text = fs::metadata(&files[1]).unwrap().len();
            match &refused {
                DataError::NotKept(BlockError::Full { folder, needed }) => {
                    assert_eq!(
                        (folder.as_str(), *needed),
                        (cache.folder().to_str().unwrap(), 4 * text)
                    );
                }
                other => panic!("{other}"),
            }
            let kept = names(&cache);
            assert!(kept.len() == 2 && kept[0].starts_with("000000-"), "{kept:?}");
        }
        cache.room = None;
        let encoded = cache.encode(&files, &schema, &ReadOptions::default(), 0).unwrap();
        assert_eq!((encoded.reused, encoded.files.len()), (1, 2));
    }

    /// Work on an index waits for parts of it on the common pool; no thread starts another index
    /// meanwhile.
    #[test]
    fn no_more_places_are_worked_on_than_asked() {
        use rayon::prelude::*;
        for at_a_time in [1, 3] {
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let found = in_turn(40, at_a_time, |place| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let sum: usize = (0..64_usize)
                    .into_par_iter()
                    .map(|part| {
                        std::thread::sleep(std::time::Duration::from_micros(50));
                        part
                    })
                    .sum();
                now.fetch_sub(1, Ordering::SeqCst);
                (place, sum)
            });
            assert!(found.iter().enumerate().all(|(place, found)| *found == (place, 2016)));
            assert!(most.load(Ordering::SeqCst) <= at_a_time);
        }
        assert!(in_turn(0, 4, |place| place).is_empty());
    }
}
