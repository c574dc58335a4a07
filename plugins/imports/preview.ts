import { currencyDecimals, decimalText, PAYMENT_RECEIVED, type Site } from "#plugin"
import type { ImportsHost } from "./area.ts"
import { type DayRules, daySkips, localDay, maskedDays, type Overlap, rangesOf, retentionCutoff } from "./days.ts"
import { importError } from "./errors.ts"
import type { Holders } from "./holders.ts"
import type { PreviewResponse } from "./responses.ts"
import { duplicateOf, importById } from "./rows.ts"
import type { Fetched } from "./run/fetching/fetching.ts"
import { beginSorting, keepSorted, removeSorted, rowsIn, saltIn } from "./run/sorted.ts"
import { PREVIEW_LIMITS, type Staged, type StagedFile, type StageResult, type StageTask } from "./run/task.ts"
import type { Staging } from "./staging.ts"
import { streamByName } from "./streams/rows.ts"
import type { Streams } from "./streams/streams.ts"

/** Version of the importers. A change of what a source stores raises it, so that earlier previews no longer match. */
const IMPORTER_VERSION = 1
/** Bytes by which a run is checked before it is accepted, if a preview can't read the whole input. */
const CHECK_BYTES = 16_000_000
/** Previews that run at the same time. Each has a thread. */
const MAX_PREVIEWS = 2
/** Rows that a run reads and writes per second on a small machine. */
const ROWS_PER_SECOND = 20_000
const BYTES_PER_ROW = 30

export interface PreviewInput {
  site: Site
  source: string | undefined
  options: Readonly<Record<string, unknown>>
  files: readonly StagedFile[]
  isInline: boolean
  /** Present if the files are the beginning of what a run will fetch. */
  fetched?: Pick<Fetched, "timezone" | "warnings"> | undefined
  /**
   * Path of the staged files of the import that a run follows for. Its rows are sorted there, if they can be read as a whole, so that they
   * are read once. The run finds the remaining faults of larger files itself, so these are read to a lower limit.
   */
  importFolder?: string
}

/** What an import would do. */
export interface Preview {
  answer: PreviewResponse
  staged: Staged
  rules: DayRules
  /** Absent unless all files were read. */
  hash: string | undefined
  previewHash: string
  /** Whether a run would extend an import, because the stream exists. */
  isExtension: boolean
}

export interface Previews {
  /** Reads files as a run does, within limits, and stores nothing. Throws the faults of the content. */
  preview(input: PreviewInput, signal: AbortSignal): Promise<Preview>
  /** Returns the rules for days as they are now. */
  rules(site: Site, overlap: Overlap, signal: AbortSignal): Promise<DayRules>
  /** Runs the worker. Throws the faults of the content. */
  stage(task: StageTask, signal: AbortSignal, report?: (done: number, total: number) => void): Promise<Staged>
}

type PreviewHost = Pick<ImportsHost, "db" | "imports" | "outbox" | "runInThread" | "now" | "random" | "geoDb" | "services">

