import type { Lister } from "./statements.ts"

/** Adjacent visits of one site, kind, import and run, by the time of their opening. The reader's unit of reading and caching. */
export interface Slice {
  /** Changes whenever the slice has other visits or versions of them. Never used again by a reader. */
  id: number
  importId: number
  run: number
  /** Of the openings of its visits, half-open. */
  from: number
  to: number
  visits: number
  events: number
  /** Sum of the hashes of keys and versions, modulo 2^64: of what a read must return. */
  mark: bigint
  minStart: number
  maxStart: number
  maxAt: number
  lastArrival: number
}

/** A period of the list of visits, as ClickHouse sums it up. */
export interface Bucket extends Omit<Slice, "id"> {
  month: number
}

/** Number of events after which a slice ends. */
const SLICE_EVENTS = 131_072
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Openings of visits that usually still change, before the end of the latest one. They are slices of their own, so that others stay cached. */
const FRESH_MS = 3 * HOUR_MS
/** Number of changed slices up to which they probably change again while a query runs. More of them are from an import or a back-fill. */
const MAX_CHANGING = 2

/** A month as it was listed. */
interface ListedMonth {
  /** Names of its parts on disk before it was listed. */
  parts: readonly string[]
  buckets: Bucket[]
}

/** The slices of a site and kind. Only periods with new rows are listed again. */
export class SliceList {
  readonly #months = new Map<number, ListedMonth>()
  #slices: Slice[] = []
  #changing: ReadonlySet<Slice> = new Set()
  readonly #ids: () => number

  constructor(nextId: () => number) {
    this.#ids = nextId
  }

  /** Returns the slices as they are now, oldest first. */
  follow(lister: Lister): readonly Slice[] {
    const parts = lister.parts()
    const isFirst = this.#months.size === 0
    for (const month of this.#months.keys()) if (!parts.has(month)) this.#months.delete(month)
    const touched = [...parts].filter(([month, names]) => this.#months.get(month)?.parts.join() !== names.join())
    const [whole, grown] = [new Set<number>(), new Set<number>()]
    for (const [month, names] of touched) (hasOnlyAdditions(this.#months.get(month)?.parts, names) ? grown : whole).add(month)
    this.#list(lister, [...whole])
    this.#listAdditions(lister, grown)
    for (const [month, names] of touched) this.#months.set(month, { parts: names, buckets: this.#months.get(month)?.buckets ?? [] })
    const ordered = [...this.#months].sort(([a], [b]) => a - b).flatMap(([, { buckets }]) => buckets)
    const former = new Map(this.#slices.map((slice) => [nameOf(slice), slice]))
    this.#slices = slicesOf(ordered).map((slice) => former.get(nameOf(slice)) ?? { ...slice, id: this.#ids() })
    const known = new Set(former.values())
    const changed = isFirst ? [] : this.#slices.filter((slice) => !known.has(slice))
    this.#changing = new Set(changed.length <= MAX_CHANGING ? changed : [])
    return this.#slices
  }

  /** Returns whether a slice has changed since the query before, and will probably change again soon. */
  isChanging(slice: Slice): boolean {
    return this.#changing.has(slice)
  }

  /** Takes note of what a slice was when its columns were read. Returns it with an id of its own if it had changed. */
  replace(slice: Slice, current: Omit<Slice, "id">): Slice {
    if (nameOf(slice) === nameOf(current)) return slice
    const replaced = { ...current, id: this.#ids() }
    this.#slices[this.#slices.indexOf(slice)] = replaced
    return replaced
  }

  #list(lister: Lister, months: readonly number[]): void {
    const found = Map.groupBy(months.length > 0 ? lister.buckets(months) : [], ({ month }) => month)
    for (const month of months) this.#months.set(month, { parts: [], buckets: found.get(month) ?? [] })
  }

  /** Lists the days of which there are rows in parts that were not known. */
  #listAdditions(lister: Lister, grown: ReadonlySet<number>): void {
    if (grown.size === 0) return
    const known = [...grown].flatMap((month) => this.#months.get(month)!.parts)
    const spans = lister.additions([...grown], known)
    if (spans.size === 0) return
    const from = Math.floor(Math.min(...[...spans.values()].map((span) => span.first)) / DAY_MS) * DAY_MS
    const to = Math.floor(Math.max(...[...spans.values()].map((span) => span.last)) / DAY_MS) * DAY_MS + DAY_MS
    const found = Map.groupBy(lister.buckets([...spans.keys()], { from, to }), ({ month }) => month)
    for (const month of spans.keys()) {
      const listed = this.#months.get(month)!
      const buckets = listed.buckets.filter((bucket) => bucket.to <= from || bucket.from >= to)
      listed.buckets = [...buckets, ...(found.get(month) ?? [])].sort((a, b) => a.from - b.from || a.importId - b.importId || a.run - b.run)
    }
  }
}

/** The name of a part: numbers of the first and the last inserted block in it, and of the mutation that has rewritten it. */
const PART = /_(\d+)_(\d+)_\d+(?:_(\d+))?$/

/** Returns whether parts on disk have become others by insertions and merges only. */
function hasOnlyAdditions(before: readonly string[] | undefined, now: readonly string[]): boolean {
  if (!before) return false
  const names = new Set(now)
  const present = now.map(blocksOf)
  const isMerged = (name: string) => {
    const { first, last, rewritten } = blocksOf(name)
    // Blocks and mutations are counted together, so a mutation concerns only blocks with lower numbers.
    return present.some((part) => part.first <= first && part.last >= last && part.rewritten <= Math.max(rewritten, first))
  }
  return before.every((name) => names.has(name) || isMerged(name))
}

function blocksOf(name: string): { first: number; last: number; rewritten: number } {
  const [, first, last, rewritten = 0] = PART.exec(name) ?? []
  return { first: Number(first), last: Number(last), rewritten: Number(rewritten) }
}

const nameOf = ({ importId, run, from, to, visits, mark }: Omit<Slice, "id">): string => [importId, run, from, to, visits, mark].join()

/** Joins buckets to slices. Buckets are in order of time. */
function slicesOf(buckets: readonly Bucket[]): Omit<Slice, "id">[] {
  const slices: Omit<Slice, "id">[] = []
  const latest = new Map<string, Omit<Slice, "id">>()
  const fresh = buckets.reduce((latest, { to }) => Math.max(latest, to), 0) - FRESH_MS
  for (const { month: _, ...bucket } of buckets) {
    const source = `${bucket.importId} ${bucket.run} ${bucket.from >= fresh}`
    const last = latest.get(source)
    if (last && last.events + bucket.events <= SLICE_EVENTS) extend(last, bucket)
    else {
      slices.push(bucket)
      latest.set(source, bucket)
    }
  }
  return slices
}

function extend(slice: Omit<Slice, "id">, next: Omit<Slice, "id">): void {
  slice.to = next.to
  slice.visits += next.visits
  slice.events += next.events
  slice.mark = BigInt.asUintN(64, slice.mark + next.mark)
  slice.minStart = Math.min(slice.minStart, next.minStart)
  slice.maxStart = Math.max(slice.maxStart, next.maxStart)
  slice.maxAt = Math.max(slice.maxAt, next.maxAt)
  slice.lastArrival = Math.max(slice.lastArrival, next.lastArrival)
}
