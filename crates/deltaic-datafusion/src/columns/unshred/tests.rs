//! Shredded groups of all shapes, beside the whole values that they stand for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use arrow::array::{
    BinaryViewArray, Decimal128Array, Int32Array, Int64Array, ListArray, StringArray,
    TimestampMicrosecondArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::Field;
use proptest::prelude::*;

use super::*;

fn whole_fields() -> Fields {
    Fields::from(vec![
        Field::new(VALUE, DataType::Binary, false),
        Field::new(METADATA, DataType::Binary, false),
    ])
}

fn text(value: &Variant<'_, '_>) -> String {
    match value {
        Variant::Object(object) => {
            let fields: Vec<String> = object
                .iter()
                .map(|(name, value)| format!("{name}: {}", text(&value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Variant::List(list) => {
            let items: Vec<String> = list.iter().map(|item| text(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        Variant::String(text) => format!("{text:?}"),
        Variant::ShortString(text) => format!("{:?}", text.as_str()),
        other => format!("{other:?}"),
    }
}

fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    let array = array.as_struct();
    let part = |name: &str| {
        let column = array.column_by_name(name).unwrap();
        column.as_binary::<i32>().clone()
    };
    let (names, values) = (part(METADATA), part(VALUE));
    (0..array.len())
        .map(|row| {
            array.is_valid(row).then(|| {
                let value = Variant::try_new(names.value(row), values.value(row)).unwrap();
                text(&value)
            })
        })
        .collect()
}

/// Bytes of values that share the names `a`, `b`, `c`, `d`.
fn bytes(fill: impl FnOnce(&mut VariantBuilder)) -> (Vec<u8>, Vec<u8>) {
    let mut builder = VariantBuilder::new().with_field_names(["a", "b", "c", "d"]);
    fill(&mut builder);
    builder.finish()
}

fn group(value: Vec<Option<Vec<u8>>>, typed: Option<ArrayRef>) -> StructArray {
    let values: BinaryArray = value.iter().map(|value| value.as_deref()).collect();
    let mut fields = vec![Field::new(VALUE, DataType::Binary, true)];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(values)];
    if let Some(typed) = typed {
        fields.push(Field::new(TYPED, typed.data_type().clone(), true));
        columns.push(typed);
    }
    StructArray::new(Fields::from(fields), columns, None)
}

fn column(group: &StructArray, nulls: Option<NullBuffer>) -> StructArray {
    let (names, _) = bytes(|b| b.append_value(1i8));
    let names: BinaryViewArray = (0..group.len()).map(|_| Some(names.as_slice())).collect();
    let mut fields = vec![Arc::new(Field::new(METADATA, DataType::BinaryView, false))];
    fields.extend(group.fields().iter().cloned());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(names)];
    columns.extend(group.columns().iter().cloned());
    StructArray::new(Fields::from(fields), columns, nulls)
}

fn restored(group: &StructArray, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    let from = column(group, nulls);
    assert!(is_shredded(from.fields()));
    unshred(&from, &whole_fields())
}

fn object(fields: Vec<(&str, StructArray)>, valid: Vec<bool>) -> ArrayRef {
    let types: Vec<Field> = fields
        .iter()
        .map(|(name, group)| Field::new(*name, group.data_type().clone(), false))
        .collect();
    let columns = fields
        .into_iter()
        .map(|(_, group)| Arc::new(group) as ArrayRef)
        .collect();
    Arc::new(StructArray::new(
        Fields::from(types),
        columns,
        Some(valid.into()),
    ))
}

#[test]
fn objects_take_their_fields_from_both_places() {
    let (_, rest) = bytes(|b| {
        let mut object = b.new_object();
        object.insert("c", "rest");
        object.insert("d", Variant::Null);
        object.finish();
    });
    let (_, text) = bytes(|b| b.append_value("no object"));
    let (_, null) = bytes(|b| b.append_value(Variant::Null));
    let a = group(
        vec![None, Some(null.clone()), None, None, None],
        Some(Arc::new(Int32Array::from(vec![
            Some(7),
            None,
            None,
            None,
            None,
        ]))),
    );
    let b = group(
        vec![None, Some(text.clone()), None, None, None],
        Some(Arc::new(StringArray::from(vec![
            Some("x"),
            None,
            Some("only"),
            None,
            None,
        ]))),
    );
    let typed = object(
        vec![("a", a), ("b", b)],
        vec![true, true, true, false, false],
    );
    let values = vec![Some(rest), None, None, Some(text), None];
    let nulls = NullBuffer::from(vec![true, true, true, true, false]);
    let out = restored(&group(values, Some(typed)), Some(nulls)).unwrap();
    assert_eq!(
        texts(&out),
        [
            Some(r#"{a: Int32(7), b: "x", c: "rest", d: Null}"#.to_owned()),
            Some(r#"{a: Null, b: "no object"}"#.to_owned()),
            Some(r#"{b: "only"}"#.to_owned()),
            Some(r#""no object""#.to_owned()),
            None,
        ]
    );
}

#[test]
fn lists_and_what_is_missing() {
    let (_, text) = bytes(|b| b.append_value("t"));
    let element = group(
        vec![None, Some(text), None],
        Some(Arc::new(Int64Array::from(vec![Some(1), None, None]))),
    );
    let list = ListArray::new(
        Arc::new(Field::new("element", element.data_type().clone(), false)),
        OffsetBuffer::new(vec![0, 3, 3, 3].into()),
        Arc::new(element),
        Some(vec![true, true, false].into()),
    );
    let out = restored(&group(vec![None, None, None], Some(Arc::new(list))), None).unwrap();
    // An element that is nowhere is the null of variants, and so is a whole value.
    let expected = [r#"[Int64(1), "t", Null]"#, "[]", "Null"];
    assert_eq!(texts(&out), expected.map(|text| Some(text.to_owned())));
}

#[test]
fn scalars_keep_their_types() {
    let decimals = Decimal128Array::from(vec![123])
        .with_precision_and_scale(9, 2)
        .unwrap();
    let wide = Decimal128Array::from(vec![-5])
        .with_precision_and_scale(38, 0)
        .unwrap();
    let times = TimestampMicrosecondArray::from(vec![1]);
    let columns: Vec<(ArrayRef, &str)> = vec![
        (
            Arc::new(decimals),
            "Decimal4(VariantDecimal4 { integer: 123, scale: 2 })",
        ),
        (
            Arc::new(wide),
            "Decimal16(VariantDecimal16 { integer: -5, scale: 0 })",
        ),
        (
            Arc::new(times.clone().with_timezone("UTC")),
            "TimestampMicros(1970-01-01T00:00:00.000001Z)",
        ),
        (
            Arc::new(times),
            "TimestampNtzMicros(1970-01-01T00:00:00.000001)",
        ),
        (
            Arc::new(arrow::array::Date32Array::from(vec![-1])),
            "Date(1969-12-31)",
        ),
        (
            Arc::new(arrow::array::BooleanArray::from(vec![true])),
            "BooleanTrue",
        ),
        (
            Arc::new(arrow::array::StringViewArray::from(vec!["v"])),
            "\"v\"",
        ),
    ];
    for (typed, expected) in columns {
        let out = restored(&group(vec![None], Some(typed)), None).unwrap();
        assert_eq!(texts(&out)[0].as_deref(), Some(expected));
    }
    let typed: ArrayRef = Arc::new(arrow::array::UInt64Array::from(vec![1]));
    assert!(restored(&group(vec![None], Some(typed)), None).is_err());
}

#[test]
fn a_value_that_contradicts_itself_is_malformed() {
    let (_, twice) = bytes(|b| {
        let mut object = b.new_object();
        object.insert("a", 1i8);
        object.finish();
    });
    let (_, text) = bytes(|b| b.append_value("no object"));
    for value in [twice, text, vec![0xff, 0xff]] {
        let a = group(vec![None], Some(Arc::new(Int32Array::from(vec![7]))));
        let typed = object(vec![("a", a)], vec![true]);
        let error = restored(&group(vec![Some(value)], Some(typed)), None).unwrap_err();
        let ArrowError::ExternalError(error) = error else {
            panic!("{error}");
        };
        let error = error.downcast::<DeltaError>().unwrap();
        assert_eq!(error.class(), Some("MALFORMED_VARIANT"));
    }
}

#[derive(Debug, Clone)]
enum Tree {
    Null,
    Number(i64),
    Text(String),
    List(Vec<Tree>),
    Object(std::collections::BTreeMap<String, Tree>),
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<i64>().prop_map(Tree::Number),
        "[a-z]{0,70}".prop_map(Tree::Text),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            proptest::collection::btree_map("[abcd]", inner, 0..4).prop_map(Tree::Object),
        ]
    })
}

fn write(tree: &Tree, out: &mut impl VariantBuilderExt) {
    match tree {
        Tree::Null => out.append_value(Variant::Null),
        Tree::Number(number) => out.append_value(*number),
        Tree::Text(text) => out.append_value(text.as_str()),
        Tree::List(items) => {
            let mut list = out.new_list();
            items.iter().for_each(|item| write(item, &mut list));
            list.finish();
        }
        Tree::Object(fields) => {
            let mut object = out.new_object();
            for (name, value) in fields {
                write(value, &mut ObjectFieldBuilder::new(name, &mut object));
            }
            object.finish();
        }
    }
}

fn whole(tree: &Tree) -> Vec<u8> {
    bytes(|b| write(tree, b)).1
}

/// Values shredded by a type that is drawn with them: what does not fit it stays whole.
#[derive(Debug, Clone)]
enum Shape {
    Whole,
    Number,
    Text,
    List(Box<Shape>),
    Object(Vec<(String, Shape)>),
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![Just(Shape::Whole), Just(Shape::Number), Just(Shape::Text)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Shape::List(Box::new(inner))),
            proptest::collection::btree_map("[abcd]", inner, 1..4)
                .prop_map(|fields| Shape::Object(fields.into_iter().collect())),
        ]
    })
}

fn shred(trees: &[Option<Tree>], shape: &Shape) -> StructArray {
    let all = |keep: &dyn Fn(&Tree) -> bool| -> Vec<Option<Vec<u8>>> {
        let kept = trees
            .iter()
            .map(|tree| tree.as_ref().filter(|tree| keep(tree)));
        kept.map(|tree| tree.map(whole)).collect()
    };
    match shape {
        Shape::Whole => group(all(&|_| true), None),
        Shape::Number => {
            let numbers: Int64Array = trees
                .iter()
                .map(|tree| match tree {
                    Some(Tree::Number(number)) => Some(*number),
                    _ => None,
                })
                .collect();
            let rest = all(&|tree| !matches!(tree, Tree::Number(_)));
            group(rest, Some(Arc::new(numbers)))
        }
        Shape::Text => {
            let texts: StringArray = trees
                .iter()
                .map(|tree| match tree {
                    Some(Tree::Text(text)) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            let rest = all(&|tree| !matches!(tree, Tree::Text(_)));
            group(rest, Some(Arc::new(texts)))
        }
        Shape::List(inner) => {
            let mut items = Vec::new();
            let mut lengths = Vec::new();
            for tree in trees {
                let list: &[Tree] = match tree {
                    Some(Tree::List(list)) => list,
                    _ => &[],
                };
                lengths.push(list.len());
                items.extend(list.iter().cloned().map(Some));
            }
            let valid: Vec<bool> = trees
                .iter()
                .map(|tree| matches!(tree, Some(Tree::List(_))))
                .collect();
            let element = shred(&items, inner);
            let list = ListArray::new(
                Arc::new(Field::new("element", element.data_type().clone(), false)),
                OffsetBuffer::from_lengths(lengths),
                Arc::new(element),
                Some(valid.into()),
            );
            group(
                all(&|tree| !matches!(tree, Tree::List(_))),
                Some(Arc::new(list)),
            )
        }
        Shape::Object(fields) => {
            let groups = fields
                .iter()
                .map(|(name, shape)| {
                    let own: Vec<Option<Tree>> = trees
                        .iter()
                        .map(|tree| match tree {
                            Some(Tree::Object(object)) => object.get(name).cloned(),
                            _ => None,
                        })
                        .collect();
                    (name.as_str(), shred(&own, shape))
                })
                .collect();
            let valid: Vec<bool> = trees
                .iter()
                .map(|tree| matches!(tree, Some(Tree::Object(_))))
                .collect();
            let rest = trees
                .iter()
                .map(|tree| match tree {
                    Some(Tree::Object(object)) => {
                        let mut rest = object.clone();
                        rest.retain(|name, _| fields.iter().all(|(own, _)| own != name));
                        (!rest.is_empty()).then(|| whole(&Tree::Object(rest)))
                    }
                    other => other.as_ref().map(whole),
                })
                .collect();
            group(rest, Some(object(groups, valid)))
        }
    }
}

proptest! {
    #[test]
    fn what_was_taken_apart_comes_together(
        trees in proptest::collection::vec(proptest::option::of(tree()), 1..6), shape in shape()
    ) {
        let valid: Vec<bool> = trees.iter().map(Option::is_some).collect();
        let mut from = column(&shred(&trees, &shape), Some(valid.into()));
        if from.column_by_name(TYPED).is_none() {
            return Ok(());
        }
        let expected: Vec<Option<String>> = trees
            .iter()
            .map(|tree| {
                tree.as_ref().map(|tree| {
                    let (names, value) = bytes(|b| write(tree, b));
                    text(&Variant::try_new(&names, &value).unwrap())
                })
            })
            .collect();
        prop_assert_eq!(texts(&unshred(&from, &whole_fields()).unwrap()), expected.clone());
        // A slice, as readers hand out.
        from = from.slice(1, from.len() - 1);
        prop_assert_eq!(texts(&unshred(&from, &whole_fields()).unwrap()), expected[1..].to_vec());
    }
}
