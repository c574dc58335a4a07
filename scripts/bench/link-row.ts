/** Makes one short link in a data folder that nobody serves, with the schema of the program itself. */
import { join } from "node:path"
import { openCatalog } from "../../src/store/catalog/catalog.ts"
import { sql } from "../../src/store/catalog/sql.ts"

const [, , dataDir, siteId] = Bun.argv
const catalog = await openCatalog(`file:${join(dataDir!, "catalog.db")}`)
await catalog.run(sql`
  insert into links_links (site_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query, forward_path, utm_json,
    utm_mode, rules_json, noindex, created_at, updated_at)
  values (${Number(siteId)}, 'bench', 'bench', 'https://example.com/landing?utm_source=a', '', '', '[]', 302, 1, 0, '{}', 'fill', '[]', 1, 0, 0)`)
await catalog.close()
