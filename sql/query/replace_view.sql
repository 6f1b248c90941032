CREATE OR REPLACE VIEW {view} WITH (security_invoker = true) AS {definition}
