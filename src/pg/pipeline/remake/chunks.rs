//! Chunks follow the columns of their source: their metadata goes, or gets another type and other values.

use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use super::super::comment;
use super::vector_indexes::VectorIndex;
use super::{Detached, drop_view};
use crate::error::Result;
use crate::pg::catalog::grants::Grants;
use crate::pg::catalog::operator;
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::relation;
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::changes::noted;
use crate::pg::index::hnsw;
use crate::pg::server::sql::{self, query, render};

/// A metadata column that is to have another type, or other values, after the source's.
pub struct Retyped {
    /// The column as it is to be.
    pub now: ViewColumn,
    /// Whether its values are to be made of the source's rows.
    pub is_made: bool,
}

/// A column for the while in which another gets a new type, with the values that the other is to have. Both names are
/// quoted.
struct FilledColumn {
    of: String,
    name: String,
}

impl Detached {
    /// Has the chunks' metadata follow, and with it the view that shows it.
    pub(super) fn alter_chunks(&self, source: &SourceTable, retyped: &[Retyped]) -> Result<()> {
        let Pipeline { id, view, .. } = &self.pipeline;
        let grants = Grants::of(view.oid)?;
        drop_view(&view.sql)?;
        let indexes = self.vector_indexes(retyped)?;
        as_owner(&self.pipeline, || {
            indexes.iter().try_for_each(VectorIndex::take_away)?;
            self.alter_chunk_table(source, retyped)
        })?;
        // The owner may lack the right to create an index, which ALTER TABLE does not ask for. There is no expression of
        // the owner's in these, which a superuser would read with all rights.
        indexes.iter().try_for_each(VectorIndex::put_back)?;
        self.create_view(source)?;
        relation::give_relation("VIEW", &view.sql, &quote_identifier(&source.owner))?;
        pipeline::set_view(*id, &view.sql)?;
        if let Some(now) = pipeline::by_id(*id)? {
            grants.give_on(&now.view)?;
        }
        if pipeline::set_filling_where_unindexed(*id)? {
            noted::wake_at_commit();
        }
        Ok(())
    }

    /// As the owner: values may become others by casts of that owner's.
    fn alter_chunk_table(&self, source: &SourceTable, retyped: &[Retyped]) -> Result<()> {
        let Pipeline { name, chunk_table, .. } = &self.pipeline;
        let table = ("chunk_table", chunk_table.sql.as_str());
        for column in &self.dropped {
            let template = query!(remake.drop_column);
            sql::execute(&render(template, &[table, ("column", &column.name)]), &[])?;
            notice!("pipeline \"{name}\" goes on without the metadata column {}", column.name);
        }
        let filled = self.add_filled(source, retyped)?;
        let change = |Retyped { now, .. }: &Retyped| {
            let value = filled.iter().find(|it| it.of == now.name);
            let value = value.map_or(now.name.as_str(), |it| it.name.as_str());
            let values = [("column", now.name.as_str()), ("type", &now.sql_type), ("value", value)];
            render(query!(remake.change_of_type), &values)
        };
        let changes = retyped.iter().map(change).collect::<Vec<_>>().join(", ");
        if !changes.is_empty() {
            let values = [table, ("changes", changes.as_str())];
            sql::execute(&render(query!(remake.change_types), &values), &[])?;
        }
        for FilledColumn { name, .. } in &filled {
            let values = [table, ("column", name.as_str())];
            sql::execute(&render(query!(remake.drop_column), &values), &[])?;
        }
        Ok(())
    }

    /// For each column whose values an expression over the source makes, adds one with what the source says now: a filter
    /// would otherwise find nothing, or what it should not, until workers have seen all rows. The change of the type then
    /// writes the table without the rows as they were before.
    fn add_filled(&self, source: &SourceTable, retyped: &[Retyped]) -> Result<Vec<FilledColumn>> {
        let (mut filled, mut values, mut columns) = (Vec::new(), Vec::new(), self.keys(source));
        let table = ("chunk_table", self.pipeline.chunk_table.sql.as_str());
        let keys = self.key.iter().map(|it| &it.here);
        let known: Vec<&ViewColumn> = keys.chain(self.metadata.iter().map(|it| &it.here)).collect();
        let is_free = |name: &String| known.iter().all(|it| it.name != *name);
        let mut free = (0..).map(|at| quote_identifier(format!(" {at}"))).filter(is_free);
        for Retyped { now, .. } in retyped.iter().filter(|column| column.is_made) {
            let made = self.metadata.iter().find(|it| it.here.name == now.name);
            let Some((made, name)) = made.zip(free.next()) else { continue };
            // Of a domain, chunks whose row is gone may lack a value that it wants.
            let kind = operator::type_name(operator::base_type(now.type_oid));
            let column = [table, ("column", name.as_str()), ("type", &kind)];
            sql::execute(&render(query!(remake.add_column), &column), &[])?;
            columns.push(format!("{} AS {name}", made.sql));
            values.push(format!("{name} = s.{name}"));
            filled.push(FilledColumn { of: now.name.clone(), name });
        }
        if !filled.is_empty() {
            let (columns, values) = (columns.join(", "), values.join(", "));
            let alias = quote_identifier(&source.name);
            let join = self.key_join(|it| it.here.name.clone());
            let values = [
                table,
                ("columns", &*columns),
                ("values", &*values),
                ("source", &source.sql),
                ("alias", &alias),
                ("key_join", &join),
            ];
            sql::execute(&render(query!(remake.fill_columns), &values), &[])?;
        }
        Ok(filled)
    }

    /// Indexes of the vectors that are in the way. One that filters by a column that goes, or by one whose type is now none to
    /// filter by, goes too. Where columns are filled, others are made anew.
    fn vector_indexes(&self, retyped: &[Retyped]) -> Result<Vec<VectorIndex>> {
        let unfit = retyped.iter().map(|it| &it.now).filter(|it| !hnsw::can_filter_by(it.type_oid));
        let unfit: Vec<String> = self.dropped.iter().chain(unfit).map(ViewColumn::bare).collect();
        let is_filled = retyped.iter().any(|column| column.is_made);
        VectorIndex::in_the_way(self.pipeline.chunk_table.oid, unfit, is_filled)
    }

    fn create_view(&self, source: &SourceTable) -> Result<()> {
        let keys: Vec<_> = self.key.iter().map(|it| format!("c.{}", it.here.name)).collect();
        let metadata = self.metadata.iter().map(|it| format!(", c.{}", it.here.name));
        let statement = render(
            query!(create.view),
            &[
                ("view", &self.pipeline.view.sql),
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("source", &source.sql),
                ("keys", &keys.join(", ")),
                ("metadata", &metadata.collect::<String>()),
                ("key_join", &self.key_join(|it| quote_identifier(&it.source))),
            ],
        );
        sql::execute(&statement, &[])?;
        let view = &self.pipeline.view.sql;
        comment::on_view(view, &comment::name_of(&self.pipeline)?)?;
        comment::on_shown(view, source.oid, &self.shown())
    }
}
