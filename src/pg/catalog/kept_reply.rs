//! `rag.kept_reply`: what language models have replied about communities.
//!
//! Replies are read and written as the superuser. Who asks for one knows its key, which is made of all that was asked.

use std::collections::HashMap;

use super::pipeline::Pipeline;
use crate::error::Result;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::Horizon;

/// Replies that are kept for a pipeline at most, and the bytes that they take with the keys of their chunks; those that were
/// written first give way.
const MOST: i64 = 10_000;
const MOST_BYTES: i64 = 100 << 20;

/// Replies of which it is looked at once whether their chunks are as they were.
const AT_ONCE: i64 = 200;

/// By what a reply is found.
pub struct ReplyKey {
    /// ID of the pipeline whose chunks were asked about.
    pub pipeline: i32,
    /// SHA-256 of what was asked.
    pub prompt: Vec<u8>,
    /// SHA-256 of who has replied; `None`: it may be anybody.
    pub writer: Option<Vec<u8>>,
}

/// A reply that is to be kept.
pub struct NewReply {
    /// By what it is found.
    pub key: ReplyKey,
    /// Primary keys of the chunks that it speaks of.
    pub chunks: Vec<i64>,
    /// What was replied.
    pub text: String,
}

/// The latest reply with this key, if one is kept that is not older than 30 days.
pub fn find(key: &ReplyKey) -> Result<Option<String>> {
    let ReplyKey { pipeline, prompt, writer } = key;
    let arguments = [(*pipeline).into(), prompt.as_slice().into(), writer.as_deref().into()];
    let found = as_superuser(|| {
        sql::rows(query!(kept_reply.find), &arguments, |row| sql::required(row.get(1)?))
    })?;
    Ok(found.into_iter().next())
}

/// Keeps replies that speak of chunks as they were before `seen`, and waits for nobody.
pub fn keep(replies: &[NewReply], seen: Horizon) -> Result<()> {
    as_superuser(|| {
        let mut pipelines: Vec<i32> = Vec::new();
        for NewReply { key: ReplyKey { pipeline, prompt, writer }, chunks, text } in replies {
            let arguments = [
                (*pipeline).into(),
                prompt.as_slice().into(),
                writer.as_deref().into(),
                chunks.clone().into(),
                seen.as_number().into(),
                text.as_str().into(),
            ];
            sql::execute(query!(kept_reply.insert), &arguments)?;
            pipelines.push(*pipeline);
        }
        pipelines.sort_unstable();
        pipelines.dedup();
        for &pipeline in &pipelines {
            let arguments = [pipeline.into(), MOST.into(), MOST_BYTES.into()];
            sql::execute(query!(kept_reply.forget_most), &arguments)?;
        }
        forget_expired(Some(pipelines))
    })
}

/// Deletes the replies that speak of chunks that are gone, or are not what they were. To be called as the owner of the
/// chunks.
pub fn forget_gone(pipeline: &Pipeline) -> Result<()> {
    let id = pipeline.id;
    as_superuser(|| forget_expired(None))?;
    let values = [("chunk_table", pipeline.chunk_table.sql.as_str())];
    let written_by = render(query!(kept_reply.written_by), &values);
    let mut last = 0;
    loop {
        pgrx::check_for_interrupts!();
        let replies = as_superuser(|| some_after(id, last))?;
        let Some((newest, _, _)) = replies.last() else { return Ok(()) };
        last = *newest;
        let asked: Vec<i64> =
            replies.iter().flat_map(|(_, chunks, _)| chunks.iter().copied()).collect();
        let written = sql::rows(&written_by, &[asked.into()], |row| {
            Ok((sql::required(row.get::<i64>(1)?)?, sql::required(row.get::<i64>(2)?)?))
        })?;
        let written: HashMap<i64, i64> = written.into_iter().collect();
        let gone = replies.iter().filter(|(_, chunks, seen)| {
            let is_as_it_was =
                |chunk: &i64| written.get(chunk).is_some_and(|writer| seen.has_seen(*writer));
            !chunks.iter().all(is_as_it_was)
        });
        let gone: Vec<i64> = gone.map(|(id, ..)| *id).collect();
        if !gone.is_empty() {
            let arguments = [id.into(), gone.into()];
            as_superuser(|| sql::execute(query!(kept_reply.forget_these), &arguments))?;
        }
    }
}

/// The next replies of a pipeline: their numbers, their chunks, and until when these were seen.
fn some_after(pipeline: i32, last: i64) -> Result<Vec<(i64, Vec<i64>, Horizon)>> {
    let arguments = [pipeline.into(), last.into(), AT_ONCE.into()];
    sql::rows(query!(kept_reply.some), &arguments, |row| {
        let (id, chunks) = (row.get::<i64>(1)?, row.get::<Vec<i64>>(2)?);
        let seen = Horizon::from_number(sql::required(row.get::<i64>(3)?)?);
        Ok((sql::required(id)?, sql::required(chunks)?, seen))
    })
}

/// Of some pipelines, or of all. A question that deleted those of others would have their owners wait for its transaction.
fn forget_expired(pipelines: Option<Vec<i32>>) -> Result<()> {
    sql::execute(query!(kept_reply.forget_expired), &[pipelines.into()]).map(drop)
}

/// Deletes all replies that are kept for a pipeline of the caller; how many those were.
pub fn forget(pipeline: i32) -> Result<usize> {
    as_superuser(|| sql::execute(query!(kept_reply.forget), &[pipeline.into()]))
}
