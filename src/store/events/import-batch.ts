/**
 * Visits of an import as columns. They are packed in a worker, which has no store, with numbers of their own in place of those of the site.
 * The writer then looks up each different text of a day once, and replaces the numbers column by column: the thread that answers has
 * nothing to do for a single event.
 *
 * Layout of a batch: length of the header (4), header as JSON, texts, names, people, sales, padding, columns.
 */
import { DICTIONARIES, type DictionaryName } from "../../domain/dimension.ts"
import type { NewEvent } from "../../domain/event.ts"
import { VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../../domain/visit.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes/bytes.ts"
import { constantOf, type Numbers } from "./bytes/codec.ts"
import { fixedTexts, propertyDictionary } from "./dictionary/texts.ts"
import { numberedEvent, numberedTraits } from "./event-numbers.ts"
import { EVENT_COLUMNS, VISIT_COLUMNS } from "./part.ts"
import { SiteTail } from "./tail/tail.ts"

/** A visit from another product's export or a log file. Visitors of an import never merge with native ones, except by user id. */
export interface ImportedVisit {
  /**
   * Distinguishes visitors: a name, or a number below the count that was reserved with `reserveVisitors`. All visits of a batch have names, or
   * all have numbers.
   */
  visitor: string | number
  /** Makes the visitor that of `identify()` with this id, whatever its name. */
  userId?: string
  /** How the visitor was recognized in the source. Default: rotating. */
  visitorKind?: VisitorKind
  traits: VisitTraits
  /** At least one is not an engagement. */
  events: readonly NewEvent[]
  /** The site's local day of the start, by which new values are counted. Visits of a day follow one another. */
  day: string
}

/** An event with revenue, whose order is found by a setting of the site. */
export interface PackedSale extends Pick<NewEvent, "at" | "name" | "props"> {
  revenue: NonNullable<NewEvent["revenue"]>
  /** Row of its visit. */
  visit: number
}

/** A text of a dictionary. */
export interface PackedText {
  /** Dictionaries of property values are named by the number that the batch gives the property. */
  name: DictionaryName
  /** That number. Present for values of properties. */
  property?: number
  text: string
  day: string
}

const SPARSE_KINDS = ["props", "revenue", "engagement", "vitals"] as const

interface Header {
  visits: number
  events: number
  /** Number of names of visitors. */
  names: number
  /** Bytes of each section. */
  sections: [texts: number, names: number, people: number, sales: number]
  /** The columns in the order of their values. Those whose rows are all equal have a constant instead. */
  columns: [name: string, length: number, constant: number | null][]
}

/** Marks in the section of texts. The other bytes name a dictionary. */
const DAY = 255
const PROPERTY_VALUE = 254

/** Events of an import have no record in the log and no arrival. */
const PLACE = { record: 0, arrivedAt: 0 }

/** Packs visits, up to some hundred thousand events. */
export class VisitPacker {
  readonly #tail = new SiteTail(0)
  readonly #texts = new DayTexts()
  readonly #numbersOfNames = new Map<string, number>()
  readonly #names = new ByteWriter()
  readonly #people = new ByteWriter()
  readonly #sales = new ByteWriter()

  get visits(): number {
    return this.#tail.visits
  }
  get events(): number {
    return this.#tail.events
  }

  add({ visitor, userId = "", visitorKind = "rotating", traits, events, day }: ImportedVisit): void {
    this.#texts.begin(day)
    const [row, id, { number }] = [this.visits, this.events, this.#texts]
    const visitorNumber = typeof visitor === "number" ? visitor : this.#numberOfName(visitor)
    const kind = VISITOR_KINDS.indexOf(visitorKind)
    this.#tail.openVisit({ id, rotating: 0, visitor: visitorNumber, kind, traits: numberedTraits(traits, number) }, PLACE)
    if (userId !== "") {
      this.#people.uint(row)
      this.#people.text(userId)
    }
    for (const event of inOrder(events)) {
      this.#tail.addEvent(id, numberedEvent(event, this.events, number), PLACE)
      if (event.revenue) this.#sell(row, event, event.revenue)
    }
  }

  /** Returns the batch in pieces, one behind the other. They are memory of the packer, which can't be used again. */
  finish(): Uint8Array[] {
    const sections = [this.#texts.bytes(), ...[this.#names, this.#people, this.#sales].map((section) => section.seal())]
    const all = this.#columns().map(([name, values]) => ({ name, values, constant: constantOf(values) ?? null }))
    const header: Header = {
      ...{ visits: this.visits, events: this.events, names: this.#numbersOfNames.size },
      sections: sections.map(({ length }) => length) as Header["sections"], // one for each section
      columns: all.map(({ name, values, constant }) => [name, values.length, constant]),
    }
    return piecesOf(
      [Buffer.from(JSON.stringify(header)), ...sections],
      all.flatMap(({ values, constant }) => (constant === null ? [values] : [])),
    )
  }

  #numberOfName(name: string): number {
    const known = this.#numbersOfNames.get(name)
    if (known !== undefined) return known
    const number = this.#numbersOfNames.size
    this.#numbersOfNames.set(name, number)
    this.#names.text(name)
    return number
  }

  #sell(visit: number, { at, name, props }: NewEvent, { amount, currency }: NonNullable<NewEvent["revenue"]>): void {
    const out = this.#sales
    out.uint(visit)
    out.int(at)
    out.text(name)
    out.int(amount)
    out.text(currency)
    out.uint(props.length)
    for (const text of props.flat()) out.text(text)
  }

  /** Returns the columns, those of 64 bits first, so that all of them are aligned. */
  #columns(): [name: string, values: Numbers][] {
    const tail = this.#tail
    const sparse = SPARSE_KINDS.flatMap((kind) =>
      Object.entries<Numbers>({ ...tail[kind]() }).map(([name, values]): [string, Numbers] => [`${kind}.${name}`, values]),
    )
    const columns: [string, Numbers][] = [
      ["starts", tail.starts()],
      ...VISIT_COLUMNS.map((name): [string, Numbers] => [name, tail.visit(name)]),
      ...EVENT_COLUMNS.map((name): [string, Numbers] => [`event.${name}`, tail.event(name)]),
      ...sparse,
    ]
    return columns.toSorted(([, a], [, b]) => b.BYTES_PER_ELEMENT - a.BYTES_PER_ELEMENT)
  }
}

/** Returns events in the order of their times. They nearly always are. */
const inOrder = (events: readonly NewEvent[]): readonly NewEvent[] =>
  events.every(({ at }, index) => index === 0 || at >= events[index - 1]!.at) ? events : events.toSorted((a, b) => a.at - b.at)

/** Packs a list of visits. */
export function packVisits(visits: Iterable<ImportedVisit>): Uint8Array<ArrayBuffer> {
  const packer = new VisitPacker()
  for (const visit of visits) packer.add(visit)
  return new Uint8Array(Bun.concatArrayBuffers(packer.finish() as Uint8Array<ArrayBuffer>[])) // of the packer, which shares no memory
}

/** The texts of a batch, each once for a day, because a site accepts a limited number of new ones a day. Their order gives their numbers. */
class DayTexts {
  readonly #out = new ByteWriter()
  readonly #next = new Map<DictionaryName, number>()
  /** Those of the day. */
  readonly #numbers = new Map<DictionaryName, Map<string, number>>()
  #day = ""

  begin(day: string): void {
    if (day === this.#day) return
    this.#day = day
    this.#numbers.clear()
    this.#out.byte(DAY)
    this.#out.text(day)
  }

  number = (name: DictionaryName, text: string): number => {
    if (text === "") return 0
    let numbers = this.#numbers.get(name)
    if (!numbers) {
      numbers = new Map(fixedTexts(name).map((fixed, number) => [fixed, number]))
      this.#numbers.set(name, numbers)
    }
    const known = numbers.get(text)
    if (known !== undefined) return known
    const number = this.#next.get(name) ?? fixedTexts(name).length
    this.#next.set(name, number + 1)
    numbers.set(text, number)
    const place = (DICTIONARIES as readonly string[]).indexOf(name)
    if (place >= 0) this.#out.byte(place)
    else {
      this.#out.byte(PROPERTY_VALUE)
      this.#out.uint(Number(name.slice(name.indexOf(":") + 1)))
    }
    this.#out.text(text)
    return number
  }

  bytes(): Uint8Array {
    return this.#out.seal()
  }
}

/** Returns the pieces of a batch with some sections, of which the first is the header, and columns. */
function piecesOf(sections: readonly Uint8Array[], columns: readonly Numbers[]): Uint8Array[] {
  const length = new Uint8Array(LENGTH_BYTES)
  new DataView(length.buffer).setUint32(0, sections[0]!.length, true)
  const bytes = sections.reduce((sum, { length }) => sum + length, LENGTH_BYTES)
  const padding = new Uint8Array(aligned(bytes) - bytes)
  const values = columns.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength))
  return [length, ...sections, padding, ...values]
}

