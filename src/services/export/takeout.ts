import type { Clock } from "../../domain/clock.ts"
import { instantText } from "../../domain/moment.ts"
import { RECORD_KINDS, type RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { VisitRow } from "../../query/rows/rows.ts"
import { numbersOfPseudonyms, pseudonyms } from "../../query/show/pseudonyms.ts"
import type { Slice } from "../../store/catalog/catalog.ts"
import type { Annotations } from "../definitions/annotations.ts"
import type { Funnels, Goals } from "../definitions/goals.ts"
import type { Segments } from "../definitions/segments.ts"
import { inSlices } from "../lists/paging.ts"
import type { Random } from "../secrets/secrets.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import { callerOf, siteFacts } from "../stats/open-report.ts"
import type { ZippedFile, ZipWriter } from "./zip-writer.ts"

export interface TakeoutOptions {
  engine: Pick<Engine, "rows" | "importedRows">
  goals: Pick<Goals, "list" | "rules">
  funnels: Pick<Funnels, "list">
  annotations: Pick<Annotations, "list">
  segments: Pick<Segments, "of">
  siteKeys: Pick<SiteKeys, "siteKey">
  /** Returns the files that areas add to the archive. Empty before the areas are set up. */
  areaFiles(): readonly AreaFile[]
  random: Random
  clock: Pick<Clock, "now">
}

/** A file of an area in the archive, with one JSON object per line. */
export interface AreaFile {
  /** Name of the file without `.ndjson`. */
  name: string
  rows(site: Site, names: ArchiveNames): AsyncIterable<object> | Iterable<object>
}

/** Pseudonyms of visitors, which differ in every archive, so that archives cannot be joined. */
export interface ArchiveNames {
  /** Converts pseudonyms of the site (16 digits) to those of the archive. */
  visitors(names: readonly string[]): string[]
}

/** Result of an export of a whole site. */
export interface Takeout {
  visits: number
  events: number
  /** Size of the archive. */
  bytes: number
}

/** A viewer without identity, who sees only definitions of the site and not those of a user. */
const NO_ONE = { userId: 0, permissions: new Set<string>() }

/**
 * Writes a whole site to an archive from which it can be recreated elsewhere: settings, definitions, the files of areas, all visits
 * and records, each on one line with its events, in the order of time, and imported totals. Visitors have pseudonyms that are valid only in this archive. It
 * contains no addresses, salts, keys, person keys and definitions of single users. The file must not exist yet.
 */
export async function writeTakeout(
  options: TakeoutOptions,
  site: Site,
  path: string,
  { signal, onProgress = () => {} }: { signal?: AbortSignal; onProgress?(visits: number): void } = {},
): Promise<Takeout> {
  // Imported on demand, because a start does not need it.
  const { zipWriter } = await import("./zip-writer.ts")
  const zip = await zipWriter(path)
  try {
    return await write(options, site, zip, signal, onProgress)
  } catch (thrown) {
    await zip.abandon()
    throw thrown
  }
}

async function write(
  options: TakeoutOptions,
  site: Site,
  zip: ZipWriter,
  signal: AbortSignal | undefined,
  onProgress: (visits: number) => void,
): Promise<Takeout> {
  const { goals, funnels, annotations, segments, clock } = options
  const lists = { goals, funnels, annotations, segments: segments.of(NO_ONE) }
  const files: ZippedFile[] = []
  const counts: Record<string, number> = {}
  for (const [name, { list }] of Object.entries(lists)) {
    const things = await inSlices((slice: Slice) => list(site, slice) as Promise<{ id: number }[]>)
    files.push(await zip.add(`${name}.json`, [jsonBytes(things.map(withoutOwner))]))
    counts[name] = things.length
  }
  const taking = await openTaking(options, site, signal)
  const counted = { visits: 0, events: 0 }
  files.push(await zip.add("visits.ndjson", visitLines(taking, undefined, counted, onProgress)))
  for (const kind of RECORD_KINDS) {
    const records = { visits: 0, events: 0 }
    files.push(
      await zip.add(
        `${kind}.ndjson`,
        visitLines(taking, kind, records, () => onProgress(counted.visits)),
      ),
    )
    counts[kind] = records.visits
  }
  const totals = { rows: 0 }
  files.push(await zip.add("imported.ndjson", areaLines(importedRecords(taking), totals, signal)))
  counts.imported = totals.rows
  for (const { name, rows } of options.areaFiles()) {
    const lines = { rows: 0 }
    files.push(await zip.add(`${name}.ndjson`, areaLines(rows(site, taking.names), lines, signal)))
    counts[name] = lines.rows
  }
  const manifest = {
    format: "footfall-site",
    version: 2,
    created_at: instantText(clock.now()),
    site: shownSite(site),
    counts: { ...counts, ...counted },
    files: Object.fromEntries(files.map(({ name, ...file }) => [name, file])),
  }
  await zip.add("manifest.json", [jsonBytes(manifest)])
  return { ...counted, bytes: await zip.finish() }
}

const UTF8 = new TextEncoder()
const jsonBytes = (value: unknown): Uint8Array => UTF8.encode(`${JSON.stringify(value, null, 2)}\n`)

const withoutOwner = ({ site_id: _, owner_user_id: __, ...thing }: Record<string, unknown>) => thing

/** Returns the site as written to the manifest: without IP shields, which contain personal addresses, and without ids of the instance. */
function shownSite({ name, hosts, timezone, retention_days, revenue_currency, settings, identity_history }: Site) {
  const shields = settings.shields.filter(({ kind }) => kind !== "ip")
  return { name, hosts, timezone, retention_days, revenue_currency, settings: { ...settings, shields, public: false }, identity_history }
}

/** The state of an archive that is being written. */
interface Taking {
  options: TakeoutOptions
  site: Site
  signal: AbortSignal | undefined
  nameOf(numbers: readonly number[]): string[]
  names: ArchiveNames
}

async function openTaking(options: TakeoutOptions, site: Site, signal: AbortSignal | undefined): Promise<Taking> {
  // The key is not stored, so that visitors cannot be joined between archives.
  const nameOf = pseudonyms(options.random(32), "visitor")
  const numbersOf = numbersOfPseudonyms(await options.siteKeys.siteKey(site.id), "visitor")
  return { options, site, signal, nameOf, names: { visitors: (names) => nameOf(numbersOf(names)) } }
}

async function* visitLines(
  { options: { engine, goals }, site, signal, nameOf }: Taking,
  records: RecordKind | undefined,
  counted: { visits: number; events: number },
  onProgress: (visits: number) => void,
): AsyncGenerator<Uint8Array> {
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER }
  const query = { site: siteFacts(site, goals.rules(site.id)), range, ...(records && { records }) }
  for await (const batch of engine.rows(query, callerOf(site, signal ? { signal } : {}))) {
    signal?.throwIfAborted()
    const names = nameOf(batch.map(({ visitor }) => visitor))
    counted.visits += batch.length
    counted.events += batch.reduce((sum, { counted_events }) => sum + counted_events, 0)
    onProgress(counted.visits)
    yield UTF8.encode(batch.map((visit, i) => `${JSON.stringify(lineOf(visit, names[i]!))}\n`).join(""))
  }
}

/** Returns the line of a visit. The sequence is left out, because it only determines the order of the lines. */
const lineOf = ({ sequence: _, ...visit }: VisitRow, visitor: string) => ({ ...visit, visitor })

/** Returns the imported totals that answers include, one object per row. */
async function* importedRecords({ options: { engine }, site, signal }: Taking): AsyncGenerator<object> {
  for await (const rows of engine.importedRows({ site: { id: site.id } }, callerOf(site, signal ? { signal } : {}))) yield* rows
}

/** Number of lines that are compressed together, because compressing each line separately would be slow. */
const AREA_LINES = 500

async function* areaLines(
  rows: AsyncIterable<object> | Iterable<object>,
  counted: { rows: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let lines: string[] = []
  for await (const row of rows) {
    signal?.throwIfAborted()
    counted.rows++
    lines.push(`${JSON.stringify(row)}\n`)
    if (lines.length < AREA_LINES) continue
    yield UTF8.encode(lines.join(""))
    lines = []
  }
  yield UTF8.encode(lines.join(""))
}
