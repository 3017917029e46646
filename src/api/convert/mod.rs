//! Between the messages of `banqi.v1` and the types of the rules: one place a type.

pub mod action;
pub mod encoded;
pub mod game;
pub mod position;
pub mod result;
pub mod rules;
pub mod spectators;
pub mod time_control;
