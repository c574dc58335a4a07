/**
 * Moves the events of an instance to ClickHouse and back, while it is stopped. The store of the node stays: on the way there it becomes the
 * spool with everything that it contains, and on the way back it first gets what it has dropped since. Both sides are compared before
 * the one transaction that switches. A kill or a failure before it leaves the instance as it was, and the next attempt continues.
 */
import { dirname } from "node:path"
import type { Clock } from "../../domain/clock.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { unfinishedJob } from "../../store/catalog/jobs.ts"
import { type Clickhouse, ClickhouseFault, type ClickhouseServer } from "../../store/clickhouse/client.ts"
import { openChannel } from "../../store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../store/clickhouse/read/reader.ts"
import { TALLY_TABLES } from "../../store/clickhouse/tallies.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import { SEGMENT_KINDS, type SegmentKind } from "../../store/events/bytes/lanes.ts"
import type { EventStore } from "../../store/events/events.ts"
import { StoreFault } from "../../store/events/fault.ts"
import type { EngineMove, MovedNames, RenameRows } from "../../store/events/moving/moving.ts"
import type { EventReader } from "../../store/events/part.ts"
import { openEventReader } from "../../store/events/reader.ts"
import { ownSequence, sharedSequence } from "../../store/events/spool/sequences.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { Report } from "../runtime/control.ts"
import { ExitFault, type ExitName } from "../runtime/exit.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import type { CatalogLease } from "../runtime/remote-catalog.ts"
import { areRowsOnServer } from "../runtime/row-server.ts"
import { toExitFault } from "../runtime/store-states.ts"
import { siteFacts } from "../stats/open-report.ts"
import { type Comparison, compareVisits, differenceText, VisitorPairs } from "./comparison.ts"
import { fetchVisits, sendEverything } from "./copying.ts"
import { answerText, describeQuery, fixedQueries } from "./queries.ts"
import { movedNames } from "./renaming.ts"
import { hasOwnRows, moveRows, type RowTarget } from "./rows.ts"

export type Destination = EngineMove["to"]
export const DESTINATIONS: readonly Destination[] = ["clickhouse", "embedded"]

export interface MovingOptions {
  catalog: Catalog
  events: EventStore
  imports: Pick<VisibleImports, "of">
  lease: CatalogLease | undefined
  plugins: readonly PluginFacts[]
  allSites(): Promise<Site[]>
  siteKey(siteId: number): Promise<Uint8Array>
  clock: Clock
  /** Path of the event store. */
  path: string
  /** Number of the node, 1 to 255. */
  node: number
  clickhouse: Clickhouse
  server: ClickhouseServer
  /** The server that the rows of plugins are to be on. Undefined when they stay in the data folder. */
  rows: RowTarget | undefined
  /** URL of the network thread of a reader. */
  networkUrl: string
  report: Report
}

/** What was moved and compared. */
export interface Moved {
  to: Destination
  sites: number
  /** Number of visits and records that are the same on both sides. */
  visits: number
  events: number
  /** Number of visits and records that the data folder did not have any more. */
  fetched: number
  /** Number of queries with the same answer on both sides. */
  queries: number
  /** Number of rows of plugins that were copied to a server. */
  rows: number
}

/** Memory for the columns of each side. */
const CACHE_BYTES = 96 << 20
/** Interval at which the lease on the catalog is renewed. */
const RENEWAL_MS = 5_000

/** Moves the events. Throws an `ExitFault` that says what to do; nothing is switched then. */
export async function moveEvents(to: Destination, options: MovingOptions): Promise<Moved> {
  const { lease } = options
  let lost: unknown
  const renewing = setInterval(() => lease?.renew().catch((error) => (lost = error)), RENEWAL_MS)
  const check = () => {
    if (lost) throw lost
  }
  const own = openEventReader(options.path, { cacheBytes: CACHE_BYTES })
  const channel = openChannel(options.networkUrl, options.server)
  const remote = openClickhouseReader({ channel, cacheBytes: CACHE_BYTES, local: own, check })
  try {
    await refuseUnfinished(options)
    return await (to === "clickhouse" ? there : back)({ ...options, own, remote, check })
  } catch (error) {
    throw toExit(error, options)
  } finally {
    clearInterval(renewing)
    remote.close()
  }
}

/** What `releaseSource` has given up. */
export interface Released {
  copy: "clickhouse" | "data folder"
}

