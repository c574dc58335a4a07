/**
 * The visit and the touches of transactions. A transaction follows its visit until that is closed; then they are frozen. Visits are looked
 * up for many transactions at once.
 */
import { type LinkClick, type RowStatements, type SaleVisit, type Site, sql, type Touch } from "#plugin"
import type { RevenueHost } from "../host.ts"
import type { Values } from "../orders/book.ts"
import { dimensionsOf, dimensionsText } from "../orders/frozen.ts"
import { convertRows } from "../orders/links.ts"
import { hasLostVisit, NEW, NO_VISIT, OPEN, type TransactionRow } from "../orders/transaction.ts"
import type { RevenueWriter } from "../orders/writer.ts"
import { Unpacked } from "../packed/chunks.ts"
import type { RevenueSettings, RevenueSettingsStore } from "../settings.ts"
import { storeBatches } from "./batches.ts"
import { DAY_MS, frozen, frozenWithoutVisit, type Path, touchTest } from "./touches.ts"
import type { SliceKind, SliceWork, Writing } from "./writing.ts"

/** Number of transactions per lookup. */
export const SLICE = 1_000

/** What a lookup has to know of a transaction. */
export type Traced = Pick<
  TransactionRow,
  "id" | "sale_sequence" | "visit_sequence" | "visitor" | "person" | "occurred_at" | "visit_started_at" | "is_open"
>
const TRACED = sql`id, sale_sequence, visit_sequence, visitor, person, occurred_at, visit_started_at, is_open`

/** What a lookup compares with the visit as it is now. */
type Followed = Traced & Pick<TransactionRow, "dims_json">
const FOLLOWED = sql`${TRACED}, dims_json`

/**
 * Returns the columns of the visit and the touches of a transaction, with the name of its event. Undefined if its visit was not found. Of a
 * stored one that has lost its visit, only the touches are returned.
 */
export type Lookup = (
  of: Pick<Traced, "id" | "sale_sequence" | "occurred_at"> & Partial<TransactionRow>,
  event: string | undefined,
) => Values | undefined

/** The other columns that a lookup returns. */
type Frozen = Pick<TransactionRow, "id" | "visitor_kind" | "link_id" | "touches_json">

/** Visits by the sequence of the sale event. */
type VisitsBySale = ReadonlyMap<number, SaleVisit>

/** Transactions, and the visits that led to them. */
interface Batch {
  found: readonly Traced[]
  lookup: Lookup
}

interface FreezeOptions {
  /** Whether amounts are converted again as well. */
  isConverted?: boolean
  /** Whether visits and touches are looked up. */
  isTouched?: boolean
}

interface AttributionOptions {
  settings: Pick<RevenueSettingsStore, "of">
  writing: Writing
}

