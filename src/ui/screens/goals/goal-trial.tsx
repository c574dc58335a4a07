import { useQuery } from "@tanstack/react-query"
import type { GoalInput } from "../../../domain/goal.ts"
import { post } from "../../api/api.ts"
import { agoText } from "../../parts/values.tsx"
import { counted } from "../../text/format.ts"
import { goalsPath } from "./goals-of-site.ts"

/** What a rule would have counted, as `POST …/goals/test` returns it. */
interface GoalTrial {
  conversions_7d: number
  visitors_7d: number
  /** Time of the last match, of all time. Null if there is none. */
  last_match_at: string | null
}

export const tryGoal = (siteId: number, input: GoalInput, signal?: AbortSignal): Promise<GoalTrial> =>
  post<GoalTrial>(`${goalsPath(siteId)}/test`, input, signal ? { signal } : {})

/** Returns the result of a test in words. */
export function trialText({ conversions_7d, visitors_7d, last_match_at }: GoalTrial): string {
  if (conversions_7d > 0)
    return `Would have matched ${counted(conversions_7d, "event")} from ${counted(visitors_7d, "visitor")} in the last 7 days.`
  return `Would have matched nothing in the last 7 days. ${lastMatchText(last_match_at)}`
}

const lastMatchText = (at: string | null): string => (at === null ? "No match so far." : `Last match ${agoText(at)}.`)

/** Shows the last match of a goal without conversions in the period. */
export function LastMatch({ siteId, input }: { siteId: number; input: GoalInput }) {
  const { data } = useQuery({
    queryKey: ["goal-trial", siteId, input],
    queryFn: ({ signal }) => tryGoal(siteId, input, signal),
    staleTime: 60_000,
  })
  return <span class="small quiet">{data ? lastMatchText(data.last_match_at) : ""}</span>
}
