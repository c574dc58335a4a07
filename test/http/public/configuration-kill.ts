import { raw, sql } from "../../../src/store/sql.ts"
import { startInstance } from "../../kit.ts"

/** Kills its process while a document is stored. Prints the data folder, and the numbers of rows before. */

/** Counts the rows that a document changes. */
export const COUNTS = `
  select
    (select count(*) from goals) as goals, (select count(*) from funnels) as funnels, (select count(*) from segments) as segments,
    (select count(*) from audit_log) as entries, (select version from sites where id = 1) as version`

if (import.meta.main) {
  const { app, api, key, dataDir } = await startInstance({ hasCatalogServer: false })
  const put = (name: string) =>
    api.send(
      "PUT",
      "/api/public/v1/sites/1/configuration",
      {
        site: { name },
        goals: [{ kind: "event", value: name, name }],
        segments: [{ name, filters: [{ dimension: "country", values: ["DE"] }] }],
      },
      key,
    )
  await put("Before")
  const { audit } = app.instance
  const { write } = audit
  let entries = 0
  audit.write = async (...entry) => {
    await write(...entry)
    // After the site, the old goal and the new one.
    if (++entries === 3) process.kill(process.pid, "SIGKILL")
  }
  process.stdout.write(JSON.stringify({ dataDir, counts: await app.instance.catalog.get(sql`${raw(COUNTS)}`) }))
  await put("After")
}
