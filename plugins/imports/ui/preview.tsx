import type { ComponentChildren } from "preact"
import { Link } from "wouter"
import {
  bytesText,
  Card,
  type Column,
  counted,
  currencyStyle,
  DataTable,
  duration,
  exact,
  money,
  percent,
  rangeText,
  timeText,
  visible,
} from "#plugin/ui"
import type { PreviewResponse } from "../responses.ts"
import { importsAddress, REJECT_LABELS, SKIP_LABELS, useSourceTitle, wordsInText, wordsOf } from "./answers.ts"
import { DayBar, previewSpans } from "./day-bar.tsx"
import { TotalFigures } from "./figures.tsx"

interface PreviewProps {
  siteId: number
  preview: PreviewResponse
  /** Whether the server fetches the data, so that there are no files. */
  isFetched: boolean
  /** Choice of the rule for days with data, next to the bar of days. */
  children: ComponentChildren
}

/** What an import would store: days, totals, files, a sample, and everything that is left out, with reasons. */
export function Preview({ siteId, preview, isFetched, children }: PreviewProps) {
  const { rows, overlap, totals, sample, rejects } = preview
  return (
    <>
      <Notices {...{ siteId, preview, isFetched }} />
      <TotalFigures totals={totals} label="Totals of the import" />
      <Card title="Days and rows" full>
        <div class="preview-days">
          <div class="stack">
            <p>
              {preview.date_start && preview.date_end ? rangeText(preview.date_start, preview.date_end) : "No days"}
              <br />
              <span class="quiet">
                {exact(overlap.days_effective)} of {counted(overlap.days_total, "day")} with rows will be imported.
              </span>
            </p>
            <DayBar spans={previewSpans(preview)} effective={overlap.days_effective} />
            <RowCounts of={preview} label="Accepted" />
          </div>
          {children}
        </div>
      </Card>
      {!isFetched && (
        <Card title="Files" full marks={<span class="small quiet">{counted(preview.files.length, "file")}</span>}>
          <ul class="file-list preview-files">
            {preview.files.map((file) => (
              <FileItem key={file.name} file={file} />
            ))}
          </ul>
        </Card>
      )}
      {sample.length > 0 && (
        <Card title="Sample" full marks={<span class="small quiet">{counted(sample.length, "row")} as they would be stored</span>}>
          <DataTable
            caption="Sample rows"
            columns={sampleColumns(sample, preview.detected.timezone)}
            rows={sample}
            keyOf={(row) => sample.indexOf(row)}
          />
        </Card>
      )}
      {rejects.length > 0 && (
        <Card
          title="Rejected lines"
          full
          marks={
            <span class="small quiet">
              {rows.rejected > rejects.length ? `first ${rejects.length} of ${exact(rows.rejected)}` : counted(rows.rejected, "line")}
            </span>
          }
        >
          <DataTable
            caption="Rejected lines of the files"
            columns={REJECT_COLUMNS}
            rows={rejects}
            keyOf={({ file, line, code }) => `${file} ${line} ${code}`}
          />
        </Card>
      )}
    </>
  )
}

/** Warnings, what can't be imported, and whether the same files were imported before. */
function Notices({ siteId, preview, isFetched }: Omit<PreviewProps, "children">) {
  const title = useSourceTitle()
  const { complete, scanned_bytes, duplicate_of, rows, warnings, unsupported, overlap } = preview
  return (
    <>
      {duplicate_of !== undefined && (
        <p class="import-note" data-kind="warn">
          These files were imported before. <Link href={`${importsAddress(siteId)}/${duplicate_of}`}>Show import {duplicate_of}</Link>
        </p>
      )}
      {overlap.days_total === 0 && complete && (
        <p class="import-note" data-kind="warn">
          {rows.read === 0
            ? "The files have no rows. Make the export again for a period with data."
            : "None of the rows can be imported. The reasons are listed below."}
        </p>
      )}
      {overlap.days_effective === 0 && overlap.days_total > 0 && (
        <p class="import-note" data-kind="warn">
          No day would be imported. Choose another rule for days with data already, or other files.
        </p>
      )}
      {!complete && (
        <p class="import-note">
          {isFetched
            ? "This preview covers the daily totals. The import fetches the other reports as well."
            : `The files are large, so this preview covers the first ${bytesText(scanned_bytes)}. The import reads all of them.`}
        </p>
      )}
      {(warnings.length > 0 || unsupported.length > 0) && (
        <ul class="import-note" data-kind="warn">
          {warnings.map(({ code, message, file }) => (
            <li key={`${code} ${file}`}>
              {file && !message.startsWith(file) && <strong>{visible(file)}: </strong>}
              {visible(message)}
            </li>
          ))}
          {unsupported.length > 0 && (
            <li>
              {isFetched ? "Not available from Google Analytics" : `Not part of this ${title(preview.source)} export`}, so not imported:{" "}
              {unsupported.map(wordsInText).join(", ")}.
            </li>
          )}
        </ul>
      )}
    </>
  )
}

