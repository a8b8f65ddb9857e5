//! Functions of text and bytes.

use deltaic_protocol::Result;
use deltaic_protocol::schema::DataType;

use super::call::{Call, Entry, MANY, Nulls, P, cast, entry};
use crate::kernels::{arrays, hash, numbers, regex, strings};
use crate::node::{Imp, Kind, Node, Shown};
use crate::types::{array_of, map_of};

use DataType::{Binary, Boolean, Integer, Long, String as Str};

fn text1(c: Call<'_>, name: &'static str, run: crate::kernel::Run) -> Result<Node> {
    Ok(c.coerced(&[P::Str])?.kernel(name, run, Str, Nulls::Args))
}

/// The functions.
pub const TABLE: &[Entry] = &[
    entry("upper", 1, 1, |c| text1(c, "upper", strings::upper)),
    entry("ucase", 1, 1, |c| text1(c, "upper", strings::upper)),
    entry("lower", 1, 1, |c| text1(c, "lower", strings::lower)),
    entry("lcase", 1, 1, |c| text1(c, "lower", strings::lower)),
    entry("initcap", 1, 1, |c| text1(c, "initcap", strings::initcap)),
    entry("soundex", 1, 1, |c| text1(c, "soundex", strings::soundex)),
    entry("quote", 1, 1, |c| text1(c, "quote", strings::quote)),
    entry("reverse", 1, 1, |c| {
        if matches!(c.args[0].ty, DataType::Array(_)) {
            let ty = c.args[0].ty.clone();
            return Ok(c.kernel("reverse_array", arrays::reverse, ty, Nulls::Args));
        }
        text1(c, "reverse", strings::reverse)
    }),
    entry("length", 1, 1, length),
    entry("len", 1, 1, length),
    entry("char_length", 1, 1, length),
    entry("character_length", 1, 1, length),
    entry("octet_length", 1, 1, |c| {
        Ok(c.coerced(&[P::StrBin])?
            .kernel("octets", strings::octets, Integer, Nulls::Args))
    }),
    entry("bit_length", 1, 1, |c| {
        Ok(c.coerced(&[P::StrBin])?
            .kernel("bits", strings::bits, Integer, Nulls::Args))
    }),
    entry("substring", 2, 3, substring),
    entry("substr", 2, 3, substring),
    entry("left", 2, 2, |c| {
        Ok(c.coerced(&[P::Str, P::Int])?
            .kernel("left", strings::left, Str, Nulls::Args))
    }),
    entry("right", 2, 2, |c| {
        Ok(c.coerced(&[P::Str, P::Int])?
            .kernel("right", strings::right, Str, Nulls::Args))
    }),
    entry("concat", 0, MANY, concat),
    entry("concat_ws", 1, MANY, |mut c| {
        let env = c.env.clone();
        let args = std::mem::take(&mut c.args);
        for (n, a) in args.into_iter().enumerate() {
            let array = n > 0 && matches!(a.ty, DataType::Array(_));
            c.args.push(if array { a } else { cast(a, &Str, &env) });
        }
        let nullable = c.args[0].nullable;
        Ok(c.kernel(
            "concat_ws",
            strings::concat_ws,
            Str,
            if nullable {
                Nulls::Always
            } else {
                Nulls::Never
            },
        ))
    }),
    entry("trim", 1, 1, |c| trim(c, 0)),
    entry("btrim", 1, 2, |c| trim(c, 0)),
    entry("ltrim", 1, 2, |c| trim(c, 1)),
    entry("rtrim", 1, 2, |c| trim(c, 2)),
    entry("replace", 2, 3, |c| {
        Ok(c.or_default(3, || Node::string(""))
            .coerced(&[P::Str])?
            .kernel("replace", strings::replace, Str, Nulls::Args))
    }),
    entry("repeat", 2, 2, |c| {
        Ok(c.coerced(&[P::Str, P::Int])?
            .kernel("repeat", strings::repeat, Str, Nulls::Args))
    }),
    entry("space", 1, 1, |c| {
        Ok(c.coerced(&[P::Int])?
            .kernel("space", strings::space, Str, Nulls::Args))
    }),
    entry("lpad", 2, 3, |c| pad(c, 0)),
    entry("rpad", 2, 3, |c| pad(c, 1)),
    entry("instr", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("instr", strings::instr, Integer, Nulls::Args))
    }),
    entry("locate", 2, 3, locate),
    entry("position", 2, 3, locate),
    entry("charindex", 2, 3, locate),
    entry("startswith", 2, 2, |c| {
        both(c, "starts_with", strings::starts_with)
    }),
    entry("endswith", 2, 2, |c| {
        both(c, "ends_with", strings::ends_with)
    }),
    entry("contains", 2, 2, |c| both(c, "contains", strings::contains)),
    entry("translate", 3, 3, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("translate", strings::translate, Str, Nulls::Args))
    }),
    entry("levenshtein", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("levenshtein", strings::levenshtein, Integer, Nulls::Args))
    }),
    entry("ascii", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("ascii", strings::ascii, Integer, Nulls::Args))
    }),
    entry("chr", 1, 1, |c| {
        Ok(c.coerced(&[P::Long])?
            .kernel("chr", strings::chr, Str, Nulls::Args))
    }),
    entry("char", 1, 1, |c| {
        Ok(c.coerced(&[P::Long])?
            .kernel("chr", strings::chr, Str, Nulls::Args))
    }),
    entry("substring_index", 3, 3, |c| {
        Ok(c.coerced(&[P::Str, P::Str, P::Int])?.kernel(
            "substring_index",
            strings::substring_index,
            Str,
            Nulls::Args,
        ))
    }),
    entry("split_part", 3, 3, |c| {
        Ok(c.coerced(&[P::Str, P::Str, P::Int])?.fallible(
            "split_part",
            strings::split_part,
            Str,
            Nulls::Args,
        ))
    }),
    entry("find_in_set", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("find_in_set", strings::find_in_set, Integer, Nulls::Args))
    }),
    entry("elt", 2, MANY, |c| {
        Ok(c.coerced(&[P::Int, P::Str])?
            .fallible("elt", strings::elt, Str, Nulls::Always))
    }),
    entry("overlay", 3, 4, |c| {
        let c = c
            .or_default(4, || Node::int(-1))
            .coerced(&[P::Str, P::Str, P::Int, P::Int])?;
        Ok(c.kernel("overlay", strings::overlay, Str, Nulls::Args))
    }),
    entry("encode", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .fallible("encode", strings::encode, Binary, Nulls::Args))
    }),
    entry("decode", 2, MANY, |c| {
        if c.args.len() > 2 {
            return decode_cases(c);
        }
        Ok(c.coerced(&[P::Bin, P::Str])?
            .fallible("decode", strings::decode, Str, Nulls::Args))
    }),
    entry("mask", 1, 5, |mut c| {
        for (n, default) in [(2, "X"), (3, "x"), (4, "n")] {
            c = c.or_default(n, || Node::string(default));
        }
        let c = c
            .or_default(5, || {
                Node::literal(datafusion::common::ScalarValue::Utf8(None), Str)
            })
            .coerced(&[P::Str])?;
        Ok(c.kernel("mask", strings::mask, Str, Nulls::Always))
    }),
    entry("format_string", 1, MANY, format_string),
    entry("printf", 1, MANY, format_string),
    // Regular expressions.
    entry("rlike", 2, 2, rlike),
    entry("regexp", 2, 2, rlike),
    entry("regexp_like", 2, 2, rlike),
    entry("regexp_replace", 3, 4, |c| {
        let c = c
            .or_default(4, || Node::int(1))
            .coerced(&[P::Str, P::Str, P::Str, P::Int])?;
        Ok(c.fallible("regexp_replace", regex::replace, Str, Nulls::Args))
    }),
    entry("regexp_extract", 2, 3, |c| {
        let c = c
            .or_default(3, || Node::int(1))
            .coerced(&[P::Str, P::Str, P::Int])?;
        Ok(c.fallible("regexp_extract", regex::extract, Str, Nulls::Args))
    }),
    entry("regexp_extract_all", 2, 3, |c| {
        let c = c
            .or_default(3, || Node::int(1))
            .coerced(&[P::Str, P::Str, P::Int])?;
        Ok(c.fallible(
            "regexp_extract_all",
            regex::extract_all,
            array_of(Str, true),
            Nulls::Args,
        ))
    }),
    entry("regexp_count", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .fallible("regexp_count", regex::count, Integer, Nulls::Args))
    }),
    entry("regexp_substr", 2, 2, |c| {
        Ok(c.coerced(&[P::Str])?
            .fallible("regexp_substr", regex::substring, Str, Nulls::Always))
    }),
    entry("regexp_instr", 2, 3, |c| {
        let c = c
            .or_default(3, || Node::int(0))
            .coerced(&[P::Str, P::Str, P::Int])?;
        Ok(c.fallible("regexp_instr", regex::instr, Integer, Nulls::Args))
    }),
    entry("split", 2, 3, |c| {
        let c = c
            .or_default(3, || Node::int(-1))
            .coerced(&[P::Str, P::Str, P::Int])?;
        Ok(c.fallible("split", regex::split, array_of(Str, false), Nulls::Args))
    }),
    entry("like", 2, 3, |c| like(c, false)),
    entry("ilike", 2, 3, |c| like(c, true)),
    entry("str_to_map", 1, 3, |c| {
        let c = c
            .or_default(2, || Node::string(","))
            .or_default(3, || Node::string(":"))
            .coerced(&[P::Str])?;
        Ok(c.kernel(
            "str_to_map",
            crate::kernels::collections::from_text,
            map_of(Str, Str, true),
            Nulls::Args,
        ))
    }),
    // Notations of numbers and bytes.
    entry("bin", 1, 1, |c| {
        Ok(c.coerced(&[P::Long])?
            .kernel("bin", numbers::bin, Str, Nulls::Args))
    }),
    entry("hex", 1, 1, |c| {
        let param = match &c.args[0].ty {
            Str | Binary => P::StrBin,
            _ => P::Long,
        };
        Ok(c.coerced(&[param])?
            .kernel("hex", numbers::hex, Str, Nulls::Args))
    }),
    entry("unhex", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?
            .kernel("unhex", numbers::unhex, Binary, Nulls::Always))
    }),
    entry("base64", 1, 1, |c| {
        Ok(c.coerced(&[P::Bin])?
            .kernel("base64", numbers::base64, Str, Nulls::Args))
    }),
    entry("unbase64", 1, 1, |c| {
        Ok(c.coerced(&[P::Str])?
            .fallible("unbase64", numbers::unbase64, Binary, Nulls::Args))
    }),
    entry("conv", 3, 3, |c| {
        Ok(c.coerced(&[P::Str, P::Int, P::Int])?.fallible(
            "conv",
            numbers::conv,
            Str,
            Nulls::Always,
        ))
    }),
    entry("format_number", 2, 2, |c| {
        Ok(c.coerced(&[P::Num, P::Int])?.fallible(
            "format_number",
            numbers::format_number,
            Str,
            Nulls::Always,
        ))
    }),
    entry("to_binary", 1, 2, |c| to_binary(c, 0)),
    entry("try_to_binary", 1, 2, |c| to_binary(c, 1)),
    // Checksums.
    entry("md5", 1, 1, |c| {
        Ok(c.coerced(&[P::Bin])?
            .kernel("md5", hash::md5, Str, Nulls::Args))
    }),
    entry("crc32", 1, 1, |c| {
        Ok(c.coerced(&[P::Bin])?
            .kernel("crc32", hash::crc32, Long, Nulls::Args))
    }),
    entry("sha1", 1, 1, sha1),
    entry("sha", 1, 1, sha1),
    entry("sha2", 2, 2, |c| {
        let c = c.coerced(&[P::Bin, P::Int])?;
        Ok(native(c, Str, |args| {
            datafusion_spark::function::hash::sha2().call(args)
        }))
    }),
    entry("hash", 1, MANY, |c| {
        Ok(c.kernel("murmur3", hash::murmur3, Integer, Nulls::Never))
    }),
    entry("xxhash64", 1, MANY, |c| {
        let mut node = native(c, Long, |args| {
            datafusion_spark::function::hash::xxhash64().call(args)
        });
        node.nullable = false;
        Ok(node)
    }),
];

