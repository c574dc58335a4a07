import type { NewSale } from "../../domain/event.ts"
import { TRAITS } from "../../domain/visit.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes/bytes.ts"
import { StoreFault } from "./fault.ts"
import type { LogPlace, TailEvent, TailVisit } from "./tail/rows.ts"
import type { SiteTail } from "./tail/tail.ts"
import type { Hash64 } from "./writer.ts"

/** The operations of a log record. The numbers are stored on disk and must not change. */
const OP = {
  /** Sets the site of the following operations. */
  site: 1,
  /** Sets the salt period of the following visitors. */
  period: 2,
  visitor: 3,
  person: 4,
  eventId: 5,
  visit: 6,
  /** A visit that a seal left in the tail, with its last arrival. */
  carried: 7,
  event: 8,
  traits: 9,
  identify: 10,
  /** Sets the sequence number of the next event. */
  sequence: 11,
  /** Begins a visit that closes with the record. */
  completeVisit: 12,
  /** A visit that is taken back from a segment, with its last arrival and the number of its events, which follow. */
  taken: 13,
  /** The id of the next event, when other nodes may have the event too. */
  idOfEvent: 14,
  /** The sale of the event before. */
  sale: 15,
} as const

/** Flags for the optional parts of an event. */
const HAS = { interactive: 1, props: 2, revenue: 4, engagement: 8, vitals: 16 } as const

/** Flags of a sale. */
const IS = { fromServer: 1, repeated: 2 } as const

/** Writes one record: the changes of one group commit, or the visits that a seal leaves in the log. */
export class LogRecord {
  readonly #out = new ByteWriter()
  #site = 0
  #period = ""
  #sequence = -1

  get isEmpty(): boolean {
    return this.#out.length === 0
  }

  /** Number of bytes. */
  get length(): number {
    return this.#out.length
  }

  visitor(site: number, period: string, id: Hash64, ordinal: number): void {
    this.#enter(site)
    if (period !== this.#period) {
      this.#out.byte(OP.period)
      this.#out.text(period)
      this.#period = period
    }
    this.#out.byte(OP.visitor)
    this.#hash(id)
    this.#out.uint(ordinal)
  }

  /** Records that an ordinal is in use although no rotating id refers to it. */
  person(site: number, ordinal: number): void {
    this.#enter(site)
    this.#out.byte(OP.person)
    this.#out.uint(ordinal)
  }

  eventId(id: Hash64): void {
    this.#out.byte(OP.eventId)
    this.#hash(id)
  }

  idOfEvent(id: Hash64): void {
    this.#out.byte(OP.idOfEvent)
    this.#hash(id)
  }

  /** `isComplete` says that no later record continues the visit. */
  visit(site: number, visit: TailVisit, isComplete = false): void {
    this.#enter(site)
    this.#out.byte(isComplete ? OP.completeVisit : OP.visit)
    this.#visit(visit)
  }

  carriedVisit(site: number, visit: TailVisit, arrivedAt: number): void {
    this.#enter(site)
    this.#out.byte(OP.carried)
    this.#visit(visit)
    this.#out.uint(arrivedAt)
  }

  takenVisit(site: number, visit: TailVisit, arrivedAt: number, events: number): void {
    this.#enter(site)
    this.#out.byte(OP.taken)
    this.#visit(visit)
    this.#out.uint(arrivedAt)
    this.#out.uint(events)
  }

  traits(site: number, visitId: number, traits: readonly number[]): void {
    this.#enter(site)
    this.#out.byte(OP.traits)
    this.#out.uint(visitId)
    for (const trait of traits) this.#out.uint(trait)
  }

  identify(site: number, visitId: number, visitor: number, kind: number): void {
    this.#enter(site)
    this.#out.byte(OP.identify)
    this.#out.uint(visitId)
    this.#out.uint(visitor)
    this.#out.byte(kind)
  }

  event(site: number, visitId: number, event: TailEvent): void {
    this.#enter(site)
    const out = this.#out
    if (event.sequence !== this.#sequence) {
      out.byte(OP.sequence)
      out.uint(event.sequence)
    }
    this.#sequence = event.sequence + 1
    out.byte(OP.event)
    out.byte(partsOf(event))
    out.uint(visitId)
    out.int(event.at)
    out.uint(event.name)
    out.uint(event.page)
    out.uint(event.hostname)
    out.uint(event.title)
    if (event.props.length > 0) this.#list(event.props)
    if (event.revenue) {
      out.int(event.revenue.amount)
      out.uint(event.revenue.currency)
    }
    if (event.engagement) {
      out.uint(event.engagement.engaged)
      out.uint(event.engagement.scroll)
    }
    if (event.vitals) this.#list(event.vitals)
  }

