import type { ComponentChildren } from "preact"
import { Link, useParams } from "wouter"
import {
  bytesText,
  Card,
  counted,
  DescriptionList,
  exact,
  Page,
  QueryResult,
  rangeText,
  timeText,
  useSite,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"
import { EnabledField, ImportButtons } from "./actions.tsx"
import { importsAddress, importsPath, isExtending, isOfOtherZone, isOpen, STATE_LABELS, useRights, useSourceTitle } from "./answers.ts"
import { DayBar, importSpans } from "./day-bar.tsx"
import { TotalFigures } from "./figures.tsx"
import { OVERLAP_LABELS } from "./overlap.tsx"
import { RowCounts } from "./preview.tsx"
import { ImportProgress, useImport } from "./progress.tsx"

/** Page of one import: its progress while it runs, then its result. */
export default function ImportPage() {
  const siteId = useSiteId()
  const { import: id = "" } = useParams<{ import: string }>()
  const answer = useImport(siteId, id)
  const { writes } = useRights(siteId)
  const one = answer.data
  return (
    <Page
      title={one ? visible(one.label) : "Import"}
      parent={{ href: importsAddress(siteId), label: "All imports" }}
      actions={one && writes && <ImportButtons siteId={siteId} of={one} />}
    >
      <QueryResult of={answer} rows={6}>
        {(shown) => <Shown siteId={siteId} of={shown} writes={writes} />}
      </QueryResult>
    </Page>
  )
}

function Shown({ siteId, of, writes }: { siteId: number; of: ImportResponse; writes: boolean }) {
  const title = useSourceTitle()
  const spans = importSpans(of)
  const hasOutcome = !isOpen(of) || isExtending(of)
  return (
    <div class="stack">
      {isOpen(of) && <ImportProgress of={of} />}
      {hasOutcome && <Outcome siteId={siteId} of={of} writes={writes} />}
      {hasOutcome && of.state !== "failed" && of.state !== "cancelled" && <TotalFigures totals={of.totals} label="Totals of the import" />}
      {spans.length > 0 && (
        <Card title="Days" full>
          <DayBar spans={spans} />
        </Card>
      )}
      <div class="bands">
        <Card
          title="Rows"
          foot={
            of.rows.rejected > 0 && (
              <a href={`${importsPath(siteId)}/${of.id}/rejects.csv`} download>
                Rejected lines (CSV)
              </a>
            )
          }
        >
          <RowCounts of={{ rows: { ...of.rows, accepted: of.rows.imported }, skip_reasons: of.skip_reasons }} label="Imported" />
        </Card>
        <Card title="Details">
          <DescriptionList
            of={[
              ["Source", title(of.source)],
              ...(of.stream === null ? [] : [["Stream", visible(of.stream)] as const]),
              ...(typeof of.options.property === "string" ? [["Property", of.options.property] as const] : []),
              [of.stream === null ? "Files" : "Files of the last run", <Files key="files" of={of.files} />],
              ["Days", of.date_start && of.date_end ? rangeText(of.date_start, of.date_end) : "–"],
              ["Time zone", of.timezone],
              ["Days with data", OVERLAP_LABELS[of.overlap]],
              ["Started", of.started_at === null ? "not yet" : timeText(of.started_at)],
              ["Finished", of.finished_at === null ? "not yet" : timeText(of.finished_at)],
              ...(of.created_objects.length > 0 ? [["Created", createdText(of.created_objects)] as const] : []),
            ]}
          />
        </Card>
      </div>
    </div>
  )
}

/** The files of an import: by name, or their number if they are many. */
function Files({ of: files }: { of: ImportResponse["files"] }) {
  const names = files.map(({ name, bytes }) => `${visible(name)} (${bytesText(bytes)})`)
  if (files.length <= 2) return <>{names.join(", ") || "–"}</>
  return (
    <details>
      <summary>{`${counted(files.length, "file")}, ${bytesText(files.reduce((sum, { bytes }) => sum + bytes, 0))}`}</summary>
      <ul class="small import-files">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  )
}

/** One sentence about the result, with what follows from it. */
function Outcome({ siteId, of, writes }: { siteId: number; of: ImportResponse; writes: boolean }) {
  const siteZone = useSite(siteId).data?.timezone
  const notice = (kind: "good" | "warn" | "bad", children: ComponentChildren) => (
    <div class="import-note" data-kind={kind} role="status">
      {children}
    </div>
  )
  const { state, rows, days_effective, enabled, error } = of
  const hasRejects = error?.code === "too_many_rejects"
  if (state === "failed")
    return notice(
      "bad",
      <>
        <p>
          <strong>The import failed.</strong>{" "}
          {hasRejects ? `${exact(rows.rejected)} of ${counted(rows.read, "line")} were rejected.` : error && visible(error.message)}
        </p>
        <p class="small quiet">
          Reports don't include any of its data.{" "}
          {hasRejects
            ? "Correct the files and import them again, or choose “Import even if most lines are rejected” in a new import."
            : of.can_retry
              ? "Retry it, or start a new import with other files."
              : "The files are no longer there. Start a new import."}
        </p>
      </>,
    )
  if (state === "cancelled") return notice("warn", <p>The import was cancelled. Reports don't include any of its data.</p>)
  if (state === "undone")
    return notice("warn", <p>The import was undone{of.undone_at && ` on ${timeText(of.undone_at)}`}. Its rows were removed.</p>)
  const isLeftOut = enabled && isOfOtherZone(of, siteZone)
  return notice(
    enabled && !error && !isLeftOut ? "good" : "warn",
    <>
      <p>
        {STATE_LABELS[state]}: {counted(rows.imported, "row")} imported.{" "}
        {isLeftOut && of.kind === "aggregate" ? (
          "Reports include none of its days."
        ) : (
          <>
            {enabled ? "Reports include" : "Reports do not include"} {counted(days_effective, "day")}.
          </>
        )}
      </p>
      {isLeftOut && (
        <p>
          Its totals are for days in {of.timezone}. Reports leave them out while the time zone of the site is {siteZone}. You can change it
          in the <Link href={`/sites/${siteId}/settings`}>settings of the site</Link>.
        </p>
      )}
      <Link href={`/sites/${siteId}${of.date_start && of.date_end ? `?period=custom&from=${of.date_start}&to=${of.date_end}` : ""}`}>
        Show in the dashboard
      </Link>
      {error && (
        <p>
          <strong>The last run failed.</strong> {visible(error.message)} The lines of earlier runs are not affected.
        </p>
      )}
      {writes && <EnabledField siteId={siteId} of={of} label="Include in reports" />}
    </>,
  )
}

function createdText(objects: ImportResponse["created_objects"]): string {
  const counts = Map.groupBy(objects, ({ type }) => type)
  return [...counts].map(([type, all]) => `${exact(all.length)} ${type}${all.length === 1 ? "" : "s"}`).join(", ")
}
