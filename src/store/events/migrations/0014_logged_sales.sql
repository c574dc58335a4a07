-- From here on, records of the log can contain sales. Earlier versions could not read them; with this migration they refuse the file. Sales of
-- records after this one are only in the log.
insert into state (key, value) values ('sales_floor', 0);
