//! Data types: `DECIMAL(10, 2)`, `STRUCT<a: INT NOT NULL COMMENT 'x', b: ARRAY<STRING>>`, `INTERVAL DAY TO SECOND`.

use deltaic_protocol::error::DeltaError;
use sqlparser::ast::{
    ArrayElemTypeDef, CharacterLength, DataType, ExactNumberInfo, Ident, IntervalFields, SqlOption,
    StructBracketKind, StructField, TimezoneInfo,
};
use sqlparser::tokenizer::Span;

use super::{Follow, Parsed, Parser};
use crate::data_type::{COMMENT, NOT_NULL};
use crate::lexer::{Kind, Token};

impl Parser<'_> {
    pub fn data_type(&mut self) -> Parsed<DataType> {
        self.nested(Self::any_type)
    }

    fn any_type(&mut self) -> Parsed<DataType> {
        let start = self.at;
        let word = self.ident()?.value.to_ascii_uppercase();
        match word.as_str() {
            "ARRAY" => self.array_type(start),
            "MAP" => self.map_type(start),
            "STRUCT" => self.struct_type(start),
            "INTERVAL" => self.interval_type(),
            _ => self.plain_type(start, &word),
        }
    }

    fn array_type(&mut self, start: usize) -> Parsed<DataType> {
        if !self.eat_symbol("<") {
            self.incomplete("INCOMPLETE_TYPE_DEFINITION.ARRAY", start);
            return Ok(DataType::Array(ArrayElemTypeDef::None));
        }
        let element = self.data_type()?;
        self.close_angle()?;
        Ok(DataType::Array(ArrayElemTypeDef::AngleBracket(Box::new(
            element,
        ))))
    }

    fn map_type(&mut self, start: usize) -> Parsed<DataType> {
        if !self.eat_symbol("<") {
            self.incomplete("INCOMPLETE_TYPE_DEFINITION.MAP", start);
            return Ok(DataType::Map(
                Box::new(DataType::Unspecified),
                Box::new(DataType::Unspecified),
            ));
        }
        let key = self.data_type()?;
        self.expect_symbol(",", Follow::Name)?;
        let value = self.data_type()?;
        self.close_angle()?;
        Ok(DataType::Map(Box::new(key), Box::new(value)))
    }

    fn struct_type(&mut self, start: usize) -> Parsed<DataType> {
        let fields = if self.eat_symbol("<>") {
            Vec::new()
        } else if !self.eat_symbol("<") {
            self.incomplete("INCOMPLETE_TYPE_DEFINITION.STRUCT", start);
            Vec::new()
        } else if self.is_symbol(">") {
            self.at += 1;
            Vec::new()
        } else {
            let fields = self.comma_separated(Self::struct_field)?;
            self.close_angle()?;
            fields
        };
        Ok(DataType::Struct(fields, StructBracketKind::AngleBrackets))
    }

    fn incomplete(&mut self, class: &'static str, start: usize) {
        let error = DeltaError::new(class)
            .param("elementType", "<INT>")
            .with_context(self.fragment(start));
        self.late(error);
    }

    fn struct_field(&mut self) -> Parsed<StructField> {
        let field_name = Some(self.ident()?);
        self.eat_symbol(":");
        let field_type = self.data_type()?;
        let mut options = Vec::new();
        if self.eat_seq(&["NOT", "NULL"]) {
            options.push(SqlOption::Ident(Ident::new(NOT_NULL)));
        }
        if self.eat("COMMENT") {
            let value = crate::literal::string(self.string()?, Span::empty());
            options.push(SqlOption::KeyValue {
                key: Ident::new(COMMENT),
                value,
            });
        }
        Ok(StructField {
            field_name,
            field_type,
            options: (!options.is_empty()).then_some(options),
        })
    }

    /// `>`; the first half of `>>` and `>>>` too.
    fn close_angle(&mut self) -> Parsed<()> {
        let token = self.peek();
        if token.kind == Kind::Symbol && matches!(token.value.as_str(), ">>" | ">>>" | ">=") {
            let rest = Token {
                value: token.value[1..].to_owned(),
                start: token.start + 1,
                column: token.column + 1,
                ..token.clone()
            };
            let index = self.at;
            self.tokens[index] = rest;
            return Ok(());
        }
        self.expect_symbol(">", Follow::Other)
    }

    fn interval_type(&mut self) -> Parsed<DataType> {
        use IntervalFields as F;
        let from = self.expect_any(&["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"])?;
        let to = if self.eat("TO") {
            Some(self.expect_any(&["MONTH", "HOUR", "MINUTE", "SECOND"])?)
        } else {
            None
        };
        let fields = match (from, to) {
            ("YEAR", None) => F::Year,
            ("MONTH", None | Some("MONTH")) => F::Month,
            ("DAY", None) => F::Day,
            ("HOUR", None | Some("HOUR")) => F::Hour,
            ("MINUTE", None | Some("MINUTE")) => F::Minute,
            ("SECOND", None | Some("SECOND")) => F::Second,
            ("YEAR", Some("MONTH")) => F::YearToMonth,
            ("DAY", Some("HOUR")) => F::DayToHour,
            ("DAY", Some("MINUTE")) => F::DayToMinute,
            ("DAY", Some("SECOND")) => F::DayToSecond,
            ("HOUR", Some("MINUTE")) => F::HourToMinute,
            ("HOUR", Some("SECOND")) => F::HourToSecond,
            ("MINUTE", Some("SECOND")) => F::MinuteToSecond,
            _ => return Err(self.stop_at(self.at - 1)),
        };
        Ok(DataType::Interval {
            fields: Some(fields),
            precision: None,
        })
    }

    /// The name of a collation. Texts are compared by their bytes here, so there is one that can be meant; to take another one for it
    /// would give wrong rows.
    pub(super) fn collation(&mut self) -> Parsed<Vec<Ident>> {
        let name = self.parts()?;
        let plain = name.last().map(|part| part.value.to_ascii_uppercase());
        if plain.as_deref() != Some("UTF8_BINARY") {
            let name = name.last().map_or("", |part| part.value.as_str());
            self.late(DeltaError::not_supported_yet(format!(
                "The collation {name}"
            )));
        }
        Ok(name)
    }

    fn plain_type(&mut self, start: usize, word: &str) -> Parsed<DataType> {
        let varying = matches!(word, "CHAR" | "CHARACTER") && self.eat("VARYING");
        let parameters = if self.is_symbol("(") {
            self.parenthesized(Self::integer)?
        } else {
            Vec::new()
        };
        if word == "STRING" && self.eat("COLLATE") {
            self.collation()?;
        }
        if word == "TIMESTAMP" && self.eat("WITHOUT") {
            self.expect_seq(&["TIME", "ZONE"], Follow::Other)?;
            return Ok(DataType::TimestampNtz(None));
        }
        if word == "TIMESTAMP" && self.is_seq(&["WITH", "LOCAL", "TIME", "ZONE"]) {
            self.at += 4;
        }
        let length = || parameters.first().and_then(|n| u64::try_from(*n).ok());
        let sized = |length: u64| Some(CharacterLength::IntegerLength { length, unit: None });
        let found = match (word, parameters.len()) {
            ("BOOLEAN", 0) => DataType::Boolean,
            ("TINYINT" | "BYTE", 0) => DataType::TinyInt(None),
            ("SMALLINT" | "SHORT", 0) => DataType::SmallInt(None),
            ("INT" | "INTEGER", 0) => DataType::Int(None),
            ("BIGINT" | "LONG", 0) => DataType::BigInt(None),
            ("FLOAT" | "REAL", 0) => DataType::Float(ExactNumberInfo::None),
            ("DOUBLE", 0) => DataType::Double(ExactNumberInfo::None),
            ("DATE", 0) => DataType::Date,
            ("TIMESTAMP" | "TIMESTAMP_LTZ", 0) => DataType::Timestamp(None, TimezoneInfo::None),
            ("TIMESTAMP_NTZ", 0) => DataType::TimestampNtz(None),
            ("STRING", 0) => DataType::String(None),
            ("BINARY", 0) => DataType::Binary(None),
            ("VOID" | "VARIANT", 0) => DataType::Custom(Ident::new(word).into(), Vec::new()),
            ("DECIMAL" | "DEC" | "NUMERIC", 0..=2) => self.decimal(start, &parameters),
            ("CHAR" | "CHARACTER", 1) if !varying => DataType::Char(length().and_then(sized)),
            ("VARCHAR" | "CHAR" | "CHARACTER", 1) => DataType::Varchar(length().and_then(sized)),
            ("CHAR" | "CHARACTER" | "VARCHAR", 0) => {
                let error =
                    DeltaError::new("DATATYPE_MISSING_SIZE").param("type", format!("\"{word}\""));
                let error = error.with_context(self.fragment(start));
                self.late(error);
                DataType::String(None)
            }
            _ => {
                let error = DeltaError::new("UNSUPPORTED_DATATYPE")
                    .param("typeName", format!("\"{}\"", self.type_text(start)));
                let error = error.with_context(self.fragment(start));
                self.late(error);
                DataType::Unspecified
            }
        };
        Ok(found)
    }

    fn type_text(&self, start: usize) -> String {
        self.text_from(start).to_ascii_uppercase().replace(' ', "")
    }

    fn decimal(&mut self, start: usize, parameters: &[i64]) -> DataType {
        let precision = parameters.first().copied().unwrap_or(10);
        let scale = parameters.get(1).copied().unwrap_or(0);
        if precision > 38 {
            let error = DeltaError::new("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
                .param("precision", precision)
                .param("maxPrecision", 38);
            self.late(error);
        } else if scale > precision {
            let error = DeltaError::new("_LEGACY_ERROR_TEMP_1228")
                .param("scale", scale)
                .param("precision", precision);
            let error = error.with_context(self.fragment(start));
            self.late(error);
        }
        DataType::Decimal(ExactNumberInfo::PrecisionAndScale(
            precision.unsigned_abs(),
            scale,
        ))
    }
}
