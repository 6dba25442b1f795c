//! Reads originals and writes prepared files.

use super::{CatalogError, Entry, Lines, Original, Prepared, Split, TRAIN_SHARE, Task};
use privet_data::{
    DataError, Encoding, Place,
    keyed::Key,
    read::decompressed,
    schema::Format,
    split,
    write::{Existing, give_name},
};
use sha2::{Digest, Sha256};
use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// The uncompressed bytes of an original, checked, and the path they came from.
pub(super) fn original(
    entry: &Entry,
    file: &Original,
    from: &Path,
) -> Result<(Vec<u8>, PathBuf), CatalogError> {
    let folders = [from.to_path_buf(), from.join(entry.folder)];
    let candidates = folders.iter().flat_map(|folder| {
        ["", ".gz", ".zst"].map(|ending| folder.join(format!("{}{ending}", file.name)))
    });
    let Some(path) = candidates.into_iter().find(|path| path.is_file()) else {
        let looked = folders.map(|folder| folder.join(file.name).display().to_string());
        return Err(CatalogError::OriginalMissing {
            name: file.name,
            looked: looked.join(" and "),
            origin: entry.origin,
        });
    };
    let bytes = decompressed(&path)?;
    let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if found != file.sha256 {
        let file_name = Place::Path(path);
        return Err(CatalogError::Checksum {
            file: file_name,
            expected: file.sha256.into(),
            found,
        });
    }
    Ok((bytes, path))
}

/// Splits the rows and writes the three files; all of them or none.
pub(super) fn write(
    entry: &Entry,
    task: &Task,
    out: &Path,
    key: &Key,
) -> Result<Prepared, CatalogError> {
    let refused = |source| DataError::File { file: Place::Path(out.into()), source };
    let (train_rows, test_rows) = match &task.split {
        Split::Published(count) => ((0..*count).collect(), (*count..task.rows.len()).collect()),
        Split::Rows => split::hold_out(task.rows.len(), TRAIN_SHARE, key),
        Split::Units(units) => split::hold_out_units(units, TRAIN_SHARE, key),
    };
    let ending = match task.schema.file().format {
        Format::Libsvm => "svm",
        _ => "csv",
    };
    std::fs::create_dir_all(out).map_err(refused)?;
    let rows = |rows: &[usize]| write_rows(out, &task.header, &task.rows, rows);
    let encoding = Encoding::new(&task.schema);
    let about = format!(
        "# {}\n# {}\n# {} encoded columns; bounds are round numbers fixed in the catalog, for a public set.\n\n{}",
        entry.title,
        entry.task,
        encoding.width(),
        task.schema.to_toml()
    );
    let schema = temporary(out, |file| file.write_all(about.as_bytes()));
    let written = [
        (rows(&train_rows).map_err(refused)?, out.join(format!("train.{ending}"))),
        (rows(&test_rows).map_err(refused)?, out.join(format!("test.{ending}"))),
        (schema.map_err(refused)?, out.join("schema.toml")),
    ];
    let [train, test, schema_file] = written.map(|(file, path)| {
        give_name(file, &path, Existing::Replace)
            .map(|()| path)
            .map_err(|error| refused(error.into()))
    });
    Ok(Prepared {
        train: train?,
        test: test?,
        schema_file: schema_file?,
        schema: task.schema.clone(),
        train_rows: train_rows.len(),
        test_rows: test_rows.len(),
    })
}

fn write_rows(
    out: &Path,
    header: &str,
    lines: &Lines,
    rows: &[usize],
) -> io::Result<NamedTempFile> {
    temporary(out, |file| {
        if !header.is_empty() {
            writeln!(file, "{header}")?;
        }
        rows.iter().try_for_each(|&row| file.write_all(lines.get(row)))
    })
}

/// Writes a complete temporary file to disk; it is deleted unless renamed.
fn temporary(
    out: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(out)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    fill(&mut writer)?;
    writer.flush()?;
    drop(writer);
    file.as_file().sync_all()?;
    Ok(file)
}