/** Gives up the copy that the last move has kept: what the data folder has beside ClickHouse, or what ClickHouse has beside it. */
export async function releaseSource({
  events,
  clickhouse,
  node,
}: Pick<MovingOptions, "events" | "clickhouse" | "node">): Promise<Released> {
  const holding = events.holding()
  if (holding === "moving") throw IS_INCOMPLETE
  if (holding === "shipped") {
    events.releaseSource()
    return { copy: "data folder" }
  }
  // The events of an empty data folder, or of other nodes, exist only on ClickHouse.
  if (holding === "none" || (await hasOtherNodes(clickhouse, node))) throw IS_NO_COPY
  for (const table of ["visits", "totals", ...TALLY_TABLES]) await clickhouse.run(`truncate table ${table}`)
  return { copy: "clickhouse" }
}

/** Sends everything to ClickHouse again that happened after a moment. Returns the number of visits and records. */
export async function shipAgain(since: number, options: MovingOptions): Promise<{ visits: number }> {
  const { events, node, siteKey } = options
  if (events.holding() !== "shipped") throw configuration("The events of this instance are not on ClickHouse")
  events.beginShipping(node, siteKey)
  const visits = events.shipAgain(since)
  try {
    await sendEverything({ ...options, check() {} })
  } catch (error) {
    throw toExit(error, options)
  }
  return { visits }
}

interface Move extends MovingOptions {
  own: EventReader
  remote: EventReader
  /** Throws when the lease on the catalog was lost. */
  check(): void
}

async function there(move: Move): Promise<Moved> {
  const { events, clickhouse, node, siteKey } = move
  const holding = events.holding()
  if (holding === "shipped") {
    if (!move.rows || !(await hasOwnRows(move))) throw configuration("The events of this instance are on ClickHouse already")
    return { to: "clickhouse", fetched: 0, sites: 0, visits: 0, events: 0, queries: 0, rows: await moveRows(move, move.rows) }
  }
  if (holding !== "moving" && (await hasRows(clickhouse))) throw IS_OCCUPIED
  events.beginShipping(node, siteKey, undefined, true)
  await sendEverything(move)
  const compared = await compareAll(move)
  const numberings = new Map<number, Awaited<ReturnType<EventStore["sharedNumbers"]>>>()
  for (const siteId of compared.pairs.keys()) numberings.set(siteId, await events.sharedNumbers(siteId))
  const sequence = (own: number) => sharedSequence(own, node)
  const namesOf = await names(move, compared.pairs, (siteId, pairs) => ({
    sequence,
    visitor: (ordinal) => pairs.number(ordinal) ?? numberings.get(siteId)!.number(ordinal),
  }))
  const renamings = await renamingsOf(move, "clickhouse")
  move.check()
  events.completeMove((rows) => {
    for (const rename of renamings) rename(rows, namesOf)
  })
  const rows = move.rows ? await moveRows(move, move.rows) : 0
  return { to: "clickhouse", fetched: 0, ...compared.counts, rows }
}

async function back(move: Move): Promise<Moved> {
  const { catalog, events, clickhouse, node, siteKey } = move
  const holding = events.holding()
  if (holding === "moving") throw IS_INCOMPLETE
  if (holding !== "shipped") throw configuration("The events of this instance are in the data folder already")
  if (await hasOtherNodes(clickhouse, node)) throw HAS_OTHER_NODES
  if (await areRowsOnServer(catalog)) throw HAS_ROW_SERVER
  events.beginShipping(node, siteKey)
  await sendEverything(move)
  let fetched = 0
  for (const siteId of await sitesOf(move)) fetched += await fetchSite(move, siteId)
  const compared = await compareAll(move)
  const ordinals = new Map<number, (number: number) => number | undefined>()
  for (const [siteId, pairs] of compared.pairs) ordinals.set(siteId, await ordinalsOf(move, siteId, pairs))
  const added = new Map<string, number>()
  let newVisitor: (siteId: number) => number = () => 0
  const namesOf = await names(move, compared.pairs, (siteId) => ({
    sequence: (shared) => ownSequence(shared, node) ?? 0,
    visitor(number) {
      const known = ordinals.get(siteId)!(number) ?? added.get(`${siteId} ${number}`)
      if (known !== undefined) return known
      const ordinal = newVisitor(siteId)
      added.set(`${siteId} ${number}`, ordinal)
      return ordinal
    },
  }))
  const renamings = await renamingsOf(move, "embedded")
  move.check()
  events.endShipping((rows, visitor) => {
    newVisitor = visitor
    for (const rename of renamings) rename(rows, namesOf)
  })
  return { to: "embedded", fetched, ...compared.counts, rows: 0 }
}

