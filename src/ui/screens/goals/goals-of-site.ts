import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { post, remove } from "../../api.ts"
import { sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { toast } from "../../toasts.ts"
import { draftOf, type GoalShown, inputOf } from "./goal-rule.ts"

export const goalsPath = (siteId: number): string => `/api/private/sites/${siteId}/goals`

export const useGoals = (siteId: number): UseQueryResult<GoalShown[], Error> =>
  useQuery({
    queryKey: ["goals", siteId],
    queryFn: ({ signal }) => getAll<GoalShown>(`${goalsPath(siteId)}?`, signal),
    staleTime: 60_000,
  })

/** A goal counts the past too: with the list every report may be another one. */
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

/** Deletes a goal. Nothing that was recorded goes with it, so that it can be made again as it was. */
export function useDeleteGoal(siteId: number): (goal: GoalShown) => Promise<void> {
  const refresh = useRefreshGoals(siteId)
  return async (goal) => {
    await remove(`${goalsPath(siteId)}/${goal.id}`)
    await refresh()
    toast(`Goal ${visible(goal.name)} deleted`, () => {
      post(goalsPath(siteId), inputOf(draftOf(goal))).then(refresh, (error: Error) => toast(sentenceOf(error)))
    })
  }
}
