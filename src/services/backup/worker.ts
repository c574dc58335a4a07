import { type CatalogExamination, examineCatalogFile, removeSecretsOfCopy } from "../../store/catalog/copy.ts"
import { movePages } from "../../store/events/checkpoint.ts"
import { compactEventFile, copyEventFile, examineEventFile, forgetVisitorsOfCopy } from "../../store/events/copy.ts"
import { openForReading } from "../../store/events/database.ts"
import type { FaultKind } from "../../store/events/fault.ts"
import { openEventReader } from "../../store/events/reader.ts"
import { listSegmentUsage, listTableUsage, type SegmentUsage, type TableUsage } from "../../store/events/tables/usage.ts"
import { type OldVisits, oldVisits, type SiteLimit } from "../../store/events/upkeep/old-visits.ts"
import type { Examination } from "../../store/examination.ts"
import { hashFile, syncPath } from "../runtime/files.ts"
import { type Manifest, publishFolder, writeManifest } from "./folder.ts"
import { GO_ON } from "./thread.ts"

/** Tasks on the event store and on closed files that run in a worker thread. */
export type Task =
  | { do: "copy"; source: string; target: string }
  | { do: "examine"; path: string; full: boolean }
  | { do: "clean-catalog"; path: string }
  | { do: "examine-catalog"; path: string; full: boolean }
  | { do: "count"; path: string; sites: readonly number[] }
  | { do: "hash"; path: string; sync?: boolean }
  | { do: "publish"; dataDir: string; folder: string; manifest: Manifest }
  | { do: "measure"; path: string }
  | { do: "compact"; path: string }
  | { do: "move-pages"; path: string; all: boolean; isEmptied: boolean }
  | { do: "count-old"; path: string; sites: readonly SiteLimit[] }

export interface Outcomes {
  copy: null
  examine: Examination
  "clean-catalog": null
  "examine-catalog": CatalogExamination
  /** Number of events by site. */
  count: Record<string, number>
  /** With `sync` the file is also on disk. */
  hash: { bytes: number; sha256: string }
  publish: null
  compact: null
  "move-pages": FaultKind | null
  measure: { tables: TableUsage[]; segments: SegmentUsage[] }
  /** Counts by site, in the requested order, and kind. */
  "count-old": OldVisits[][]
}

/**
 * An outcome, or the name, kind and message of an error, because errors lose their class between threads. A worker that asks waits for
 * `GO_ON`.
 */
export type Reply = { outcome: unknown } | { asks: true } | { fault: { name: string; kind: string; message: string } }

// The compiler only knows the globals of a window.
declare const self: Worker

/** Lets a task go on that has asked. */
let goOn = () => {}

self.onmessage = async ({ data }: MessageEvent<Task | typeof GO_ON>) => {
  if (data === GO_ON) return goOn()
  try {
    self.postMessage({ outcome: await perform(data) } satisfies Reply)
  } catch (error) {
    self.postMessage({ fault: describe(error) } satisfies Reply)
  }
}

function perform(task: Task): unknown {
  if (task.do === "copy") return copy(task)
  if (task.do === "examine") return examineEventFile(task.path, task)
  if (task.do === "clean-catalog") return cleanCatalog(task.path)
  if (task.do === "examine-catalog") return examineCatalogFile(task.path, task)
  if (task.do === "count") return count(task)
  if (task.do === "measure") return measure(task.path)
  if (task.do === "compact") return compact(task.path)
  if (task.do === "move-pages") return movePages(task.path, task.all ? ask : undefined, task.isEmptied)
  if (task.do === "count-old") return countOld(task)
  if (task.do === "publish") return publish(task)
  return hash(task)
}

function hash({ path, sync }: { path: string; sync?: boolean }): Outcomes["hash"] {
  if (sync) syncPath(path)
  return hashFile(path)
}

/** Makes a complete backup visible. It waits for the disk several times. */
function publish({ dataDir, folder, manifest }: { dataDir: string; folder: string; manifest: Manifest }): null {
  writeManifest(folder, manifest)
  publishFolder(dataDir, folder, manifest.id)
  return null
}

function copy({ source, target }: { source: string; target: string }): null {
  copyEventFile(source, target)
  forgetVisitorsOfCopy(target)
  return null
}

const ask = (): Promise<void> =>
  new Promise((resolve) => {
    goOn = resolve
    self.postMessage({ asks: true } satisfies Reply)
  })

function cleanCatalog(path: string): null {
  removeSecretsOfCopy(path)
  return null
}

function count({ path, sites }: { path: string; sites: readonly number[] }): Record<string, number> {
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  try {
    return Object.fromEntries(sites.map((id) => [id, reader.snapshot(id).parts.reduce((sum, part) => sum + part.events, 0)]))
  } finally {
    reader.close()
  }
}

function compact(path: string): null {
  compactEventFile(path)
  return null
}

function countOld({ path, sites }: { path: string; sites: readonly SiteLimit[] }): OldVisits[][] {
  const db = openForReading(path)
  try {
    return oldVisits(db, sites)
  } finally {
    db.close()
  }
}

function measure(path: string): Outcomes["measure"] {
  const db = openForReading(path)
  try {
    return { tables: listTableUsage(db), segments: listSegmentUsage(db) }
  } finally {
    db.close()
  }
}

function describe(error: unknown): { name: string; kind: string; message: string } {
  if (!(error instanceof Error)) return { name: "Error", kind: "", message: String(error) }
  const kind = "kind" in error ? error.kind : "reason" in error ? error.reason : ""
  return { name: error.name, kind: String(kind), message: error.message }
}
