-- $1: places. What has been said of them.
SELECT context_key, line FROM {contexts} WHERE context_key = ANY ($1) AND line IS NOT NULL
