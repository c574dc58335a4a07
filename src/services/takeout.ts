import type { Clock } from "../domain/clock.ts"
import { instantText } from "../domain/moment.ts"
import type { Site } from "../domain/site.ts"
import type { Engine } from "../query/engine.ts"
import { pseudonyms } from "../query/pseudonyms.ts"
import type { VisitRow } from "../query/rows.ts"
import type { Slice } from "../store/catalog/catalog.ts"
import type { Annotations } from "./annotations.ts"
import type { Funnels } from "./funnels.ts"
import type { Goals } from "./goals.ts"
import { askerOf } from "./open-report.ts"
import { siteFacts } from "./report-facts.ts"
import type { Random } from "./secrets.ts"
import type { Segments } from "./segments.ts"
import { inSlices } from "./slices.ts"
import type { ZippedFile, ZipWriter } from "./zip-writer.ts"

export interface TakeoutOptions {
  engine: Pick<Engine, "rows">
  goals: Pick<Goals, "list" | "rules">
  funnels: Pick<Funnels, "list">
  annotations: Pick<Annotations, "list">
  segments: Pick<Segments, "of">
  random: Random
  clock: Pick<Clock, "now">
}

/** What was taken out. */
export interface Takeout {
  visits: number
  events: number
  /** Of the archive. */
  bytes: number
}

/** Nobody: what belongs to the site and not to one person. */
const NO_ONE = { userId: 0, permissions: new Set<string>() }

/**
 * Writes all of a site into one archive, which makes the same site again elsewhere: settings, what people defined on it, and
 * every visit with its events on one line, in the order in which they happened. A visitor has a name that is good for this
 * archive alone; no address, salt, key, person key or personal thing is in it. The file must not be there yet.
 */
export async function writeTakeout(
  options: TakeoutOptions,
  site: Site,
  path: string,
  { signal, onProgress = () => {} }: { signal?: AbortSignal; onProgress?(visits: number): void } = {},
): Promise<Takeout> {
  // Only now: no start needs what packs.
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
  const counted = { visits: 0, events: 0 }
  files.push(await zip.add("visits.ndjson", visitLines(options, site, counted, signal, onProgress)))
  const manifest = {
    format: "footfall-site",
    version: 1,
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

/** Addresses that members wrote into shields are theirs, and ids of the instance mean nothing elsewhere. */
function shownSite({ name, hosts, timezone, retention_days, revenue_currency, settings, identity_history }: Site) {
  const shields = settings.shields.filter(({ kind }) => kind !== "ip")
  return { name, hosts, timezone, retention_days, revenue_currency, settings: { ...settings, shields, public: false }, identity_history }
}

async function* visitLines(
  { engine, goals, random }: TakeoutOptions,
  site: Site,
  counted: { visits: number; events: number },
  signal: AbortSignal | undefined,
  onProgress: (visits: number) => void,
): AsyncGenerator<Uint8Array> {
  // Known to nobody afterwards: what two archives say of a visitor cannot be joined.
  const nameOf = pseudonyms(random(32), "visitor")
  const query = { site: siteFacts(site, goals.rules(site.id)), range: { from: 0, to: Number.MAX_SAFE_INTEGER } }
  for await (const batch of engine.rows(query, askerOf(site, signal ? { signal } : {}))) {
    signal?.throwIfAborted()
    const names = nameOf(batch.map(({ visitor }) => visitor))
    counted.visits += batch.length
    counted.events += batch.reduce((sum, { counted_events }) => sum + counted_events, 0)
    onProgress(counted.visits)
    yield UTF8.encode(batch.map((visit, i) => `${JSON.stringify(lineOf(visit, names[i]!))}\n`).join(""))
  }
}

/** Lines come by start and sequence: their order says what the sequence said. */
const lineOf = ({ sequence: _, ...visit }: VisitRow, visitor: string) => ({ ...visit, visitor })
