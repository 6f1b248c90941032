-- What the tests of the chat page ask, and what the pictures in the documentation show. The variable `writer` is the
-- address of the provider that plays a language model.

SET client_min_messages = warning;
CREATE EXTENSION pg_rag CASCADE;

-- Made by whichever database needs them first, and kept.
SELECT format('CREATE ROLE %I LOGIN', name)
FROM unnest(ARRAY['page_reader', 'page_stranger']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm
    OPTIONS (api 'openai', base_url :'writer', model 'm', timeout '60', max_retries '0', tools 'json');
CREATE USER MAPPING FOR PUBLIC SERVER writer OPTIONS (api_key 'a-key');
GRANT USAGE ON FOREIGN SERVER writer TO page_reader;

CREATE TABLE handbook (id text PRIMARY KEY, title text NOT NULL, lang text NOT NULL, year integer NOT NULL, body text NOT NULL);
COMMENT ON TABLE handbook IS 'how the shop works';
INSERT INTO handbook VALUES
    ('billing', 'Billing', 'en', 2025, $$# Billing

Invoices are sent on the first day of each month to the address in the account. Each invoice names the orders of the month before, with the tax that was charged for each of them.

## Paying

Invoices can be paid by card or by bank transfer within 14 days. Who pays by transfer writes the number of the invoice into the subject, so that the payment is found.

## Reminders

A reminder is sent ten days after an invoice was due. The second reminder costs 5 euros, and after the third one the account is closed until the invoice is paid.$$),
    ('returns', 'Returns', 'en', 2024, $$# Returns

Goods can be returned within 30 days of delivery. The label for the parcel is in the account under Orders, and sending it is free within the country.

## Refunds

A refund is paid within five working days of the day on which the parcel arrives, in the way in which the order was paid. Shipping is refunded only where all of an order is returned.

## What stays

Opened software, engraved goods and food cannot be returned.$$),
    ('accounts', 'Accounts', 'en', 2025, $$# Accounts

To reset a password, choose "Forgot password" on the sign-in page. The link in the message is valid for one hour.

## Two factors

🔑 A second factor can be turned on under Security. Recovery codes are shown once: print them.$$),
    ('backups', 'Backups', 'en', 2023, $$# Backups

Backups are made every night at two and are kept for thirty days.

```sh
restore --from nightly --day 2025-02-03
```

| what | kept for |
|---|---|
| nightly | 30 days |
| monthly | 1 year |$$),
    ('خدمة', 'خدمة العملاء', 'ar', 2025, 'يفتح مكتب خدمة العملاء في الساعة التاسعة صباحا ويغلق في الساعة الخامسة مساء. لا يعمل المكتب يوم الجمعة.'),
    ('words', 'Long words', 'en', 2022, 'The longest word of the register is RindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetzRindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz and it has no break.'),
    ('<b onmouseover="window.harmed=1">key</b>', '<img src=x onerror="window.harmed=1">', 'en', 2021,
     'The password of the harmful page is <img src=x onerror="window.harmed=1"> and <script>window.harmed=1</script> too.');
GRANT SELECT ON handbook TO page_reader;
SELECT rag_create_pipeline('handbook', 'body', metadata => ARRAY['title', 'lang', 'year'], refresh => 'sync',
                           chunking => '{"max_tokens": 60}', options => '{"contextual": true, "title": "title"}');

CREATE TABLE notes (id integer PRIMARY KEY, body text NOT NULL);
COMMENT ON TABLE notes IS 'who works for whom';
INSERT INTO notes VALUES
    (1, 'The mill of Ghent grinds corn for the bakery of Eve.'),
    (2, 'The bakery of Eve opens at six, and on Sundays at eight.'),
    (3, 'The mill of Bruges saws wood for the shipyard.');
GRANT SELECT ON notes TO page_reader;
SELECT rag_create_pipeline('notes', 'body', refresh => 'sync', defaults => '{"llm": "writer"}');
