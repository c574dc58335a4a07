/** Visits that only a second engine has become segments of the store. */
import type { DictionaryName } from "../../../domain/dimension.ts"
import { TRAITS } from "../../../domain/visit.ts"
import { laneOf, type SegmentKind } from "../bytes/lanes.ts"
import { DISCARDED } from "../dictionary/interner.ts"
import { propertyDictionary } from "../dictionary/texts.ts"
import type { Journal } from "../journal.ts"
import { saveCounters } from "../memory.ts"
import { type EventColumn, type Part, VISIT_PAGES, type VisitColumn } from "../part.ts"
import { ownSequence } from "../spool/sequences.ts"
import type { SharedNumbering } from "../spool/visitor-numbers.ts"
import { buildSegments, type SegmentRows } from "../upkeep/build.ts"
import { insertPending, publishSegments } from "../upkeep/segments.ts"

/** How a visit was opened, as the engine knows it. */
export interface RemoteOpening {
  /** Sequences outside the store: of the first event by time, and of the event that arrived first. */
  sequence: number
  opening: number
  openedAt: number
  /** Number of the rotating visitor. */
  opener: number
}

/** Visits of one kind, import and run, with the numbers and texts of a reader of the engine. */
export interface AdoptedVisits {
  part: Part
  kind: SegmentKind
  run: number
  /** Number of the node that has shipped the visits. */
  node: number
  text(name: DictionaryName, id: number): string
  /** Returns the number of a visitor. */
  visitor(ordinal: number): number
  /** The visits that were not opened by their first event and visitor. */
  openings: readonly RemoteOpening[]
}

/** Texts that the store may not know: the number of each in a column, and the hour in which it occurs first. */
type Wanted = Map<number, number>

const HOUR_MS = 3_600_000

/** Stores visits of a site. Visitors that the store knows have their ordinals, and others get the next ones. */
export class VisitAdoption {
  readonly #journal: Journal
  readonly #siteId: number
  /** Ordinals by number. */
  readonly #ordinals = new Map<number, number>()
  /** Numbers of new visitors by ordinal, until they are stored. */
  readonly #numbered = new Map<number, number>()

  constructor(journal: Journal, siteId: number, { limit, number }: SharedNumbering) {
    this.#journal = journal
    this.#siteId = siteId
    for (let ordinal = 0; ordinal < limit; ordinal++) this.#ordinals.set(number(ordinal), ordinal)
  }

