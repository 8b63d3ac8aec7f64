//! Kinds of columns, each of which makes its field and its array; `column_cells!` makes a table of them.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, StringBuilder, TimestampMicrosecondBuilder};
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use jiff::Timestamp;

/// The cells of a column.
pub(super) trait ColumnCells: Default {
    /// What a cell is made of.
    type Cell<'c>: Copy + 'c;

    /// The column in a schema.
    fn field(name: &str) -> Field;

    /// Adds a cell, and gives about how many bytes it has.
    fn push(&mut self, cell: Self::Cell<'_>) -> usize;

    /// The cells as an array; after it there are none.
    fn take(&mut self) -> Result<ArrayRef, ArrowError>;
}

/// A text. Where it may be null, an empty one is.
#[derive(Debug, Default)]
pub(super) struct TextCells<const NULLABLE: bool = false>(StringBuilder);

/// A text that is null where it is empty.
pub(super) type OptionalTextCells = TextCells<true>;

impl<const NULLABLE: bool> ColumnCells for TextCells<NULLABLE> {
    type Cell<'c> = &'c str;

    fn field(name: &str) -> Field {
        Field::new(name, DataType::Utf8, NULLABLE)
    }

    fn push(&mut self, text: &str) -> usize {
        let text = Some(text).filter(|text| !(NULLABLE && text.is_empty()));
        self.0.append_option(text);
        text.map_or(0, str::len)
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(self.0.finish()))
    }
}

/// A yes or no.
#[derive(Debug, Default)]
pub(super) struct FlagCells(BooleanBuilder);

impl ColumnCells for FlagCells {
    type Cell<'c> = bool;

    fn field(name: &str) -> Field {
        Field::new(name, DataType::Boolean, false)
    }

    fn push(&mut self, flag: bool) -> usize {
        self.0.append_value(flag);
        1
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(self.0.finish()))
    }
}

/// A time of RFC 3339; one that cannot be parsed is null.
#[derive(Debug, Default)]
pub(super) struct TimeCells(TimestampMicrosecondBuilder);

impl ColumnCells for TimeCells {
    type Cell<'c> = &'c str;

    fn field(name: &str) -> Field {
        Field::new(
            name,
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            true,
        )
    }

    fn push(&mut self, time: &str) -> usize {
        let time = time.parse::<Timestamp>().ok();
        self.0.append_option(time.map(|time| time.as_microsecond()));
        size_of::<i64>()
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        Ok(Arc::new(self.0.finish().with_timezone("UTC")))
    }
}

/// A list.
#[derive(Debug, Default)]
pub(super) struct ListCells<C> {
    lengths: Vec<usize>,
    items: C,
}

impl<C: ColumnCells> ListCells<C> {
    fn item() -> Arc<Field> {
        Arc::new(C::field("item"))
    }
}

impl<C: ColumnCells> ColumnCells for ListCells<C> {
    type Cell<'c> = &'c [C::Cell<'c>];

    fn field(name: &str) -> Field {
        Field::new(name, DataType::List(Self::item()), false)
    }

    fn push(&mut self, items: Self::Cell<'_>) -> usize {
        self.lengths.push(items.len());
        items.iter().map(|item| self.items.push(*item)).sum()
    }

    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        let offsets = OffsetBuffer::from_lengths(std::mem::take(&mut self.lengths));
        let list = ListArray::try_new(Self::item(), offsets, self.items.take()?, None)?;
        Ok(Arc::new(list))
    }
}

/// Makes the columns of a kind of rows: the name of each, its kind, and what it has of a row. The struct of them is itself a
/// kind of column.
macro_rules! column_cells {
    ($(#[$doc:meta])* $cells:ident of $row:ident: $of:ty { $($column:ident: $kind:ty = $value:expr,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(super) struct $cells {
            $($column: $kind,)+
        }

        impl $cells {
            /// The columns in a schema.
            pub(super) fn fields() -> Vec<Field> {
                vec![$(<$kind>::field(stringify!($column)),)+]
            }

            /// The columns as arrays; after it they are empty.
            pub(super) fn take_arrays(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
                Ok(vec![$(self.$column.take()?,)+])
            }
        }

        impl ColumnCells for $cells {
            type Cell<'c> = $of;

            fn field(name: &str) -> Field {
                Field::new(name, DataType::Struct(Self::fields().into()), false)
            }

            fn push(&mut self, $row: Self::Cell<'_>) -> usize {
                0 $(+ self.$column.push($value))+
            }

            fn take(&mut self) -> Result<ArrayRef, ArrowError> {
                let columns = self.take_arrays()?;
                Ok(Arc::new(StructArray::try_new(Self::fields().into(), columns, None)?))
            }
        }
    };
}
pub(super) use column_cells;