export function createAttribution(host: RevenueHost, { settings, writing }: AttributionOptions) {
  const { rows, sales } = host

  /**
   * Looks up the visits and touches of transactions, unless their visits are known already. In its turn, because an erasure must not come
   * in between.
   */
  async function lookUp(site: Site, found: readonly Traced[], signal?: AbortSignal, known?: VisitsBySale): Promise<Lookup> {
    if (found.length === 0) return () => undefined
    const current = await settings.of(site)
    const visits = known ?? (await sales.visits(site, sequencesOf(found), signal))
    const byPerson = found.filter(({ sale_sequence, person }) => sale_sequence === null && person !== null)
    const visitors = new Set([
      ...[...visits.values()].map(({ visitor }) => visitor),
      ...byPerson.map(({ person }) => person!),
      ...found.flatMap((row) => (hasLostVisit(row) ? (row.visitor ?? []) : [])),
    ])
    const led = await pathsOf(site, [...visitors], found, current, signal)
    const personVisits = await visitsOfPersons(site, byPerson, led, current, signal)
    const isTouch = touchTest(site, current)
    const terms = { isTouch, lookbackDays: current.lookbackDays }
    return (row, event) => {
      const { id, sale_sequence: sequence, occurred_at: at } = row
      if (hasLostVisit(row)) return frozenWithoutVisit(row, led.get(row.visitor ?? ""), terms)
      const visit = sequence === null ? personVisits.get(id) : visits.get(sequence)
      return visit && frozen({ at, event }, visit, led.get(visit.visitor), terms)
    }
  }

  /** Stores the visits and touches of some rows, and converts their amounts if asked to. */
  async function freeze(site: Site, { found, lookup }: Batch, { isConverted = false, isTouched = true }: FreezeOptions = {}) {
    const ids = found.map(({ id }) => id)
    const freezeSlice = (writer: RevenueWriter, slice: readonly number[]): void => {
      const rows = loadRows(writer, slice)
      if (isConverted) convertRows(writer, rows)
      if (isTouched) freezeRows(writer, rows.filter(isTraced), lookup)
    }
    await writeAll(site, ids, freezeSlice, isTouched ? "freeze" : "convert")
  }

  /** Stores the visits and touches of transactions with an open visit. Of most, it has only been closed: these are not read whole. */
  async function freezeOpen(site: Site, found: readonly Followed[], lookup: Lookup): Promise<void> {
    const freezeSlice = (writer: RevenueWriter, slice: readonly Followed[], statements: RowStatements): void => {
      const closed = new Set(closeUnchanged(statements, slice, lookup))
      const changed = slice.flatMap(({ id }) => (closed.has(id) ? [] : id))
      if (changed.length > 0) freezeRows(writer, loadRows(writer, changed).filter(isTraced), lookup)
    }
    await writeAll(site, found, freezeSlice, "follow")
  }

  async function writeAll<Item>(site: Site, items: readonly Item[], work: SliceWork<Item>, kind: SliceKind): Promise<void> {
    const unpacked = new Unpacked(site.id)
    await writing.writeSlices(site, items, work, { kind, unpacked })
    await writing.packRest(site, unpacked)
  }

  /** Returns the visit starts and clicks of visitors before the transactions, by visitor. */
  async function pathsOf(
    site: Site,
    visitors: readonly string[],
    found: readonly Traced[],
    { lookbackDays }: RevenueSettings,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, Path>> {
    if (visitors.length === 0) return new Map()
    const times = found.map(({ occurred_at: at }) => at)
    const range = { from: Math.min(...times) - lookbackDays * DAY_MS, to: Math.max(...times) + 1 }
    const { touches, clicks } = await sales.touches(site, { visitors, ...range }, signal)
    const paths = new Map(visitors.map((visitor) => [visitor, { touches: [] as Touch[], clicks: [] as LinkClick[] }]))
    // Both are only of these visitors.
    for (const touch of touches) paths.get(touch.visitor)!.touches.push(touch)
    for (const click of clicks) paths.get(click.visitor)!.clicks.push(click)
    return paths
  }

  /** Returns, by transaction, the latest visit of its person that started by its time, within the look-back. */
  async function visitsOfPersons(
    site: Site,
    found: readonly Traced[],
    paths: ReadonlyMap<string, Path>,
    { lookbackDays }: RevenueSettings,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<number, SaleVisit>> {
    const latest = found.flatMap(({ id, person, occurred_at: to }) => {
      const starts = paths.get(person!)?.touches ?? []
      const start = starts.findLast(({ at }) => at <= to && at >= to - lookbackDays * DAY_MS)
      return start ? [{ id, start }] : []
    })
    if (latest.length === 0) return new Map()
    const visits = await sales.visitsAt(
      site,
      latest.map(({ start: { sequence, at } }) => ({ sequence, at })),
      signal,
    )
    return new Map(latest.flatMap(({ id, start }) => (visits.has(start.sequence) ? [[id, visits.get(start.sequence)!] as const] : [])))
  }

  /** Reads rows whose visit is new or open, after an id. */
  const openRows = (site: Site, state: number, after: number): Promise<Followed[]> =>
    rows.write(({ all }) =>
      all(sql`select ${FOLLOWED} from revenue_transactions
        where site_id = ${site.id} and is_open > 0 and is_open = ${state} and id > ${after} order by id limit ${SLICE}`),
    )

  /** Reads transactions after one, by time. */
  const transactionsAfter = (site: Site, { occurred_at: at, id }: Pick<Traced, "occurred_at" | "id">): Promise<Traced[]> =>
    rows.append(({ all }) =>
      all<Traced>(sql`select ${TRACED} from revenue_transactions where site_id = ${site.id}
        and (occurred_at, id) > (${at}, ${id}) order by occurred_at, id limit ${SLICE}`),
    )

  /** Stores those of some transactions with an open visit whose visit has changed or is closed. Those found by a person may have another one. */
  async function followChanged(site: Site, found: readonly Followed[], signal: AbortSignal): Promise<void> {
    const visits = await sales.visits(site, sequencesOf(found), signal)
    const changed = found.filter((row) => row.sale_sequence === null || !isAsFrozen(row, visits.get(row.sale_sequence)))
    if (changed.length > 0) await freezeOpen(site, changed, await lookUp(site, changed, signal, visits))
  }

  /** Looks up the visits of all transactions of a site in one state. */
  async function followAll(site: Site, state: number, signal: AbortSignal): Promise<void> {
    for (let after = 0; !signal.aborted; ) {
      const last = await writing.inTurn(site.id, async () => {
        const found = await openRows(site, state, after)
        if (found.length === 0) return undefined
        if (state === OPEN) await followChanged(site, found, signal)
        else await freeze(site, { found, lookup: await lookUp(site, found, signal) })
        return found.at(-1)
      })
      if (!last) return
      after = last.id
    }
  }

  return {
    /** Finds the visits of new transactions. */
    attributeNew: (site: Site, signal: AbortSignal): Promise<void> => followAll(site, NEW, signal),
    /** Follows open visits, until they are closed. */
    followOpen: (site: Site, signal: AbortSignal): Promise<void> => followAll(site, OPEN, signal),
    /**
     * Converts the next transactions after one again, and looks up their touches. Those whose visit was erased have none. Returns the last
     * of them and their number.
     */
    recompute: (site: Site, from: RecomputedPart, signal: AbortSignal): Promise<RecomputedPart | undefined> =>
      writing.inTurn(site.id, async () => {
        const { isTouched } = from
        let done = from.done
        const read = async (after?: Batch): Promise<Batch | undefined> => {
          const found = await transactionsAfter(site, after?.found.at(-1) ?? from)
          return found.length === 0 ? undefined : { found, lookup: await lookUp(site, isTouched ? found.filter(isTraced) : [], signal) }
        }
        const store = async (batch: Batch) => {
          await freeze(site, batch, { isConverted: true, isTouched })
          done += batch.found.length
        }
        const batch = await storeBatches({ read, store }, signal)
        await rows.sync()
        const last = batch?.found.at(-1)
        return last && { occurred_at: last.occurred_at, id: last.id, done, isTouched }
      }),
    lookUp,
  }
}
export type Attribution = ReturnType<typeof createAttribution>

/** The transactions after one, by time, and whether their touches are looked up again. Their amounts are converted in any case. */
interface RecomputedPart extends Pick<Traced, "occurred_at" | "id"> {
  isTouched: boolean
  /** Number of transactions before them that were recomputed. */
  done: number
}

const isTraced = ({ visit_started_at: at, is_open }: Traced): boolean => at !== null || is_open > 0

function loadRows({ book }: RevenueWriter, ids: readonly number[]): TransactionRow[] {
  book.load(ids)
  return ids.flatMap((id) => book.byId(id) ?? [])
}

/** Gives rows the visit and the touches that were found. Those whose event was erased have none. */
function freezeRows(writer: RevenueWriter, rows: readonly TransactionRow[], lookup: Lookup): void {
  const left = new Set(writer.events(sequencesOf(rows)).map(({ sequence }) => sequence))
  for (const row of rows) {
    const isErased = row.sale_sequence !== null && !left.has(row.sale_sequence)
    writer.book.update(row.id, lookup(row, eventOf(row)) ?? (isErased ? NO_VISIT : { is_open: 0 }))
  }
}

/** Closes those of some transactions that have the visit and the touches that were found, and returns their ids. */
function closeUnchanged({ all, run }: RowStatements, found: readonly Followed[], lookup: Lookup): number[] {
  const ids = JSON.stringify(found.map(({ id }) => id))
  const stored = all<Frozen>(sql`select id, visitor_kind, link_id, touches_json from revenue_transactions
    where id in (select value from json_each(${ids})) and +is_open = ${OPEN}`)
  const byId = new Map(stored.map((row) => [row.id, row]))
  const closed = found.flatMap((row) => {
    const rest = byId.get(row.id)
    if (!rest) return []
    const closing = { ...row, ...rest, is_open: 0 }
    const values = lookup(closing, eventOf(row))
    return values?.is_open === 0 && hasValues(closing, values) ? row.id : []
  })
  if (closed.length > 0)
    run(sql`update revenue_transactions set is_open = 0 where id in (select value from json_each(${JSON.stringify(closed)}))`)
  return closed
}

const hasValues = (row: Values, values: Values): boolean =>
  (Object.keys(values) as (keyof Values)[]).every((name) => row[name] === values[name])

/** Returns whether a row has its visit as it is now. */
const isAsFrozen = (row: Followed, visit: SaleVisit | undefined): boolean =>
  visit !== undefined &&
  !visit.is_closed &&
  visit.sequence === row.visit_sequence &&
  visit.visitor === row.visitor &&
  visit.started_at === row.visit_started_at &&
  dimensionsText({ ...visit.dims, event: eventOf(row) }) === row.dims_json

/** Returns the name of the event that a row was made of. */
const eventOf = (row: Pick<TransactionRow, "dims_json">): string | undefined => dimensionsOf(row).event

const sequencesOf = (rows: readonly Pick<TransactionRow, "sale_sequence">[]): number[] =>
  rows.flatMap(({ sale_sequence: sequence }) => (sequence === null ? [] : [sequence]))
