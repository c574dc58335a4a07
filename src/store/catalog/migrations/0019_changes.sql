-- The versions of what nodes keep in memory: one counter for all topics, so that a node reads what is newer than the last version that it
-- has seen.
-- Triggers count, so that no statement can forget to. A migration that creates one of these tables again must create its triggers again.
create table changes (
  topic text not null,
  -- Id of the site, or the key of the setting. Empty for topics that are read as a whole.
  key text not null,
  version integer not null,
  primary key (topic, key)
) strict, without rowid;
create unique index changes_version on changes (version);

-- The triggers below insert here.
create view changing as select topic, key from changes;
create trigger changing_insert instead of insert on changing begin
  insert into changes (topic, key, version) values (new.topic, new.key, (select coalesce(max(version), 0) + 1 from changes))
  on conflict (topic, key) do update set version = excluded.version;
end;

create trigger sites_inserted after insert on sites begin insert into changing values ('sites', new.id); end;
create trigger sites_updated after update on sites begin insert into changing values ('sites', new.id); end;
create trigger sites_deleted after delete on sites begin insert into changing values ('sites', old.id); end;

create trigger goals_inserted after insert on goals begin insert into changing values ('goals', new.site_id); end;
create trigger goals_updated after update on goals begin insert into changing values ('goals', new.site_id); end;
create trigger goals_deleted after delete on goals begin insert into changing values ('goals', old.site_id); end;

create trigger funnels_inserted after insert on funnels begin insert into changing values ('funnels', new.site_id); end;
create trigger funnels_updated after update on funnels begin insert into changing values ('funnels', new.site_id); end;
create trigger funnels_deleted after delete on funnels begin insert into changing values ('funnels', old.site_id); end;

create trigger segments_inserted after insert on segments begin insert into changing values ('segments', new.site_id); end;
create trigger segments_updated after update on segments begin insert into changing values ('segments', new.site_id); end;
create trigger segments_deleted after delete on segments begin insert into changing values ('segments', old.site_id); end;

create trigger visible_imports_inserted after insert on visible_imports begin insert into changing values ('visible_imports', new.site_id); end;
create trigger visible_imports_updated after update on visible_imports begin insert into changing values ('visible_imports', new.site_id); end;
create trigger visible_imports_deleted after delete on visible_imports begin insert into changing values ('visible_imports', old.site_id); end;

create trigger site_keys_inserted after insert on site_keys begin insert into changing values ('site_keys', new.site_id); end;
create trigger site_keys_updated after update on site_keys begin insert into changing values ('site_keys', new.site_id); end;
create trigger site_keys_deleted after delete on site_keys begin insert into changing values ('site_keys', old.site_id); end;

create trigger instance_shields_inserted after insert on instance_shields begin insert into changing values ('instance_shields', ''); end;
create trigger instance_shields_updated after update on instance_shields begin insert into changing values ('instance_shields', ''); end;
create trigger instance_shields_deleted after delete on instance_shields begin insert into changing values ('instance_shields', ''); end;

create trigger settings_inserted after insert on settings begin insert into changing values ('settings', new.key); end;
create trigger settings_updated after update on settings begin insert into changing values ('settings', new.key); end;
create trigger settings_deleted after delete on settings begin insert into changing values ('settings', old.key); end;

create trigger plugins_inserted after insert on plugins begin insert into changing values ('plugins', ''); end;
create trigger plugins_updated after update on plugins begin insert into changing values ('plugins', ''); end;
create trigger plugins_deleted after delete on plugins begin insert into changing values ('plugins', ''); end;

create trigger schedules_inserted after insert on schedules begin insert into changing values ('schedules', ''); end;
create trigger schedules_updated after update of cron, timezone, enabled, next_run_at on schedules begin insert into changing values ('schedules', ''); end;
create trigger schedules_deleted after delete on schedules begin insert into changing values ('schedules', ''); end;

create trigger host_proofs_inserted after insert on host_proofs begin insert into changing values ('hosts', ''); end;
create trigger host_proofs_updated after update on host_proofs begin insert into changing values ('hosts', ''); end;
create trigger host_proofs_deleted after delete on host_proofs begin insert into changing values ('hosts', ''); end;

create trigger host_decisions_inserted after insert on host_decisions begin insert into changing values ('hosts', ''); end;
create trigger host_decisions_updated after update on host_decisions begin insert into changing values ('hosts', ''); end;
create trigger host_decisions_deleted after delete on host_decisions begin insert into changing values ('hosts', ''); end;
