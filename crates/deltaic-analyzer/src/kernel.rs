//! Scalar functions of our own as DataFusion UDFs: a plain function over arrays, its Spark types, and the session's
//! environment. Everything whose result or error differs from DataFusion's own kernels goes through here.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Decimal128Array,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, ListArray, MapArray,
    PrimitiveArray, StringArray, StructArray, new_null_array,
};
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, DurationMicrosecondType, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType,
    TimestampMicrosecondType,
};
use chrono_tz::Tz;
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use crate::error::wrap;
use crate::types::arrow_type;

/// What a kernel may know of the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Env {
    /// The session's zone.
    pub zone: Tz,
    /// Errors are raised; off, they give NULL.
    pub ansi: bool,
    /// What does not fit is NULL even where ANSI is off: `try_add` and its kind.
    pub tried: bool,
    /// The statement's moment, microseconds since the epoch.
    pub now_us: i64,
    /// A number that makes random functions differ between calls, or a parameter of the kernel.
    pub salt: u64,
    /// The column that the value goes to, where a cast is part of an assignment.
    pub column: Option<String>,
}

impl Default for Env {
    fn default() -> Self {
        Self {
            zone: Tz::UTC,
            ansi: true,
            tried: false,
            now_us: 0,
            salt: 0,
            column: None,
        }
    }
}

/// One call: arguments as arrays of equal length.
pub struct Batch<'a> {
    /// The arguments.
    pub args: &'a [ArrayRef],
    /// Their Spark types.
    pub types: &'a [DataType],
    /// The type of the result.
    pub ret: &'a DataType,
    /// Length of all arrays.
    pub rows: usize,
    /// The session.
    pub env: &'a Env,
    /// How many rows this call has answered before, in all batches of all partitions; 0 where a call of the same arguments always
    /// answers the same.
    pub rows_before: u64,
}

/// A kernel.
pub type Run = fn(&Batch<'_>) -> Result<ArrayRef>;

/// A kernel as DataFusion calls it.
#[derive(Clone)]
pub struct Kernel {
    name: String,
    types: Vec<DataType>,
    ret: DataType,
    arrow: ArrowType,
    run: Run,
    env: Arc<Env>,
    signature: Signature,
    /// Rows that were answered. Shared by the copies that planning makes, so that no two rows of a statement get one number.
    rows: Arc<AtomicU64>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("ret", &self.ret.simple_string())
            .finish()
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.types == other.types
            && self.ret == other.ret
            && self.env == other.env
    }
}

impl Eq for Kernel {}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.types.hash(state);
        self.ret.hash(state);
        self.env.hash(state);
    }
}

impl Kernel {
    /// The call of a kernel as an expression. `name` identifies the kernel: two of one name must run the same.
    pub fn call(
        name: &str,
        run: Run,
        args: Vec<Expr>,
        types: Vec<DataType>,
        ret: DataType,
        env: Arc<Env>,
        volatile: bool,
    ) -> Expr {
        let volatility = if volatile {
            Volatility::Volatile
        } else {
            Volatility::Immutable
        };
        let arrow = arrow_type(&ret);
        let signature = Signature::one_of(
            vec![TypeSignature::Nullary, TypeSignature::VariadicAny],
            volatility,
        );
        let kernel = Kernel {
            name: format!("spark_{name}"),
            types,
            ret,
            arrow,
            run,
            env,
            signature,
            rows: Arc::default(),
        };
        ScalarUDF::new_from_impl(kernel).call(args)
    }
}

