-- Everything that the extension pg_rag has made in a database, with its definition: two databases that have the same have
-- the same rows.

WITH extension AS (
    SELECT oid, extconfig, extcondition FROM pg_extension WHERE extname = 'pg_rag'
), member AS (
    SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS name
    FROM extension AS e
    JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
), relation AS (
    SELECT c.*, m.name FROM member AS m JOIN pg_class AS c ON c.oid = m.objid WHERE m.classid = 'pg_class'::regclass
), described (name, definition) AS (
    SELECT name, obj_description(objid, classid::regclass::name) FROM member
    UNION ALL
    SELECT m.name, concat_ws(' ', pg_get_functiondef(p.oid), p.proacl::text)
    FROM member AS m JOIN pg_proc AS p ON p.oid = m.objid
    WHERE m.classid = 'pg_proc'::regclass AND p.prokind <> 'a'
    UNION ALL
    SELECT name, concat_ws(' ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions::text, relacl::text,
                           pg_get_viewdef(oid))
    FROM relation
    UNION ALL
    SELECT r.name || ' column ' || row_number() OVER (PARTITION BY r.oid ORDER BY a.attnum),
           concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
                     pg_get_expr(d.adbin, d.adrelid), a.attacl::text, col_description(r.oid, a.attnum))
    FROM relation AS r
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    UNION ALL
    SELECT r.name || ' index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
    FROM relation AS r JOIN pg_index AS i ON i.indrelid = r.oid
    UNION ALL
    SELECT r.name || ' constraint ' || c.conname, pg_get_constraintdef(c.oid)
    FROM relation AS r JOIN pg_constraint AS c ON c.conrelid = r.oid
    UNION ALL
    SELECT r.name || ' trigger ' || t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid), t.tgenabled)
    FROM relation AS r JOIN pg_trigger AS t ON t.tgrelid = r.oid AND NOT t.tgisinternal
    UNION ALL
    SELECT r.name || ' policy ' || p.polname,
           concat_ws(' ', p.polcmd, p.polpermissive, p.polroles::regrole[]::text, pg_get_expr(p.polqual, p.polrelid),
                     pg_get_expr(p.polwithcheck, p.polrelid))
    FROM relation AS r JOIN pg_policy AS p ON p.polrelid = r.oid
    UNION ALL
    SELECT m.name, concat_ws(' ', o.oprcode, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprrest, o.oprjoin)
    FROM member AS m JOIN pg_operator AS o ON o.oid = m.objid WHERE m.classid = 'pg_operator'::regclass
    UNION ALL
    SELECT m.name, concat_ws(' ', c.opcdefault, c.opckeytype::regtype)
    FROM member AS m JOIN pg_opclass AS c ON c.oid = m.objid WHERE m.classid = 'pg_opclass'::regclass
    UNION ALL
    SELECT m.name || ' operator ' || a.amopstrategy, concat_ws(' ', a.amopopr::regoperator, a.amoppurpose, a.amopsortfamily <> 0)
    FROM member AS m JOIN pg_amop AS a ON a.amopfamily = m.objid WHERE m.classid = 'pg_opfamily'::regclass
    UNION ALL
    SELECT m.name || ' function ' || a.amprocnum, concat_ws(' ', a.amproc, a.amproclefttype::regtype)
    FROM member AS m JOIN pg_amproc AS a ON a.amprocfamily = m.objid WHERE m.classid = 'pg_opfamily'::regclass
    UNION ALL
    SELECT m.name, concat_ws(' ', a.amhandler, a.amtype)
    FROM member AS m JOIN pg_am AS a ON a.oid = m.objid WHERE m.classid = 'pg_am'::regclass
    UNION ALL
    SELECT m.name, concat_ws(' ', f.fdwhandler::regproc, f.fdwvalidator::regproc, f.fdwacl::text)
    FROM member AS m JOIN pg_foreign_data_wrapper AS f ON f.oid = m.objid WHERE m.classid = 'pg_foreign_data_wrapper'::regclass
    UNION ALL
    SELECT m.name, concat_ws(' ', t.evtevent, t.evtfoid::regproc, t.evtenabled, t.evttags::text)
    FROM member AS m JOIN pg_event_trigger AS t ON t.oid = m.objid WHERE m.classid = 'pg_event_trigger'::regclass
    UNION ALL
    SELECT m.name, n.nspacl::text FROM member AS m JOIN pg_namespace AS n ON n.oid = m.objid WHERE m.classid = 'pg_namespace'::regclass
    UNION ALL
    SELECT 'dumped ' || config.relation::regclass, config.condition
    FROM extension AS e, unnest(e.extconfig, e.extcondition) AS config (relation, condition)
    UNION ALL
    SELECT 'model ' || name, (to_jsonb(model) - 'added_at')::text FROM rag.model WHERE builtin
    UNION ALL
    SELECT 'template ' || name, (to_jsonb(template) - 'created_at')::text FROM rag.template
)
SELECT name || ': ' || coalesce(definition, '') AS object FROM described ORDER BY 1