export function createPreviews(
  host: PreviewHost,
  { holders, staging, streams }: { holders: Holders; staging: Staging; streams: Streams },
): Previews {
  const slots = createSlots(MAX_PREVIEWS)

  async function rules(site: Site, overlap: Overlap, signal: AbortSignal): Promise<DayRules> {
    const { timezone } = site
    const today = localDay(host.now(), timezone)
    const days = site.retention_days ?? host.services.settings.get("default_retention_days")
    const cutoff = retentionCutoff(today, days)
    const nativeStart = host.imports.nativeStart(site.id)
    const native = nativeStart === undefined ? undefined : localDay(nativeStart, timezone)
    return {
      overlap,
      today,
      ...(native !== undefined && { nativeFrom: native }),
      ...(cutoff !== undefined && { cutoff }),
      ...(overlap === "fill_gaps" && { nativeDays: [...(await host.imports.visitDays(site.id, timezone, signal))] }),
    }
  }

  async function stage(task: StageTask, signal: AbortSignal, report?: (done: number, total: number) => void): Promise<Staged> {
    const result = await host.runInThread<StageResult, { done: number; total: number }>(task, {
      signal,
      receive: ({ done, total }) => report?.(done, total),
    })
    if ("fault" in result) throw importError(result.fault.code, result.fault.message, result.fault.members)
    return result
  }

  async function preview(input: PreviewInput, signal: AbortSignal): Promise<Preview> {
    const { options } = input
    const grown = await growingImport(input)
    const timezone = grown?.row.timezone ?? input.fetched?.timezone ?? input.site.timezone
    const site = { ...input.site, timezone }
    const overlap = grown?.row.overlap ?? (options.overlap as Overlap | undefined) ?? "native_wins" // validated by the caller
    const fixed = await rules(site, overlap, signal)
    const { importFolder } = input
    const task = {
      ...stageInput(host, { ...input, site }),
      rules: fixed,
      geoDb: host.geoDb,
      ...(input.fetched && { isPart: true, warnings: warningsOf(input) }),
    }
    // What a run of a stream leaves out depends on the runs before it.
    const staged =
      importFolder !== undefined && !isTooLarge(input) && options.stream === undefined && !input.fetched
        ? await sort(task, importFolder, site.timezone, signal)
        : await look(
            { ...task, ...(options.stream !== undefined && { stream: await streams.task(grown?.stream) }) },
            limitsOf(input),
            signal,
          )
    const skipOf = daySkips(fixed)
    const stored = staged.days.filter(({ day }) => skipOf(day) === undefined).map(({ day }) => day)
    const held = await holders.held(host.db, site.id)
    const before = held.find(({ id }) => id === grown?.row.id)
    const id = before?.id ?? Number.MAX_SAFE_INTEGER
    const days = [...new Set([...(before?.days ?? []), ...stored])].sort()
    const own = { id, overlap, timezone: site.timezone, finishedAt: before?.finishedAt ?? Number.POSITIVE_INFINITY, days }
    const masked = maskedDays([...held.filter((one) => one !== before), own]).get(id)! // every import has an entry
    const effective = stored.filter((day) => !masked.has(day))
    // A stream leaves out the lines that it has read before.
    const duplicate =
      staged.hash === undefined || staged.stream ? undefined : await duplicateOf(host.db, { siteId: site.id, hash: staged.hash })
    const content = staged.hash ?? (await hashOfFiles(input.files))
    const previewHash = hashOf([
      content,
      staged.source,
      canonical(options),
      String(IMPORTER_VERSION),
      ...(grown ? [`run ${grown.stream.run}`] : []),
      ...(staged.complete ? effective : []),
    ])
    const answer: PreviewResponse = {
      source: staged.source,
      detected: {
        source: staged.source,
        confidence: staged.confidence,
        delimiter: staged.delimiter,
        encoding: staged.encoding,
        timezone: String(options.source_timezone ?? site.timezone),
      },
      complete: staged.complete,
      scanned_bytes: staged.scannedBytes,
      files: staged.files,
      date_start: staged.days[0]?.day ?? null,
      date_end: staged.days.at(-1)?.day ?? null,
      totals: shownTotals(staged),
      rows: staged.rows,
      skip_reasons: staged.skipReasons,
      rejects: staged.rejects.map(({ file, line, code, excerpt }) => ({ file, line, code, message: rejectMessage(code, excerpt) })),
      overlap: {
        policy: overlap,
        native_start: fixed.nativeFrom ?? null,
        days_total: staged.days.length,
        days_effective: effective.length,
        days_skipped: rangesOf(staged.days.flatMap(({ day, skip }) => (skip ? [[day, skip] as const] : []))).map(
          ({ value: reason, ...range }) => ({ ...range, reason }),
        ),
        days_masked: rangesOf(stored.flatMap((day) => (masked.has(day) ? [[day, masked.get(day)!] as const] : []))).map(
          ({ value: import_id, ...range }) => ({
            ...range,
            import_id,
          }),
        ),
      },
      retention: { cutoff: fixed.cutoff ?? null, days_skipped: staged.days.filter(({ skip }) => skip === "beyond_retention").length },
      ...(staged.mapping && { mapping: staged.mapping as NonNullable<PreviewResponse["mapping"]> }), // the form of `csv_generic`
      ...(Object.keys(staged.choices).length > 0 && {
        choices: Object.fromEntries(Object.entries(staged.choices).map(([name, list]) => [name, [...list]])),
      }),
      sample: staged.sample as Record<string, unknown>[], // objects of the worker
      unsupported: staged.unsupported,
      warnings: staged.warnings,
      ...(duplicate && { duplicate_of: duplicate.id }),
      estimate: { seconds: 1 + Math.ceil(staged.rows.accepted / ROWS_PER_SECOND), bytes: staged.rows.accepted * BYTES_PER_ROW },
      preview_hash: previewHash,
    }
    return { answer, staged, rules: fixed, hash: staged.stream ? undefined : staged.hash, previewHash, isExtension: grown !== undefined }
  }

  /** Reads rows and writes none. */
  async function look(task: CommonTask, limits: typeof PREVIEW_LIMITS, signal: AbortSignal): Promise<Staged> {
    const folder = staging.create()
    try {
      const salt = Buffer.from(host.random(32)).toString("hex")
      return await stage({ ...task, do: "preview", limits, folder: staging.path(folder), salt }, signal)
    } finally {
      await staging.remove(folder)
    }
  }

  /** Sorts the rows of an import into its folder, within the limits of a preview. */
  async function sort(task: CommonTask, folder: string, timezone: string, signal: AbortSignal): Promise<Staged> {
    beginSorting(folder)
    const salt = saltIn(folder, host.random)
    const staged = await stage({ ...task, do: "stage", limits: PREVIEW_LIMITS, folder: rowsIn(folder), salt }, signal)
    if (staged.complete) await keepSorted(folder, { staged, basis: { rules: task.rules, timezone } })
    else removeSorted(folder)
    return staged
  }

  /** Returns the import that a run of the stream would extend. */
  async function growingImport({ site, options }: PreviewInput) {
    const stream = typeof options.stream === "string" ? await streamByName(host.db, site.id, options.stream) : undefined
    const row = stream && (await importById(host.db, stream.import_id))
    return stream && row?.state === "completed" ? { stream, row } : undefined
  }
  return { rules, stage, preview: (input, signal) => slots(() => preview(input, signal)) }
}

