//! The content of a report, apart from its format: the renderers turn one [`Document`] into a page of
//! HTML or of Markdown.

use privet_cli::page::panel::Figure;

/// The content of a report, in order.
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
    /// An error in the results themselves.
    Notice(String),
    /// Notes that cells of the table above refer to, by letter.
    Notes(Vec<String>),
    /// Numbers.
    Table(Table),
    /// A table that the page keeps collapsed.
    Folded(Table),
    /// A plot, which Markdown leaves out: its numbers are in a table.
    Figure(Figure),
}

/// A table: the first column names the row.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The columns' names, and true for numbers, which are aligned to the right.
    pub columns: Vec<(String, bool)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// The style of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Normal.
    #[default]
    Plain,
    /// The main result.
    Strong,
    /// A guarantee that does not hold.
    Warning,
}

/// The content of a row and a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The style.
    pub tone: Tone,
}

impl Cell {
    /// Text with a style.
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
    /// A table of items, one per row, without columns.
    pub fn of<T>(caption: impl Into<String>, things: impl IntoIterator<Item = T>) -> Rows<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = vec![Vec::new(); things.len()];
        Rows { things, table: Self { caption: caption.into(), columns: vec![], rows } }
    }

    fn is_not_empty(&self) -> bool {
        !self.rows.is_empty()
    }
}

/// A table under construction: each column is a function of the item.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> Rows<T> {
    /// A column of words.
    pub fn text_column<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        said: impl Fn(&T) -> C,
    ) -> Self {
        self.column(name.into(), false, said)
    }

    /// A column of numbers.
    pub fn numbers<C: Into<Cell>>(self, name: impl Into<String>, said: impl Fn(&T) -> C) -> Self {
        self.column(name.into(), true, said)
    }

    fn column<C: Into<Cell>>(mut self, name: String, number: bool, said: impl Fn(&T) -> C) -> Self {
        self.table.columns.push((name, number));
        let cells = self.things.iter().map(|thing| said(thing).into());
        self.table.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        self
    }

    /// The table.
    pub fn done(self) -> Table {
        self.table
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

    /// An error in the results themselves.
    pub fn notice(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Notice(text.into()));
    }

    /// A table, if it has rows.
    pub fn table<T>(&mut self, table: Rows<T>) {
        self.blocks.extend(Some(table.done()).filter(Table::is_not_empty).map(Block::Table));
    }

    /// A collapsed table, if it has rows.
    pub fn collapsed_table<T>(&mut self, table: Rows<T>) {
        self.blocks.extend(Some(table.done()).filter(Table::is_not_empty).map(Block::Folded));
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
