import { useQuery } from "@tanstack/react-query"
import { getAll, type OwnGoalResponse } from "#plugin/ui"
import { sitePath } from "../answers.ts"

/** Fetches the goals of a site, for alerts about them. */
export const useGoals = (siteId: number): readonly OwnGoalResponse[] | undefined =>
  useQuery({
    queryKey: ["goals", siteId],
    queryFn: ({ signal }) => getAll<OwnGoalResponse>(`${sitePath(siteId)}/goals?`, signal),
  }).data
