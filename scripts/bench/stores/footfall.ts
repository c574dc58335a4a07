/** Footfall's own store and kernels. Reports are answered on a thread of their own, as by a query worker. */
import { Database } from "bun:sqlite"
import { statSync } from "node:fs"
import { plugins } from "../../../plugins/index.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { GROUPS, type Group, groupRow } from "../../../src/store/events/bytes/columns.ts"
import { eventSchemas } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader, Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import type { FromAnswers, Question, ToAnswers } from "./answer-thread.ts"
import type { Contender } from "./contender.ts"
import type { BenchVisit } from "./data.ts"
import { type Answer, DAY_MS } from "./reports.ts"

export const CACHE_BYTES = 192 << 20
/** The tables that areas add to the store. */
export const SCHEMAS = eventSchemas(pluginFacts(plugins))
const SEAL_EVERY = 20 // batches

/** Footfall as a contender. */
export interface Footfall extends Contender {
  path: string
  snapshot(siteId: number): Snapshot
  /** Starts the thread that answers again. Sums of months that it has stored remain. */
  restart(): Promise<void>
  /** Returns the bytes of the file by what they are for, the most first. */
  parts(): [name: string, bytes: number][]
}

export function openFootfall(folder: string, start: number): Footfall {
  const path = `${folder}/events.db`
  const store = openEventStore(path, { now: start, schemas: SCHEMAS })
  let reader: EventReader | undefined
  let answers: ReturnType<typeof openAnswers> | undefined
  let now = start
  let batches = 0
  const forgotten = new Map<number, number>()

  /** Deletes the lookups of visitors together with their salts, 48 hours after the start of the day. */
  function forget(visits: readonly BenchVisit[]): void {
    const due = Math.floor(now / DAY_MS) - 2
    for (const { siteId } of visits) {
      const last = forgotten.get(siteId) ?? Math.floor(start / DAY_MS) - 1
      for (let day = last + 1; day <= due; day++) store.forgetVisitors(siteId, dayName(day * DAY_MS))
      forgotten.set(siteId, Math.max(last, due))
    }
  }

  const read = () => {
    reader ??= openEventReader(path, { cacheBytes: CACHE_BYTES })
    return reader
  }

  return {
    name: "Footfall",
    path,
    snapshot: (siteId) => read().snapshot(siteId),
    async load(visits) {
      now = visits.reduce((latest, { events }) => Math.max(latest, events.at(-1)!.at), now)
      store.write(now, (writer) => {
        for (const visit of visits) write(writer, visit)
      })
      if (++batches % SEAL_EVERY !== 0) return
      forget(visits)
      await store.seal(now)
      store.checkpoint("passive")
    },
    async finish() {
      now += 2 * DAY_MS
      await store.seal(now, true)
      await store.merge(now)
      await store.dropRetired(now + DAY_MS)
      store.checkpoint("truncate")
      store.close()
    },
    bytes: () => statSync(path).size,
    answer(siteId, report, range) {
      answers ??= openAnswers(path, now)
      return answers.ask({ siteId, report, range })
    },
    restart: async () => answers?.restart(),
    parts: () => partsOf(path),
    close() {
      reader?.close()
      answers?.close()
    },
  }
}

/** Names of the groups of columns for readers. */
const GROUP_NAMES: Readonly<Record<Group, string>> = {
  core: "visitor, counts and duration of visits",
  starts: "starts of visits",
  records: "order and arrival of visits",
  origins: "source, referrer, channel and campaign",
  places: "country, region, city and language",
  clients: "device, browser and operating system",
  entries: "first event of each visit; texts of events",
  items: "names, pages and titles of later events",
  steps: "times between events",
  props: "properties",
  revenue: "revenue",
  engagement: "engaged times and scroll depths",
  vitals: "web vitals",
}

function partsOf(path: string): [name: string, bytes: number][] {
  const db = new Database(path, { readonly: true })
  try {
    const stored = db.query<{ id: number; bytes: number }, []>(
      "select id % 128 as id, sum(length(data)) as bytes from segment_columns group by 1",
    )
    const groups = new Map(GROUPS.map((group) => [groupRow(0, group), group]))
    const parts = stored.all().map(({ id, bytes }): [string, number] => [GROUP_NAMES[groups.get(id)!], bytes])
    const rest = statSync(path).size - parts.reduce((sum, [, bytes]) => sum + bytes, 0)
    return [...parts, ["everything else", rest] as [string, number]].sort(([, one], [, other]) => other - one)
  } finally {
    db.close()
  }
}

/** Starts the thread that answers reports. Its heap is small, as that of a query worker, so that collecting garbage takes as long. */
function openAnswers(path: string, now: number) {
  const writer = openEventStore(path, { now, schemas: SCHEMAS })
  const start = () => new Worker(new URL("answer-thread.ts", import.meta.url).href)
  let worker = start()
  const request = (message: ToAnswers): Promise<Answer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    worker.onmessage = ({ data }: MessageEvent<FromAnswers>) => {
      if (data.type === "sums") writer.storeSums(data.sums)
      else resolve(data.answer)
    }
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.postMessage(message)
    return promise
  }
  const open = () => request({ type: "open", path, cacheBytes: CACHE_BYTES })
  let opened = open()
  return {
    async ask(question: Question): Promise<Answer> {
      await opened
      return request({ type: "ask", question })
    },
    async restart(): Promise<void> {
      await opened
      worker.terminate()
      worker = start()
      opened = open()
      await opened
    },
    close() {
      worker.terminate()
      writer.close()
    },
  }
}

/** Users are numbered like visitors of a salt period that never ends, because only their visits are measured. */
const USERS = "~users"

function write(writer: Writer, { siteId, visitor, kind, traits, events }: BenchVisit): void {
  const day = dayName(events[0]!.at)
  const period = kind === "user" ? USERS : day
  const ordinal = writer.visitor(siteId, period, { high: Math.imul(visitor, 0x9e3779b1) >>> 0, low: visitor })
  const id = writer.openVisit(siteId, { rotating: ordinal, visitor: ordinal, visitorKind: kind, traits }, day)
  for (const event of events) writer.add(siteId, id, event, day)
}

const dayName = (at: number): string => new Date(at).toISOString().slice(0, 10)
