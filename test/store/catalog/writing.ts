import { writeSync } from "node:fs"
import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { sql } from "../../../src/store/sql.ts"

/** Writes rows and prints the acknowledged ones until it is killed. */
const catalog = await openCatalog(catalogUrl(process.argv[2]!))
await catalog.script("create table t (n integer) strict")
for (let n = 1; ; n++) {
  await catalog.run(sql`insert into t values (${n})`)
  writeSync(1, `${n}\n`)
  if (n % 7 === 0) await catalog.checkpoint()
}
