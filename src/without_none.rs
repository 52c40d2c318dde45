//! Serialization without the fields of structs that are `None`.
//!
//! A part of a host has many empty fields, whose names would take more than half of its JSON. Deserialization takes a
//! missing field for `None`.

use std::fmt;

use serde::ser::{Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};

/// Serializes a value without the fields of its structs that are `None`.
///
/// The fields of structs within maps and tuples are kept.
pub(crate) fn serialize<S: Serializer>(value: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    value.serialize(WithoutNone(serializer))
}

/// A value, serializer or part of a serializer without the fields that are `None`.
struct WithoutNone<T>(T);

impl<T: Serialize + ?Sized> Serialize for WithoutNone<&T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(WithoutNone(serializer))
    }
}

/// Forwards methods for values that have no fields.
macro_rules! forward {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {
        $(fn $method(self, $($name: $type),*) -> Result<S::Ok, S::Error> {
            self.0.$method($($name),*)
        })*
    };
}

impl<S: Serializer> Serializer for WithoutNone<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = WithoutNone<S::SerializeSeq>;
    type SerializeTuple = S::SerializeTuple;
    type SerializeTupleStruct = S::SerializeTupleStruct;
    type SerializeTupleVariant = S::SerializeTupleVariant;
    type SerializeMap = S::SerializeMap;
    type SerializeStruct = WithoutNone<S::SerializeStruct>;
    type SerializeStructVariant = S::SerializeStructVariant;

    forward! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_f32(value: f32);
        serialize_f64(value: f64);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&WithoutNone(value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &WithoutNone(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &WithoutNone(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(WithoutNone)
    }

    fn serialize_tuple(self, length: usize) -> Result<S::SerializeTuple, S::Error> {
        self.0.serialize_tuple(length)
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<S::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, length)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<S::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, length)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<S::SerializeMap, S::Error> {
        self.0.serialize_map(length)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, length).map(WithoutNone)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<S::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, length)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

impl<S: SerializeSeq> SerializeSeq for WithoutNone<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_element(&WithoutNone(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

impl<S: SerializeStruct> SerializeStruct for WithoutNone<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        match value.serialize(IsNone) {
            Ok(true) => self.0.skip_field(name),
            _ => self.0.serialize_field(name, &WithoutNone(value)),
        }
    }

    fn skip_field(&mut self, name: &'static str) -> Result<(), S::Error> {
        self.0.skip_field(name)
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

/// Returns for a value whether it is `None`. It fails for values of several parts, which are not.
struct IsNone;

/// Answers that a value is not `None`.
macro_rules! not_none {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<bool, fmt::Error> {
            Ok(false)
        })*
    };
}

/// Refuses values of several parts.
macro_rules! refuse {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<Impossible<bool, fmt::Error>, fmt::Error> {
            Err(fmt::Error)
        })*
    };
}

impl Serializer for IsNone {
    type Ok = bool;
    type Error = fmt::Error;
    type SerializeSeq = Impossible<bool, fmt::Error>;
    type SerializeTuple = Impossible<bool, fmt::Error>;
    type SerializeTupleStruct = Impossible<bool, fmt::Error>;
    type SerializeTupleVariant = Impossible<bool, fmt::Error>;
    type SerializeMap = Impossible<bool, fmt::Error>;
    type SerializeStruct = Impossible<bool, fmt::Error>;
    type SerializeStructVariant = Impossible<bool, fmt::Error>;

    not_none! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    refuse! {
        serialize_seq(Option<usize>);
        serialize_tuple(usize);
        serialize_tuple_struct(&'static str, usize);
        serialize_tuple_variant(&'static str, u32, &'static str, usize);
        serialize_map(Option<usize>);
        serialize_struct(&'static str, usize);
        serialize_struct_variant(&'static str, u32, &'static str, usize);
    }

    fn serialize_none(self) -> Result<bool, fmt::Error> {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<bool, fmt::Error> {
        Ok(false)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<bool, fmt::Error> {
        Ok(false)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<bool, fmt::Error> {
        Ok(false)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<bool, fmt::Error> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize)]
    struct Outer {
        text: Option<&'static str>,
        inner: Vec<Inner>,
        value: Value,
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", content = "of")]
    enum Inner {
        Number(u8),
        Named { name: Option<String>, rank: Option<u8> },
    }

    #[test]
    fn only_fields_of_structs_that_are_none_are_left_out() {
        let given = json!({"null": null, "list": [null]});
        let named = Inner::Named { name: None, rank: Some(1) };
        let outer = Outer { text: None, inner: vec![Inner::Number(7), named], value: given.clone() };
        let written = serialize(&outer, serde_json::value::Serializer).unwrap();
        let inner = json!([{"kind": "Number", "of": 7}, {"kind": "Named", "of": {"rank": 1}}]);
        assert_eq!(written, json!({"inner": inner, "value": given}));
        let null = Outer { text: Some("x"), inner: Vec::new(), value: Value::Null };
        let written = serialize(&null, serde_json::value::Serializer).unwrap();
        assert_eq!(written, json!({"text": "x", "inner": [], "value": null}));
    }
}