/** Returns the ordinals of visitors by number. Those without a visit are looked up only if one is wanted. */
async function ordinalsOf({ events }: Move, siteId: number, pairs: VisitorPairs): Promise<(number: number) => number | undefined> {
  const { limit, number } = await events.sharedNumbers(siteId)
  const paired = pairs.sorted()
  let others: Map<number, number> | undefined
  const readOthers = () => new Map(Array.from({ length: limit }, (_, ordinal) => [number(ordinal), ordinal]))
  return (wanted) => {
    const at = firstAtLeast(paired.numbers, wanted)
    if (paired.numbers[at] === wanted) return paired.ordinals[at]!
    others ??= readOthers()
    return others.get(wanted)
  }
}

/** Fetches the visits of a site that the store of the node does not have. Returns their number. */
async function fetchSite(move: Move, siteId: number): Promise<number> {
  let fetched = 0
  const pairs = new VisitorPairs()
  const found = new Map<SegmentKind, Comparison>()
  for (const kind of SEGMENT_KINDS) found.set(kind, await compareKind(move, siteId, kind, pairs))
  if ([...found.values()].every(({ additional }) => additional === 0)) return 0
  const adopt = await move.events.adoption(siteId, (ordinal) => pairs.number(ordinal))
  for (const [kind, { additional, additionalIn }] of found) {
    if (additional === 0) continue
    move.report({ what: `fetching ${kind} of site ${siteId}`, done: 0, total: additional })
    await fetchVisits(move, { snapshot: move.remote.snapshot(siteId, kind, "all"), kind, masks: additionalIn, adopt })
    fetched += additional
  }
  return fetched
}

/** The sites of both sides. */
async function sitesOf({ events, clickhouse }: Move): Promise<number[]> {
  const rows = await clickhouse.rows<{ site: number }>("select distinct site_id as site from visits final")
  return [...new Set([...events.storedSites(), ...rows.map(({ site }) => site)])].sort((a, b) => a - b)
}

interface Compared {
  counts: Pick<Moved, "sites" | "visits" | "events" | "queries">
  pairs: Map<number, VisitorPairs>
}

/** Compares all visits and the answers to the fixed queries. Throws an `ExitFault` for a difference. */
async function compareAll(move: Move): Promise<Compared> {
  const sites = new Map((await move.allSites()).map((site) => [site.id, site]))
  const ids = await sitesOf(move)
  const counts = { sites: ids.length, visits: 0, events: 0, queries: 0 }
  const pairs = new Map<number, VisitorPairs>()
  for (const [done, siteId] of ids.entries()) {
    move.report({ what: "comparing sites", done, total: ids.length })
    const ofSite = new VisitorPairs()
    pairs.set(siteId, ofSite)
    for (const kind of SEGMENT_KINDS) {
      const compared = await compareKind(move, siteId, kind, ofSite)
      const difference = differenceText(siteId, kind, compared)
      if (difference) throw differs(difference)
      counts.visits += compared.visits
      counts.events += compared.events
    }
    if (ofSite.conflicts > 0 || ofSite.hasDuplicates()) throw differs(`the visitors of site ${siteId}`)
    const site = sites.get(siteId)
    if (site) counts.queries += await compareAnswers(move, site)
  }
  // A site without visits can have rows of areas.
  for (const siteId of sites.keys()) if (!pairs.has(siteId)) pairs.set(siteId, new VisitorPairs())
  move.report({ what: "comparing sites", done: ids.length, total: ids.length })
  return { counts, pairs }
}

const compareKind = ({ own, remote, node }: Move, siteId: number, kind: SegmentKind, pairs: VisitorPairs): Promise<Comparison> =>
  compareVisits(
    {
      own: own.snapshot(siteId, kind, "all"),
      remote: remote.snapshot(siteId, kind, "all"),
      shared: (sequence) => sharedSequence(sequence, node),
    },
    pairs,
  )

