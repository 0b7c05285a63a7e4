//! The messages of an execution trace, as protocol buffers.
//!
//! Field numbers are those of `et_def.proto` of MLCommons Chakra, which versions 0.0.1 to 0.0.4 share. A file is a sequence
//! of messages, each behind its length: one about the trace, then one for each node.

use super::super::{NamedText, Work};
use crate::source::{Place, SourceKind};
use prost::Message as _;

/// An attribute of a node. The alternatives of its value are fields, of which one is set.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(double, optional, tag = "3")]
    pub(super) double: Option<f64>,
    #[prost(float, optional, tag = "5")]
    pub(super) float: Option<f32>,
    #[prost(int32, optional, tag = "7")]
    pub(super) int32: Option<i32>,
    #[prost(int64, optional, tag = "9")]
    pub(super) int64: Option<i64>,
    #[prost(uint32, optional, tag = "11")]
    pub(super) uint32: Option<u32>,
    #[prost(uint64, optional, tag = "13")]
    pub(super) uint64: Option<u64>,
    #[prost(sint32, optional, tag = "15")]
    pub(super) sint32: Option<i32>,
    #[prost(sint64, optional, tag = "17")]
    pub(super) sint64: Option<i64>,
    #[prost(fixed32, optional, tag = "19")]
    pub(super) fixed32: Option<u32>,
    #[prost(fixed64, optional, tag = "21")]
    pub(super) fixed64: Option<u64>,
    #[prost(sfixed32, optional, tag = "23")]
    pub(super) sfixed32: Option<i32>,
    #[prost(sfixed64, optional, tag = "25")]
    pub(super) sfixed64: Option<i64>,
    #[prost(bool, optional, tag = "27")]
    pub(super) bool: Option<bool>,
    #[prost(string, optional, tag = "29")]
    pub(super) string: Option<String>,
}

impl Attribute {
    /// Its value as a number that is not negative.
    fn number(&self) -> Option<u64> {
        let signed = self.int64.or(self.sint64).or(self.sfixed64);
        let small = self.int32.or(self.sint32).or(self.sfixed32).map(i64::from);
        let unsigned = self.uint64.or(self.fixed64).or(self.uint32.or(self.fixed32).map(u64::from));
        let real = self.double.or(self.float.map(f64::from)).filter(|real| (0.0..1e18).contains(real));
        let signed = signed.or(small).and_then(|number| u64::try_from(number).ok());
        signed.or(unsigned).or(real.map(|real| real as u64)).or(self.bool.map(u64::from))
    }
}

/// A node of a trace.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(int32, tag = "3")]
    pub(super) kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub(super) control: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub(super) data: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub(super) duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub(super) attributes: Vec<Attribute>,
}

/// Kinds of nodes.
pub(super) const METADATA: i32 = 1;
pub(super) const COMPUTE: i32 = 4;
pub(super) const SEND: i32 = 5;
pub(super) const RECEIVE: i32 = 6;
pub(super) const COLLECTIVE: i32 = 7;
/// Their names in the schema.
const KINDS: [&str; 11] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
    "STORAGE_NODE",
    "BATCH_NODE",
    "CHECKPOINT_NODE",
];

impl Node {
    /// The name of its kind, if the schema has it.
    pub(super) fn kind_name(&self) -> Option<&'static str> {
        usize::try_from(self.kind).ok().and_then(|kind| KINDS.get(kind)).filter(|_| self.kind > 0).copied()
    }

    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// A number among its attributes.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.number()
    }

    /// A text among its attributes.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let text = self.attribute(name)?.string.as_deref();
        text.filter(|text| !text.is_empty())
    }
}

/// A file, and the name of it.
#[derive(Clone, Copy, Debug)]
pub struct NamedBytes<'a> {
    /// Path, as the user gave it.
    pub name: &'a str,
    /// Whole content.
    pub bytes: &'a [u8],
}

/// A node and its place: the line of its number in the file.
pub(super) struct Placed {
    pub(super) node: Node,
    pub(super) place: Place,
}

/// Takes the first message, behind its length.
fn message<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = prost::decode_length_delimiter(&mut *rest).ok()?;
    let (one, others) = rest.split_at_checked(length)?;
    *rest = others;
    Some(one)
}

/// The nodes of a file. A place in a binary file is shown as a line: the first message of the file is line 1.
pub(super) fn read(work: &mut Work, file: NamedBytes<'_>) -> Option<Vec<Placed>> {
    let mut rest = file.bytes;
    let mut nodes: Vec<Node> = Vec::new();
    let mut failed = None;
    let mut first = true;
    while !rest.is_empty() && failed.is_none() {
        let at = file.bytes.len() - rest.len();
        match message(&mut rest) {
            // About the trace as a whole: its version, and attributes.
            Some(_) if first => {}
            Some(one) => match Node::decode(one) {
                Ok(node) => nodes.push(node),
                Err(error) => failed = Some((at, format!("this message is not a valid node: {error}"))),
            },
            None => failed = Some((at, "the file ends within a message".to_owned())),
        }
        first = false;
    }
    // One line for each message, so that a place is a line.
    let text = "\n".repeat(nodes.len() + 2);
    let source = work.sources.add(file.name.to_owned(), SourceKind::Data, text);
    let place = |line: usize| Place { source, start: line as u32, end: line as u32 };
    if let Some((at, message)) = failed {
        let help = format!("the message begins at byte {at}; write the trace again, as a Chakra trace (.et)");
        work.refuse(place(nodes.len() + 1), message, help);
        return None;
    }
    if nodes.is_empty() {
        work.refuse(place(0), "the file has no nodes", "give a Chakra trace (.et) with at least one node");
        return None;
    }
    Some(nodes.into_iter().enumerate().map(|(at, node)| Placed { node, place: place(at + 1) }).collect())
}

/// The groups of a file: an object of lists of ranks.
pub(super) fn groups(work: &mut Work, file: NamedText<'_>, ranks: u32) -> Option<Vec<(String, Vec<u32>)>> {
    let source = work.add(file);
    let place = Place { source, start: 0, end: 0 };
    let help = "write {\"name\": [0, 1, 2], ...} with a list of ranks for each group";
    let parsed: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(file.text);
    let Ok(parsed) = parsed else {
        work.refuse(place, "this is not a valid file of groups", help);
        return None;
    };
    let mut all = Vec::new();
    for (name, value) in parsed {
        let members: Option<Vec<u32>> = value.as_array().and_then(|list| {
            let member = |value: &serde_json::Value| {
                value.as_u64().filter(|rank| *rank < u64::from(ranks)).map(|rank| rank as u32)
            };
            list.iter().map(member).collect()
        });
        let Some(members) = members.filter(|members| !members.is_empty()) else {
            work.refuse(place, "a group is not a list of ranks of the traces", help);
            return None;
        };
        all.push((name, members));
    }
    Some(all)
}
