//! # eval: how good is what retrieval finds, and what is answered?
//!
//! ```text
//! (judgements, what was found) → scores of a case
//! (expected answers, an answer and what was read for it) → more of them
//! scores of all cases, under several configurations → means, intervals, differences
//! ```
//!
//! A case is a question with what is relevant to it. [`score`] says how well one ranking does on
//! one case, and [`answer`] and [`citing`] how well an answer does; [`summary`] makes figures of
//! many, with an interval that says how far they can be trusted ([`interval`]) and a test of
//! whether two configurations differ ([`significance`]). [`floor`] says which figures are lower than
//! they may be. [`search_space`] says which configurations are tried for the best, [`halving`] which of
//! them go on, and [`holdout`] on which questions. [`load`] reads judged sets. Running the
//! retrieval is the caller's business, and so is the clock.

pub mod configuration;
pub mod judgement;
pub mod measure;

pub mod coverage;
pub mod score;

pub mod answer;
pub mod citing;
pub mod containment;
pub mod context;
pub mod judge;

pub mod interval;
pub mod percentile;
pub mod significance;
pub mod summary;

pub mod floor;

pub mod halving;
pub mod holdout;
pub mod search_budget;
pub mod search_space;

pub mod load;
pub mod qrels;
