/** Labels of the area, and the queries that fetch its answers. */
import { areaQueries, canOnSite, Problem, useMe } from "#plugin/ui"
import type { Definition } from "../cohort.ts"
import type { RetentionResponse } from "../responses.ts"
import { type NameOf, type Reference, referencesIn } from "./labels.ts"

export const { useSiteQuery, useSiteAnswer, useRefresh } = areaQueries("cohorts")

export const cohortsPath = (siteId: number): string => `/api/private/sites/${siteId}/cohorts`
export const cohortsAddress = (siteId: number): string => `/sites/${siteId}/cohorts`

/** Returns what the user may do with cohorts and people of a site. */
export function useRights(siteId: number) {
  const me = useMe()
  const can = (permission: string) => canOnSite(me, siteId, permission)
  return {
    writes: can("cohorts:write"),
    seesPeople: can("people:read"),
    erases: can("people:erase"),
    changesSettings: can("site:write"),
  }
}

/** Returns the names of the goals, funnels and cohorts that a definition refers to, as far as they exist. */
export function useNames(siteId: number, definition: Definition): NameOf {
  const kinds = referencesIn(definition)
  const lists: Record<Reference, Named | undefined> = {
    goal: useSiteQuery<Named>(siteId, "goals?limit=200", kinds.includes("goal")).data,
    funnel: useSiteQuery<Named>(siteId, "funnels?limit=200", kinds.includes("funnel")).data,
    cohort: useSiteQuery<Named>(siteId, "cohorts?limit=200", kinds.includes("cohort")).data,
  }
  return (kind, id) => lists[kind]?.data.find((one) => one.id === id)?.name
}

interface Named {
  data: { id: number; name: string }[]
}

export type Identity = RetentionResponse["identity"]

/** Whether an error says that visitors are not recognized for long enough. */
export const isInsufficient = (error: Error | null): error is Problem => error instanceof Problem && error.code === "identity_insufficient"

export const MODE_LABELS: Readonly<Record<Identity["mode"], string>> = {
  daily: "Daily",
  weekly: "Weekly",
  monthly: "Monthly",
  identified: "Identified",
  persistent: "Persistent",
}

/** Who is recognized in an identity mode, and for how long. */
export const RECOGNIZED: Readonly<Record<Identity["mode"], string>> = {
  daily: "Visitors are recognized within one day.",
  weekly: "Visitors are recognized within one calendar week.",
  monthly: "Visitors are recognized within one calendar month.",
  identified: "People with a user ID are recognized as long as data is kept, all other visitors within one day.",
  persistent: "People with a stored ID are recognized until it expires, all other visitors within one day.",
}
