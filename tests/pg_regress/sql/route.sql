-- rag_retrieve: which of many pipelines is asked, where what they are called says the contrary of what they hold.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE texts (holder text, id integer, body text, PRIMARY KEY (holder, id));
INSERT INTO texts VALUES
    ('fruit', 1, 'Value added tax is paid to the tax office by the tenth day of the following month.'),
    ('fruit', 2, 'Who owes less than fifty thousand a year need not charge value added tax.'),
    ('tax_rules', 1, 'Boskoop apples are picked in October and kept in a cool cellar until March.'),
    ('tax_rules', 2, 'Pears ripen later than apples and bruise more easily.'),
    ('weather', 1, 'The rye bread is baked in the stone oven for an hour.'),
    ('weather', 2, 'Let the dough for the rolls rest over night.'),
    ('kitchen', 1, 'In the mountains the first snow falls in November, and the pass is closed until April.'),
    ('kitchen', 2, 'A warm wind from the south melts the snow in a few days.'),
    ('football', 1, 'The library lends books for four weeks. A loan can be renewed twice at the desk.'),
    ('football', 2, 'Who loses a book of the library pays for a new one.'),
    ('library', 1, 'A football match has two halves, and the referee adds the time that was lost.'),
    ('library', 2, 'A player who gets a second yellow card leaves the pitch.'),
    ('medicine', 1, 'Visitors park their cars in the garage below the town hall, where the first hour is free.'),
    ('medicine', 2, 'Bicycles are left at the racks in front of the station.'),
    ('parking', 1, 'Aspirin lowers a fever and thins the blood. Adults take a tablet with a glass of water.'),
    ('parking', 2, 'Cough syrup is kept in the dark and away from children.'),
    ('music', 1, 'A queen bee lays up to two thousand eggs a day, and worker bees feed the larvae.'),
    ('music', 2, 'Honey is taken from the hives in July.'),
    ('bees', 1, 'A violin has four strings, which are tuned in fifths.'),
    ('bees', 2, 'The bow of a violin is strung with horsehair.'),
    ('ships', 1, 'To reset a password, open the settings page and choose Reset password.'),
    ('ships', 2, 'An account is locked after five wrong passwords.'),
    ('passwords', 1, 'The ferry to the island leaves the harbour at eight in the morning.'),
    ('passwords', 2, 'The captain of a ship wears four stripes.');
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT holder FROM texts ORDER BY holder LOOP
        EXECUTE format('CREATE TABLE %I (id integer PRIMARY KEY, body text)', name);
        EXECUTE format('INSERT INTO %I SELECT id, body FROM texts WHERE holder = %L', name, name);
        PERFORM rag_create_pipeline(name, 'body', refresh => 'sync');
    END LOOP;
END
$$;
SELECT count(*) FROM rag.pipeline;

CREATE TABLE questions (no integer PRIMARY KEY, holder text, question text);
INSERT INTO questions VALUES
    (1, 'fruit', 'By which day is value added tax paid to the tax office?'),
    (2, 'tax_rules', 'When are Boskoop apples picked?'),
    (3, 'weather', 'How long is rye bread baked in the stone oven?'),
    (4, 'kitchen', 'When does the first snow fall in the mountains?'),
    (5, 'football', 'For how many weeks does the library lend books?'),
    (6, 'music', 'How many eggs does a queen bee lay a day?'),
    (7, 'bees', 'How many strings does a violin have?'),
    (8, 'ships', 'How do I reset a password?'),
    (9, 'passwords', 'When does the ferry to the island leave the harbour?');
SELECT no, holder, pipeline, source_key FROM questions, rag_retrieve(question, 'auto', k => 1) ORDER BY no;
SELECT count(*) FILTER (WHERE pipeline = holder) || ' of ' || count(*) FROM questions, rag_retrieve(question, 'auto', k => 1);