const LENGTH_BYTES = 4
/** Returns the next multiple of 8. */
const aligned = (bytes: number): number => (bytes + 7) & ~7

const typeOf = (column: string) => (column === "starts" || column === "revenue.amount" ? Float64Array : Uint32Array)

/** A packed batch, whose columns are changed in place. */
export class VisitBatch {
  readonly visits: number
  readonly events: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly #header: Header
  /** Where each section begins, and where the last one ends. */
  readonly #sections: readonly number[]
  /** Where each column begins in the buffer, its length, and its constant if it has one instead of values. */
  readonly #places = new Map<string, [at: number, length: number, constant: number | null]>()
  readonly #columns = new Map<string, Numbers>()

  /** `bytes` begin at a multiple of 8 of their buffer. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes
    const first = LENGTH_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
    this.#header = JSON.parse(Buffer.from(bytes.subarray(LENGTH_BYTES, first)).toString()) as Header // written by `VisitPacker`
    this.visits = this.#header.visits
    this.events = this.#header.events
    const ends = [first]
    for (const length of this.#header.sections) ends.push(ends.at(-1)! + length)
    this.#sections = ends
    let at = bytes.byteOffset + aligned(ends.at(-1)!)
    for (const [name, length, constant] of this.#header.columns) {
      this.#places.set(name, [at, length, constant])
      if (constant === null) at += length * typeOf(name).BYTES_PER_ELEMENT
    }
  }

  /** Returns a column. Those with a constant take memory from their first use on. */
  #column(name: string): Numbers {
    const known = this.#columns.get(name)
    if (known) return known
    const [at, length, constant] = this.#places.get(name)! // every batch has all columns
    const Type = typeOf(name)
    const values = constant === null ? new Type(this.bytes.buffer, at, length) : new Type(length).fill(constant)
    this.#columns.set(name, values)
    return values
  }

  #section(number: number): ByteReader {
    return new ByteReader(unseal(this.bytes.subarray(this.#sections[number]!, this.#sections[number + 1]!))!) // sealed by `VisitPacker`
  }

  /** Returns a column of 32 bits: of visits, of events as `event.page`, or of sparse values as `props.key`. */
  column(name: string): Uint32Array {
    return this.#column(name) as Uint32Array // the two others have methods of their own
  }
  starts(): Float64Array {
    return this.#column("starts") as Float64Array // as above
  }
  amounts(): Float64Array {
    return this.#column("revenue.amount") as Float64Array // as above
  }

  /** Yields the texts. Each has the next number of its dictionary. */
  *texts(): Generator<PackedText> {
    const texts = this.#section(0)
    let day = ""
    while (!texts.done) {
      const mark = texts.byte()
      if (mark === DAY) {
        day = texts.text()
        continue
      }
      if (mark === PROPERTY_VALUE) {
        const property = texts.uint()
        yield { name: propertyDictionary(property), property, text: texts.text(), day }
      } else yield { name: DICTIONARIES[mark]!, text: texts.text(), day }
    }
  }

  /** Returns the names of visitors by number. Empty if they are numbers. */
  names(): string[] {
    const names = this.#section(1)
    return Array.from({ length: this.#header.names }, () => names.text())
  }

  /** Yields the visits of users. */
  *people(): Generator<{ visit: number; userId: string }> {
    const people = this.#section(2)
    while (!people.done) yield { visit: people.uint(), userId: people.text() }
  }

  *sales(): Generator<PackedSale> {
    const sales = this.#section(3)
    while (!sales.done) {
      const [visit, at, name] = [sales.uint(), sales.int(), sales.text()]
      const revenue = { amount: sales.int(), currency: sales.text() }
      const props = Array.from({ length: sales.uint() }, () => [sales.text(), sales.text()] as const)
      yield { visit, at, name, revenue, props }
    }
  }
}
