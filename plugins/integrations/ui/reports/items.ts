/** What the list, the editor and the preview of reports share. */
import { type AreaItems, areaQueries } from "#plugin/ui"
import type { ReportResponse } from "../../reports/responses.ts"
import { sitePath } from "../answers.ts"

export const { useSiteQuery, useRefresh } = areaQueries("reports")

export const KIND_LABELS: Readonly<Record<ReportResponse["kind"], string>> = {
  daily: "Every day",
  weekly: "Every Monday",
  monthly: "On the first of the month",
}

export const REPORTS: AreaItems<ReportResponse> = {
  path: "reports",
  noun: "report",
  plural: "reports",
  // Members may subscribe themselves. The server decides about everything else.
  permission: "site:read",
  nameOf: ({ kind }) => NAMES[kind],
}
const NAMES: Readonly<Record<ReportResponse["kind"], string>> = {
  daily: "Daily report",
  weekly: "Weekly report",
  monthly: "Monthly report",
}

export const SECTION_LABELS: Readonly<Record<string, string>> = {
  figures: "Key figures",
  pages: "Top pages",
  sources: "Sources",
  places: "Locations",
  goals: "Goals",
  revenue: "Revenue",
  search_queries: "Search queries",
}

export const reportsPath = (siteId: number): string => `${sitePath(siteId)}/reports`

/** Formats an hour of the day as 07:00. */
export const hourText = (hour: number): string => `${String(hour).padStart(2, "0")}:00`