  async add(visits: AdoptedVisits, now: number): Promise<void> {
    const { part, kind, run } = visits
    const rows = this.#rowsOf(visits)
    const journal = this.#journal
    const { db, append } = journal
    const added: number[] = []
    for await (const segment of buildSegments([{ part: rows }]))
      added.push(append(() => insertPending(db, this.#siteId, part.importId, segment, { kind, run })))
    journal.change(() => {
      // The engine has them, up to any record of the log.
      publishSegments(db, added, [], now, 0)
      this.#saveOpenings(visits)
      this.#saveNumbers()
      saveCounters(journal.memory)
    })
  }

  /** Returns the rows with the numbers that the store has for texts and visitors. */
  #rowsOf(visits: AdoptedVisits): SegmentRows {
    const { part, text } = visits
    const [starts, visitOf] = [part.starts(), part.event("visit")]
    const hourOfEvent = (row: number) => Math.floor(starts[visitOf[row]!]! / HOUR_MS)
    const hourOfVisit = (row: number) => Math.floor(starts[row]! / HOUR_MS)
    const renumbered = (column: Uint32Array, name: DictionaryName, hourOf: (row: number) => number): Uint32Array => {
      const wanted: Wanted = new Map()
      for (let row = 0; row < column.length; row++) if (!wanted.has(column[row]!)) wanted.set(column[row]!, hourOf(row))
      const numbers = this.#numbersOf(name, wanted, (id) => text(name, id))
      return column.map((id) => numbers.get(id)!)
    }
    const visit = new Map<VisitColumn, Uint32Array>()
    for (const trait of TRAITS) visit.set(trait, renumbered(part.visit(trait), trait, hourOfVisit))
    for (const name of VISIT_PAGES)
      visit.set(name, renumbered(part.visit(name), name.endsWith("hostname") ? "hostname" : "page", hourOfVisit))
    visit.set(
      "visitor",
      part.visit("visitor").map((ordinal) => this.#ordinalOf(visits.visitor(ordinal))),
    )
    const event = new Map<EventColumn, Uint32Array>()
    for (const name of ["name", "page", "hostname", "title"] as const) event.set(name, renumbered(part.event(name), name, hourOfEvent))
    const revenue = part.revenue()
    const ownSequences = part.sequences().map((sequence) => ownSequence(sequence, visits.node)!) // of this node only
    const sold = { ...revenue, currency: renumbered(revenue.currency, "currency", (at) => hourOfEvent(revenue.row[at]!)) }
    const props = this.#propsOf(visits, hourOfEvent)
    return {
      visits: part.visits,
      events: part.events,
      starts: () => starts,
      sequences: () => ownSequences,
      visit: (name) => visit.get(name) ?? part.visit(name),
      event: (name) => event.get(name) ?? part.event(name),
      props: () => props,
      revenue: () => sold,
      engagement: () => part.engagement(),
      vitals: () => part.vitals(),
    }
  }

  #propsOf({ part, text }: AdoptedVisits, hourOf: (row: number) => number): ReturnType<Part["props"]> {
    const { row, key, value } = part.props()
    const [keys, values] = [new Uint32Array(key.length), new Uint32Array(value.length)]
    const places = Map.groupBy(key.keys(), (at) => key[at]!)
    for (const [remote, of] of places) {
      const keyText = text("property", remote)
      const [own] = this.#numbersOf("property", new Map([[remote, hourOf(row[of[0]!]!)]]), () => keyText).values()
      const wanted: Wanted = new Map()
      for (const at of of) if (!wanted.has(value[at]!)) wanted.set(value[at]!, hourOf(row[at]!))
      const numbers = this.#numbersOf(propertyDictionary(own!), wanted, (id) => text(propertyDictionary(remote), id), keyText)
      for (const at of of) {
        keys[at] = own!
        values[at] = numbers.get(value[at]!)!
      }
    }
    return { row, key: keys, value: values }
  }

  /**
   * Returns the numbers of the store for texts. What was accepted once is accepted again: the limit of new values is that of a day, and an
   * hour cannot have more of them.
   */
  #numbersOf(name: DictionaryName, wanted: Wanted, text: (id: number) => string, property?: string): Map<number, number> {
    return this.#journal.change(() => {
      const { interner } = this.#journal.memory
      const numbers = new Map<number, number>()
      for (const [id, hour] of wanted) {
        const number = interner.number(this.#siteId, name, id === 0 ? "" : text(id), `${ADOPTED} ${hour}`, refuse, property)
        if (number === DISCARDED) refuse()
        numbers.set(id, number)
      }
      saveCounters(this.#journal.memory)
      const sql = "delete from new_values where site_id = ?1 and day between ?2 and ?2 || 'z'"
      this.#journal.db.query(sql).run(this.#siteId, `${ADOPTED} `)
      return numbers
    }, true)
  }

  #ordinalOf(number: number): number {
    const known = this.#ordinals.get(number)
    if (known !== undefined) return known
    const { visitors } = this.#journal.memory
    const ordinal = visitors.nextOrdinal(this.#siteId)
    visitors.reserve(this.#siteId, ordinal)
    this.#ordinals.set(number, ordinal)
    this.#numbered.set(ordinal, number)
    return ordinal
  }

  #saveOpenings({ kind, node, openings }: AdoptedVisits): void {
    const sql = "insert or replace into openings (lane, sequence, opening, opened_at, rotating, record) values (?, ?, ?, ?, ?, ?)"
    const save = this.#journal.db.query(sql)
    const record = this.#journal.memory.tails.lastRecord
    const own = (sequence: number) => ownSequence(sequence, node)!
    for (const { sequence, opening, openedAt, opener } of openings)
      save.run(laneOf(this.#siteId, kind), own(sequence), own(opening), openedAt, this.#ordinalOf(opener), record)
  }

  /** Stores the numbers of new visitors, which nothing tells in this store. */
  #saveNumbers(): void {
    const sql = "insert or ignore into visitor_values (site_id, ordinal, value, record) values (?, ?, ?, ?)"
    const save = this.#journal.db.query(sql)
    const record = this.#journal.memory.tails.lastRecord
    for (const [ordinal, number] of this.#numbered) {
      const value = Buffer.alloc(8)
      value.writeBigUInt64BE(BigInt(number))
      save.run(this.#siteId, ordinal, value, record)
    }
    this.#numbered.clear()
  }
}

const ADOPTED = "adopted"

const refuse = (): never => {
  throw new Error("A visit of the second engine has more new values than a day can have")
}