/** How many rows are imported, and why others are not. */
export function RowCounts({
  of: { rows, skip_reasons },
  label,
}: {
  of: Pick<PreviewResponse, "rows" | "skip_reasons">
  /** What the accepted rows are called: those of a preview are not imported yet. */
  label: "Accepted" | "Imported"
}) {
  const share = (count: number) => (rows.read === 0 ? "" : percent((100 * count) / rows.read))
  const reasons = Object.entries(skip_reasons).toSorted(([, a], [, b]) => b - a)
  return (
    <dl class="counts">
      <dt>{label}</dt>
      <dd>{exact(rows.accepted)}</dd>
      <dd class="quiet">{share(rows.accepted)}</dd>
      <dt>Left out</dt>
      <dd>{exact(rows.skipped)}</dd>
      <dd class="quiet">{share(rows.skipped)}</dd>
      {reasons.map(([reason, count]) => (
        <>
          <dt class="small quiet counts-part">{SKIP_LABELS[reason] ?? wordsOf(reason)}</dt>
          <dd class="small quiet">{exact(count)}</dd>
          <dd />
        </>
      ))}
      <dt>Rejected</dt>
      <dd class={rows.rejected > 0 ? "down" : undefined}>{exact(rows.rejected)}</dd>
      <dd class="quiet">{share(rows.rejected)}</dd>
    </dl>
  )
}

const FileItem = ({ file: { name, table, rows, ignored, reason } }: { file: PreviewResponse["files"][number] }) => (
  <li>
    <span class="file-name">{visible(name)}</span>
    <span class="small quiet">
      {reason !== undefined
        ? `Not imported: ${REASONS[reason] ?? wordsInText(reason)}`
        : `${table ? `${wordsOf(table)}, ` : ""}${counted(rows, "row")}`}
      {ignored.length > 0 && ` · unknown columns: ${ignored.map(visible).join(", ")}`}
    </span>
  </li>
)

const REASONS: Readonly<Record<string, string>> = {
  needs_date_dimension: "has no dates",
  unrecognized_source: "not a file of this export",
  filtered: "excluded by your options",
}

type Sampled = PreviewResponse["sample"][number]

/** Returns a column for each member that a sampled row has a value for. Most exports have only some of the counts of their tables. */
const sampleColumns = (sample: readonly Sampled[], timezone: string | null): Column<Sampled>[] =>
  [...new Set(sample.flatMap((row) => Object.keys(row).filter((name) => !isEmpty(row[name]) && row[name] !== 0)))].map((name) => ({
    id: name,
    label: wordsOf(name),
    number: sample.every((row) => row[name] === undefined || typeof row[name] === "number"),
    cell: (row) => <span class="whole">{cellText(name, row[name], timezone)}</span>,
  }))

/** Counts in seconds. */
const DURATIONS: ReadonlySet<string> = new Set(["visit_duration", "time_on_page"])

function cellText(name: string, value: unknown, timezone: string | null): string {
  if (name === "table") return wordsOf(String(value))
  return DURATIONS.has(name) && typeof value === "number" ? duration(value) : textOf(value, timezone)
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ""

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function textOf(value: unknown, timezone: string | null): string {
  if (isEmpty(value)) return ""
  if (typeof value === "number") return exact(value)
  if (typeof value === "string" && INSTANT.test(value)) return timeText(value, timezone ?? undefined)
  if (typeof value !== "object") return visible(String(value))
  if (isAmount(value)) return amountText(value)
  return Object.entries(value!) // not null, which is empty
    .map(([name, part]) => `${Array.isArray(value) ? "" : `${visible(name)}: `}${textOf(part, timezone)}`)
    .join(", ")
}

interface Amount {
  /** Minor units. */
  amount: number
  currency: string
}
const isAmount = (value: object | null): value is Amount =>
  value !== null && "currency" in value && "amount" in value && typeof value.amount === "number"

function amountText({ amount, currency }: Amount): string {
  return money(amount / 10 ** currencyStyle(currency).maximumFractionDigits, currency)
}

type Reject = PreviewResponse["rejects"][number]
const REJECT_COLUMNS: Column<Reject>[] = [
  { id: "line", label: "Line", cell: ({ line }) => exact(line) },
  { id: "file", label: "File", cell: ({ file }) => <span class="whole">{visible(file)}</span> },
  { id: "code", label: "Reason", cell: ({ code }) => <span class="whole">{REJECT_LABELS[code] ?? wordsOf(code)}</span> },
  { id: "message", label: "Explanation", cell: ({ message }) => <div class="wide">{visible(message)}</div> },
]
