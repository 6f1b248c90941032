// A question with its answer, as the page shows them.

import {button, find, make} from './node.js';
import {show} from './markdown.js';
import {call, sentence} from './server.js';
import {nameOf, open} from './source.js';
import {walk} from './walk.js';

// How near the end of the page is that somebody who reads there is taken along, in pixels.
const NEAR = 160;

function follow(work) {
  const page = document.scrollingElement;
  const isNear = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR;
  work();
  if (isNear) page.scrollTop = page.scrollHeight;
}

export class Turn {
  // `body` is what is sent; what was `kept` of an earlier answer is shown at once.
  constructor(body, kept = {}) {
    this.body = body;
    this.text = kept.text || '';
    this.steps = [];
    this.details = null;
    this.frame = 0;
    this.node = find('turn').content.cloneNode(true).firstElementChild;
    this.part('h2').textContent = body.question;
    find('turns').append(this.node);
    (kept.steps || []).forEach(step => this.step(step));
    if (kept.details) this.finish(kept.details);
  }

  part(name) { return this.node.querySelector(name); }

  // What the browser keeps of it.
  kept() {
    const {body, text, steps, details} = this;
    return {body, text, steps, details};
  }

  // Says that something is done, and for how long.
  wait() {
    const began = Date.now();
    this.part('.waiting [role]').textContent = 'Looking it up …';
    this.timer = setInterval(() => {
      const seconds = Math.round((Date.now() - began) / 1000);
      this.part('.seconds').textContent = seconds + ' s';
      if (seconds === 20) this.part('.waiting [role]').textContent = 'This takes long; Stop ends it.';
    }, 1000);
  }

  waited() {
    clearInterval(this.timer);
    this.part('.waiting').replaceChildren();
  }

  step(step) {
    this.steps.push(step);
    const {reason, outcome} = step;
    const [name, said] = [step.do || 'step', step.what || ''];
    // What is done begins with its name.
    const what = said.startsWith(name + ' ') ? said.slice(name.length + 1) : said;
    const part = (kind, text) => text ? [make('span', text, {className: kind, dir: 'auto'})] : [];
    const item = make('li', [make('strong', name), ' ', ...part('what', what), ...part('reason', reason), ...part('outcome', outcome)]);
    follow(() => {
      this.part('.steps').hidden = false;
      this.part('.steps summary').textContent = this.steps.length === 1 ? '1 step' : this.steps.length + ' steps';
      this.part('.steps ol').append(item);
    });
  }

  piece(text) {
    this.waited();
    this.text += text;
    // Many pieces are shown at once where they come faster than the screen is drawn.
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }

  draw(cite = null) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    follow(() => show(this.part('.answer'), this.text, cite));
  }

  finish(details) {
    this.details = details;
    this.text = details.answer || this.text;
    const told = (details.usage && details.usage.actions) || [];
    // Where steps were not told, all of them are known now.
    told.slice(this.steps.length).forEach(step => this.step(step));
    const citations = (details.citations || []).filter(citation => !citation.unresolved);
    const context = details.context || [];
    const of = marker => citations.filter(citation => citation.marker === marker);
    this.draw(marker => {
      const cited = of(marker);
      return cited.length ? this.marker(cited, context) : null;
    });
    follow(() => {
      this.verdict(details);
      const markers = [...new Set(citations.map(citation => citation.marker))];
      this.part('.sources').replaceChildren(...markers.map(marker => make('li', this.source(of(marker), context))));
      this.tools(details);
      this.end();
    });
  }

  marker(cited, context) {
    const label = `Source ${cited[0].marker}: ${nameOf(cited[0], context)}`;
    const more = {className: 'marker', title: cited[0].quote || '', attributes: {'aria-label': label, 'aria-haspopup': 'dialog'}};
    return button(String(cited[0].marker), () => open(cited, context), more);
  }

  source(cited, context) {
    const quotes = cited.filter(citation => citation.quote).map(citation => make('q', citation.quote, {dir: 'auto'}));
    const name = make('span', `[${cited[0].marker}] ${nameOf(cited[0], context)}`, {dir: 'auto'});
    return button([name, ...quotes], () => open(cited, context), {attributes: {'aria-haspopup': 'dialog'}});
  }

  verdict(details) {
    const place = this.part('.verdict');
    const kind = details.supported === false ? 'refused' : details.needs_review || !details.supported ? 'doubtful' : 'supported';
    this.node.dataset.verdict = kind;
    const words = {
      refused: 'No answer: the documents do not hold one.',
      doubtful: 'Doubtful: check the sources.',
      supported: 'The documents say so.',
    }[kind];
    place.replaceChildren(make('strong', words));
    if (typeof details.confidence === 'number') {
      const meter = make('meter', [], {value: details.confidence, max: 1, attributes: {'aria-hidden': true}});
      place.append(make('span', `Confidence ${Math.round(100 * details.confidence)} %`), meter);
    }
    const wrong = (details.claims || []).filter(claim => ['contradicted', 'unsupported'].includes(claim.verdict));
    if (kind === 'refused' || !wrong.length) return;
    const items = wrong.map(claim => make('li', [make('em', claim.verdict + ': '), claim.claim], {dir: 'auto'}));
    place.append(make('ul', items));
  }

  tools(details) {
    this.part('.tools').hidden = false;
    this.part('.copy').hidden = !this.text;
    this.part('.copy').onclick = () => this.copy();
    const explain = this.part('.explain');
    explain.onclick = async () => {
      explain.disabled = true;
      try {
        await walk(this.part('.stages'), this.body, details);
        this.part('.stages').hidden = false;
        this.problem('');
      } catch (error) {
        this.problem(sentence(error));
      }
      explain.disabled = false;
    };
    if (details.trace_id) this.rating(details.trace_id);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.text);
      this.say('Copied.');
    } catch {
      // Browsers write to the clipboard only where the page came over HTTPS or from this machine.
      getSelection().selectAllChildren(this.part('.answer'));
      this.say(document.execCommand('copy') ? 'Copied.' : 'Selected, to be copied by hand.');
    }
  }

  rating(trace) {
    const [good, bad, comment] = [this.part('.good'), this.part('.bad'), this.part('.comment')];
    const send = async (score, words) => {
      try {
        await call('feedback', {trace_id: trace, score, comment: words});
        good.setAttribute('aria-pressed', String(score === 1));
        bad.setAttribute('aria-pressed', String(score === 0));
        comment.hidden = score === 1 || Boolean(words);
        this.say('Thank you.');
      } catch (error) {
        this.problem(sentence(error));
      }
    };
    this.part('.rating').hidden = false;
    good.onclick = () => send(1, null);
    bad.onclick = () => send(0, null);
    comment.onsubmit = event => {
      event.preventDefault();
      const words = comment.querySelector('input').value.trim();
      if (words) send(0, words);
    };
  }

  say(words) { this.part('.said').textContent = words; }

  problem(words) { this.part('.problem').textContent = words; }

  // Ends an answer that did not come; `again`, if given, asks once more.
  fail(words, again = null) {
    if (this.text) this.draw();
    this.problem(words);
    this.part('.again').hidden = !again;
    this.part('.again').onclick = again;
    this.end();
  }

  end() {
    this.waited();
    this.part('.answer').removeAttribute('aria-busy');
    // Who reads a step goes on reading it.
    const steps = this.part('.steps');
    if (!steps.contains(document.activeElement)) steps.open = false;
  }
}
