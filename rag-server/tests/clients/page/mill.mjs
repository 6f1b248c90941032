// A question for an agent, the steps that the provider has it take, and how it is asked.

import {step} from '../writer.mjs';

const QUESTION = 'When does the bakery open that the mill of Ghent works for?';
const ANSWER = 'The mill of Ghent works for the bakery of Eve [1], which opens at six, and on Sundays at eight [2].';
// The last one is the answer.
export const SCRIPT = [
  step('The mill works for the bakery of Eve; its hours are missing.', {do: 'search', question: 'opening hours of the bakery of Eve', k: 1}),
  step('How long it is open later on Sundays.', {do: 'calculate', expression: '8 - 6'}),
  step('Both are known.', {do: 'answer', text: ANSWER}),
];

// Asks an agent, which reads one chunk at a time.
export async function begin(page) {
  await page.selectOption('#pipeline', 'notes');
  await page.locator('#more summary').click();
  await page.selectOption('#strategy', 'agent');
  await page.fill('#k', '1');
  await page.locator('#more summary').click();
  await page.fill('#question', QUESTION);
  await page.press('#question', 'Enter');
}
