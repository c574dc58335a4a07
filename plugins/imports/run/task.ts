import type { NumberedBatch } from "#plugin/worker"
import type { DayRules, DaySkip } from "../days.ts"
import type { CommonOptions } from "../options.ts"
import type { Reject } from "../rows.ts"
import type { ImportFaultCode } from "../source.ts"
import type { StreamResult, StreamTask } from "../streams/stream-task.ts"

/** Messages between the main thread and the worker that reads the files of an import. */

/** Maximum number of rejected lines that an import keeps. */
export const MAX_REJECTS = 10_000
/** Maximum number of rejected lines that a preview lists. */
export const PREVIEW_REJECTS = 50

/** A preview reads at most this many bytes, unpacked, and takes at most this long. */
export const PREVIEW_LIMITS = { bytes: 200_000_000, ms: 20_000 }

export interface StageTask {
  /** A preview writes no staged rows. */
  do: "preview" | "stage"
  /** Folder for sorted and staged rows, empty. */
  folder: string
  files: readonly StagedFile[]
  /** Whether the files came in the request. They may unpack to less than uploads. */
  isInline: boolean
  /** Default: detected. */
  source: string | undefined
  /** Options as they were sent. */
  options: Readonly<Record<string, unknown>>
  site: StageSite
  /** Whether a user of the source is the visitor that `identify()` names. */
  linksUsers: boolean
  /** Whether an area takes refunds. Otherwise they are counted as rows of a type that is not imported. */
  takesRefunds: boolean
  rules: DayRules
  geoDb: string | undefined
  /** Key of the visitors' hashes, in hex. */
  salt: string
  /** Events per batch of visits. Default: those of a full segment. Smaller for tests. */
  batchEvents?: number
  /** How much is read at most. Default: everything. */
  limits?: typeof PREVIEW_LIMITS
  /** Whether the files are only a part of what a run will fetch. */
  isPart?: boolean
  /** Warnings from fetching the files. */
  warnings?: Staged["warnings"]
  /** Present if the import is a stream. */
  stream?: StreamTask
}

/** Builds the segments of visits that were sorted. */
export interface BuildTask {
  do: "build"
  batch: NumberedBatch
}

export interface StagedFile {
  name: string
  path: string
  bytes: number
}

export interface StageSite {
  timezone: string
  hosts: readonly string[]
  allowed_query_params: readonly string[]
  hash_routing: boolean
  revenue_currency: string
}

export interface StageProgress {
  phase: "sort"
  done: number
  total: number
}

/** A file of the import and how it was understood. */
export interface FileReport {
  name: string
  table: string | null
  rows: number
  /** Columns that are read, and those that are not. Empty for files without a header. */
  columns: string[]
  ignored: string[]
  /** Code of the reason why the file is not read. */
  reason?: string
}

/** A day with rows. */
export interface DayReport {
  day: string
  /** Visits and refunds, or rows of totals. */
  rows: number
  skip?: DaySkip
}

/** What the worker found, and what it staged. */
export interface Staged {
  source: string
  kind: "rows" | "aggregate" | "mixed"
  confidence: number
  complete: boolean
  delimiter: string | null
  encoding: string | null
  scannedBytes: number
  files: FileReport[]
  days: DayReport[]
  totals: {
    visitors: number
    visits: number
    pageviews: number
    events: number
    revenue: { currency: string; amount_minor: number }[]
  }
  /** Rows of the source. Accepted ones are stored. */
  rows: { read: number; accepted: number; rejected: number; skipped: number }
  skipReasons: Record<string, number>
  rejects: Reject[]
  sample: object[]
  unsupported: string[]
  warnings: { code: string; message: string; file?: string }[]
  choices: Record<string, readonly { id: string; rows: number }[]>
  mapping?: object
  /** Definitions of the site that are to be created, in the form of its archive. */
  definitions: Partial<Record<DefinitionKind, object[]>>
  /** Names of custom events, at most 50. */
  eventNames: string[]
  /** SHA-256 over the content of the files. Absent unless all were read to the end. */
  hash?: string
  /** Visitors of the staged visits. */
  visitors: number
  /** Visits or rows of each staged file by name: `visits` or a kind of totals. */
  staged: { name: string; lines: number }[]
  /** Present if there are refunds. */
  refunds?: RefundSummary
  /** Present if the import is a stream. */
  stream?: StreamResult
}

/** What an import keeps of its refunds, which lie in the staged file `refunds` until they are published. */
export interface RefundSummary {
  count: number
  /** The quarters of an hour since 1970 that have refunds. In every zone, each lies within one day. */
  quarters: number[]
}

export type DefinitionKind = "goals" | "funnels" | "annotations" | "segments"

export interface StageFault {
  fault: { code: ImportFaultCode; message: string; members: Readonly<Record<string, unknown>> }
}

export type StageResult = Staged | StageFault

/** The options in the form that the worker uses. They were validated before. */
export type ReadableOptions = CommonOptions & Readonly<Record<string, unknown>>