  /** Adds the sale of the event that was added last, with the name of that event. */
  sale({ amount, currency, orderId, trust, isRepeated }: NewSale, name: string): void {
    const out = this.#out
    out.byte(OP.sale)
    out.byte((trust === "server" ? IS.fromServer : 0) | (isRepeated ? IS.repeated : 0))
    out.int(amount)
    for (const text of [currency, orderId, name]) out.text(text)
  }

  /** Returns the finished record with its checksum. */
  seal(): Uint8Array {
    return this.#out.seal()
  }

  /** Starts an empty record in the same buffer. */
  reset(): this {
    this.#out.length = 0
    this.#site = 0
    this.#period = ""
    this.#sequence = -1
    return this
  }

  #enter(site: number): void {
    if (site === this.#site) return
    this.#out.byte(OP.site)
    this.#out.uint(site)
    this.#site = site
    this.#period = ""
  }

  #visit(visit: TailVisit): void {
    this.#out.uint(visit.id)
    this.#out.uint(visit.rotating)
    this.#out.uint(visit.visitor)
    this.#out.byte(visit.kind)
    for (const trait of visit.traits) this.#out.uint(trait)
  }

  #list(values: readonly number[]): void {
    this.#out.uint(values.length)
    for (const value of values) this.#out.uint(value)
  }

  #hash({ high, low }: Hash64): void {
    this.#out.uint32(high)
    this.#out.uint32(low)
  }
}

const partsOf = (event: TailEvent): number =>
  (event.interactive ? HAS.interactive : 0) |
  (event.props.length > 0 ? HAS.props : 0) |
  (event.revenue ? HAS.revenue : 0) |
  (event.engagement ? HAS.engagement : 0) |
  (event.vitals ? HAS.vitals : 0)

/** The receiver of a replay: its tails, and callbacks for what only the writer keeps in memory. */
export interface Replayer {
  tail(siteId: number): SiteTail
  visitor?(siteId: number, period: string, id: Hash64, ordinal: number, record: number): void
  person?(siteId: number, ordinal: number): void
  eventId?(id: Hash64, arrivedAt: number): void
  idOfEvent?(id: Hash64, arrivedAt: number): void
  event?(sequence: number): void
  /** An event has become the first one of its visit. Both are given by sequence. */
  moved?(siteId: number, former: number, sequence: number): void
  sale?(siteId: number, visitId: number, sale: LoggedSale): void
}

/** A sale as a record has it. */
export interface LoggedSale {
  /** Sequence, time and name of its event. */
  sequence: number
  at: number
  name: string
  sale: NewSale
}

