//! Messages that are made up: the fields that the descriptors name, with values of which some are
//! right.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;

/// How deep messages are made within messages.
const DEPTH: usize = 4;

/// A method.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) path: String,
    /// The full name of its request.
    request: String,
    /// Whether it may wait for something to tell.
    pub(crate) waits: bool,
}

/// Everything that the services are described by.
pub(crate) struct Descriptors {
    pub(crate) methods: Vec<Method>,
    messages: BTreeMap<String, DescriptorProto>,
}

/// Texts that are right for a field of that name.
pub(crate) type Right = BTreeMap<&'static str, Vec<String>>;

impl Descriptors {
    /// Reads encoded sets of descriptors.
    pub(crate) fn read(sets: &[&[u8]]) -> Self {
        let mut read = Self { methods: Vec::new(), messages: BTreeMap::new() };
        for set in sets {
            for file in FileDescriptorSet::decode(*set).expect("descriptors").file {
                let package = format!(".{}", file.package());
                for message in &file.message_type {
                    read.add(&package, message);
                }
                for service in &file.service {
                    for method in &service.method {
                        let name = format!("{}.{}", file.package(), service.name());
                        read.methods.push(Method {
                            path: format!("/{name}/{}", method.name()),
                            request: method.input_type().to_owned(),
                            waits: method.server_streaming() || method.name() == "PollGame",
                        });
                    }
                }
            }
        }
        read
    }

    fn add(&mut self, parent: &str, message: &DescriptorProto) {
        let name = format!("{parent}.{}", message.name());
        for nested in &message.nested_type {
            self.add(&name, nested);
        }
        self.messages.insert(name, message.clone());
    }

    /// A request of this method.
    pub(crate) fn request(
        &self,
        method: &Method,
        right: &Right,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<u8> {
        // Mostly right, half right, or any.
        let care = *[0.97, 0.8, 0.3].choose(random).expect("some");
        let mut maker = Maker { messages: &self.messages, right, random, care };
        maker.message(&method.request, DEPTH)
    }
}

struct Maker<'a> {
    messages: &'a BTreeMap<String, DescriptorProto>,
    right: &'a Right,
    random: &'a mut Xoshiro256PlusPlus,
    /// How often a value is one that may be right.
    care: f64,
}

impl Maker<'_> {
    fn message(&mut self, name: &str, depth: usize) -> Vec<u8> {
        let message = &self.messages[name];
        let mut bytes = Vec::new();
        // Of alternatives that are all sent the last counts, so mostly one is.
        let mut chosen = BTreeMap::new();
        for field in &message.field {
            if let Some(group) = field.oneof_index {
                let known = chosen.entry(group).or_insert_with(Vec::new);
                known.push(field.number());
            }
        }
        let chosen: BTreeMap<i32, i32> = chosen
            .into_iter()
            .map(|(group, fields)| (group, *fields.choose(self.random).expect("some")))
            .collect();
        for field in &message.field {
            let is_chosen = field.oneof_index.is_none_or(|group| chosen[&group] == field.number());
            let is_sent = match self.is_careful() {
                true => is_chosen && self.random.random_bool(0.6),
                false => self.random.random_bool(0.8),
            };
            if is_sent {
                self.field(field, depth, &mut bytes);
            }
        }
        if !self.is_careful() {
            self.unknown_field(&mut bytes);
        }
        bytes
    }

    fn is_careful(&mut self) -> bool {
        self.random.random_bool(self.care)
    }

    fn field(&mut self, field: &FieldDescriptorProto, depth: usize, bytes: &mut Vec<u8>) {
        let count = match field.label() {
            Label::Repeated if self.random.random_bool(0.01) => 300,
            Label::Repeated => self.random.random_range(0..4),
            _ => 1,
        };
        for _ in 0..count {
            let number = u64::try_from(field.number()).expect("positive");
            if self.random.random_bool(0.2 * (1.0 - self.care)) {
                // Of another type than it should be.
                varint(number << 3, bytes);
                varint(self.random.random(), bytes);
                continue;
            }
            let wire_type = match field.r#type() {
                Type::String | Type::Bytes | Type::Message => 2,
                Type::Double | Type::Fixed64 | Type::Sfixed64 => 1,
                Type::Float | Type::Fixed32 | Type::Sfixed32 => 5,
                Type::Group => panic!("{}: groups are not made", field.name()),
                _ => 0,
            };
            varint(number << 3 | wire_type, bytes);
            match field.r#type() {
                Type::Message if depth == 0 => bytes.push(0),
                Type::Message => {
                    let name = field.type_name().to_owned();
                    let inner = self.message(&name, depth - 1);
                    delimited(&inner, bytes);
                }
                Type::String => {
                    let text = self.text(field.name());
                    delimited(&text, bytes);
                }
                Type::Bytes => {
                    let length = *[0, 1, 16, 64, 65, 5_000].choose(self.random).expect("some");
                    let content: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
                    delimited(&content, bytes);
                }
                _ if wire_type == 1 => bytes.extend(self.random.random::<[u8; 8]>()),
                _ if wire_type == 5 => bytes.extend(self.random.random::<[u8; 4]>()),
                _ => {
                    let number = self.number();
                    varint(number, bytes);
                }
            }
        }
    }

    fn number(&mut self) -> u64 {
        if self.is_careful() {
            return self.random.random_range(0..4);
        }
        let edges = [0, 5, 127, 1 << 31, u64::from(u32::MAX), 1 << 63, u64::MAX, i32::MAX as u64];
        match self.random.random_ratio(1, 3) {
            true => self.random.random(),
            false => *edges.choose(self.random).expect("some"),
        }
    }

    fn text(&mut self, field: &str) -> Vec<u8> {
        if self.is_careful() {
            let right = self.right.get(field).map_or(&[][..], Vec::as_slice);
            return right.choose(self.random).cloned().unwrap_or_default().into_bytes();
        }
        match self.random.random_range(0..7) {
            0 => Vec::new(),
            1 => "x".repeat(20_000).into_bytes(),
            2 => "將帥士象\u{202e}\u{0}\u{1F004}".as_bytes().to_vec(),
            3 => vec![0xff, 0xfe, 0xc0],
            4 => b"a1-a2\r\n\0'\"{}${jndi:x}%s".to_vec(),
            _ => {
                // Right for another field.
                let all: Vec<&String> = self.right.values().flatten().collect();
                all.choose(self.random).map(|it| it.as_bytes().to_vec()).unwrap_or_default()
            }
        }
    }

    fn unknown_field(&mut self, bytes: &mut Vec<u8>) {
        let number: u64 = self.random.random_range(1_000..500_000_000);
        varint(number << 3 | 2, bytes);
        delimited(&self.random.random::<[u8; 9]>(), bytes);
    }
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn delimited(content: &[u8], bytes: &mut Vec<u8>) {
    varint(content.len() as u64, bytes);
    bytes.extend(content);
}
