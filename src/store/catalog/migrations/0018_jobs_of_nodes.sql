-- The node whose disk a job works on; null for a job that any node can run.
alter table jobs add column node integer;
