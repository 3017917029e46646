//! `docs/api.md` tells of every call, message and value what the comments of `proto/` say.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, MethodDescriptorProto,
};

const COMMENTED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/commented.bin"));
const PACKAGE: &str = ".banqi.v1.";

const INTRODUCTION: &str = "\
# API reference

Every call, message and value of `banqi.v1`, in the words of `proto/banqi/v1`. How the calls work together stands in
[integration.md](integration.md), every reason of an error in [errors.md](errors.md).

A field that is `optional` tells whether it was set; of fields that are `one of` a name, one at most is set. Numbers, times
and bytes are written in JSON as [ProtoJSON](https://protobuf.dev/programming-guides/json/) has them: 64-bit numbers as
text, bytes in base64, durations as `\"3.5s\"`.

This page is written from the comments: `UPDATE_DOCS=1 cargo test --test api_reference`.
";

/// Numbers of fields in `descriptor.proto`, by which source locations name their subjects.
mod place {
    pub(super) const MESSAGE: i32 = 4;
    pub(super) const ENUM: i32 = 5;
    pub(super) const SERVICE: i32 = 6;
    pub(super) const METHOD: i32 = 2;
    pub(super) const FIELD: i32 = 2;
    pub(super) const NESTED: i32 = 3;
    pub(super) const VALUE: i32 = 2;
}

/// A message or an enumeration, and where its comments are.
struct Named<'a, T> {
    file: &'a Comments,
    path: Vec<i32>,
    /// Without the package, as in `WatchGameResponse.Snapshot`.
    name: String,
    of: &'a T,
}

/// The comments of one file, by the place of what they are on.
type Comments = BTreeMap<Vec<i32>, String>;

fn comments(file: &FileDescriptorProto) -> Comments {
    let locations = file.source_code_info.iter().flat_map(|info| &info.location);
    locations
        .filter_map(|location| Some((location.path.clone(), location.leading_comments.clone()?)))
        .collect()
}

/// A comment on `path`, in paragraphs.
fn said(file: &Comments, path: &[i32], subject: &str) -> String {
    let comment = file.get(path).unwrap_or_else(|| panic!("{subject} has no comment"));
    let paragraphs: Vec<String> = comment.split("\n\n").map(words).collect();
    paragraphs.join("\n\n")
}

/// The words of a paragraph in one line; names with an underscore as code.
fn words(paragraph: &str) -> String {
    let word = |word: &str| {
        let name =
            word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let is_name = name.len() > 1
            && name.contains('_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if is_name {
            word.replacen(name, &format!("`{name}`"), 1)
        } else {
            word.replace('<', "&lt;")
        }
    };
    paragraph.split_whitespace().map(word).collect::<Vec<String>>().join(" ")
}

fn cell(text: &str) -> String {
    text.replace("\n\n", "<br>").replace('|', "\\|")
}

/// Where a heading is reached, here and at forges: its words in lower case, without stops.
fn anchor(name: &str) -> String {
    name.to_lowercase().replace('.', "")
}

fn type_of(field: &FieldDescriptorProto, maps: &BTreeMap<String, String>) -> String {
    let one = match field.r#type() {
        Type::Message | Type::Enum => {
            let name = field.type_name();
            if let Some(map) = maps.get(name) {
                return map.clone();
            }
            match name.strip_prefix(PACKAGE) {
                Some(own) => format!("[{own}](#{})", anchor(own)),
                None => format!("`{}`", name.trim_start_matches('.')),
            }
        }
        other => format!("`{}`", other.as_str_name().trim_start_matches("TYPE_").to_lowercase()),
    };
    match field.label() {
        Label::Repeated => format!("repeated {one}"),
        _ if field.proto3_optional() => format!("optional {one}"),
        _ => one,
    }
}

fn fields(message: &Named<DescriptorProto>) -> String {
    if message.of.field.is_empty() {
        return String::new();
    }
    let entries = message.of.nested_type.iter().filter(|nested| is_map(nested));
    let maps = entries
        .map(|entry| {
            let [key, value] = &entry.field[..] else { panic!("a map has keys and values") };
            let none = BTreeMap::new();
            let name = format!("{PACKAGE}{}.{}", message.name, entry.name());
            (name, format!("map of {} to {}", type_of(key, &none), type_of(value, &none)))
        })
        .collect();
    let mut text = String::from("\n| field | type | meaning |\n|---|---|---|\n");
    for (number, field) in (0..).zip(&message.of.field) {
        let path = [&message.path[..], &[place::FIELD, number]].concat();
        let subject = format!("{}.{}", message.name, field.name());
        let meaning = cell(&said(message.file, &path, &subject));
        let one_of = match field.oneof_index {
            Some(index) if !field.proto3_optional() => {
                let index = usize::try_from(index).expect("an index");
                format!("one of `{}`: ", message.of.oneof_decl[index].name())
            }
            _ => String::new(),
        };
        text +=
            &format!("| `{}` | {one_of}{} | {meaning} |\n", field.name(), type_of(field, &maps));
    }
    text
}