/// A call that one of DataFusion's functions computes.
pub fn native(
    c: Call<'_>,
    ret: DataType,
    f: fn(Vec<datafusion::logical_expr::Expr>) -> datafusion::logical_expr::Expr,
) -> Node {
    let nullable = c.args.iter().any(|a| a.nullable);
    let shown = Shown::Call(c.name.to_owned());
    Node::new(
        Kind::Call {
            shown,
            args: c.args,
            imp: Imp::Native(f),
        },
        ret,
        nullable,
    )
}

fn sha1(c: Call<'_>) -> Result<Node> {
    let c = c.coerced(&[P::Bin])?;
    Ok(native(c, Str, |args| {
        datafusion_spark::function::hash::sha1().call(args)
    }))
}

fn length(c: Call<'_>) -> Result<Node> {
    Ok(c.coerced(&[P::StrBin])?
        .kernel("length", strings::length, Integer, Nulls::Args))
}

fn substring(c: Call<'_>) -> Result<Node> {
    let c = c
        .or_default(3, || Node::int(i32::MAX))
        .coerced(&[P::StrBin, P::Int, P::Int])?;
    let ty = c.args[0].ty.clone();
    Ok(c.kernel("substring", strings::substring, ty, Nulls::Args))
}

fn concat(c: Call<'_>) -> Result<Node> {
    if c.args.is_empty() {
        return Ok(c.replaced(Node::string("")));
    }
    if c.args.iter().any(|a| matches!(a.ty, DataType::Array(_))) {
        let c = c.unified()?;
        let ty = c.args[0].ty.clone();
        return Ok(c.kernel("concat_arrays", arrays::concatenate, ty, Nulls::Args));
    }
    if c.args.iter().all(|a| a.ty == Binary) {
        return Ok(c.kernel("concat_binary", strings::concat_binary, Binary, Nulls::Args));
    }
    let c = c.coerced(&[P::Str])?;
    Ok(c.kernel("concat", strings::concat, Str, Nulls::Args))
}

