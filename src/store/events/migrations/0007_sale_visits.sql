-- Start of the visit of an imported event: the effective days of an import apply to visits by their start. Null on native rows.
alter table sale_events add column visit_at integer;