/** Applies a log record to the tails: at start, after a failed commit, and in every reader. Throws `damaged` for a wrong checksum. */
export function replay(sealed: Uint8Array, place: LogPlace, to: Replayer): void {
  const content = unseal(sealed)
  if (!content) throw new StoreFault("damaged", `Record ${place.record} of the event log is damaged`)
  const bytes = new ByteReader(content)
  const complete: [SiteTail, visitId: number][] = []
  let site = 0
  let period = ""
  let sequence = 0
  let tail: SiteTail | undefined
  /** Visit of the last event. */
  let visitId = 0
  /** Number of the next events that arrived before the record, and when. */
  let earlier = 0
  let earlierPlace = place
  while (!bytes.done) {
    const op = bytes.byte()
    if (op === OP.event) {
      visitId = readEvent(bytes, sequence)
      const former = tail!.addEvent(visitId, scratch, earlier > 0 ? earlierPlace : place)
      if (former !== undefined) to.moved?.(site, former, sequence)
      if (earlier > 0) earlier--
      to.event?.(sequence)
      sequence++
    } else if (op === OP.visit) tail!.openVisit(readVisit(bytes), place)
    else if (op === OP.completeVisit) {
      const visit = readVisit(bytes)
      tail!.openVisit(visit, place)
      complete.push([tail!, visit.id])
    } else if (op === OP.site) {
      site = bytes.uint()
      tail = to.tail(site)
    } else if (op === OP.carried) {
      const visit = readVisit(bytes)
      tail!.openVisit(visit, { record: place.record, arrivedAt: bytes.uint() })
    } else if (op === OP.taken) {
      const visit = readVisit(bytes)
      earlierPlace = { record: place.record, arrivedAt: bytes.uint() }
      earlier = bytes.uint()
      tail!.openVisit(visit, earlierPlace)
      to.event?.(visit.id)
    } else if (op === OP.period) period = bytes.text()
    else if (op === OP.visitor) {
      const id = readHash(bytes)
      const ordinal = bytes.uint()
      to.visitor?.(site, period, id, ordinal, place.record)
    } else if (op === OP.person) {
      const ordinal = bytes.uint()
      to.person?.(site, ordinal)
    } else if (op === OP.eventId) {
      const id = readHash(bytes)
      to.eventId?.(id, place.arrivedAt)
    } else if (op === OP.idOfEvent) {
      const id = readHash(bytes)
      to.idOfEvent?.(id, place.arrivedAt)
    } else if (op === OP.traits) tail!.replaceTraits(bytes.uint(), readTraits(bytes))
    else if (op === OP.identify) tail!.identify(bytes.uint(), bytes.uint(), bytes.byte(), place)
    else if (op === OP.sequence) sequence = bytes.uint()
    else if (op === OP.sale) {
      if (to.sale) to.sale(site, visitId, { sequence: sequence - 1, at: scratch.at, ...readSale(bytes) })
      else skipSale(bytes)
    } else throw new StoreFault("damaged", `Record ${place.record} of the event log has the unknown operation ${op}`)
  }
  for (const [closing, visitId] of complete) closing.closeVisit(visitId)
}

/** An operation of a record, from one byte to another. */
interface Step {
  op: number
  from: number
  to: number
  /** Lane of the visit. */
  lane: number
  /** Visit that the operation concerns; 0 for one that concerns none. */
  visitId: number
  /** Of an event or its sale. */
  sequence: number
  /** Of an event that other nodes may have too. */
  id: Hash64 | undefined
}

/** Yields the operations of a record in order. */
function* stepsOf(content: Uint8Array): IterableIterator<Step> {
  const bytes = new ByteReader(content)
  let [lane, sequence, visitId] = [0, 0, 0]
  let id: Hash64 | undefined
  while (!bytes.done) {
    const from = bytes.at
    const op = bytes.byte()
    const step: Step = { op, from, to: from, lane, visitId: 0, sequence: 0, id: undefined }
    if (op === OP.event) {
      visitId = readEvent(bytes, sequence)
      step.visitId = visitId
      step.sequence = sequence++
      step.id = id
      id = undefined
    } else if (op === OP.visit || op === OP.completeVisit) step.visitId = readVisit(bytes).id
    else if (op === OP.carried || op === OP.taken) {
      step.visitId = readVisit(bytes).id
      bytes.uint()
      if (op === OP.taken) bytes.uint()
    } else if (op === OP.traits || op === OP.identify) {
      step.visitId = bytes.uint()
      if (op === OP.traits) readTraits(bytes)
      else {
        bytes.uint()
        bytes.byte()
      }
    } else if (op === OP.sale) {
      skipSale(bytes)
      Object.assign(step, { visitId, sequence: sequence - 1 })
    } else if (op === OP.idOfEvent) id = readHash(bytes)
    else if (op === OP.eventId) readHash(bytes)
    else if (op === OP.visitor) {
      readHash(bytes)
      bytes.uint()
    } else if (op === OP.period) bytes.text()
    else if (op === OP.site) lane = bytes.uint()
    else if (op === OP.sequence) sequence = bytes.uint()
    else bytes.uint() // a person
    step.to = bytes.at
    yield step
  }
}

/** An event in the log that other nodes may have too. */
export interface IdentifiedEvent {
  lane: number
  visitId: number
  sequence: number
  id: Hash64
}

/** Returns the events of a record that other nodes may have too. Its checksum must be right. */
export function identifiedEvents(sealed: Uint8Array): IdentifiedEvent[] {
  const events: IdentifiedEvent[] = []
  for (const { lane, visitId, sequence, id } of stepsOf(contentOf(sealed))) if (id) events.push({ lane, visitId, sequence, id })
  return events
}

