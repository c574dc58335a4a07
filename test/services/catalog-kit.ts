import { join } from "node:path"
import { catalogUrl, openCatalog } from "../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../src/store/catalog/schema.ts"
import { fixedClock } from "../kit.ts"

/** Opens a migrated catalog without the rest of an instance. */
export async function openCatalogWith(folder: string, now = "2026-11-21T12:00:00Z") {
  const clock = fixedClock(now)
  const catalog = await openCatalog(catalogUrl(join(folder, "catalog.db")))
  await migrate(catalog, [CATALOG_SCHEMA], { version: "0.1.0", now: clock.now() })
  return { catalog, clock }
}
