//! The tree of a page, as html5ever builds it.
//!
//! Nodes lie in one vector and name each other by number: a tree of any shape is dropped
//! without recursion. The depth of each node is known, so that building stops where elements
//! are nested deeper than is allowed.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, QualName, parse_document};

/// A node's place in the tree's vector.
pub type NodeId = usize;

/// Characters given to the parser between two looks at the depth.
const PIECE: usize = 4096;

/// The tree of an HTML page.
pub struct Tree {
    nodes: Vec<HtmlNode>,
    /// Whether elements were nested too deeply, so that the tree is not whole.
    pub is_too_deep: bool,
}

/// What a node is.
pub enum NodeContent {
    /// An element's name, and the attributes that decide whether it is seen.
    Element(Element),
    /// A piece of text.
    Text(StrTendril),
    /// The page, a comment, a template's content.
    Other,
}

/// An element of the page.
pub struct Element {
    name: QualName,
    attributes: Vec<Attribute>,
}

impl Element {
    /// The name of an element of HTML; "svg" or "math" of all that belongs to these.
    pub fn name(&self) -> &str {
        match &*self.name.ns {
            "http://www.w3.org/2000/svg" => "svg",
            "http://www.w3.org/1998/Math/MathML" => "math",
            _ => &self.name.local,
        }
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|attribute| &*attribute.name.local == name);
        found.map(|attribute| &*attribute.value)
    }
}

struct HtmlNode {
    content: NodeContent,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    depth: u32,
}

impl Tree {
    /// Builds the tree of `text`, with at most `depth` elements inside each other.
    pub fn new(text: &str, depth: usize) -> Tree {
        let mut parser = parse_document(TreeBuilder::new(depth), Default::default());
        let mut rest = text;
        while !rest.is_empty() && !parser.tokenizer.sink.sink.is_too_deep.get() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
            parser.process(StrTendril::from_slice(piece));
            rest = after;
        }
        parser.finish()
    }

    /// The node of the page itself.
    pub fn root(&self) -> NodeId {
        0
    }

    /// What the node is.
    pub fn content(&self, node: NodeId) -> &NodeContent {
        &self.nodes[node].content
    }

    /// The node as an element.
    pub fn element(&self, node: NodeId) -> Option<&Element> {
        match self.content(node) {
            NodeContent::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of the element that the node is, else "".
    pub fn name(&self, node: NodeId) -> &str {
        self.element(node).map_or("", Element::name)
    }

    /// The nodes inside a node.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node].children
    }

    /// The first element called `name` in the order of the page.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let mut waiting = vec![self.root()];
        while let Some(node) = waiting.pop() {
            if self.name(node) == name {
                return Some(node);
            }
            waiting.extend(self.children(node).iter().rev());
        }
        None
    }
}

/// The tree while it is built.
struct TreeBuilder {
    nodes: RefCell<Vec<HtmlNode>>,
    limit: u32,
    is_too_deep: Cell<bool>,
}

/// A name that html5ever can hold while the tree grows.
#[derive(Debug)]
struct Name(Namespace, LocalName);

impl html5ever::interface::tree_builder::ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0
    }

    fn local_name(&self) -> &LocalName {
        &self.1
    }
}

impl TreeBuilder {
    fn new(depth: usize) -> TreeBuilder {
        let builder = TreeBuilder {
            nodes: RefCell::default(),
            limit: u32::try_from(depth).unwrap_or(u32::MAX),
            is_too_deep: Cell::new(false),
        };
        builder.add(NodeContent::Other);
        builder
    }

    fn add(&self, content: NodeContent) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(HtmlNode { content, parent: None, children: Vec::new(), depth: 0 });
        nodes.len() - 1
    }

    /// Puts `child` before the child at `place` of `parent`.
    fn insert(&self, parent: NodeId, place: usize, child: NodeOrText<NodeId>) {
        let child = match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                if self.extend_text(parent, place, &text) {
                    return;
                }
                self.add(NodeContent::Text(text))
            }
        };
        self.detach(child);
        let mut nodes = self.nodes.borrow_mut();
        let place = place.min(nodes[parent].children.len());
        nodes[parent].children.insert(place, child);
        nodes[child].parent = Some(parent);
        nodes[child].depth = nodes[parent].depth + 1;
        if nodes[child].depth > self.limit {
            self.is_too_deep.set(true);
        }
    }

    /// Adds `text` to the text that stands before `place`, if one does.
    fn extend_text(&self, parent: NodeId, place: usize, text: &StrTendril) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        let before = place.checked_sub(1).and_then(|last| nodes[parent].children.get(last));
        let Some(&before) = before else { return false };
        match &mut nodes[before].content {
            NodeContent::Text(found) => {
                found.push_tendril(text);
                true
            }
            _ => false,
        }
    }

    fn detach(&self, node: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let Some(parent) = nodes[node].parent.take() else { return };
        let children = &mut nodes[parent].children;
        // What is moved was mostly added just now.
        if let Some(place) = children.iter().rposition(|child| *child == node) {
            children.remove(place);
        }
    }

    fn place(&self, node: NodeId) -> Option<(NodeId, usize)> {
        let nodes = self.nodes.borrow();
        let parent = nodes[node].parent?;
        let place = nodes[parent].children.iter().rposition(|child| *child == node)?;
        Some((parent, place))
    }

    /// Counts anew how deep everything below `node` is, after it was moved.
    fn measure(&self, node: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            let depth = nodes[node].depth + 1;
            let children = std::mem::take(&mut nodes[node].children);
            for child in &children {
                if nodes[*child].depth != depth {
                    nodes[*child].depth = depth;
                    waiting.push(*child);
                }
            }
            nodes[node].children = children;
            if depth > self.limit {
                self.is_too_deep.set(true);
            }
        }
    }
}

impl TreeSink for TreeBuilder {
    type Handle = NodeId;
    type Output = Tree;
    type ElemName<'a> = Name;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner(), is_too_deep: self.is_too_deep.get() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_document(&self) -> NodeId {
        0
    }

    /// A template's content is not seen, so it may as well lie in the template itself.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, a: &NodeId, b: &NodeId) -> bool {
        a == b
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        match &self.nodes.borrow()[*target].content {
            NodeContent::Element(Element { name, .. }) => Name(name.ns.clone(), name.local.clone()),
            _ => Name(Namespace::default(), LocalName::default()),
        }
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        self.add(NodeContent::Element(Element { name, attributes }))
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.add(NodeContent::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.add(NodeContent::Other)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        let place = self.nodes.borrow()[*parent].children.len();
        self.insert(*parent, place, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        before: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        match self.place(*element) {
            Some((parent, place)) => self.insert(parent, place, child),
            None => self.append(before, child),
        }
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        if let NodeOrText::AppendNode(node) = &child {
            self.detach(*node);
        }
        if let Some((parent, place)) = self.place(*sibling) {
            self.insert(parent, place, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, more: Vec<Attribute>) {
        if let NodeContent::Element(Element { attributes, .. }) =
            &mut self.nodes.borrow_mut()[*target].content
        {
            for attribute in more {
                if attributes.iter().all(|known| known.name != attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, parent: &NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[*node].children);
        for child in &children {
            nodes[*child].parent = Some(*parent);
        }
        nodes[*parent].children.extend(children);
        drop(nodes);
        self.measure(*parent);
    }
}
