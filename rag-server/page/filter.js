// Conditions over the metadata: put together from a column, an operator and a value, or written as JSON.

import {button, find, make} from './node.js';

// The filter as an object, or null where nothing is filtered; throws a sentence where it is none.
export function filter() {
  const written = find('filter').value.trim();
  if (!written) return null;
  let read = null;
  try { read = JSON.parse(written); } catch { /* It is none. */ }
  if (!read || typeof read !== 'object' || Array.isArray(read)) {
    throw {message: 'The filter is not a JSON object, as {"lang": "en"} is.'};
  }
  return read;
}

// Offers the columns of a pipeline.
export function offer(columns) {
  find('column').replaceChildren(...columns.map(column => make('option', column)));
  find('condition').hidden = !columns.length;
}

function condition(operator, value) {
  if (operator === 'eq') return value;
  if (operator === 'null') return null;
  if (operator === 'in') return value.split(',').map(part => part.trim()).filter(Boolean);
  return {[operator]: value};
}

// Adds a condition to those that a column has: a range has two.
function joined(before, next) {
  const isObject = value => value && typeof value === 'object' && !Array.isArray(value);
  return isObject(before) && isObject(next) ? {...before, ...next} : next;
}

const words = value => typeof value === 'string' ? value : JSON.stringify(value);

function write(object) {
  find('filter').value = Object.keys(object).length ? JSON.stringify(object) : '';
  show();
}

// Shows the conditions that there are, each with a button that takes it away.
export function show() {
  let conditions = {}, problem = '';
  try { conditions = filter() || {}; } catch (error) { problem = error.message; }
  find('filter-problem').textContent = problem;
  find('filter').setAttribute('aria-invalid', String(Boolean(problem)));
  const items = Object.entries(conditions).map(([column, value]) => {
    const remove = () => {
      const {[column]: _, ...others} = conditions;
      write(others);
      find('filter').focus();
    };
    const more = {attributes: {'aria-label': 'Remove the condition on ' + column}};
    return make('li', [column + ': ' + words(value) + ' ', button('×', remove, more)], {dir: 'auto'});
  });
  find('conditions').replaceChildren(...items);
  const count = items.length === 1 ? '1 condition' : items.length + ' conditions';
  find('chosen').textContent = items.length ? '(' + count + ')' : '';
}

find('condition').addEventListener('submit', event => {
  event.preventDefault();
  const [column, operator, value] = ['column', 'operator', 'value'].map(id => find(id).value);
  let object = {};
  try { object = filter() || {}; } catch { return show(); }
  write({...object, [column]: joined(object[column], condition(operator, value.trim()))});
  find('value').value = '';
  find('value').focus();
});
find('operator').onchange = () => { find('value').disabled = find('operator').value === 'null'; };
find('filter').addEventListener('input', show);
