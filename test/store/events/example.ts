import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, VISITOR_KINDS, type VisitTraits } from "../../../src/domain/visit.ts"
import type { EventStore } from "../../../src/store/events/events.ts"
import { type Random, seededRandom } from "../../oracle/random.ts"
import { event } from "./samples.ts"

/**
 * Visits with everything that a store can contain, always the same. The file `format-1.db.gz` has them, too; a change of the numbers here
 * needs a new one.
 */
const NOON = Date.parse("2026-11-20T12:00:00Z")
const MINUTE = 60_000
const DAY = "2026-11-20"
export const EXAMPLE_END = NOON + 40 * 60 * MINUTE

/** Writes the example to a new store, in three segments of site 1 and one of clicks. */
export async function writeExample(store: EventStore): Promise<void> {
  const random = seededRandom(7)
  for (let segment = 0; segment < 3; segment++) {
    const start = NOON + segment * 600 * MINUTE
    for (let visit = 0; visit < 60; visit++) {
      const at = start + random.whole(0, 300 * MINUTE)
      store.write(at, (writer) => {
        const rotating = writer.visitor(1, DAY, { high: segment, low: random.whole(0, 40) })
        const id = writer.openVisit(
          1,
          { rotating, visitor: rotating, visitorKind: random.pick(VISITOR_KINDS), traits: traits(random) },
          DAY,
        )
        for (const each of events(random, at)) writer.add(1, id, each, DAY)
      })
    }
    store.write(start, (writer) => {
      const click = event({ at: start, name: "link_click", props: [["url", `https://example.org/${segment}`]] })
      writer.record(1, "clicks", { visitor: undefined, traits: traits(random), event: click }, DAY)
    })
    await store.seal(start + 400 * MINUTE, true)
  }
}

const traits = (random: Random): VisitTraits =>
  // Every trait is listed.
  Object.fromEntries(TRAITS.map((name) => [name, random.chance(0.3) ? "" : `${name} ${random.whole(0, 3)}`])) as VisitTraits

/** Makes the events of a visit: some begin with a custom event, some have reports of the same time, some none at all. */
function events(random: Random, start: number): NewEvent[] {
  let at = start
  return Array.from({ length: random.whole(1, 9) }, (_, i) => {
    at += random.pick([0, 1, 700, 45_000, 15 * MINUTE])
    const name = i === 0 ? random.pick(["pageview", "pageview", "Signup"]) : random.pick(["pageview", "engagement", "vitals", "Signup"])
    const page = random.pick(["/", "/pricing", "/blog/ä"])
    return event({
      ...{ at, name, page, hostname: random.pick(["example.com", "www.example.com", ""]), interactive: random.chance(0.7) },
      title: random.chance(0.9) ? `Page ${page}` : "Another",
      props: name === "Signup" ? [["plan", random.pick(["free", "pro"])] as const] : [],
      ...(name === "Signup" &&
        random.chance(0.5) && { revenue: { amount: random.whole(-9, 9) * 10 ** 11, currency: random.pick(["EUR", "USD"]) } }),
      ...(name === "engagement" && {
        engagement: { engagedMs: random.whole(0, 90_000), ...(random.chance(0.7) && { scrollDepth: random.pick([40, 100]) }) },
      }),
      ...(name === "vitals" && { vitals: { lcp: random.whole(0, 9_000), ...(random.chance(0.5) && { cls: 0.125 }) } }),
    })
  })
}