type CommonTask = Omit<StageTask, "do" | "folder" | "limits" | "salt">

const isTooLarge = ({ files }: Pick<PreviewInput, "files">): boolean =>
  files.reduce((sum, { bytes }) => sum + bytes, 0) > PREVIEW_LIMITS.bytes

const limitsOf = (input: PreviewInput): typeof PREVIEW_LIMITS =>
  input.importFolder !== undefined && isTooLarge(input) ? { ...PREVIEW_LIMITS, bytes: CHECK_BYTES } : PREVIEW_LIMITS

/** Returns the warnings about data that is fetched. */
function warningsOf({ fetched, site }: PreviewInput): Staged["warnings"] {
  const { timezone, warnings } = fetched! // the data is fetched
  if (timezone === site.timezone) return warnings
  const message = `The days of the property are days in ${timezone}. Reports leave them out while the time zone of the site is ${site.timezone}.`
  return [...warnings, { code: "timezone_differs", message: `${message} Change it in the settings of the site.` }]
}

/** Returns the parts of a task that a preview and a run share. */
export const stageInput = ({ outbox }: Pick<ImportsHost, "outbox">, { site, source, options, files, isInline }: PreviewInput) => ({
  files,
  isInline,
  source,
  options,
  linksUsers: linksUsers(site, options),
  takesRefunds: outbox.hasConsumer(PAYMENT_RECEIVED),
  site: {
    timezone: site.timezone,
    hosts: site.hosts,
    allowed_query_params: site.settings.allowed_query_params,
    hash_routing: site.settings.hash_routing,
    revenue_currency: site.revenue_currency,
  },
})

/** Returns whether visits with a user id belong to the visitor of `identify()`, whom only the mode `identified` knows. */
export const linksUsers = ({ settings }: Site, options: Readonly<Record<string, unknown>>): boolean =>
  settings.identity_mode === "identified" && options.link_identified_users === true

/** Returns totals with amounts of money in both forms. */
export const shownTotals = ({ totals: { revenue, ...counts } }: Pick<Staged, "totals">): PreviewResponse["totals"] => ({
  ...counts,
  revenue: revenue.map(({ currency, amount_minor }) => ({
    currency,
    amount_minor,
    amount: decimalText(amount_minor, currencyDecimals(currency) ?? 0),
  })),
})

const REJECTS: Readonly<Record<string, string>> = {
  bad_date: "is not a date or time that can be read",
  bad_number: "is not a number",
  negative_count: "is negative",
  bad_url: "is not a URL or host name",
  too_long: "The line is too long",
  wrong_column_count: "The row has another number of columns than the header",
}

/** Returns the fault of a line in words. */
export const rejectMessage = (code: string, excerpt: string): string => {
  const text = REJECTS[code] ?? code
  return text.startsWith("is ") ? `"${excerpt}" ${text}.` : `${text}.`
}

const hashOf = (parts: readonly string[]): string => new Bun.CryptoHasher("sha256").update(parts.join("\n")).digest("hex")

/** Returns a hash of files that are too large to be read whole: of their names, sizes and first bytes. */
async function hashOfFiles(files: readonly StagedFile[]): Promise<string> {
  const parts = await Promise.all(
    files.map(
      async ({ name, path, bytes }) =>
        `${name} ${bytes} ${hashOf([
          await Bun.file(path)
            .slice(0, 1 << 20)
            .text(),
        ])}`,
    ),
  )
  return hashOf(parts)
}

/** Returns options as text that does not depend on the order of their names. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
    .join(",")}}`
}

/** Creates the function that runs work with at most `count` pieces at once. Others wait. */
function createSlots(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = count
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
