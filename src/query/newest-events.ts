import { ENGAGEMENT, VITALS } from "../domain/dimension.ts"
import type { LatestEvent } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import type { SeenEvent } from "./realtime.ts"
import { textsOf } from "./rows.ts"

interface Kept extends SeenEvent {
  part: Part
}

/** Keeps the last `count` pageviews and custom events of those it is offered, and then says them in texts. */
export function newestEvents(snapshot: Snapshot, count: number) {
  let kept: Kept[] = []
  /** Sorted now and then: most of what is offered is young, as few rows are. */
  const cut = () => {
    kept = kept.sort((a, b) => b.at - a.at || b.sequence - a.sequence || b.row - a.row).slice(0, count)
  }
  return {
    offer(part: Part, event: SeenEvent): void {
      const name = part.event("name")[event.row]!
      if (count === 0 || name === ENGAGEMENT || name === VITALS) return
      kept.push({ ...event, part })
      if (kept.length > 4 * count) cut()
    },
    list(): LatestEvent[] {
      cut()
      const texts = textsOf(snapshot)
      return kept.map(({ part, row, at }) => {
        const visit = part.event("visit")[row]!
        return {
          at,
          name: texts("name").text(part.event("name")[row]!),
          page: texts("page").text(part.event("page")[row]!),
          hostname: texts("hostname").text(part.event("hostname")[row]!),
          source: texts("source").text(part.visit("source")[visit]!),
          country: texts("country").text(part.visit("country")[visit]!),
          device: texts("device").text(part.visit("device")[visit]!),
          browser: texts("browser").text(part.visit("browser")[visit]!),
        }
      })
    },
  }
}
