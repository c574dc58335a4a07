import type { Snapshot } from "../store/events/part.ts"
import { aggregate } from "./aggregate.ts"
import { chosenVisits, visitsWeight } from "./chosen-visits.ts"
import { comparedTables } from "./compared-tables.ts"
import { exportBreakdown } from "./export-breakdown.ts"
import { exportRows } from "./export-rows.ts"
import { funnel } from "./funnel.ts"
import { lastMatch } from "./last-match.ts"
import type { Answer, RowTablesTask, Task } from "./messages.ts"
import { paths } from "./paths.ts"
import { propertyKeys } from "./property-keys.ts"
import { pulse } from "./pulse.ts"
import { realtime } from "./realtime.ts"
import { visitRows } from "./rows.ts"
import { suggest } from "./suggest.ts"
import { tally } from "./tally.ts"

/** Answers one question from a snapshot. `check` is called between parts and throws when the question is given up. */
export function answerTask(snapshot: Snapshot, task: Exclude<Task, RowTablesTask>, check: () => void): Answer {
  switch (task.kind) {
    case "aggregate":
      return aggregate(snapshot, task.query, check)
    case "compare":
      return comparedTables(snapshot, task.query, task.range, check)
    case "funnels":
      return task.variants.map((variant) => funnel(snapshot, { ...task.query, ...variant }, check))
    case "realtime":
      return realtime(snapshot, task.query, check)
    case "paths":
      return paths(snapshot, task.query, check)
    case "property_keys":
      return propertyKeys(snapshot, task.query, check)
    case "pulse":
      return pulse(snapshot, task.query, check)
    case "last_match":
      return lastMatch(snapshot, task.query, check)
    case "suggest":
      return suggest(snapshot, task.query, check)
    case "visits_weight":
      return visitsWeight(snapshot, task.query, check)
    case "chosen_visits":
      return chosenVisits(snapshot, task.query, check)
    case "tally":
      return tally(snapshot, task.query, check)
    case "rows":
      return visitRows(snapshot, task.query, task.place, check)
    case "export_rows":
      return exportRows(snapshot, task.query, task.place, check)
    case "export_breakdown":
      return exportBreakdown(snapshot, task.query, check)
  }
}
