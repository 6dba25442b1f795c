//! Opens a file and checks it before decoding: the nesting and the size of its columns, and the types
//! they are decoded as.

use super::super::{clone_place, fence::catch_panic, open::Input};
use super::nesting;
use crate::error::{DataError, Place};
use parquet::{
    basic::{ConvertedType, Repetition, Type as Physical},
    errors::ParquetError,
    file::{
        metadata::ParquetMetaDataReader,
        reader::{ChunkReader, FileReader, SerializedFileReader},
        serialized_reader::ReadOptionsBuilder,
    },
    schema::types::{SchemaDescriptor, Type},
};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
};

/// The largest size in bytes, before compression, of one column in one row group.
pub(super) const LARGEST_CHUNK: i64 = 1 << 30;

/// Opens a file on disk, checked before it is decoded.
pub(super) fn open_checked(
    input: Input<'_>,
    place: &Place,
) -> Result<(Arc<Type>, SerializedFileReader<File>), DataError> {
    let Input::Path(path) = input else { return Err(damaged(place)) };
    let outcome = catch_panic(|| {
        let failed = |source| DataError::File { file: clone_place(place), source };
        let mut file = File::open(path).map_err(failed)?;
        check_nesting(&mut file, place)?;
        open(file).map_err(|error| parquet_error(place, &error))
    });
    outcome.unwrap_or_else(|| Err(damaged(place)))
}

pub(super) fn damaged(place: &Place) -> DataError {
    DataError::Damaged { file: clone_place(place), format: "parquet" }
}

/// Refuses a file whose columns are nested so deeply that decoding them could end the program.
pub(super) fn check_nesting(file: &mut (impl Read + Seek), place: &Place) -> Result<(), DataError> {
    let footer = match footer(file) {
        Ok(footer) => footer,
        Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => None,
        Err(source) => return Err(DataError::File { file: clone_place(place), source }),
    };
    let shallow = footer.is_some_and(|footer| nesting::is_shallow(&footer));
    if shallow { Ok(()) } else { Err(damaged(place)) }
}

/// The file's footer, if the file is long enough for the length it states.
fn footer(file: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u8>>> {
    let Some(end) = file.seek(SeekFrom::End(0))?.checked_sub(8) else { return Ok(None) };
    let mut last = [0; 8];
    file.seek(SeekFrom::Start(end))?;
    file.read_exact(&mut last)?;
    let length = nesting::footer_length(last);
    let Some(start) = end.checked_sub(length) else { return Ok(None) };
    file.seek(SeekFrom::Start(start))?;
    let mut footer = Vec::new();
    file.take(length).read_to_end(&mut footer)?;
    Ok(Some(footer))
}

/// The columns as the file describes them, and a reader that decodes them as [`decoded`] defines.
pub(super) fn open<R: ChunkReader + 'static>(
    source: R,
) -> Result<(Arc<Type>, SerializedFileReader<R>), ParquetError> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&source)?;
    let root = metadata.file_metadata().schema_descr().root_schema_ptr();
    let fields = root.get_fields().iter().map(decoded).collect::<Result<_, _>>()?;
    let decoded = Type::group_type_builder(root.name()).with_fields(fields).build()?;
    let schema = Arc::new(SchemaDescriptor::new(Arc::new(decoded)));
    let options = ReadOptionsBuilder::new().with_parquet_schema(schema).build();
    Ok((root, SerializedFileReader::new_with_options(source, options)?))
}

/// The column's type for decoding: texts are decoded as bytes, so that one that is not UTF-8 is a cell
/// like any other and does not end the reading, as in a text file.
fn decoded(column: &Arc<Type>) -> Result<Arc<Type>, ParquetError> {
    use ConvertedType as As;
    let info = column.get_basic_info();
    let text = column.is_primitive()
        && column.get_physical_type() == Physical::BYTE_ARRAY
        && matches!(info.converted_type(), As::UTF8 | As::ENUM | As::JSON);
    if !text {
        return Ok(column.clone());
    }
    let repetition = if info.has_repetition() { info.repetition() } else { Repetition::REQUIRED };
    let bytes = Type::primitive_type_builder(column.name(), Physical::BYTE_ARRAY);
    bytes.with_repetition(repetition).build().map(Arc::new)
}

/// An unsupported codec is distinguished from damage by the decoder's own message.
pub(super) fn parquet_error(place: &Place, error: &ParquetError) -> DataError {
    let text = match error {
        ParquetError::General(text) | ParquetError::NYI(text) => text.as_str(),
        _ => "",
    };
    if text.contains("Disabled feature") || text.contains("codec") {
        DataError::Unsupported {
            file: clone_place(place),
            what: "a compression codec",
            accepted: "Parquet without compression, or with snappy, gzip, lz4 or zstd",
        }
    } else {
        damaged(place)
    }
}

/// Refuses columns of which one row group could not be held in memory.
pub(super) fn check_sizes(
    reader: &dyn FileReader,
    wanted: &[usize],
    place: &Place,
) -> Result<(), DataError> {
    let metadata = reader.metadata();
    let descriptor = metadata.file_metadata().schema_descr();
    let is_wanted = |leaf: usize| wanted.contains(&descriptor.get_column_root_idx(leaf));
    let leaves: Vec<usize> =
        (0..descriptor.num_columns()).filter(|leaf| is_wanted(*leaf)).collect();
    let too_large = metadata.row_groups().iter().any(|group| {
        let sizes = leaves.iter().filter_map(|leaf| group.columns().get(*leaf));
        sizes.into_iter().any(|chunk| !(0..=LARGEST_CHUNK).contains(&chunk.uncompressed_size()))
    });
    match too_large {
        false => Ok(()),
        true => Err(DataError::Unsupported {
            file: clone_place(place),
            what: "a row group in which a column holds more than 1 GiB",
            accepted: "smaller row groups",
        }),
    }
}