impl ScalarUDFImpl for Kernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[ArrowType]) -> DfResult<ArrowType> {
        Ok(self.arrow.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let constant = !args.args.is_empty()
            && self.signature.volatility != Volatility::Volatile
            && args
                .args
                .iter()
                .all(|a| matches!(a, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let arrays = args
            .args
            .into_iter()
            .map(|a| a.into_array(rows))
            .collect::<DfResult<Vec<_>>>()?;
        let rows_before = match self.signature.volatility {
            Volatility::Volatile => self.rows.fetch_add(rows as u64, Ordering::Relaxed),
            _ => 0,
        };
        let batch = Batch {
            args: &arrays,
            types: &self.types,
            ret: &self.ret,
            rows,
            env: &self.env,
            rows_before,
        };
        let out = (self.run)(&batch).map_err(wrap)?;
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

impl Batch<'_> {
    /// Argument `n` as text.
    pub fn str(&self, n: usize) -> &StringArray {
        self.args[n].as_string::<i32>()
    }
    /// Argument `n` as bytes.
    pub fn bin(&self, n: usize) -> &BinaryArray {
        self.args[n].as_binary::<i32>()
    }
    /// Argument `n` as booleans.
    pub fn bool(&self, n: usize) -> &BooleanArray {
        self.args[n].as_boolean()
    }
    /// Argument `n` as INT.
    pub fn i32(&self, n: usize) -> &Int32Array {
        self.args[n].as_primitive::<Int32Type>()
    }
    /// Argument `n` as BIGINT.
    pub fn i64(&self, n: usize) -> &Int64Array {
        self.args[n].as_primitive::<Int64Type>()
    }
    /// Argument `n` as TINYINT.
    pub fn i8(&self, n: usize) -> &Int8Array {
        self.args[n].as_primitive::<Int8Type>()
    }
    /// Argument `n` as SMALLINT.
    pub fn i16(&self, n: usize) -> &Int16Array {
        self.args[n].as_primitive::<Int16Type>()
    }
    /// Argument `n` as DOUBLE.
    pub fn f64(&self, n: usize) -> &Float64Array {
        self.args[n].as_primitive::<Float64Type>()
    }
    /// Argument `n` as FLOAT.
    pub fn f32(&self, n: usize) -> &Float32Array {
        self.args[n].as_primitive::<Float32Type>()
    }
    /// Argument `n` as DECIMAL, unscaled.
    pub fn dec(&self, n: usize) -> &Decimal128Array {
        self.args[n].as_primitive::<Decimal128Type>()
    }
    /// Argument `n` as DATE, in days.
    pub fn date(&self, n: usize) -> &PrimitiveArray<Date32Type> {
        self.args[n].as_primitive::<Date32Type>()
    }
    /// Argument `n` as TIMESTAMP or TIMESTAMP_NTZ, in microseconds.
    pub fn ts(&self, n: usize) -> &PrimitiveArray<TimestampMicrosecondType> {
        self.args[n].as_primitive::<TimestampMicrosecondType>()
    }
    /// Argument `n` as a day-time interval, in microseconds.
    pub fn day_time(&self, n: usize) -> &PrimitiveArray<DurationMicrosecondType> {
        self.args[n].as_primitive::<DurationMicrosecondType>()
    }
    /// Argument `n` as a year-month interval, in months.
    pub fn year_month(&self, n: usize) -> &PrimitiveArray<IntervalYearMonthType> {
        self.args[n].as_primitive::<IntervalYearMonthType>()
    }
    /// Argument `n` as an array.
    pub fn list(&self, n: usize) -> &ListArray {
        self.args[n].as_list::<i32>()
    }
    /// Argument `n` as a map.
    pub fn map(&self, n: usize) -> &MapArray {
        self.args[n].as_map()
    }
    /// Argument `n` as a struct.
    pub fn structs(&self, n: usize) -> &StructArray {
        self.args[n].as_struct()
    }

    /// Is any argument NULL in this row?
    pub fn any_null(&self, row: usize) -> bool {
        self.args.iter().any(|a| a.is_null(row))
    }

    /// A result of NULLs only.
    pub fn nulls(&self) -> ArrayRef {
        new_null_array(&arrow_type(self.ret), self.rows)
    }

    /// A result row by row; a row with a NULL argument is NULL without being asked.
    pub fn rows<T: Cell>(&self, mut f: impl FnMut(usize) -> Result<Option<T>>) -> Result<ArrayRef> {
        let mut out = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            out.push(if self.any_null(row) { None } else { f(row)? });
        }
        Ok(T::array(out, self.ret))
    }

    /// A result row by row, every row asked.
    pub fn all_rows<T: Cell>(&self, f: impl FnMut(usize) -> Result<Option<T>>) -> Result<ArrayRef> {
        let out = (0..self.rows).map(f).collect::<Result<Vec<_>>>()?;
        Ok(T::array(out, self.ret))
    }
}

/// A Rust value that a kernel gives for one row.
pub trait Cell: Sized {
    /// The rows as an array of the result type.
    fn array(rows: Vec<Option<Self>>, ty: &DataType) -> ArrayRef;
}

impl Cell for String {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(StringArray::from(rows))
    }
}

impl Cell for Vec<u8> {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(BinaryArray::from_iter(rows))
    }
}

impl Cell for bool {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(BooleanArray::from(rows))
    }
}

fn primitive<P: ArrowPrimitiveType>(rows: Vec<Option<P::Native>>) -> PrimitiveArray<P> {
    PrimitiveArray::from_iter(rows)
}

impl Cell for i8 {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(primitive::<Int8Type>(rows))
    }
}

impl Cell for i16 {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(primitive::<Int16Type>(rows))
    }
}

impl Cell for i32 {
    fn array(rows: Vec<Option<Self>>, ty: &DataType) -> ArrayRef {
        match ty {
            DataType::Date => Arc::new(primitive::<Date32Type>(rows)),
            DataType::YearMonthInterval { .. } => {
                Arc::new(primitive::<IntervalYearMonthType>(rows))
            }
            _ => Arc::new(primitive::<Int32Type>(rows)),
        }
    }
}

impl Cell for i64 {
    fn array(rows: Vec<Option<Self>>, ty: &DataType) -> ArrayRef {
        match ty {
            DataType::Timestamp => Arc::new(
                primitive::<TimestampMicrosecondType>(rows)
                    .with_timezone(deltaic_log::arrow_schema::UTC),
            ),
            DataType::TimestampNtz => Arc::new(primitive::<TimestampMicrosecondType>(rows)),
            DataType::DayTimeInterval { .. } => {
                Arc::new(primitive::<DurationMicrosecondType>(rows))
            }
            _ => Arc::new(primitive::<Int64Type>(rows)),
        }
    }
}

impl Cell for f32 {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(primitive::<Float32Type>(rows))
    }
}

impl Cell for f64 {
    fn array(rows: Vec<Option<Self>>, _: &DataType) -> ArrayRef {
        Arc::new(primitive::<Float64Type>(rows))
    }
}

impl Cell for i128 {
    fn array(rows: Vec<Option<Self>>, ty: &DataType) -> ArrayRef {
        let array = primitive::<Decimal128Type>(rows);
        // Values were checked against the type's precision before; the metadata alone is set here.
        Arc::new(match ty {
            DataType::Decimal { precision, scale } => {
                let plain = array.clone();
                array
                    .with_precision_and_scale(*precision, *scale as i8)
                    .unwrap_or(plain)
            }
            _ => array,
        })
    }
}
