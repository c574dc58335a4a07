import { join } from "node:path"
import type { NewEvent } from "../../src/domain/event.ts"
import type { VisibleImport } from "../../src/domain/imported.ts"
import { type EventStore, openEventStore } from "../../src/store/events/events.ts"
import type { EventReader, Part, Snapshot } from "../../src/store/events/part.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import type { Writer } from "../../src/store/events/writer.ts"
import { temporaryFolder } from "../kit.ts"
import { importOn } from "../visible-imports.ts"
import { dayStart, localDate, plusDays } from "./days.ts"
import { planTotals, type RawImport } from "./imported.ts"
import type { Random } from "./random.ts"
import { type RawVisit, startOf } from "./raw.ts"
import { asPageview, FEW, type PlannedVisit, planVisits, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"

const HOUR = 3_600_000

interface TrueVisit extends RawVisit {
  siteId: number
  /** Of each event. */
  sequences: number[]
}

/** A real event store through all its states, and the plain list of its expected content. */
export class World {
  readonly #folder = temporaryFolder()
  readonly path = join(this.#folder.path, "events.db")
  readonly #random: Random
  readonly #time: Time
  readonly #node: number | undefined
  /** The server's clock, later than all events. */
  protected now: number
  protected store: EventStore
  /** Of the embedded store. */
  protected reader: EventReader
  #visits: TrueVisit[] = []
  /** Number of the next event, counted from 0; the store counts from 1. */
  #sequence = 0
  /** Of the first site: all imports, and those that are visible. */
  readonly #imports = new Map<number, RawImport>()
  readonly #visible = new Map<number, RawImport>()

  /** `node` is the number of the node that ships what the store contains, if there is one. */
  constructor(random: Random, time: Time, node?: number) {
    this.#random = random
    this.#time = time
    this.#node = node
    this.now = Date.parse(`${time.day}T00:00:00Z`) + 10 * 24 * HOUR
    this.store = this.#openStore()
    this.reader = this.#openReader()
  }

  snapshot(siteId: number): Snapshot {
    return this.reader.snapshot(siteId, "visits", this.shown(siteId))
  }

  /** Returns the visible imports as a reader gets them. */
  protected shown(siteId: number): VisibleImport[] {
    return this.imports(siteId).map(({ id, timezone, days }) => importOn(id, timezone, ...days.map((day) => [day, day] as const)))
  }

  /** Returns the visits that a query of the site sees, in no particular order. */
  visits(siteId: number): RawVisit[] {
    return this.#visits.filter((visit) => visit.siteId === siteId && this.#isVisible(visit))
  }

  /** Returns the visible imports of a site, by id. */
  imports(siteId: number): RawImport[] {
    return siteId === SITES[0]!.id ? [...this.#visible.values()].sort((a, b) => a.id - b.id) : []
  }

  #isVisible(visit: TrueVisit): boolean {
    if (visit.importId === 0) return true
    const found = this.#visible.get(visit.importId)
    return found?.days.includes(localDate(startOf(visit), found.timezone)) ?? false
  }

  /** Writes some visits with interleaved events, in many group commits. */
  write(count: number, people = FEW): void {
    this.writeVisits(this.plan(count, people), people)
  }

  /** Plans visits of a number of people. */
  plan(count: number, people = FEW): PlannedVisit[] {
    return planVisits(this.#random, this.#time, count, people)
  }

  /** Writes planned visits in the same way. */
  writeVisits(plans: readonly PlannedVisit[], people = FEW): void {
    this.#finish(this.#begin(plans), 0, people)
  }

  /** The same, but seals the visits while they are open, and then continues some of them. */
  async writeSealingOpenVisits(plans: readonly PlannedVisit[]): Promise<void> {
    this.#reopen(SMALL_TAIL_BYTES)
    const visits = this.#begin(plans)
    const left = this.#finish(visits, plans.length / 2, FEW)
    await this.store.seal(this.now)
    this.#finish(left, 0, FEW)
    this.#reopen()
  }

  #begin(plans: readonly PlannedVisit[]): WrittenVisit[] {
    const visits = plans.map((plan) => ({ plan, next: 0, id: 0, visit: emptyVisit(plan) }))
    this.#visits.push(...visits.map(({ visit }) => visit))
    return visits
  }

  /** Writes events until so many visits are left to be continued. Returns these. */
  #finish(visits: readonly WrittenVisit[], rest: number, people: number): WrittenVisit[] {
    const left = [...visits]
    while (left.length > rest) {
      this.now += 1_000
      this.store.write(this.now, (writer) => {
        for (let i = this.#random.whole(1, people === FEW ? 6 : 800); i > 0 && left.length > 0; i--) {
          const chosen = this.#random.whole(0, Math.min(rest > 0 ? left.length - 1 : 4, left.length - 1))
          this.#writeNext(writer, left[chosen]!)
          if (left[chosen]!.next === left[chosen]!.plan.events.length) left.splice(chosen, 1)
        }
      })
    }
    return left
  }

  async seal(): Promise<void> {
    this.now += HOUR
    await this.store.seal(this.now, true)
  }

  merge(): Promise<void> {
    return this.store.merge(this.now)
  }

  async import(importId: number, count: number): Promise<void> {
    const siteId = SITES[0]!.id
    this.#add({ id: importId, timezone: this.#time.zones[0]!, days: daysAround(this.#time.day, 40), totals: [] })
    const plans = planVisits(this.#random, this.#time, count, FEW)
    const imported = plans.map((plan) => {
      const events = plan.events.toSorted((a, b) => a.at - b.at)
      const [first, ...others] = events
      return { visitor: `${plan.rotating}`, traits: plan.traits, events: [asPageview(first!), ...others], day: this.#time.day }
    })
    await this.store.importVisits({ siteId, importId }, imported)
    for (const { visitor, traits, events } of imported) {
      const sequences = events.map(() => this.#sequence++)
      const visit = {
        siteId,
        visitor: `import ${importId} ${visitor}`,
        kind: "rotating",
        sequence: sequences[0]!,
        importId,
        traits,
      } as const
      this.#visits.push({ ...visit, events, sequences })
    }
    // Each sale takes another number, because its position is the time of the batch.
    this.#sequence += imported.flatMap(({ events }) => events).filter(({ revenue }) => revenue).length
  }

  /** Imports totals of some days, in one of the zones of the time. */
  async importTotals(importId: number, zone: number): Promise<void> {
    const timezone = this.#time.zones[zone]!
    const days = daysAround(this.#time.day, 4).filter((day) => dayStart(day, timezone) < dayStart(plusDays(day, 1), timezone))
    const totals = planTotals(this.#random, days, timezone)
    for (const [kind, list] of Map.groupBy(totals, (one) => one.kind)) {
      const rows = list.map(({ row }) => row)
      await this.store.importTotals({ siteId: SITES[0]!.id, importId }, kind, rows)
    }
    this.#add({ id: importId, timezone, days, totals })
  }

  #add(one: RawImport): void {
    this.#imports.set(one.id, one)
    this.show(one.id)
  }

  hide(importId: number): void {
    this.#visible.delete(importId)
  }

  show(importId: number): void {
    this.#visible.set(importId, this.#imports.get(importId)!)
  }

  /** Shows all imports on some of their days. */
  showSomeDays(): void {
    for (const [id, one] of this.#imports) this.#visible.set(id, { ...one, days: one.days.filter(() => this.#random.chance(0.8)) })
  }

  /** Removes the totals of the first days of all imports. */
  async retainTotals(): Promise<void> {
    const first = plusDays(this.#time.day, -3)
    await this.store.retainTotals(SITES[0]!.id, first, this.now)
    for (const imports of [this.#imports, this.#visible])
      for (const [id, one] of imports) imports.set(id, { ...one, totals: one.totals.filter(({ row }) => row.day >= first) })
  }

  /** A moment before most visits start. */
  get cutoff(): number {
    return Date.parse(`${this.#time.day}T00:00:00Z`) - 26 * HOUR
  }

  /** Erases everything from some countries, and visits chosen by the millisecond of their start. */
  async erase(country: string): Promise<void> {
    const isChosen = (start: number) => Math.floor(start / 1_000) % 7 === 3
    for (const { id } of SITES) {
      const number = this.reader.snapshot(id).dictionary("country").find(country)
      const choose = (part: Part) => {
        const starts = part.starts()
        return Uint8Array.from(part.visit("country"), (each, visit) => (each === number || isChosen(starts[visit]!) ? 1 : 0))
      }
      await this.store.erase(id, choose, this.now)
    }
    this.#visits = this.#visits.filter((visit) => visit.traits.country !== country && !isChosen(startOf(visit)))
  }

  async retain(siteId: number, cutoff: number): Promise<void> {
    await this.store.retain(siteId, cutoff, this.now)
    this.#visits = this.#visits.filter((visit) => visit.siteId !== siteId || startOf(visit) >= cutoff)
  }

  restart(): void {
    this.reader.close()
    this.#reopen()
    this.reader = this.#openReader()
  }

  #reopen(tailBytes?: number): void {
    this.store.close()
    this.store = this.#openStore(tailBytes)
  }

  #openStore(tailBytes?: number): EventStore {
    const store = openEventStore(this.path, { now: this.now, ...(tailBytes && { tailBytes }) })
    if (this.#node) store.beginShipping(this.#node, siteKey)
    return store
  }

  [Symbol.dispose](): void {
    this.reader.close()
    this.store.close()
    this.#folder[Symbol.dispose]()
  }

  #openReader = () => openEventReader(this.path, { cacheBytes: 1 << 20 })

  #writeNext(writer: Writer, writing: WrittenVisit): void {
    const { plan, next, visit } = writing
    const { siteId, rotating: high, person, kind } = plan
    const event = plan.events[next]!
    if (next === 0) {
      const rotating = writer.visitor(siteId, "2026", { high, low: 1 })
      writing.id = writer.openVisit(siteId, { rotating, visitor: rotating, visitorKind: "rotating", traits: plan.traits }, this.#time.day)
    }
    if (next > 0) this.#find(writer, writing)
    const isEarlier = next > 0 && event.at < startOf(visit)
    writer.add(siteId, writing.id, event, this.#time.day, isEarlier ? plan.earlierTraits : undefined)
    if (isEarlier) visit.traits = plan.earlierTraits
    this.#insert(visit, event)
    if (kind !== "rotating" && next === plan.identifiedAt) {
      writer.identify(siteId, writing.id, writer.person(siteId, { high: person, low: kind === "user" ? 2 : 3 }, kind), kind)
      visit.visitor = `${kind} ${person}`
      visit.kind = kind
    }
    writing.next++
  }

  /** Finds an open visit. One that was sealed is taken back, under an id that takes a sequence. */
  #find(writer: Writer, writing: WrittenVisit): void {
    const { plan, visit } = writing
    const rotating = writer.visitor(plan.siteId, "2026", { high: plan.rotating, low: 1 })
    const found = writer.findOpenVisit(plan.siteId, rotating, undefined, ({ id }) => id === writing.id || id === visit.sequence + 1)
    if (!found) throw new Error("A visit is not open any more")
    if (found.id === writing.id) return
    writing.id = found.id
    this.#sequence++
    if (found.id !== this.#sequence) throw new Error("The numbers of events are not those of the store")
  }

  /** Keeps the events in order of (time, sequence): inserts after all that are not later. */
  #insert(visit: TrueVisit, event: NewEvent): void {
    const place = visit.events.findLastIndex(({ at }) => at <= event.at) + 1
    visit.events = visit.events.toSpliced(place, 0, event)
    visit.sequences = visit.sequences.toSpliced(place, 0, this.#sequence++)
    visit.sequence = visit.sequences[0]!
  }
}

/** Returns the key of a site's pseudonyms, which all nodes have. */
export const siteKey = async (siteId: number): Promise<Uint8Array> => new Uint8Array(32).fill(siteId)

/** So small that every seal moves open visits. */
const SMALL_TAIL_BYTES = 1

/** A visit of which some events are written. */
interface WrittenVisit {
  plan: PlannedVisit
  /** Index of the next event to write. */
  next: number
  id: number
  visit: TrueVisit
}

const daysAround = (day: string, reach: number): string[] => Array.from({ length: 2 * reach + 1 }, (_, i) => plusDays(day, i - reach))

const emptyVisit = ({ siteId, rotating, traits }: PlannedVisit): TrueVisit => ({
  siteId,
  visitor: `rotating ${rotating}`,
  kind: "rotating",
  sequence: 0,
  importId: 0,
  traits,
  events: [],
  sequences: [],
})
