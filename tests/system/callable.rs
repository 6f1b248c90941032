//! What a user of the extension can call, out of the catalog: a function that is new is tested by
//! all that walks this list, without a word about it.

use postgres::Client;

/// A function or procedure.
pub struct Function {
    /// With its schema, quoted.
    pub name: String,
    /// What it is given; results are left out.
    pub arguments: Vec<Argument>,
    is_procedure: bool,
}

/// What a function is given.
pub struct Argument {
    pub name: String,
    /// As `format_type` writes it.
    pub kind: String,
    pub has_default: bool,
}

/// All but what only PostgreSQL calls.
const FUNCTIONS: &str = "
    SELECT format('%I.%I', n.nspname, p.proname), p.prokind = 'p',
        ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, at) ORDER BY at),
        coalesce(p.proargnames[1:p.pronargs], '{}'), p.pronargdefaults::integer
    FROM pg_depend AS d
    JOIN pg_extension AS e ON e.oid = d.refobjid AND e.extname = 'pg_rag'
    JOIN pg_proc AS p ON p.oid = d.objid
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
        AND p.prorettype <> ALL (ARRAY['trigger', 'event_trigger', 'index_am_handler', 'fdw_handler']::regtype[])
    ORDER BY p.oid::regprocedure::text COLLATE \"C\"";

/// The functions and procedures of the extension, in the order of their names.
pub fn functions(client: &mut Client) -> Vec<Function> {
    let rows = client.query(FUNCTIONS, &[]).expect("the functions");
    let found: Vec<Function> = rows
        .iter()
        .map(|row| {
            let (kinds, names): (Vec<String>, Vec<String>) = (row.get(2), row.get(3));
            let first_default = kinds.len() - row.get::<_, i32>(4) as usize;
            assert_eq!(
                kinds.len(),
                names.len(),
                "{}: a name for each argument",
                row.get::<_, String>(0)
            );
            let argument = |(at, (kind, name)): (usize, (String, String))| Argument {
                name,
                kind,
                has_default: at >= first_default,
            };
            let arguments = kinds.into_iter().zip(names).enumerate().map(argument).collect();
            Function { name: row.get(0), is_procedure: row.get(1), arguments }
        })
        .collect();
    assert!(found.len() > 30, "{} functions", found.len());
    found
}

impl Function {
    /// The statement that calls it; `given` are names of arguments with expressions.
    pub fn call(&self, given: &[(&str, String)]) -> String {
        let given: Vec<String> =
            given.iter().map(|(name, it)| format!("\"{name}\" => {it}")).collect();
        let verb = if self.is_procedure { "CALL" } else { "SELECT * FROM" };
        format!("{verb} {}({})", self.name, given.join(", "))
    }

    /// Whether it commits by itself.
    pub fn is_procedure(&self) -> bool {
        self.is_procedure
    }
}
