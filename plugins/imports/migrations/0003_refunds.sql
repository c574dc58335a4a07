-- Refunds that wait to be published, and the quarters of an hour that have some. Null without refunds.
alter table imports_imports add column refunds_json text;
