import type { Snapshot } from "../store/events/part.ts"
import { aggregate } from "./aggregate.ts"
import { exportBreakdown } from "./export-breakdown.ts"
import { exportRows } from "./export-rows.ts"
import { funnel } from "./funnel.ts"
import type { Answer, Task } from "./messages.ts"
import { realtime } from "./realtime.ts"
import { visitRows } from "./rows.ts"

/** Answers one question from a snapshot. `check` is called between parts and throws when the question is given up. */
export function answerTask(snapshot: Snapshot, task: Task, check: () => void): Answer {
  switch (task.kind) {
    case "aggregate":
      return aggregate(snapshot, task.query, check)
    case "funnel":
      return funnel(snapshot, task.query, check)
    case "realtime":
      return realtime(snapshot, task.query, check)
    case "first_event":
      return firstEventAt(snapshot)
    case "rows":
      return visitRows(snapshot, task.query, task.place, check)
    case "export_rows":
      return exportRows(snapshot, task.query, task.place, check)
    case "export_breakdown":
      return exportBreakdown(snapshot, task.query, check)
  }
}

function firstEventAt({ parts }: Snapshot): number | undefined {
  const first = Math.min(...parts.filter((part) => part.visits > 0).map((part) => part.minStart))
  return first === Number.POSITIVE_INFINITY ? undefined : first
}
