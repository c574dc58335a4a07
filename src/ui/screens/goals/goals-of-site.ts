import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { getAll, post, remove } from "../../api/api.ts"
import { sentenceOf } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { draftOf, type GoalShown, inputOf } from "./goal-rule.ts"

export const goalsPath = (siteId: number): string => `/api/private/sites/${siteId}/goals`

export const useGoals = (siteId: number): UseQueryResult<GoalShown[], Error> =>
  useQuery({
    queryKey: ["goals", siteId],
    queryFn: ({ signal }) => getAll<GoalShown>(`${goalsPath(siteId)}?`, signal),
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
