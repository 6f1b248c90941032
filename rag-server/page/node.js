// Nodes of the page. Everything that comes from the server goes into it as text, never as HTML.

export const find = id => document.getElementById(id);

// An element with children, which are nodes and texts; `more` are its properties, with attributes under `attributes`.
export function make(name, children = [], more = {}) {
  const {attributes = {}, ...properties} = more;
  const node = Object.assign(document.createElement(name), properties);
  for (const [attribute, value] of Object.entries(attributes)) node.setAttribute(attribute, value);
  node.append(...[children].flat());
  return node;
}

export const button = (text, onclick, more = {}) => make('button', text, {type: 'button', onclick, ...more});
