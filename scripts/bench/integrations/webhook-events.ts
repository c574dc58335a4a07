/** Adds product events to the outbox of a stopped server: `webhook-events.ts <data folder> <site id> <number>`. */
import { join } from "node:path"
import { openCatalog } from "../../../src/store/catalog/catalog.ts"
import { insertOutboxRows } from "../../../src/store/catalog/outbox.ts"

const SLICE = 1_000

const [, , dataDir, siteId, number] = Bun.argv
const catalog = await openCatalog(`file:${join(dataDir!, "catalog.db")}`)
const payload = { goal_id: 7, name: "Sign-up", kind: "event", value: "signup" }
const row = { event: "goal.created", organization_id: 1, site_id: Number(siteId), payload, at: Date.now() }
for (let left = Number(number); left > 0; left -= SLICE) await insertOutboxRows(catalog, Array(Math.min(left, SLICE)).fill(row))
await catalog.close()