fn trim(mut c: Call<'_>, side: u64) -> Result<Node> {
    // ltrim(cut, text) and rtrim(cut, text) put the characters first; btrim does not.
    if c.args.len() == 2 && side != 0 {
        c.args.swap(0, 1);
    }
    Ok(c.coerced(&[P::Str])?
        .salted("trim", strings::trim, side, Str, Nulls::Args, false))
}

fn pad(c: Call<'_>, side: u64) -> Result<Node> {
    let c = c
        .or_default(3, || Node::string(" "))
        .coerced(&[P::Str, P::Int, P::Str])?;
    Ok(c.salted("pad", strings::pad, side, Str, Nulls::Args, false))
}

fn locate(c: Call<'_>) -> Result<Node> {
    let c = c
        .or_default(3, || Node::int(1))
        .coerced(&[P::Str, P::Str, P::Int])?;
    Ok(c.kernel("locate", strings::locate, Integer, Nulls::Args))
}

fn both(c: Call<'_>, name: &'static str, run: crate::kernel::Run) -> Result<Node> {
    let param = if c.args.iter().all(|a| a.ty == Binary) {
        P::Bin
    } else {
        P::Str
    };
    Ok(c.coerced(&[param])?.kernel(name, run, Boolean, Nulls::Args))
}

