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

/** A month with its parts on disk when it was looked at, and the visits of the site when it was listed. */
interface ListedMonth {
  parts: string
  state: string | undefined
  buckets: Bucket[]
}

/** The slices of a site and kind. Months without changes are not listed again. */
export class SliceList {
  readonly #months = new Map<number, ListedMonth>()
  #slices: Slice[] = []
  readonly #ids: () => number

  constructor(nextId: () => number) {
    this.#ids = nextId
  }

  /** Returns the slices as they are now, oldest first. */
  follow(lister: Lister): readonly Slice[] {
    const parts = lister.parts()
    for (const month of this.#months.keys()) if (!parts.has(month)) this.#months.delete(month)
    const touched = [...parts].filter(([month, names]) => this.#months.get(month)?.parts !== names).map(([month]) => month)
    // A month that was never listed is listed anyway, and compared when its parts change the next time.
    const states = lister.months(touched.filter((month) => this.#months.has(month)))
    const changed = touched.filter((month) => !isListed(this.#months.get(month), states.get(month)))
    const buckets = Map.groupBy(changed.length > 0 ? lister.buckets(changed) : [], ({ month }) => month)
    for (const month of touched) {
      const isChanged = changed.includes(month)
      const known = isChanged ? buckets.get(month) : this.#months.get(month)?.buckets
      this.#months.set(month, { parts: parts.get(month)!, state: states.get(month), buckets: known ?? [] })
    }
    const ordered = [...this.#months].sort(([a], [b]) => a - b).flatMap(([, { buckets }]) => buckets)
    const former = new Map(this.#slices.map((slice) => [nameOf(slice), slice]))
    this.#slices = slicesOf(ordered).map((slice) => former.get(nameOf(slice)) ?? { ...slice, id: this.#ids() })
    return this.#slices
  }
}

/** Returns whether a month was listed when it had the same visits. Its state was not asked for at its first listing. */
function isListed(month: ListedMonth | undefined, state: string | undefined): boolean {
  if (!month || month.state !== state) return false
  return state !== undefined || month.buckets.length === 0
}

const nameOf = ({ importId, run, from, to, visits, mark }: Omit<Slice, "id">): string => [importId, run, from, to, visits, mark].join()

/** Joins buckets to slices. Buckets are in order of time. */
function slicesOf(buckets: readonly Bucket[]): Omit<Slice, "id">[] {
  const slices: Omit<Slice, "id">[] = []
  const latest = new Map<string, Omit<Slice, "id">>()
  for (const { month: _, ...bucket } of buckets) {
    const source = `${bucket.importId} ${bucket.run}`
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
