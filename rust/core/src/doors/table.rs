//! A table of typed columns: Arrow arrays, so that Python can have them without a copy.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, ListBuilder, StringBuilder, StructBuilder,
    UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema};

/// A column that is being filled, a value for each row.
#[derive(Debug)]
pub enum Column {
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    U64(UInt64Builder),
    F64(Float64Builder),
    Bool(BooleanBuilder),
    /// A list of rows of texts with these names.
    Rows(ListBuilder<StructBuilder>, usize),
}

impl Column {
    #[must_use]
    pub fn text() -> Column {
        Column::Text(StringBuilder::new())
    }

    #[must_use]
    pub fn bytes() -> Column {
        Column::Bytes(BinaryBuilder::new())
    }

    #[must_use]
    pub fn u64() -> Column {
        Column::U64(UInt64Builder::new())
    }

    #[must_use]
    pub fn f64() -> Column {
        Column::F64(Float64Builder::new())
    }

    #[must_use]
    pub fn bool() -> Column {
        Column::Bool(BooleanBuilder::new())
    }

    /// A list of rows of texts, as the links of a page are.
    #[must_use]
    pub fn rows(names: &[&str]) -> Column {
        let fields: Fields = names
            .iter()
            .map(|name| Field::new(*name, DataType::Utf8, true))
            .collect();
        let builder = StructBuilder::from_fields(fields, 0);
        Column::Rows(ListBuilder::new(builder), names.len())
    }

    /// Adds a value of the column's own type; one of another type is taken as none.
    pub fn push(&mut self, value: Value<'_>) {
        match (self, value) {
            (Column::Text(list), Value::Text(text)) => list.append_value(text),
            (Column::Text(list), _) => list.append_null(),
            (Column::Bytes(list), Value::Bytes(bytes)) => list.append_value(bytes),
            (Column::Bytes(list), _) => list.append_null(),
            (Column::U64(list), Value::U64(number)) => list.append_value(number),
            (Column::U64(list), _) => list.append_null(),
            (Column::F64(list), Value::F64(number)) => list.append_value(number),
            (Column::F64(list), _) => list.append_null(),
            (Column::Bool(list), Value::Bool(set)) => list.append_value(set),
            (Column::Bool(list), _) => list.append_null(),
            (Column::Rows(list, _), _) => list.append(true),
        }
    }

    /// Adds a row of texts to the list that the next [`Column::push`] ends.
    pub fn push_row(&mut self, texts: &[Option<&str>]) {
        let Column::Rows(list, width) = self else {
            return;
        };
        let row = list.values();
        for at in 0..*width {
            if let Some(field) = row.field_builder::<StringBuilder>(at) {
                field.append_option(texts.get(at).copied().flatten());
            }
        }
        row.append(true);
    }

    fn finish(mut self) -> ArrayRef {
        match &mut self {
            Column::Text(list) => Arc::new(list.finish()),
            Column::Bytes(list) => Arc::new(list.finish()),
            Column::U64(list) => Arc::new(list.finish()),
            Column::F64(list) => Arc::new(list.finish()),
            Column::Bool(list) => Arc::new(list.finish()),
            Column::Rows(list, _) => Arc::new(list.finish()),
        }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    None,
    Text(&'a str),
    Bytes(&'a [u8]),
    U64(u64),
    F64(f64),
    Bool(bool),
    /// The end of a list of rows.
    Rows,
}

impl<'a> Value<'a> {
    #[must_use]
    pub fn text(text: Option<&'a str>) -> Value<'a> {
        text.map_or(Value::None, Value::Text)
    }
}

/// Columns of the same length, each with a name.
#[derive(Clone, Debug)]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Ends the columns. The error says which of them has another length.
    pub fn new(rows: usize, columns: Vec<(&'static str, Column)>) -> Result<Table, String> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays = Vec::with_capacity(columns.len());
        for (name, column) in columns {
            let array = column.finish();
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new_with_options(schema, arrays, &options)
            .map(|batch| Table { batch })
            .map_err(|error| error.to_string())
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the columns.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let schema = self.batch.schema();
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        names.into_iter()
    }

    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// The whole table as one array, as the Arrow C data interface wants it.
    #[must_use]
    pub fn as_struct(&self) -> StructArray {
        StructArray::from(self.batch.clone())
    }
}
