/** Creates a pixel in the data folder of a stopped server, with the schema of the program itself. */
import { join } from "node:path"
import { openCatalog } from "../../src/store/catalog/catalog.ts"
import { sql } from "../../src/store/sql.ts"

const [, , dataDir, siteId] = Bun.argv
const catalog = await openCatalog(`file:${join(dataDir!, "catalog.db")}`)
await catalog.run(sql`
  insert into pixels_pixels (site_id, slug, slug_key, name, kind, allowed_params_json, recipient_mode, badge_public, created_at, updated_at)
  values (${Number(siteId)}, 'proof', 'proof', 'Proof', 'email', '[]', 'none', 0, 0, 0)`)
await catalog.close()
