import type { NewEvent, NewSale } from "../../domain/event.ts"
import type { RecordKind } from "../../domain/record.ts"
import { VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../../domain/visit.ts"
import { laneOf } from "./bytes/lanes.ts"
import type { Identification } from "./dictionary/identities.ts"
import { isTransient } from "./dictionary/visitors.ts"
import { type EarlyVisit, readStoredVisit } from "./early-visits.ts"
import { type NumberText, numberedEvent, numberedProps, numberedTraits } from "./event-numbers.ts"
import { LogRecord } from "./log.ts"
import type { Memory } from "./memory.ts"
import { DropCounts } from "./tables/drops.ts"
import type { LogPlace } from "./tail/rows.ts"
import type { DropSample, Hash64, KnownPerson, LongKind, NewVisit, OpenVisit, Writer } from "./writer.ts"

/** A group commit in progress. It writes the log record and updates memory with the same calls that a later replay makes. */
export class Group implements Writer {
  readonly #record: LogRecord
  readonly #drops = new DropCounts()
  readonly #memory: Memory
  readonly #place: LogPlace
  readonly firstSequence: number
  /** Visits that close with the group. */
  readonly #complete: [siteId: number, visitId: number][] = []
  /** The sites with sales in the group. */
  readonly soldOn = new Set<number>()
  /** The site and the day of `#number`. */
  #siteId = 0
  #day = ""
  /** Number of values that were over a daily limit. */
  #limited = 0
  readonly #onLimit = () => {
    this.#limited++
    this.count(this.#siteId, this.#day, "cardinality")
  }
  /** The numbers of properties and traits that many records share, such as clicks on one link or by one browser. */
  readonly #shared = new Map<object, { siteId: number; numbers: readonly number[] }>()
  readonly #number: NumberText = (name, text, property) =>
    this.#memory.interner.number(this.#siteId, name, text, this.#day, this.#onLimit, property)

  constructor(memory: Memory, place: LogPlace, record = new LogRecord()) {
    this.#memory = memory
    this.#record = record.reset()
    this.#place = place
    this.firstSequence = memory.sequence
  }

  /** Saves what was counted and returns the finished log record, or undefined when there is nothing to replay. */
  finish(): Uint8Array | undefined {
    for (const [siteId, visitId] of this.#complete) this.#memory.tails.tail(siteId).closeVisit(visitId)
    this.#drops.save(this.#memory.db)
    this.#memory.interner.saveCounts()
    if (this.#memory.sales.isFull) this.#memory.sales.flush(this.#place.record)
    return this.#record.isEmpty ? undefined : this.#record.seal()
  }

  seen(siteId: number, eventId: string): boolean {
    const { eventIds } = this.#memory
    const hash = eventIds.hash(siteId, eventId)
    if (eventIds.has(hash, this.#place.arrivedAt)) return true
    eventIds.add(hash, this.#place.arrivedAt)
    this.#record.eventId(hash)
    return false
  }

  findVisitor(siteId: number, period: string, id: Hash64): number | undefined {
    return this.#memory.visitors.find(siteId, period, id)
  }

  visitor(siteId: number, period: string, id: Hash64): number {
    const known = this.findVisitor(siteId, period, id)
    if (known !== undefined) return known
    const ordinal = this.#memory.visitors.create(siteId, period, id, this.#place.record)
    if (isTransient(period)) this.#record.person(siteId, ordinal)
    else this.#record.visitor(siteId, period, id, ordinal)
    return ordinal
  }

  findPerson(siteId: number, key: Hash64): KnownPerson | undefined {
    return this.#memory.visitors.person(siteId, key)
  }

  person(siteId: number, key: Hash64, kind: LongKind, userId = "", known?: KnownPerson): number {
    return this.identified(siteId, { key, kind, userId, at: this.#place.arrivedAt }, known)
  }

  /** The same for an identification at any time. */
  identified(siteId: number, identification: Identification, known = this.findPerson(siteId, identification.key)): number {
    const { visitors } = this.#memory
    if (known) {
      visitors.identified(siteId, known, identification)
      return known.ordinal
    }
    const ordinal = visitors.createPerson(siteId, identification)
    this.#record.person(siteId, ordinal)
    return ordinal
  }

  findOpenVisit(siteId: number, rotating: number, user: number | undefined, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    const { tails, early } = this.#memory
    const open = tails.find(siteId)?.findOpen(rotating, user, this.#place.arrivedAt, fits)
    const sealed = early.find(siteId, rotating, user, this.#place.arrivedAt, fits)
    return sealed && !(open && open.activeAt > sealed.activeAt) ? this.#takeBack(siteId, sealed) : open
  }

  /** Moves an open visit from its segment back into the tail, under a new id, because ids in a tail ascend. */
  #takeBack(siteId: number, sealed: EarlyVisit): OpenVisit {
    const tail = this.#memory.tails.tail(siteId)
    const id = this.#memory.sequence++
    const { arrivedAt } = sealed
    const place = { record: this.#place.record, arrivedAt }
    const { visit, events } = readStoredVisit(this.#memory.early.take(siteId, sealed))
    this.#record.takenVisit(siteId, { ...visit, id }, arrivedAt, events.length)
    tail.openVisit({ ...visit, id }, place)
    for (const event of events) {
      this.#record.event(siteId, id, event)
      tail.addEvent(id, event, place)
    }
    return tail.openVisitAt(tail.visits - 1)
  }

  openVisit(siteId: number, visit: NewVisit, day: string): number {
    const id = this.#memory.sequence
    const row = {
      id,
      rotating: visit.rotating,
      visitor: visit.visitor,
      kind: VISITOR_KINDS.indexOf(visit.visitorKind),
      traits: numberedTraits(visit.traits, this.#numbers(siteId, day)),
    }
    this.#record.visit(siteId, row, visit.isComplete)
    this.#memory.tails.tail(siteId).openVisit(row, this.#place)
    if (visit.isComplete) this.#complete.push([siteId, id])
    return id
  }

  add(siteId: number, visitId: number, event: NewEvent, day: string, traits?: VisitTraits, eventId = ""): void {
    const tail = this.#memory.tails.tail(siteId)
    if (traits) {
      const numbers = numberedTraits(traits, this.#numbers(siteId, day))
      this.#record.traits(siteId, visitId, numbers)
      tail.replaceTraits(visitId, numbers)
    }
    const row = numberedEvent(event, this.#memory.sequence++, this.#numbers(siteId, day))
    const { eventIds } = this.#memory
    if (eventIds.isShared && eventId !== "") this.#record.idOfEvent(eventIds.hash(siteId, eventId))
    this.#record.event(siteId, visitId, row)
    const former = tail.addEvent(visitId, row, this.#place)
    if (former !== undefined) this.#memory.sales.move(siteId, former, row.sequence)
    if (event.sale) this.#sell(siteId, tail.firstSequence(visitId), event, event.sale, row.sequence)
  }

  #sell(siteId: number, visitSequence: number, { at, name }: NewEvent, sale: NewSale, sequence: number): void {
    this.#record.sale(sale, name)
    this.#memory.sales.add(sequence, { siteId, visitSequence, at, name, sale })
    this.soldOn.add(siteId)
  }

  identify(siteId: number, visitId: number, visitor: number, kind: VisitorKind): void {
    this.#record.identify(siteId, visitId, visitor, VISITOR_KINDS.indexOf(kind))
    this.#memory.tails.tail(siteId).identify(visitId, visitor, VISITOR_KINDS.indexOf(kind), this.#place)
  }

  record(
    siteId: number,
    kind: RecordKind,
    { visitor, traits, event }: { visitor: number | undefined; traits: VisitTraits; event: NewEvent },
    day: string,
  ): void {
    const lane = laneOf(siteId, kind)
    const ordinal = visitor ?? this.visitor(siteId, ANONYMOUS_PERIOD, { high: 0, low: 0 })
    const number = this.#numbers(siteId, day)
    const numbers = this.#sharedNumbers(siteId, traits, numberedTraits)
    const row = { id: this.#memory.sequence, rotating: ordinal, visitor: ordinal, kind: ROTATING, traits: numbers }
    const tail = this.#memory.tails.tail(lane)
    this.#record.visit(lane, row, true)
    tail.openVisit(row, this.#place)
    const eventRow = numberedEvent(event, this.#memory.sequence++, number, this.#sharedNumbers(siteId, event.props, numberedProps))
    this.#record.event(lane, row.id, eventRow)
    tail.addEvent(row.id, eventRow, this.#place)
    tail.close(tail.visits - 1)
  }

  /**
   * Returns the numbers of traits or properties that other records of the group may share, for the site and day of `#number`. Values over a
   * limit are numbered each time, because they are counted.
   */
  #sharedNumbers<Texts extends object>(
    siteId: number,
    texts: Texts,
    numbered: (texts: Texts, number: NumberText) => readonly number[],
  ): readonly number[] {
    const shared = this.#shared.get(texts)
    if (shared?.siteId === siteId) return shared.numbers
    const limited = this.#limited
    const numbers = numbered(texts, this.#number)
    if (limited === this.#limited) this.#shared.set(texts, { siteId, numbers })
    return numbers
  }

  drop(...args: Parameters<Writer["drop"]>): void {
    this.#drops.add(...args)
  }

  sample(siteId: number, sample: DropSample): void {
    this.#drops.sample(siteId, sample)
  }

  count(...args: Parameters<Writer["count"]>): void {
    this.#drops.add(...args)
  }

  /** Returns the function that numbers the texts of a site, until the next call. It is always the same one, because this runs for every event. */
  #numbers(siteId: number, day: string): NumberText {
    this.#siteId = siteId
    this.#day = day
    return this.#number
  }
}

const ROTATING = VISITOR_KINDS.indexOf("rotating")

/** The period, not that of any salt, of the one visitor per site that represents all people who opted out. */
const ANONYMOUS_PERIOD = "nobody"
