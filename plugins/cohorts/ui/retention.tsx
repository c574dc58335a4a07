import { useState } from "preact/hooks"
import {
  Button,
  Card,
  dimensionLabel,
  FilterRow,
  Page,
  QueryResult,
  SelectField,
  useDebouncedValue,
  useFilters,
  useSiteId,
} from "#plugin/ui"
import type { RetentionResponse } from "../responses.ts"
import { isInsufficient, useSiteAnswer } from "./answers.ts"
import { EngagementCard } from "./engagement.tsx"
import { ActionField, CohortField, SegmentField } from "./fields.tsx"
import { IdentityBanner, Insufficient } from "./identity.tsx"
import { Averages, csvOf, Triangle } from "./retention-grid.tsx"

const NAMES = ["by", "periods", "start", "return", "mode", "counting", "cohort", "segment", "breakdown", "restrict", "from", "to"] as const
type Choices = Partial<Record<(typeof NAMES)[number], string>>

const INTERVALS = [
  { value: "day", label: "Day" },
  { value: "week", label: "Week" },
  { value: "month", label: "Month" },
]
const PERIODS: Readonly<Record<string, readonly number[]>> = {
  day: [7, 14, 30, 60, 90],
  week: [4, 8, 12, 26, 53],
  month: [3, 6, 12, 24, 36],
}
const DEFAULT_PERIODS: Readonly<Record<string, string>> = { day: "14", week: "12", month: "12" }
/** Dimensions of visits that cohorts can be split by. */
const SPLITS = ["channel", "source", "country", "device", "browser", "os", "entry_page", "utm_campaign"] as const

/** Page with the retention of the site: who came back, by the period in which they started. */
export default function Retention() {
  const siteId = useSiteId()
  const [choices, choose] = useFilters(NAMES) as [Choices, (changes: Choices) => void] // the names are those of the list
  const by = choices.by ?? "week"
  const question = useDebouncedValue(questionOf(choices), 300)
  const report = useSiteAnswer<RetentionResponse>(siteId, "retention", question)
  const [shows, setShows] = useState<"rate" | "count">("rate")
  return (
    <Page title="Retention">
      <FilterRow label="Retention">
        <SelectField label="Cohorts by" value={by} options={INTERVALS} onValue={(value) => choose({ by: value, periods: "" })} />
        <SelectField
          label="Periods"
          value={choices.periods ?? DEFAULT_PERIODS[by]!}
          options={PERIODS[by]!.map((count) => ({ value: String(count), label: `${count} ${by}s` }))}
          onValue={(periods) => choose({ periods })}
        />
        <ActionField siteId={siteId} label="Started with" value={choices.start ?? ""} onValue={(start) => choose({ start })} />
        <ActionField siteId={siteId} label="Came back with" value={choices.return ?? ""} onValue={(value) => choose({ return: value })} />
        <SelectField
          label="Place people by"
          value={choices.mode ?? ""}
          options={[
            { value: "", label: "First start" },
            { value: "recurring", label: "Every start" },
          ]}
          onValue={(mode) => choose({ mode })}
        />
        <SelectField
          label="Counted as returned"
          value={choices.counting ?? ""}
          options={[
            { value: "", label: "In that period" },
            { value: "unbounded", label: "In that period or later" },
          ]}
          onValue={(counting) => choose({ counting })}
        />
        <SelectField
          label="Break down by"
          value={choices.breakdown ?? ""}
          options={[{ value: "", label: "None" }, ...SPLITS.map((name) => ({ value: name, label: dimensionLabel(name) }))]}
          onValue={(breakdown) => choose({ breakdown })}
        />
        {/* Last, because they appear once the site is known to have some. */}
        <CohortField siteId={siteId} value={choices.cohort ?? ""} onValue={(cohort) => choose({ cohort })} />
        <SegmentField siteId={siteId} value={choices.segment ?? ""} onValue={(segment) => choose({ segment })} />
      </FilterRow>
      {isInsufficient(report.error) && !report.data ? (
        <Insufficient siteId={siteId} problem={report.error} onRestrict={() => choose({ restrict: "identified" })} />
      ) : (
        <Card
          title="Returning people"
          full
          marks={
            report.data && (
              <span class="row card-actions">
                <button
                  type="button"
                  class="text-button"
                  aria-pressed={shows === "count"}
                  onClick={() => setShows(shows === "rate" ? "count" : "rate")}
                >
                  {shows === "rate" ? "Show counts" : "Show percentages"}
                </button>
                <Button kind="quiet" icon="download" onClick={() => download(report.data)}>
                  CSV
                </Button>
              </span>
            )
          }
          foot={report.data && <IdentityBanner siteId={siteId} of={report.data.identity} />}
        >
          <QueryResult of={report} rows={12}>
            {(data) => (
              <>
                <Averages of={data} by={by} />
                <Triangle of={data} by={by} shows={shows} />
              </>
            )}
          </QueryResult>
        </Card>
      )}
      <EngagementCard siteId={siteId} {...(choices.cohort && { cohortId: choices.cohort })} />
    </Page>
  )
}

/** Returns the body of the request. An action is written as `event:Signup`, `page:/pricing` or `goal:3`. */
function questionOf({
  by = "week",
  periods,
  start,
  return: returning,
  mode,
  counting,
  cohort,
  segment,
  breakdown,
  restrict,
  from,
  to,
}: Choices): object {
  return {
    cohort_by: by,
    periods: Number(periods ?? DEFAULT_PERIODS[by]),
    ...(start && { start: actionOf(start) }),
    ...(returning && { return: actionOf(returning) }),
    ...(mode && { mode }),
    ...(counting && { counting }),
    ...(cohort && { cohort_id: Number(cohort) }),
    ...(segment && { filters: [{ dimension: "segment", operator: "is", values: [Number(segment)] }] }),
    ...(breakdown && { breakdown }),
    ...(restrict && { restrict }),
    ...(from && to && { from, to }),
  }
}

function actionOf(text: string): object {
  const [type = "", ...rest] = text.split(":")
  const value = rest.join(":")
  return type === "goal" ? { type, goal_id: Number(value) } : { type, value }
}

function download(report: RetentionResponse): void {
  const url = URL.createObjectURL(new Blob([csvOf(report)], { type: "text/csv" }))
  const link = Object.assign(document.createElement("a"), { href: url, download: "retention.csv" })
  link.click()
  URL.revokeObjectURL(url)
}
