import { useQuery } from "@tanstack/react-query"
import type { GoalInput } from "../../../domain/goal.ts"
import { agoText } from "../../ago.ts"
import { post } from "../../api.ts"
import { exact } from "../../format.ts"
import { goalsPath } from "./goals-of-site.ts"

/** What a rule would have counted, as `POST …/goals/test` says it. */
export interface GoalTrial {
  conversions_7d: number
  visitors_7d: number
  /** When it was last met, at any time; null when it never was. */
  last_match_at: string | null
}

export const tryGoal = (siteId: number, input: GoalInput, signal?: AbortSignal): Promise<GoalTrial> =>
  post<GoalTrial>(`${goalsPath(siteId)}/test`, input, signal ? { signal } : {})

/** Would have matched 132 in 7 days. */
export function trialText({ conversions_7d, visitors_7d, last_match_at }: GoalTrial): string {
  if (conversions_7d > 0)
    return `Would have matched ${exact(conversions_7d)} in 7 days, by ${exact(visitors_7d)} ${visitors_7d === 1 ? "visitor" : "visitors"}.`
  return `Would have matched nothing in 7 days. ${lastMatchText(last_match_at)}`
}

const lastMatchText = (at: string | null): string => (at === null ? "It never matched." : `Last match ${agoText(at)}.`)

/** Of a goal that nobody reached in the period: when it was last met. */
export function LastMatch({ siteId, input }: { siteId: number; input: GoalInput }) {
  const { data } = useQuery({
    queryKey: ["goal-trial", siteId, input],
    queryFn: ({ signal }) => tryGoal(siteId, input, signal),
    staleTime: 60_000,
  })
  return <span class="small quiet">{data ? lastMatchText(data.last_match_at) : ""}</span>
}
