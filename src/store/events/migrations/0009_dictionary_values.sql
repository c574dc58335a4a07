-- From text to number, so that no process needs a whole dictionary in memory.
create index dictionary_value on dictionary (site_id, name, value);