async function compareAnswers({ own, remote, imports, check }: Move, site: Site): Promise<number> {
  const visible = imports.of(site.id)
  const both = [own, remote].map((reader) => reader.snapshot(site.id, "visits", visible))
  const starts = both[0]!.parts.flatMap(({ minStart, maxAt }) => [minStart, maxAt + 1])
  if (starts.length === 0) return 0
  const range = { from: Math.min(...starts), to: Math.max(...starts) }
  const tasks = fixedQueries(siteFacts(site, []), site.timezone, range)
  for (const task of tasks) {
    check()
    const [mine, theirs] = both.map((snapshot) => answerText(snapshot, task))
    if (mine !== theirs) throw differs(`${describeQuery(task)} of site ${site.id}`)
    await Bun.sleep(0)
  }
  return tasks.length
}

interface Names {
  visitor(number: number): number
  sequence(sequence: number): number
}

/** Returns the names of visitors and events of each site after the move. */
async function names(
  { siteKey }: Move,
  sites: ReadonlyMap<number, VisitorPairs>,
  of: (siteId: number, pairs: VisitorPairs) => Names,
): Promise<(siteId: number) => MovedNames | undefined> {
  const known = new Map<number, MovedNames>()
  for (const [siteId, pairs] of sites) known.set(siteId, movedNames({ siteKey: await siteKey(siteId), ...of(siteId, pairs) }))
  return (siteId) => known.get(siteId)
}

async function renamingsOf({ plugins, catalog, node }: Move, to: Destination): Promise<RenameRows[]> {
  const prepared = await Promise.all(plugins.map(({ moveRows }) => moveRows?.(catalog, { to, node })))
  return prepared.filter((rename) => rename !== undefined)
}

async function refuseUnfinished({ catalog, clock }: MovingOptions): Promise<void> {
  const kind = await unfinishedJob(catalog, clock.now())
  if (kind !== undefined)
    throw configuration(`The job ${kind} is not finished. Start the instance, wait until it is, stop it, and run this command again`)
}

const hasRows = async (clickhouse: Clickhouse): Promise<boolean> =>
  (await clickhouse.rows("select 1 from visits limit 1 union all select 1 from totals limit 1")).length > 0

const hasOtherNodes = async (clickhouse: Clickhouse, node: number): Promise<boolean> => {
  const visits = "select 1 from visits final where visit % 256 != {node:UInt8} limit 1"
  const totals = "select 1 from totals final where node != {node:UInt8} limit 1"
  return (await clickhouse.rows(`${visits} union all ${totals}`, { parameters: { node } })).length > 0
}

const configuration = (message: string) => new ExitFault("configuration", message)

const IS_INCOMPLETE = configuration("A move to ClickHouse is not complete. Start without FOOTFALL_CLICKHOUSE_URL to give it up")

const IS_OCCUPIED = configuration(
  "The database of FOOTFALL_CLICKHOUSE_DATABASE contains events. Use an empty database, or delete them with footfall engine release if they are from an earlier move",
)

const IS_NO_COPY = configuration("ClickHouse has events that the data folder does not have, so they are not deleted")

const HAS_OTHER_NODES = configuration(
  "ClickHouse has events of other nodes, whose visitors only they can recognize. Moving them into one data folder is not supported",
)

const HAS_ROW_SERVER = configuration(
  "The rows of plugins are on the server of FOOTFALL_ROWS_URL, in an order that only several nodes have. Moving the events back without them is not supported",
)

const differs = (what: string) =>
  new ExitFault(
    "damaged",
    `The data folder and ClickHouse differ: ${what}. Nothing was switched. Start the instance once, so that what was interrupted is completed, and try again`,
  )

/** Converts a failure of ClickHouse or of the store. The URL can contain a password, so messages contain only the host. */
function toExit(error: unknown, { server, path }: Pick<MovingOptions, "server" | "path">): unknown {
  const isRemote = error instanceof ClickhouseFault || (error instanceof StoreFault && error.kind === "unreachable")
  if (isRemote) return stopped("unavailable", `ClickHouse at ${new URL(server.url).host} failed: ${error.message}`, error)
  const fault = toExitFault(error, dirname(path))
  return error instanceof StoreFault && fault instanceof ExitFault ? stopped(fault.exit, fault.message, error) : fault
}

const stopped = (exit: ExitName, why: string, cause: Error) =>
  new ExitFault(exit, `${why}. Nothing was switched. Run this command again to continue`, { cause })
