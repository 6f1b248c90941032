INSERT INTO page VALUES (3, 'Museum', 'The museum opens at ten.');
UPDATE page SET body = replace(body, 'five working days', 'two working days') WHERE id = 2;
DELETE FROM page WHERE id = 1;