/** Returns a record without some events, given by sequence, with their sales, and the visits that would have none. */
export function withoutEvents(sealed: Uint8Array, removed: ReadonlySet<number>, emptied: ReadonlySet<number>): Uint8Array {
  const content = contentOf(sealed)
  const out = new ByteWriter()
  /** The step before an event that names its id. */
  let named: Step | undefined
  /** Whether the sequence of the next event no longer follows from the one before. */
  let isInterrupted = false
  const copy = ({ from, to }: Step) => out.bytes(content.subarray(from, to))
  for (const step of stepsOf(content)) {
    if (step.op === OP.idOfEvent) named = step
    else if ((step.op === OP.event || step.op === OP.sale) && removed.has(step.sequence)) isInterrupted = true
    else if (!emptied.has(step.visitId)) {
      if (step.op === OP.event && isInterrupted) {
        out.byte(OP.sequence)
        out.uint(step.sequence)
      }
      if (step.op === OP.event || step.op === OP.sequence) isInterrupted = false
      if (step.op === OP.event && named) copy(named)
      copy(step)
    }
    if (step.op !== OP.idOfEvent) named = undefined
  }
  return out.seal()
}

/** Returns the visits that a record opens, and the numbers of their events in it. */
export function visitsOfRecord(sealed: Uint8Array): { opened: number[]; events: { visitId: number; sequence: number }[] } {
  const steps = [...stepsOf(contentOf(sealed))]
  return {
    opened: steps.filter(({ op }) => op === OP.visit || op === OP.completeVisit).map(({ visitId }) => visitId),
    events: steps.filter(({ op }) => op === OP.event).map(({ visitId, sequence }) => ({ visitId, sequence })),
  }
}

function contentOf(sealed: Uint8Array): Uint8Array {
  const content = unseal(sealed)
  if (!content) throw new StoreFault("damaged", "A record of the event log is damaged")
  return content
}

const NO_NUMBERS: readonly number[] = []
/** The object that every event is read into, so that replaying a long log allocates almost nothing. */
const scratch: TailEvent = {
  at: 0,
  sequence: 0,
  name: 0,
  page: 0,
  hostname: 0,
  title: 0,
  interactive: 0,
  props: NO_NUMBERS,
  revenue: undefined,
  engagement: undefined,
  vitals: undefined,
}

/** Reads an event into `scratch` and returns the id of its visit. */
function readEvent(bytes: ByteReader, sequence: number): number {
  const parts = bytes.byte()
  const visitId = bytes.uint()
  scratch.sequence = sequence
  scratch.interactive = parts & HAS.interactive
  scratch.at = bytes.int()
  scratch.name = bytes.uint()
  scratch.page = bytes.uint()
  scratch.hostname = bytes.uint()
  scratch.title = bytes.uint()
  scratch.props = parts & HAS.props ? readList(bytes) : NO_NUMBERS
  scratch.revenue = parts & HAS.revenue ? { amount: bytes.int(), currency: bytes.uint() } : undefined
  scratch.engagement = parts & HAS.engagement ? { engaged: bytes.uint(), scroll: bytes.uint() } : undefined
  scratch.vitals = parts & HAS.vitals ? readList(bytes) : undefined
  return visitId
}

function readSale(bytes: ByteReader): { name: string; sale: NewSale } {
  const flags = bytes.byte()
  const [amount, currency, orderId, name] = [bytes.int(), bytes.text(), bytes.text(), bytes.text()]
  const trust = flags & IS.fromServer ? "server" : "client"
  return { name, sale: { amount, currency, orderId, trust, isRepeated: (flags & IS.repeated) !== 0 } }
}

function skipSale(bytes: ByteReader): void {
  bytes.byte()
  bytes.int()
  for (let text = 0; text < 3; text++) bytes.skip(bytes.uint())
}

function readVisit(bytes: ByteReader): TailVisit {
  return { id: bytes.uint(), rotating: bytes.uint(), visitor: bytes.uint(), kind: bytes.byte(), traits: readTraits(bytes) }
}

function readTraits(bytes: ByteReader): number[] {
  const traits = new Array<number>(TRAITS.length)
  for (let at = 0; at < traits.length; at++) traits[at] = bytes.uint()
  return traits
}

const readHash = (bytes: ByteReader): Hash64 => ({ high: bytes.uint32(), low: bytes.uint32() })

function readList(bytes: ByteReader): number[] {
  const length = bytes.uint()
  const values = new Array<number>(length)
  for (let index = 0; index < length; index++) values[index] = bytes.uint()
  return values
}