fn is_map(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(|options| options.map_entry())
}

fn values(of: &Named<EnumDescriptorProto>) -> String {
    let mut text = String::from("\n| value | number | meaning |\n|---|---|---|\n");
    for (number, value) in (0..).zip(&of.of.value) {
        let path = [&of.path[..], &[place::VALUE, number]].concat();
        let comment = of.file.get(&path).map(|_| cell(&said(of.file, &path, value.name())));
        let meaning = comment.unwrap_or_default();
        text += &format!("| `{}` | {} | {meaning} |\n", value.name(), value.number());
    }
    text
}

/// The API, as the page tells of it.
struct Api<'a> {
    messages: BTreeMap<String, Named<'a, DescriptorProto>>,
    enums: BTreeMap<String, Named<'a, EnumDescriptorProto>>,
}

impl<'a> Api<'a> {
    fn new(files: &'a [(&'a FileDescriptorProto, Comments)]) -> Self {
        let mut api = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        for (file, comments) in files {
            for (number, message) in (0..).zip(&file.message_type) {
                api.message(
                    comments,
                    vec![place::MESSAGE, number],
                    message.name().to_owned(),
                    message,
                );
            }
            for (number, of) in (0..).zip(&file.enum_type) {
                let name = of.name().to_owned();
                let path = vec![place::ENUM, number];
                api.enums.insert(name.clone(), Named { file: comments, path, name, of });
            }
        }
        api
    }

    fn message(
        &mut self,
        file: &'a Comments,
        path: Vec<i32>,
        name: String,
        of: &'a DescriptorProto,
    ) {
        assert!(
            of.enum_type.is_empty(),
            "{name}: the page has no place for enumerations in messages"
        );
        for (number, nested) in (0..).zip(&of.nested_type).filter(|(_, nested)| !is_map(nested)) {
            let path = [&path[..], &[place::NESTED, number]].concat();
            self.message(file, path, format!("{name}.{}", nested.name()), nested);
        }
        self.messages.insert(name.clone(), Named { file, path, name, of });
    }

    /// A call with what it is sent and what it answers, which stand nowhere else.
    fn call(&mut self, method: &MethodDescriptorProto, comment: &str) -> String {
        let many = if method.server_streaming() { "a stream of " } else { "" };
        let mut text = format!("\n### {}\n\n{comment}\n", method.name());
        for (title, message) in [("Request", method.input_type()), ("Answer", method.output_type())]
        {
            let name = message.strip_prefix(PACKAGE).expect("a message of the package");
            let message =
                self.messages.remove(name).unwrap_or_else(|| panic!("{name} is used twice"));
            let many = if title == "Answer" { many } else { "" };
            let comment = said(message.file, &message.path, name);
            text += &format!("\n**{title}**: {many}`{name}`. {comment}\n{}", fields(&message));
        }
        text
    }
}

fn reference() -> String {
    let set = FileDescriptorSet::decode(COMMENTED).expect("descriptors");
    let own = set.file.iter().filter(|file| file.package() == "banqi.v1");
    let files: Vec<_> = own.map(|file| (file, comments(file))).collect();
    let mut api = Api::new(&files);
    let mut text = INTRODUCTION.to_owned();
    for (file, comments) in &files {
        for (number, service) in (0..).zip(&file.service) {
            let path = [place::SERVICE, number];
            text +=
                &format!("\n## {}\n\n{}\n", service.name(), said(comments, &path, service.name()));
            for (number, method) in (0..).zip(&service.method) {
                let path = [&path[..], &[place::METHOD, number]].concat();
                text += &api.call(method, &said(comments, &path, method.name()));
            }
        }
    }
    text += "\n## Messages\n";
    for message in api.messages.values() {
        let comment = said(message.file, &message.path, &message.name);
        text += &format!("\n### {}\n\n{comment}\n{}", message.name, fields(message));
    }
    text += "\n## Values\n";
    for of in api.enums.values() {
        let comment = said(of.file, &of.path, &of.name);
        text += &format!("\n### {}\n\n{comment}\n{}", of.name, values(of));
    }
    text
}

#[test]
fn the_page_is_what_the_comments_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/api.md");
    let expected = reference();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/api.md is out of date: run `UPDATE_DOCS=1 cargo test --test api_reference`"
    );
}
