import { errorsOf, type PluginError } from "#plugin"

/** Error codes of cohorts and people. */
export const ERRORS = {
  cohort_not_found: {
    status: 404,
    title: "The cohort was not found",
    meaning: "The site has no cohort with this id. It may have been deleted.",
  },
  person_not_found: {
    status: 404,
    title: "The person was not found",
    meaning: "The token names no visitor of this site, or all visits of the person were removed.",
  },
  erasure_not_found: {
    status: 404,
    title: "The erasure was not found",
    meaning: "The site has no erasure with this id.",
  },
  cohort_exists: {
    status: 409,
    title: "The site already has a cohort with this name",
    meaning: "The names of a site's cohorts are unique. Choose another name, or rename the other cohort. `existing_id` is its id.",
  },
  in_use: {
    status: 409,
    title: "Other cohorts refer to this cohort",
    meaning: "`used_by` lists them. Change them first, or send `force: true`: they are then broken and show no numbers.",
  },
  static_cohort: {
    status: 409,
    title: "The cohort is frozen",
    meaning: "A frozen cohort contains the people it had when it was frozen. Its definition can't change.",
  },
  cohort_cycle: {
    status: 422,
    title: "The cohort refers to itself",
    meaning: "A cohort can't contain itself, neither directly nor through other cohorts.",
  },
  too_many_conditions: {
    status: 422,
    title: "The definition has too many conditions",
    meaning:
      "A definition can have at most 10 conditions, 3 of which refer to other cohorts. Together with those cohorts it can have at most 30 references.",
  },
  invalid_definition: {
    status: 422,
    title: "The definition has no meaning",
    meaning: "The form of the definition is valid, but a condition can't be evaluated. `errors` says which one and why.",
  },
} as const satisfies Record<string, PluginError>

export const cohortError = errorsOf(ERRORS)
