import type { DictionaryName } from "../../domain/dimension.ts"
import { TRAITS } from "../../domain/visit.ts"
import { DISCARDED } from "./dictionary/interner.ts"
import { propertyDictionary } from "./dictionary/texts.ts"
import { type PackedSale, VisitBatch } from "./import-batch.ts"
import { runStepsYielding, type Steps } from "./steps.ts"
import { buildSegments, type SegmentRows, type StoredSegment } from "./upkeep/build.ts"

/** A packed batch with the numbers that the site has for its texts and visitors. It can be sent to another thread. */
export interface NumberedBatch {
  /** The batch. Its columns are overwritten. */
  bytes: Uint8Array<ArrayBuffer>
  /** The site's number of each text. A dictionary without texts of its own is absent. */
  numbers: ReadonlyMap<DictionaryName, readonly number[]>
  /** The sequence of the first event. */
  firstSequence: number
  /** Ordinal of the visitor with the number 0, if visitors are numbers. */
  firstOrdinal: number
  /** Ordinals of the visitors that have names. */
  ordinals: readonly number[]
  /** Visits whose visitor is a person. */
  people: { visit: number; ordinal: number }[]
}

export interface BuiltBatch {
  segments: StoredSegment[]
  sales: ImportedSale[]
}

/** An event with revenue, and its visit: the sequence of its first event, and its start. */
export interface ImportedSale extends Omit<PackedSale, "visit"> {
  visitSequence: number
  visitAt: number
}

export type BuildBatch = (batch: NumberedBatch) => Promise<BuiltBatch>

/** Builds the segments of a batch. Needs no store, and runs in steps of a few milliseconds. */
export async function buildBatch(numbered: NumberedBatch): Promise<BuiltBatch> {
  const batch = new VisitBatch(numbered.bytes)
  numberVisitors(batch, numbered)
  await runStepsYielding(renumber(batch, numbered.numbers))
  const part = rowsOf(batch, numbered.firstSequence)
  const segments: StoredSegment[] = []
  for await (const { rows: _, sequences: __, ...segment } of buildSegments([{ part }])) segments.push(segment)
  const [sequences, starts] = [part.sequences(), part.starts()]
  const sales = batch.sales().map(({ visit, ...sale }) => ({ ...sale, visitSequence: sequences[visit]!, visitAt: starts[visit]! }))
  return { segments, sales: [...sales] }
}

/** Frees the bytes of a segment that is stored. The engine itself would let those of many batches pile up. */
export function releaseSegment({ groups }: StoredSegment): void {
  for (const { data } of groups) if (data.buffer instanceof ArrayBuffer) data.buffer.transfer(0)
}

/** Replaces the numbers of visitors by ordinals. */
function numberVisitors(batch: VisitBatch, { firstOrdinal, ordinals, people }: NumberedBatch): void {
  const visitors = batch.column("visitor")
  if (ordinals.length > 0) replaceAll(visitors, ordinals)
  else for (let visit = 0; visit < visitors.length; visit++) visitors[visit]! += firstOrdinal
  for (const { visit, ordinal } of people) visitors[visit] = ordinal
}

function replaceAll(values: Uint32Array, by: readonly number[]): void {
  for (let row = 0; row < values.length; row++) values[row] = by[values[row]!]!
}

/** Replaces the numbers of texts, column by column. */
function* renumber(batch: VisitBatch, numbers: NumberedBatch["numbers"]): Steps<void> {
  const replace = (column: string, name: DictionaryName) => {
    const known = numbers.get(name)
    if (known) replaceAll(batch.column(column), known)
  }
  for (const trait of TRAITS) {
    replace(trait, trait)
    yield
  }
  for (const column of ["entry_page", "exit_page"]) replace(column, "page")
  for (const column of ["entry_page_hostname", "exit_page_hostname"]) replace(column, "hostname")
  yield
  for (const name of ["name", "page", "hostname", "title"] as const) {
    replace(`event.${name}`, name)
    yield
  }
  replace("revenue.currency", "currency")
  const [keys, values] = [batch.column("props.key"), batch.column("props.value")]
  // `DISCARDED` is no unsigned number, so it becomes the largest one.
  for (let row = 0; row < values.length; row++) values[row] = numbers.get(propertyDictionary(keys[row]!))?.[values[row]!] ?? values[row]!
  yield
  replace("props.key", "property")
}

/** Returns the rows of a batch as they are stored. Properties over the limit of their site are left out. */
function rowsOf(batch: VisitBatch, firstSequence: number): SegmentRows {
  const sequences = new Float64Array(batch.visits)
  const visitOf = batch.column("event.visit")
  for (let row = visitOf.length - 1; row >= 0; row--) sequences[visitOf[row]!] = firstSequence + row
  const keys = batch.column("props.key")
  const isKept = (_: number, row: number) => keys[row] !== DISCARDED >>> 0
  const kept = (name: string) => batch.column(name).filter(isKept)
  const props = { row: kept("props.row"), key: kept("props.key"), value: kept("props.value") }
  const column = (name: string) => batch.column(name)
  const revenue = { row: column("revenue.row"), amount: batch.amounts(), currency: column("revenue.currency") }
  const engagement = { row: column("engagement.row"), engaged: column("engagement.engaged"), scroll: column("engagement.scroll") }
  const vital = (name: string) => column(`vitals.${name}`)
  const vitals = { row: vital("row"), lcp: vital("lcp"), inp: vital("inp"), fcp: vital("fcp"), ttfb: vital("ttfb"), cls: vital("cls") }
  return {
    visits: batch.visits,
    events: batch.events,
    starts: () => batch.starts(),
    sequences: () => sequences,
    visit: column,
    event: (name) => column(`event.${name}`),
    props: () => props,
    revenue: () => revenue,
    engagement: () => engagement,
    vitals: () => vitals,
  }
}
