/**
 * The process that `kill-in-phase` kills: writes numbered visits as fast as possible while one maintenance task runs repeatedly.
 * Prints acknowledged visits on separate lines. Its clock is derived from the numbers.
 */
import { rmSync, writeSync } from "node:fs"
import type { NewEvent } from "../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../src/domain/visit.ts"
import { copyEventFile } from "../../src/store/events/copy.ts"
import { type EventStore, openEventStore } from "../../src/store/events/events.ts"
import type { Part } from "../../src/store/events/part.ts"
import type { Writer } from "../../src/store/events/writer.ts"
import { erasable, eventsOfVisit, IMPORTED_VISITS, type LoopOptions, momentOf, RETAINED_MS, SITE, shipFrom } from "./phases.ts"

const VISITS_PER_GROUP = 40
/** In the phase `seal-open`, the last event of a visit arrives this many visits later, when the visit may be in a segment. */
const LAG = 400
/** So small that every seal moves open visits. */
const SMALL_TAIL_BYTES = 1
const NO_TRAITS = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits // every trait is listed in TRAITS

const options: LoopOptions = JSON.parse(Bun.argv[2]!)
const isSplit = options.phase === "seal-open"
const store = openEventStore(options.path, { now: momentOf(options.next), ...(isSplit && { tailBytes: SMALL_TAIL_BYTES }) })
const shipping = options.server && shipFrom(store, options.path, options.server)
let next = options.next
let importId = options.importId
const say = (line: string) => writeSync(1, `${line}\n`)

async function keepWriting(): Promise<never> {
  for (;;) {
    store.write(momentOf(next), (writer) => {
      for (let visit = next; visit < next + VISITS_PER_GROUP; visit++) {
        openVisit(writer, visit)
        if (isSplit && visit - LAG >= options.next) finishVisit(writer, visit - LAG)
      }
    })
    next += VISITS_PER_GROUP
    void shipping?.acknowledge()
    if (!isSplit) say(`visits ${next}`)
    else if (next - LAG > options.next) say(`visits ${next - LAG}`)
    await Bun.sleep(0)
  }
}

const dayOf = (visit: number): string => new Date(momentOf(visit)).toISOString().slice(0, 10)
const visitorOf = (writer: Writer, visit: number): number =>
  writer.visitor(SITE, dayOf(visit), { high: visit, low: Math.imul(visit, 0x9e3779b1) >>> 0 })

function openVisit(writer: Writer, visit: number): void {
  const [day, rotating] = [dayOf(visit), visitorOf(writer, visit)]
  // Every other visit closes with its group, like those of a back-fill, and is sealed at once.
  const isComplete = !isSplit && visit % 2 === 0
  const id = writer.openVisit(SITE, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS, isComplete }, day)
  const events = eventsOfVisit(visit)
  for (const amount of isSplit ? events.slice(0, -1) : events) writer.add(SITE, id, event(visit, amount), day)
}

function finishVisit(writer: Writer, visit: number): void {
  const open = writer.findOpenVisit(SITE, visitorOf(writer, visit), undefined, () => true)
  if (!open) throw new Error(`Visit ${visit} is not open`)
  writer.add(SITE, open.id, event(visit, eventsOfVisit(visit).at(-1)!), dayOf(visit))
}

async function keepUp(): Promise<never> {
  for (;;) {
    await UPKEEP[options.phase](store)
    say("round")
    await Bun.sleep(1)
  }
}

const UPKEEP: Record<LoopOptions["phase"], (store: EventStore) => Promise<void>> = {
  seal: (store) => store.seal(momentOf(next), true),
  async "seal-open"(store) {
    await store.seal(momentOf(next))
    await store.merge(momentOf(next))
    await store.dropRetired(momentOf(next))
  },
  async merge(store) {
    await store.seal(momentOf(next), true)
    await store.merge(momentOf(next))
    await store.dropRetired(momentOf(next))
  },
  async erase(store) {
    await store.seal(momentOf(next), true)
    await store.erase(SITE, chooseErasable, momentOf(next))
  },
  async retain(store) {
    await store.seal(momentOf(next), true)
    await store.retain(SITE, momentOf(next) - RETAINED_MS, momentOf(next))
  },
  async import(store) {
    await addImport(store)
  },
  async undo(store) {
    const id = await addImport(store)
    await store.dropImport(SITE, id, momentOf(next))
    say(`undone ${id}`)
  },
  async checkpoint(store) {
    store.checkpoint("truncate")
  },
  async backup() {
    const copy = `${options.path}.copy`
    rmSync(copy, { force: true })
    copyEventFile(options.path, copy)
  },
}

async function addImport(store: EventStore): Promise<number> {
  const id = importId++
  const visits = Array.from({ length: IMPORTED_VISITS }, (_, visit) => {
    const events = eventsOfVisit(visit).map((amount) => event(visit, amount))
    return { visitor: String(visit), traits: NO_TRAITS, events, day: new Date(momentOf(visit)).toISOString().slice(0, 10) }
  })
  await store.importVisits({ siteId: SITE, importId: id }, visits)
  say(`imported ${id}`)
  return id
}

function event(visit: number, amount: number): NewEvent {
  const at = momentOf(visit) + (amount % 10) * 1_000
  // Some visits have a unique text, which is erased with the visit.
  const title = visit % 5 === 0 || erasable(visit) ? `Order ${visit}` : ""
  const page = { page: "/thanks", hostname: "shop.example.com", title }
  return { ...page, at, name: "order", interactive: true, props: [], revenue: { amount, currency: "EUR" } }
}

function chooseErasable(part: Part): Uint8Array {
  const chosen = new Uint8Array(part.visits)
  const { row, amount } = part.revenue()
  const visitOf = part.event("visit")
  row.forEach((event, index) => {
    if (erasable(Math.floor(amount[index]! / 10))) chosen[visitOf[event]!] = 1
  })
  return chosen
}

// Maintenance runs concurrently with writes, as in a server: it yields between its transactions.
await Promise.all([keepWriting(), keepUp()])
