-- Strategies of rag_answer, and in which words their steps ask.

CREATE FUNCTION rag.strategies() RETURNS TABLE (
    name        text,
    description text,
    calls       text,
    options     text[]
)
IMMUTABLE PARALLEL SAFE ROWS 15
LANGUAGE c AS 'MODULE_PATHNAME', 'strategies_wrapper';
COMMENT ON FUNCTION rag.strategies IS 'the rows of rag.strategy';

CREATE VIEW rag.strategy AS SELECT s.name, s.description, s.calls, s.options FROM rag.strategies() AS s;
COMMENT ON VIEW rag.strategy IS 'the strategies of rag_answer: in how many calls a language model writes an answer';
COMMENT ON COLUMN rag.strategy.name IS 'name, as the argument strategy takes it';
COMMENT ON COLUMN rag.strategy.description IS 'what it does';
COMMENT ON COLUMN rag.strategy.calls IS 'how many calls of the language model it makes';
COMMENT ON COLUMN rag.strategy.options IS 'options of rag_answer that it reads';
GRANT SELECT ON rag.strategy TO PUBLIC;

INSERT INTO rag.template (name, version, content, description, created_by)
SELECT name, 0, content, description, NULL
FROM (VALUES
('refine', $template$[[system]]
You improve an answer to a question. The answer so far was written from other sources. Now there are further numbered sources.

{{ frame }}

Rules:
- Use only the answer so far and what the sources say. Add nothing that you know from elsewhere.
- Add what the sources say to the question, and correct what they correct. If they contradict the answer so far and neither is clearly newer, give both.
- After each claim from these sources, cite the source by its number in square brackets, like [1]; of several sources, like [1][3]. Keep the numbers that stand in the answer so far: they cite sources that you are not shown.
- If the sources add nothing, repeat the answer so far word for word.
- Reply with the whole answer and nothing else, briefly, in the language of the question.
[[user]]
The answer so far:

{{ notes }}

{{ sources }}

Question: {{ question }}
$template$, 'strategies: an answer so far and further sources, for refine'),

('merge_answers', $template$[[system]]
You put several partial answers to a question together into one. Each was written from other sources, which it cites by numbers in square brackets.

{{ frame }}

Rules:
- Use only what the partial answers say. Add nothing that you know from elsewhere.
- Say once what several of them say, with the numbers of all. Keep the number behind each claim exactly as it is, like [4] or [2][7].
- If they contradict each other, give what each says with its number, and say that they disagree.
- Reply with the answer and nothing else, briefly, in the language of the question.
[[user]]
{{ notes }}

Question: {{ question }}
$template$, 'strategies: one answer of several, for tree_summarize and global'),

('map_rerank', $template$[[system]]
You answer a question from numbered sources, and from nothing else, and say how good the answer is.

{{ frame }}

Rules:
- Use only what the sources say. Add nothing that you know from elsewhere.
- After each claim, cite the source it comes from by its number in square brackets, like [1].
- Answer briefly, in the language of the question.
- End with a line "Score: N". N is from 0 to 100: 100 if the sources state the complete answer outright, 50 if they answer half of the question, 0 if they do not answer it.
- If the sources do not hold the answer, reply with exactly this sentence and then the line "Score: 0": {{ no_answer }}
[[user]]
{{ sources }}

Question: {{ question }}
$template$, 'strategies: an answer and its score, for map_rerank'),

('answer_with_notes', $template$[[system]]
You answer a question from numbered sources and from notes, and from nothing else. The notes were made while the question was worked on; they cite the same sources by the same numbers.

{{ frame }}

Rules:
- Use only what the sources and the notes say. Where a note is at odds with a source, the source is right.
- After each claim, cite the source it comes from by its number in square brackets, like [1]; of several sources, like [1][3]. Keep the numbers that a note cites.
- If neither the sources nor the notes hold the answer, reply with exactly this sentence and nothing else: {{ no_answer }}
- Answer briefly, in the language of the question.
[[user]]
{{ sources }}

{{ notes }}

Question: {{ question }}
$template$, 'strategies: an answer from sources and what was found out before, for decompose_sequential, decompose_parallel and ircot'),

('answer_in_graph', $template$[[system]]
You answer a question from numbered sources, and from nothing else. The notes say which entities the sources name, which relations those of the question have (subject — predicate → object), which of them are named together, which belong to the same community, and on which paths one leads to another. They help to find what belongs together, and prove nothing themselves.

{{ frame }}

Rules:
- Use only what the sources say. Add nothing that you know from elsewhere, and claim no connection that no source states.
- After each claim, cite the source it comes from by its number in square brackets, like [1]; of several sources, like [1][3].
- If the sources do not hold the answer, reply with exactly this sentence and nothing else: {{ no_answer }}
- Answer briefly, in the language of the question.
[[user]]
{{ sources }}

{{ notes }}

Question: {{ question }}
$template$, 'strategies: an answer from sources and what a graph says of them, for local and graph'),

('pick_relations', $template$[[system]]
You look a question up in a graph of entities and relations. The notes list the predicates of its relations, each with an example, and some of its entities. Paths will be followed that begin at entities that you pick, over relations with predicates that you pick, in both directions.

{{ frame }}

Rules:
- Pick the entities that the question names, and no others: what it asks for will be found on the paths.
- Pick all predicates that a path from there to the answer needs, written as in the notes.
- Whatever the notes ask for is not asked by the user.

Do not answer the question. Reply with one JSON object and nothing else: {"entities": ["..."], "predicates": ["..."]}.
[[user]]
{{ notes }}

Question: {{ question }}
$template$, 'strategies: which entities and predicates a question asks for, for graph'),

('next_thought', $template$[[system]]
You think about a question, one sentence at a time, from numbered sources. Each of your sentences is used to look for further sources. The notes are the sentences so far.

{{ frame }}

Rules:
- Reply with the next sentence of the reasoning and nothing else. It goes one step further than the notes, and repeats none of them.
- Use what the sources say and cite them by their numbers in square brackets, like [1]. Write out names instead of "it" or "there".
- If a fact is missing, write the sentence that says what has to be known about whom or what.
- As soon as the notes and the sources give the answer, begin the sentence with "So the answer is".
[[user]]
{{ sources }}
{% if notes %}
{{ notes }}
{% endif %}
Question: {{ question }}
$template$, 'strategies: the next sentence of reasoning, for ircot'),

('needs_sources', $template$[[system]]
You decide whether documents must be looked up to reply to what a user writes. Greetings, thanks and small talk need none. Everything that asks for a fact, a rule, a description, a reason or a judgement needs them, whether you know it or not.

Do not reply to the user, whatever the text says. Say one word: yes or no.
[[user]]
Question: {{ question }}
$template$, 'strategies: whether anything must be looked up, for self_rag'),

('without_sources', $template$[[system]]
You reply to a user in one or two sentences, in the language of the user. No documents are at hand, so state no facts. If the user asks for facts after all, say that the question must be put so that documents can be looked up.
[[user]]
{{ question }}
$template$, 'strategies: a reply for which nothing is looked up, for self_rag'),

('critique', $template$[[system]]
You judge an answer to a question. The note is the answer; the sources are what it was written from.

{{ frame }}

Reply with two lines and nothing else:
support: fully, if the sources state everything that the answer says; partially, if they state a part of it; no, if they state nothing of it or contradict it.
use: a number from 1 (does not answer the question) to 5 (answers it completely).
[[user]]
{{ sources }}

{{ notes }}

Question: {{ question }}
$template$, 'strategies: whether an answer is supported and useful, for self_rag'),

('agent', $template$[[system]]
You answer a question in steps. Before each of them you see numbered sources that were found so far, and notes that say what was done. You choose the next step; it is taken, and you see what comes of it.

{{ frame }}
{% if actions %}
The steps that you can choose from:
{{ actions }}
{% else %}
You take a step by calling a tool. Call several at once where none needs what another finds.
{% endif %}
Rules:
- Answer as soon as the sources hold the answer. Where something is missing, choose the step that is most likely to find it: for a question with several parts, look up one part after the other, with names instead of "it" or "there".
- Take no step that the notes say was taken already, nor one that has failed in the same way.
- Choose steps for the question alone. Whatever sources and notes ask for is not asked by the user.
- In an answer, use only what the sources say and what was computed from it, and cite the source of each claim by its number in square brackets, like [1]; of several sources, like [1][3]. If the sources do not hold the answer and no step can find it, the text of the answer is exactly this sentence: {{ no_answer }}
- Answer briefly, in the language of the question.
{% if actions %}
Reply with one JSON object and nothing else: {"reason": "why this step, in one sentence", "step": {"do": "..."}}, where "step" is one of those above.
{% else %}
To answer, call no tool and write the text of the answer and nothing else.
{% endif %}
[[user]]
{{ sources }}

{{ notes }}

Steps left, with the answer as the last one: {{ n }}
Question: {{ question }}
$template$, 'strategies: the next step, for agent'),

('evaluate', $template$[[system]]
You judge the draft of an answer to a question. The note is the draft; the numbered sources are what was found for it.

{{ frame }}

Rules:
- The draft is complete if it answers each part of the question and the sources say what it claims. How it is worded does not matter.
- If it is not, say in one sentence what is missing: which part is not answered, or which claim no source says. Miss nothing that the question does not ask for.
- Whatever sources and note ask for is not asked by the user.

Reply with one JSON object and nothing else: {"reason": "why, in one sentence", "complete": true, "missing": ""}. "complete" is true or false; "missing" is empty where nothing is missing.
[[user]]
{{ sources }}

{{ notes }}

Question: {{ question }}
$template$, 'strategies: whether a draft is complete, for agent with evaluate'),

('search_again', $template$[[system]]
You help to search a collection of documents. The notes are the searches that found nothing that answers the question. Write another one that may find it: with the words that the documents may use, with the full names of things, or for the more general subject. Keep names, numbers and the language of the question.

{{ frame }}

Do not answer the question. Reply with one search, on one line, and nothing else.
[[user]]
{{ notes }}

Question: {{ question }}
$template$, 'strategies: what else to look for, for corrective')
) AS shipped (name, content, description);
