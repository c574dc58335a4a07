/** What the list and the editor of alerts share. */
import { useQuery } from "@tanstack/react-query"
import { type AreaItems, areaQueries, counted, exact, getAll, type OwnGoalResponse } from "#plugin/ui"
import type { AlertResponse } from "../../alerts/responses.ts"
import { sitePath } from "../answers.ts"

export const { useSiteQuery, useRefresh } = areaQueries("alerts")

export type Type = AlertResponse["type"]

export const TYPE_LABELS: Readonly<Record<Type, string>> = {
  spike: "Traffic spike",
  drop: "Traffic drop",
  no_data: "No data",
  goal: "Goal reached",
  not_found: "Pages not found",
}

export const TYPE_NOTES: Readonly<Record<Type, string>> = {
  spike: "Many visitors are online at the same time.",
  drop: "Fewer visitors than expected come within a few hours.",
  no_data: "Events stop arriving, for example because the snippet was removed.",
  goal: "A goal reaches a number of conversions in a given time.",
  not_found: "Visits to missing pages rise far above the level of a week earlier.",
}

export const ALERTS: AreaItems<AlertResponse> = {
  path: "alerts",
  noun: "alert",
  plural: "alerts",
  permission: "integrations:write",
  nameOf: ({ type }) => TYPE_LABELS[type],
}

export const alertsPath = (siteId: number): string => `${sitePath(siteId)}/alerts`

/** Formats a window in the largest whole unit: 30 minutes, 12 hours, 2 days. */
export function windowText(minutes: number): string {
  if (minutes % 1_440 === 0) return counted(minutes / 1_440, "day")
  return minutes % 60 === 0 ? counted(minutes / 60, "hour") : counted(minutes, "minute")
}

type Condition = Pick<AlertResponse, "type" | "threshold" | "factor" | "window_minutes">

/** Says in a sentence when an alert fires. */
export function conditionText({ type, threshold, factor, window_minutes }: Condition, goal = "a goal"): string {
  const within = windowText(window_minutes ?? 0)
  if (type === "spike")
    return `${counted(threshold, "visitor")} or more online${factor === null ? "" : `, and ${exact(factor)} times as many as usual at this hour`}`
  if (type === "drop") return `Fewer than ${counted(threshold, "visitor")} within ${within}`
  if (type === "no_data") return `No events for ${within}, although there usually are some`
  if (type === "goal") return `${counted(threshold, "conversion")} or more of ${goal} within ${within}`
  return `${counted(threshold, "visit")} or more to pages that don't exist within ${within}, and at least three times as many as a week earlier`
}

/** Fetches the goals of a site, for alerts about them. */
export const useGoals = (siteId: number): readonly OwnGoalResponse[] | undefined =>
  useQuery({
    queryKey: ["goals", siteId],
    queryFn: ({ signal }) => getAll<OwnGoalResponse>(`${sitePath(siteId)}/goals?`, signal),
  }).data