fn rlike(c: Call<'_>) -> Result<Node> {
    Ok(super::call::capital(c.coerced(&[P::Str])?.fallible(
        "rlike",
        regex::rlike,
        Boolean,
        Nulls::Args,
    )))
}

fn like(c: Call<'_>, insensitive: bool) -> Result<Node> {
    let escape = match c.args.get(2) {
        None => '\\',
        Some(e) => e.as_str().and_then(|s| s.chars().next()).unwrap_or('\\'),
    };
    let c = c.coerced(&[P::Str])?;
    let nullable = c.args[0].nullable || c.args[1].nullable;
    let kind = Kind::Like {
        value: Box::new(c.arg(0)),
        pattern: Box::new(c.arg(1)),
        escape,
        insensitive,
    };
    Ok(Node::new(kind, Boolean, nullable))
}

fn format_string(c: Call<'_>) -> Result<Node> {
    let first = c.args[0].clone();
    let rest = c.args[1..].to_vec();
    let mut c = c.inner(c.name, vec![first]).coerced(&[P::Str])?;
    c.args.extend(rest);
    Ok(c.fallible("format_string", strings::format_string, Str, Nulls::Args))
}

fn to_binary(c: Call<'_>, salt: u64) -> Result<Node> {
    let c = c.or_default(2, || Node::string("hex")).coerced(&[P::Str])?;
    Ok(c.salted(
        "to_binary",
        numbers::to_binary,
        salt,
        Binary,
        Nulls::Always,
        true,
    ))
}

/// `decode(value, a, x, b, y, …, other)`: a CASE that takes NULL as equal to NULL.
fn decode_cases(c: Call<'_>) -> Result<Node> {
    let value = c.arg(0);
    let mut branches = Vec::new();
    let mut rest = c.args[1..].iter();
    let mut otherwise = None;
    while let Some(key) = rest.next() {
        match rest.next() {
            Some(then) => {
                let when = super::operator::comparison(
                    crate::node::Op::NullSafeEqual,
                    value.clone(),
                    key.clone(),
                    &c.env,
                    c.options,
                )?;
                branches.push((when, then.clone()));
            }
            None => otherwise = Some(key.clone()),
        }
    }
    let by = super::operator::case(branches, otherwise, false, &c.env, c.options)?;
    Ok(c.replaced(by))
}
