// What the browser keeps: the token and the conversation until its tab is closed, the colours for good.

// Where storage is turned off, nothing is kept.
function attempt(work) {
  try { return work(); } catch { return null; }
}

export const get = name => attempt(() => sessionStorage.getItem(name)) || '';

export const set = (name, value) => attempt(() => {
  if (value) sessionStorage.setItem(name, value);
  else sessionStorage.removeItem(name);
  return true;
});

export const colours = () => attempt(() => localStorage.getItem('colours')) || '';

export const setColours = value => attempt(() => localStorage.setItem('colours', value));

// The turns of the conversation, oldest first.
export function turns() {
  return attempt(() => JSON.parse(get('turns'))) || [];
}

// Keeps as many of the last turns as there is room for.
export function setTurns(all) {
  for (let from = 0; from < all.length; from += 1) {
    if (set('turns', JSON.stringify(all.slice(from)))) return;
  }
  set('turns', '');
}

export function forgetConversation() {
  set('conversation', '');
  set('turns', '');
}

export const forgetAll = () => attempt(() => sessionStorage.clear());
