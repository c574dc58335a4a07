import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { GoalInput, GoalTrial, OwnGoalResponse } from "../../../domain/goal.ts"
import { getAll, post, remove } from "../../api/api.ts"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { agoText } from "../../parts/values.tsx"
import { counted } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { draftOf, inputOf } from "./goal-rule.ts"

export const goalsPath = (siteId: number): string => `/api/private/sites/${siteId}/goals`

export const useGoals = (siteId: number): UseQueryResult<OwnGoalResponse[], Error> =>
  useQuery({
    queryKey: ["goals", siteId],
    queryFn: ({ signal }) => getAll<OwnGoalResponse>(`${goalsPath(siteId)}?`, signal),
    staleTime: 60_000,
  })

/** Returns a function that reloads the goals and all reports, because a goal applies to past data, too. */
export function useRefreshGoals(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(
      [["goals", siteId], ["goal-trial", siteId], ["goal-suggestions", siteId], ["report"]].map((queryKey) =>
        client.invalidateQueries({ queryKey }),
      ),
    )
  }
}

/** Returns a function that deletes a goal and offers *Undo*. Recorded events stay, so that the goal can be created again unchanged. */
export function useDeleteGoal(siteId: number): (goal: OwnGoalResponse) => Promise<void> {
  const refresh = useRefreshGoals(siteId)
  return async (goal) => {
    await remove(`${goalsPath(siteId)}/${goal.id}`)
    await refresh()
    toast(`Goal ${visible(goal.name)} deleted`, () => {
      post(goalsPath(siteId), inputOf(draftOf(goal))).then(refresh, (error: Error) => toast(errorText(error)))
    })
  }
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
