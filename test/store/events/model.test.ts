import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS } from "../../../src/domain/visit.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { bySize } from "../../size.ts"
import { visibleImport } from "../../visible-imports.ts"
import { type DumpedVisit, dump } from "./dump.ts"
import { event, NO_TRAITS } from "./samples.ts"

/**
 * Compares a store with a plain list of visits through random sequences of writes in and out of order, seals, merges, erasures,
 * retention, imports, restarts and failed commits. After each step, a reader that stays open and a new one must both show the
 * content of the list, and the sale events must be those of its visits.
 */
const RUNS = bySize({ check: 10, full: 25, release: 200 })
const START = Date.parse("2026-11-01T00:00:00Z")
const MINUTE = 60_000
const DAY = "2026-11-01"

interface ModelVisit {
  id: number
  /** Visitor by the rotating id. */
  rotating: number
  visitor: number
  kind: number
  country: string
  importId: number
  arrivedAt: number
  /** Closed with its group commit. */
  isComplete?: boolean | undefined
  events: NewEvent[]
  /** Sequences of the events in order of arrival. */
  sequences: number[]
  /** For imports: the sales are hidden until the import is shown. */
  hidesSales?: boolean
}

interface NewModelVisit {
  visitor: number
  country: string
  events: NewRow[]
  isComplete?: boolean
}

