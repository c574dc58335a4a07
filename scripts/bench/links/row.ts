/** Creates a short link in the data folder of a stopped server: `link-row.ts <data folder> <site id> [maximum number of clicks]`. */
import { join } from "node:path"
import { openCatalog } from "../../../src/store/catalog/catalog.ts"
import { sql } from "../../../src/store/sql.ts"

export const LINK = { slug: "bench", destination: "https://example.com/landing?utm_source=a" }

if (import.meta.main) {
  const [, , dataDir, siteId, maxClicks] = Bun.argv
  const catalog = await openCatalog(`file:${join(dataDir!, "catalog.db")}`)
  await catalog.run(sql`
    insert into links_links (site_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query, forward_path,
      utm_json, utm_mode, max_clicks, rules_json, noindex, created_at, updated_at)
    values (${Number(siteId)}, ${LINK.slug}, ${LINK.slug}, ${LINK.destination}, '', '', '[]', 302, 1, 0, '{}', 'fill',
      ${maxClicks === undefined ? null : Number(maxClicks)}, '[]', 1, 0, 0)`)
  await catalog.close()
}
