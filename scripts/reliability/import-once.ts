/** Runs an import or its undo in a process that `kill-at.ts` kills. `bun scripts/reliability/import-once.ts import <data folder>` */
import { join } from "node:path"
import type { NewEvent } from "../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../src/domain/visit.ts"
import { type EventStore, openEventStore } from "../../src/store/events/events.ts"
import type { ImportedVisit } from "../../src/store/events/import-batch.ts"

export const NATIVE_VISITS = 40
/** More events than a slice and a columnar segment of an import hold. */
export const IMPORTED = 35_000
export const IMPORT_ID = 1

const FROM = Date.parse("2026-01-05T00:00:00Z")
const DAY = "2026-01-05"
const NO_TRAITS = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits // every trait is listed in TRAITS

const pageview = (visit: number, offset: number, title = ""): NewEvent => ({
  ...{ at: FROM + visit * 1_000 + offset, name: "pageview", page: `/${visit % 50}`, hostname: "shop.example.com", title },
  ...{ interactive: true, props: [] },
})

export function writeNativeVisits(store: EventStore, siteId = 1): void {
  store.write(FROM, (writer) => {
    for (let visit = 1; visit <= NATIVE_VISITS; visit++) {
      const visitor = writer.visitor(siteId, DAY, { high: visit, low: visit })
      const id = writer.openVisit(siteId, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
      writer.add(siteId, id, pageview(visit, 0), DAY)
    }
  })
}

/** Titles that only the import has, which its undo must blank. */
export function* importedEvents(): Generator<ImportedVisit> {
  for (let visit = 1; visit <= IMPORTED; visit++) {
    const events = [pageview(visit, 0, `Imported ${visit % 200}`), pageview(visit, 500)]
    yield { visitor: String(visit % 5_000), traits: NO_TRAITS, events, day: DAY }
  }
}

if (import.meta.main) {
  const [, , operation, dataDir] = Bun.argv
  const store = openEventStore(join(dataDir!, "events.db"), { now: FROM })
  if (operation === "import") await store.importVisits({ siteId: 1, importId: IMPORT_ID }, importedEvents())
  else await store.dropImport(1, IMPORT_ID, FROM)
  store.checkpoint("truncate")
  store.close()
}