const newEvent = fc.record({
  minutes: fc.integer({ min: -5, max: 20 }),
  name: fc.constantFrom("pageview", "pageview", "pageview", "engagement", "vitals", "Signup"),
  page: fc.constantFrom("/", "/pricing", "/blog/ä", "/long".repeat(50)),
  interactive: fc.boolean(),
  plan: fc.option(fc.constantFrom("free", "pro"), { nil: undefined }),
  amount: fc.option(fc.integer({ min: -1e15, max: 1e15 }), { nil: undefined }),
})
type NewRow = typeof newEvent extends fc.Arbitrary<infer Row> ? Row : never

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("visit" as const),
      visitor: fc.nat(9),
      country: fc.constantFrom("DE", "FR", ""),
      events: fc.array(newEvent, { minLength: 1, maxLength: 6 }),
      isComplete: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("join" as const),
      which: fc.nat(),
      country: fc.constantFrom("IT", "DE"),
      events: fc.array(newEvent, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("identify" as const), which: fc.nat(), person: fc.nat(3) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 4, arbitrary: fc.constant({ do: "seal" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("sealMeanwhile" as const),
      visitor: fc.nat(9),
      country: fc.constantFrom("DE", "FR"),
      events: fc.array(newEvent, { minLength: 1, maxLength: 3 }),
      forgets: fc.boolean(),
      turns: fc.nat(40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("eraseMeanwhile" as const),
      gone: fc.constantFrom("DE", "FR"),
      visitor: fc.nat(9),
      country: fc.constantFrom("ES", ""),
      events: fc.array(newEvent, { minLength: 1, maxLength: 3 }),
      turns: fc.nat(40),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "merge" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "restart" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "fail" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("erase" as const), country: fc.constantFrom("DE", "FR") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("retain" as const), minutes: fc.integer({ min: 0, max: 300 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("import" as const),
      importId: fc.integer({ min: 1, max: 2 }),
      events: fc.array(newEvent, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("hide" as const, "show" as const, "undo" as const),
      importId: fc.integer({ min: 1, max: 2 }),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

class Life {
  readonly #folder = mkdtempSync(join(tmpdir(), "footfall-"))
  readonly #path = join(this.#folder, "events.db")
  now = START
  visits: ModelVisit[] = []
  /** Sequence of the next event. */
  sequence = 1
  readonly hidden = new Set<number>()
  store: EventStore
  readonly follower: EventReader

  /** With a small `tailBytes`, every seal moves open visits too. Sales that are not read stay in the log for longer. */
  constructor(
    readonly tailBytes: number | undefined,
    readonly readsSales: boolean,
  ) {
    this.store = this.#open()
    this.follower = openEventReader(this.#path, { cacheBytes: 4_000 })
  }

  #open(): EventStore {
    return openEventStore(this.#path, { now: this.now, ...(this.tailBytes && { tailBytes: this.tailBytes }) })
  }

  async take(step: Step): Promise<void> {
    if (step.do === "visit") this.store.write(this.now, (writer) => this.#visit(writer, step))
    else if (step.do === "join")
      this.#onOpen(step.which, (visit) => this.store.write(this.now, (writer) => this.#add(writer, visit, step.events, step.country)))
    else if (step.do === "identify")
      this.#onOpen(step.which, (visit) => this.store.write(this.now, (writer) => this.#identify(writer, visit, step.person)))
    else if (step.do === "wait") this.now += step.minutes * MINUTE
    else if (step.do === "seal") await this.store.seal(this.now, true)
    else if (step.do === "sealMeanwhile") await this.#sealMeanwhile(step)
    else if (step.do === "eraseMeanwhile") await this.#eraseMeanwhile(step)
    else if (step.do === "merge") await this.store.merge(this.now)
    else if (step.do === "restart") this.#restart()
    else if (step.do === "fail") this.#fail()
    else if (step.do === "erase") await this.#erase(step.country)
    else if (step.do === "retain") await this.#retain(this.now - step.minutes * MINUTE)
    else if (step.do === "import") await this.#import(step)
    else await this.#changeImport(step)
  }

  expectTruth(): void {
    const visible = this.visits.filter(({ importId }) => !this.hidden.has(importId)).map(expectedVisit)
    const expected = visible.sort((a, b) => a.start - b.start || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    const imports = [1, 2].filter((id) => !this.hidden.has(id)).map(visibleImport)
    expect(dump(this.follower.snapshot(1, "visits", imports))).toEqual(expected)
    const fresh = openEventReader(this.#path, { cacheBytes: 1 << 20 })
    expect(dump(fresh.snapshot(1, "visits", imports))).toEqual(expected)
    fresh.close()
    if (this.readsSales) this.expectSales()
  }

  /** Compares the sale events, in storage order, with the events of all visits. */
  expectSales(): void {
    const stored = this.store.salesAfter(1, 0, 1_000_000)
    const sequences = stored.map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    expect(stored.map(({ place }) => place)).toEqual(sequences)
    const shown = stored.map(({ sequence, place: _, site_id, ...sale }) =>
      JSON.stringify({ ...sale, sequence: sale.import_id === 0 ? sequence : 0 }),
    )
    const expected = this.visits.filter(({ hidesSales }) => !hidesSales).flatMap(expectedSales)
    expect(shown.sort()).toEqual(expected.map((sale) => JSON.stringify(sale)).sort())
  }

  end(): void {
    this.follower.close()
    this.store.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #visit(writer: Writer, { visitor, country, events, isComplete = false }: NewModelVisit): void {
    const ordinal = writer.visitor(1, DAY, { high: visitor, low: ~visitor >>> 0 })
    const traits = { ...NO_TRAITS, country }
    const id = writer.openVisit(1, { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits, isComplete }, DAY)
    const visit: ModelVisit = {
      id,
      rotating: ordinal,
      visitor: ordinal,
      kind: 0,
      country,
      importId: 0,
      arrivedAt: this.now,
      isComplete,
      events: [],
      sequences: [],
    }
    this.visits.push(visit)
    const [first, ...others] = events
    this.#add(writer, visit, [{ ...first!, name: "pageview", minutes: 0 }, ...others], country)
  }

  #add(writer: Writer, visit: ModelVisit, rows: NewRow[], country: string): void {
    for (const row of rows) {
      this.#find(writer, visit)
      const added = toEvent(row, this.now)
      const isEarlier = visit.events.length > 0 && added.at < Math.min(...visit.events.map(({ at }) => at))
      if (isEarlier) {
        visit.country = country
        writer.add(1, visit.id, added, DAY, { ...NO_TRAITS, country })
      } else writer.add(1, visit.id, added, DAY)
      visit.events.push(added)
      visit.sequences.push(this.sequence++)
      visit.arrivedAt = this.now
    }
  }

  /** Finds an open visit. One that was sealed is taken back, under an id that takes a sequence. */
  #find(writer: Writer, visit: ModelVisit): void {
    const first = visit.events.length > 0 ? expectedVisit(visit).first : visit.id
    const found = writer.findOpenVisit(1, visit.rotating, undefined, ({ id }) => id === visit.id || id === first)
    if (!found) throw new Error(`Visit ${visit.id} is not open`)
    if (found.id === visit.id) return
    expect(found.id).toBe(this.sequence)
    visit.id = this.sequence++
  }

  #identify(writer: Writer, visit: ModelVisit, person: number): void {
    this.#find(writer, visit)
    visit.visitor = writer.person(1, { high: person, low: person }, "user")
    visit.kind = 2
    writer.identify(1, visit.id, visit.visitor, "user")
  }

  /** Seals while visits begin and continue and the visitors of the day are forgotten. */
  async #sealMeanwhile(step: { visitor: number; country: string; events: NewRow[]; forgets: boolean; turns: number }): Promise<void> {
    const sealing = this.store.seal(this.now, true)
    for (let turn = 0; turn <= step.turns; turn++) await Bun.sleep(0)
    this.store.write(this.now, (writer) => this.#visit(writer, step))
    const forgetting = step.forgets ? this.store.forgetVisitors(1, DAY) : undefined
    this.#onOpen(step.visitor, (visit) => this.store.write(this.now, (writer) => this.#add(writer, visit, step.events, step.country)))
    await Promise.all([sealing, forgetting])
  }

  /** Erases visits and blanks texts while other visits begin and continue, some with texts of the erased visits. */
  async #eraseMeanwhile(step: { gone: string; visitor: number; country: string; events: NewRow[]; turns: number }): Promise<void> {
    const erasing = this.#erase(step.gone)
    for (let turn = 0; turn <= step.turns; turn++) {
      await Bun.sleep(0)
      if (turn % 8 === 0) this.store.write(this.now, (writer) => this.#visit(writer, step))
      else if (turn % 8 === 4) {
        const join = (visit: ModelVisit) => this.store.write(this.now, (writer) => this.#add(writer, visit, step.events, step.country))
        this.#onOpen(step.visitor, join, step.gone)
      }
    }
    await erasing
  }

  #onOpen(which: number, work: (visit: ModelVisit) => void, butOf?: string): void {
    const open = this.visits.filter(
      ({ importId, arrivedAt, country, isComplete }) =>
        importId === 0 && !isComplete && country !== butOf && this.now - arrivedAt <= 30 * MINUTE,
    )
    if (open.length > 0) work(open[which % open.length]!)
  }

  #restart(): void {
    this.store.close()
    this.store = this.#open()
  }

  #fail(): void {
    const [before, sequence] = [structuredClone(this.visits), this.sequence]
    const broken = () =>
      this.store.write(this.now, (writer) => {
        this.#visit(writer, {
          visitor: 77,
          country: "XX",
          events: [{ minutes: 0, name: "pageview", page: "/", interactive: true, plan: "free", amount: 500 }],
        })
        throw new Error("broken on purpose")
      })
    expect(broken).toThrow("broken on purpose")
    this.visits = before
    this.sequence = sequence
  }

  async #erase(country: string): Promise<void> {
    const gone = this.visits.filter((visit) => visit.country === country)
    const dictionary = () => {
      const reader = openEventReader(this.#path, { cacheBytes: 1 << 20 })
      const id = reader.snapshot(1).dictionary("country").find(country)
      reader.close()
      return id
    }
    const id = dictionary()
    const erased = await this.store.erase(1, (part) => Uint8Array.from(part.visit("country"), (each) => (each === id ? 1 : 0)), this.now)
    expect(erased).toBe(gone.length)
    this.visits = this.visits.filter((visit) => visit.country !== country)
    if (gone.length > 0) expect(dictionary()).toBeUndefined()
  }

  async #retain(cutoff: number): Promise<void> {
    const stays = ({ events }: ModelVisit) => Math.min(...events.map(({ at }) => at)) >= cutoff
    expect(await this.store.retain(1, cutoff, this.now)).toBe(this.visits.filter((visit) => !stays(visit)).length)
    this.visits = this.visits.filter(stays)
  }

  async #import({ importId, events }: { importId: number; events: NewRow[] }): Promise<void> {
    const [first, ...others] = events
    const rows = [
      { ...first!, name: "pageview" as const, minutes: -300 },
      ...others.map((row) => ({ ...row, minutes: Math.abs(row.minutes) - 290 })),
    ]
    // Imports bring revenue; the store makes the sales of it.
    const made = rows.map((row) => withoutSale(toEvent(row, this.now))).sort((a, b) => a.at - b.at)
    await this.store.importVisits({ siteId: 1, importId }, [
      { visitor: "a", traits: { ...NO_TRAITS, country: "DE" }, events: made, day: DAY },
    ])
    const reader = openEventReader(this.#path, { cacheBytes: 1 << 20 })
    const visitor = reader.snapshot(1).visitorLimit
    reader.close()
    this.visits.push({
      id: -1,
      rotating: -1,
      visitor: visitor - 1,
      kind: 0,
      country: "DE",
      importId,
      arrivedAt: 0,
      events: made,
      sequences: made.map(() => this.sequence++),
      hidesSales: true,
    })
    // Each sale takes another number, because its position is the time of the batch.
    this.sequence += made.filter(({ revenue }) => revenue).length
  }

  async #changeImport(step: { do: "hide" | "show" | "undo"; importId: number }): Promise<void> {
    if (step.do === "undo") {
      await this.store.dropImport(1, step.importId, this.now)
      this.visits = this.visits.filter(({ importId }) => importId !== step.importId)
      return
    }
    if (step.do === "hide") this.hidden.add(step.importId)
    else {
      this.hidden.delete(step.importId)
      await this.store.showSales([{ id: step.importId, run: 1 }])
      for (const visit of this.visits.filter(({ importId, hidesSales }) => importId === step.importId && hidesSales)) {
        this.sequence += visit.events.filter(({ revenue }) => revenue).length
        visit.hidesSales = false
      }
    }
  }
}

const withoutSale = ({ sale: _, ...rest }: NewEvent): NewEvent => rest

/** Returns the sale events of a visit, those of an import without their sequence. */
function expectedSales(visit: ModelVisit): object[] {
  const { first } = expectedVisit(visit)
  return visit.events.flatMap(({ at, name, revenue, sale, props }, index) => {
    const { amount, currency } = sale ?? revenue ?? {}
    if (amount === undefined) return []
    return {
      visit_sequence: first,
      import_id: visit.importId,
      import_at: visit.importId === 0 ? at : Math.min(...visit.events.map((event) => event.at)),
      at,
      amount_minor: amount,
      currency,
      order_id: visit.importId === 0 ? sale!.orderId || null : (props.find(([key]) => key === "order_id")?.[1] ?? null),
      name,
      trust: sale?.trust ?? "client",
      is_repeated: sale?.isRepeated ?? false,
      sequence: visit.importId === 0 ? visit.sequences[index]! : 0,
    }
  })
}

function toEvent({ minutes, name, page, interactive, plan, amount }: NewRow, now: number): NewEvent {
  const isCounted = name !== "engagement" && name !== "vitals"
  const money = amount !== undefined && isCounted ? { amount, currency: amount < 0 ? "USD" : "EUR" } : undefined
  // A repeated order keeps its sale, and its event loses its revenue.
  const isRepeated = money !== undefined && page === "/pricing"
  return event({
    at: now + minutes * MINUTE,
    name,
    page,
    interactive,
    title: page.slice(0, 3),
    props: plan && isCounted ? [["order_id", plan]] : [],
    ...(money && !isRepeated ? { revenue: money } : {}),
    ...(money ? { sale: { ...money, orderId: plan ?? "", trust: interactive ? "server" : "client", isRepeated } } : {}),
    ...(name === "engagement" ? { engagement: interactive ? { engagedMs: 3_000, scrollDepth: 40 } : { engagedMs: 10 } } : {}),
    ...(name === "vitals" ? { vitals: interactive ? { lcp: 1_200, cls: 0.125 } : { inp: 80, fcp: 1, ttfb: 0 } } : {}),
  })
}

/** Computes the expected visit from its plain list of events. */
function expectedVisit(visit: ModelVisit): DumpedVisit {
  const events = visit.events
    .map((each, index) => ({ ...each, sequence: visit.sequences[index]! }))
    .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
  const start = events[0]!.at
  const counted = events.filter(({ name }) => name !== "engagement" && name !== "vitals")
  const views = events.filter(({ name }) => name === "pageview")
  return {
    visitor: visit.visitor,
    kind: visit.kind,
    start,
    first: events[0]!.sequence,
    duration: counted.at(-1)!.at - start,
    pageviews: views.length,
    events: counted.length,
    interactive: counted.filter(({ name, interactive }) => name !== "pageview" && interactive).length,
    engaged: events.reduce((sum, { engagement }) => sum + (engagement?.engagedMs ?? 0), 0),
    entry: `example.com${views[0]!.page}`,
    exit: `example.com${views.at(-1)!.page}`,
    traits: TRAITS.map((trait) => (trait === "country" ? visit.country : "")).join("|"),
    importId: visit.importId,
    rows: events.map(({ at, name, page, hostname, title, interactive, props, revenue, engagement, vitals }) => ({
      at,
      name,
      page,
      hostname,
      title,
      interactive,
      props: props.map(([key, value]) => [key, value]),
      revenue: revenue ? [`${revenue.amount} ${revenue.currency}`] : [],
      engagement: engagement ? [[engagement.engagedMs, engagement.scrollDepth]] : [],
      vitals: vitals ? [[vitals.lcp, vitals.inp, vitals.fcp, vitals.ttfb, vitals.cls === undefined ? undefined : vitals.cls * 1000]] : [],
    })),
  }
}

test(
  "readers show what was written, regardless of maintenance",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.constantFrom(undefined, 1, 3_000),
        fc.boolean(),
        async (steps, tailBytes, readsSales) => {
          const life = new Life(tailBytes, readsSales)
          try {
            for (const each of steps) {
              await life.take(each)
              life.expectTruth()
            }
            life.expectSales()
          } finally {
            life.end()
          }
        },
      ),
      { seed: 7, numRuns: RUNS },
    )
  },
  { timeout: 600_000 },
)
