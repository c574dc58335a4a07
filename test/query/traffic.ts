import { join } from "node:path"
import type { NewEvent } from "../../src/domain/event.ts"
import type { SiteFacts } from "../../src/domain/query.ts"
import { TRAITS, VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../../src/domain/visit.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { temporaryFolder } from "../kit.ts"

export const SITE: SiteFacts = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }

// Complete: every trait has a value.
const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

interface Visit {
  visitor: number
  kind?: VisitorKind
  traits?: Partial<VisitTraits>
  /** In order of arrival. */
  events: (Partial<NewEvent> & { at: number })[]
}

/** Opens a real event store with one site, deleted at the end of the test's scope. Visits are written in call order and stay open. */
export function openTraffic(start: number) {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: start })
  const reader = openEventReader(path, { cacheBytes: 8 << 20 })
  return {
    path,
    store,
    visit({ visitor: number, kind = "rotating", traits, events }: Visit): void {
      store.write(events[0]!.at, (writer) => {
        const visitor = writer.visitor(SITE.id, "one", { high: VISITOR_KINDS.indexOf(kind), low: number })
        const visit = writer.openVisit(
          SITE.id,
          { rotating: visitor, visitor, visitorKind: kind, traits: { ...NO_TRAITS, ...traits } },
          "2026-11-21",
        )
        for (const event of events) {
          const { name = "pageview", page = "/", hostname = "", title = "", interactive = true, props = [], ...rest } = event
          writer.add(SITE.id, visit, { name, page, hostname, title, interactive, props, ...rest }, "2026-11-21")
        }
      })
    },
    /** Moves everything written so far from the tail into a columnar segment. */
    seal: () => store.seal(start + 30 * 86_400_000, true),
    snapshot: (): Snapshot => reader.snapshot(SITE.id),
    [Symbol.dispose]() {
      reader.close()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}
