import { expect, test } from "bun:test"
import { forbiddenTable, foreignMigration } from "../../src/store/own-tables.ts"

test.each([
  "select id, slug from links_links where site_id = ? order by id limit 50",
  "select l.id from links_links l join links_domains as d on d.id = l.domain_id, links_utm_templates t where t.id in (?, ?)",
  "insert into links_links (site_id, slug) values (?, ?) on conflict (slug) do update set title = excluded.title returning id",
  "insert or ignore into links_orphans (day) values (?)",
  "update links_links set title = (select name from links_utm_templates where id = ?) where id = ?",
  "delete from links_links where id in (select id from links_links where deleted_at < ? limit 1000)",
  "with old as (select id from links_links), more as (select id from old) select count(*) from old, more",
  "select value from links_links, json_each(tags_json) where links_links.id = ?",
  "select id from links_links where title is not distinct from notes",
  "select sites, state, log from links_links -- from sites",
  "select 'from sites' as text, \"from\" from links_links",
  "with old as (select 'x' as id) delete from links_links where id in (select id from old) returning 'gone'",
  "select sum(n) over w, rank() over v from links_links window w as (order by n), v as (partition by day)",
  "select (1), id from links_links where id = max(1, 2)",
])("lets a plugin use its own tables: %s", (text) => {
  expect(forbiddenTable(text, "links_")).toBeUndefined()
})

test.each([
  ["select id from sites", "it touches the table sites"],
  ['select id from "sites"', "it touches the table sites"],
  ["select id from [SITES]", "it touches the table sites"],
  ["select id from links_links, sites", "it touches the table sites"],
  ["select id from links_links l join sites s on s.id = l.site_id", "it touches the table sites"],
  ["select 1 from links_links a join links_domains b on f(a.x, b.x), users", "it touches the table users"],
  ["select id from (links_links, users)", "it touches the table users"],
  ["select (select password_hash from users limit 1) from links_links", "it touches the table users"],
  ["insert into links_links (slug) select name from sites", "it touches the table sites"],
  ["insert into audit_log (id) values (1)", "it touches the table audit_log"],
  ["update or ignore users set is_instance_admin = 1", "it touches the table users"],
  ["delete from sites", "it touches the table sites"],
  ["select id from main.users", "it names the schema main"],
  ["select * from links_links where id in users", "IN needs parentheses"],
  ["with sites as (select 1) select * from main.sites", "it names the schema main"],
  ["select * from (with sites as (select 1) select * from sites), sites", "WITH is only allowed at the beginning"],
  ["select * from pragma_table_info('users')", "it calls pragma_table_info as a table"],
  ["select * from 'users'", "a table name is in single quotes"],
  ["select * from links_links, 'users'", "a table name is in single quotes"],
  ["delete from 'users'", "a table name is in single quotes"],
  ["select * from links_links where 1 in 'users'", "IN needs parentheses"],
  ["select * from links_links window, users", "it touches the table users"],
  ["with users as (select 1) delete from users", "it touches the table users"],
  ["with users as (select 1) update or ignore users set is_instance_admin = 1", "it touches the table users"],
  ["with users as (select 1) insert into users select * from links_links", "it touches the table users"],
  ["with users as (select 1) replace into users values (1)", "it touches the table users"],
  ["pragma journal_mode = off", "it may not begin with pragma"],
  ["attach 'x.db' as x", "it may not begin with attach"],
  ["select 1; delete from sites", "it is more than one statement"],
  ["  -- nothing", "it is empty"],
])("rejects a statement on other tables: %s", (text, fault) => {
  expect(forbiddenTable(text, "links_")).toBe(fault)
})

test("lets a migration create, change and fill its own tables", () => {
  const text = `
    -- Links; a comment about sites.
    create table links_links (
      id integer primary key autoincrement, site_id integer not null, domain_id integer references links_domains (id) on delete cascade,
      title text not null default 'create table x;', check (site_id > 0)
    ) strict;
    create unique index if not exists links_links_site_id on links_links (site_id);
    alter table links_links add column notes text;
    alter table links_links rename to links_all;
    insert into links_all (site_id) select site_id from links_domains;
    drop index links_links_site_id;
    drop table if exists links_domains;`
  expect(foreignMigration(text, "links_")).toBeUndefined()
})

test.each([
  ["create table goals_of_links (id integer)", "create table goals_of_links: the name must begin with links_"],
  ["create table main.links_a (id integer)", "create table main: the name must begin with links_"],
  ["create table links_a (site_id integer references sites (id))", "it touches the table sites"],
  ["create table links_a as select * from users", "it touches the table users"],
  ["create index links_x on sites (name)", "an index on sites: the table name must begin with links_"],
  ["create index x on links_a (name)", "create index x: the name must begin with links_"],
  ["alter table sites add column x text", "alter table sites: the name must begin with links_"],
  ["alter table links_a rename to sites2", "alter table rename to sites2: the name must begin with links_"],
  ["drop table sites", "drop table sites: the name must begin with links_"],
  ["create view links_v as select * from sites", "a migration may not create a view"],
  ["create trigger links_t after insert on sites begin select 1; end", "a migration may not create a trigger"],
  ["create virtual table links_f using fts5(a)", "a migration may not create a virtual"],
  ["create temp table links_f (a)", "a migration may not create a temp"],
  ["vacuum", "a migration may not vacuum"],
  ["create table links_a (id integer); update users set name = ''", "it touches the table users"],
])("rejects a migration of other objects: %s", (text, fault) => {
  expect(foreignMigration(text, "links_")).toBe(fault)
})
