import { block, escapeHtml, type Guide, prose } from "./markup.ts"

const ABOUT = `An export with \`since\` contains the visits that ended from that time on, with all of their events. The header \`X-Next-Since\` is the \`since\` of the next
export. A job that saves it and runs every hour receives each visit once. After an interruption it receives some visits again, so load rows by their key: then
repeating an export changes nothing.

A visit has ended when no event has arrived for 30 minutes by the clock of the server. It then no longer changes, and \`visit\` is its key. Its events have
the key \`visit\` and \`position\`. Events that were sent late, up to hours after they happened, are part of the visit that they joined or form one of their own, and are exported with
it. Visits that are still open follow with a later export. For the last half hour, use the reports under \`stats\`.

Replace the rows of a visit in one transaction, and save the new \`since\` only after it, as below. Then neither an interrupted job, nor an instance that was
restored from a backup or whose clock was set back, leaves duplicates.`

/** Returns a shell script that loads a warehouse step by step. */
export const loadingJob = (api: string): string => `#!/bin/sh -e
# Loads new visits and events of site 1 into footfall.duckdb. Run it every hour.
since=$(cat since 2>/dev/null || echo 2000-01-01T00:00:00Z)
for type in visits events; do
  curl -sS --fail -G -D headers-$type -o $type.parquet -H "Authorization: Bearer $KEY" \\
    -d type=$type -d format=parquet --data-urlencode "since=$since" "${api}/sites/1/export"
done
duckdb footfall.duckdb <<SQL
create table if not exists visits as from 'visits.parquet' limit 0;
create table if not exists events as from 'events.parquet' limit 0;
begin;
delete from visits where visit in (select visit from 'visits.parquet');
insert into visits by name from 'visits.parquet';
delete from events where visit in (select visit from 'events.parquet');
insert into events by name from 'events.parquet';
commit;
SQL
# Both exports begin with the same time. The next ones begin where the earlier of them ended.
cat headers-* | tr -d '\\r' | awk 'tolower($1) == "x-next-since:" { print $2 }' | sort | head -1 > since`

const REMOVALS = `Rows that Footfall removes later are not exported again, so apply the same rules to the warehouse:

Retention removes the visits that started before local midnight of today less \`retention_days\` of the site. Delete them with \`delete from visits where started_at < …\`, and
the events of these visits.

Erasure of a person: delete the rows with their \`visitor\`. Erasure by filter, a reset of the site and undoing an import: delete all rows and load again without a saved \`since\`.

Imported history is not part of an export with \`since\`, because it can be changed and undone. Load it once with an export of its range. Its rows have an \`import_id\` other than 0.`

/** Explains how a warehouse is loaded incrementally. */
export const warehouseGuide = (api: string): Guide => ({
  id: "warehouse",
  title: "Loading a warehouse",
  html: `${prose(ABOUT)}${block("Hourly job for DuckDB", escapeHtml(loadingJob(api)))}<h3>Removed and imported data</h3>${prose(REMOVALS)}`,
})
