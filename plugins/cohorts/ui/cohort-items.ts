import type { AreaItems } from "#plugin/ui"
import type { CohortResponse } from "../responses.ts"

/** Description of cohorts for the shared pages. */
export const COHORTS: AreaItems<CohortResponse> = {
  ...{ path: "cohorts", noun: "cohort", plural: "cohorts", permission: "cohorts:write" },
  nameOf: ({ name }) => name,
}
