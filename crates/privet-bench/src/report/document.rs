//! What a report says, apart from how it is written: the renderers turn one [`Document`] into a page
//! of HTML or of Markdown.

use super::plot::Figure;

/// Everything that a report says, in order.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The parts.
    pub blocks: Vec<Block>,
}

/// A part.
#[derive(Debug, Clone)]
pub enum Block {
    /// A heading; level 2 is a suite or a race, level 3 a data set.
    Heading(u8, String),
    /// Prose.
    Text(String),
    /// Something that went wrong with the results themselves.
    Notice(String),
    /// Sentences that cells of the table above refer to, by letter.
    Notes(Vec<String>),
    /// Numbers.
    Table(Table),
    /// Numbers that the page keeps folded away until asked.
    Folded(Table),
    /// A plot, which Markdown leaves out: its numbers are in a table.
    Figure(Figure),
}

/// A table: first column a name, the others as [`Table::numeric`] says.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Which columns hold numbers and are aligned to the right.
    pub numeric: Vec<bool>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// How a cell is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// As any other.
    #[default]
    Plain,
    /// What the reader came for.
    Strong,
    /// A promise that is not kept.
    Warning,
}

/// What stands in a row and a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The words.
    pub text: String,
    /// How they are set.
    pub tone: Tone,
}

impl Cell {
    /// Words set in a tone.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl Table {
    /// A table without rows; names that begin with `#` are those of columns of numbers.
    pub fn new(caption: impl Into<String>, columns: &[&str]) -> Self {
        let mut table = Self { caption: caption.into(), ..Self::default() };
        for name in columns {
            match name.strip_prefix('#') {
                Some(name) => table.column(name, true),
                None => table.column(*name, false),
            }
        }
        table
    }

    /// One more column.
    pub fn column(&mut self, name: impl Into<String>, numeric: bool) {
        self.columns.push(name.into());
        self.numeric.push(numeric);
    }
}

impl Document {
    /// A heading.
    pub fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.blocks.push(Block::Heading(level, text.into()));
    }

    /// Prose.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// A table, if it has rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// A folded table, if it has rows.
    pub fn folded(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.blocks.push(Block::Folded(table));
        }
    }

    /// The headings in order, with their level and the anchor that leads to them.
    pub fn headings(&self) -> impl Iterator<Item = (u8, &str, String)> {
        let headings = self.blocks.iter().filter_map(|block| match block {
            Block::Heading(level, text) => Some((*level, text.as_str())),
            _ => None,
        });
        headings.enumerate().map(|(place, (level, text))| (level, text, format!("part-{place}")))
    }
}
