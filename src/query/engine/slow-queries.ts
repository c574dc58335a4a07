import type { Clock } from "../domain/clock.ts"
import type { Task } from "./messages.ts"
import type { QuestionWatch } from "./pool.ts"

/** How a question ended: `late` when its time was over, `left` when its asker went away. */
export type Ending = "answered" | "late" | "left" | "failed"

/** What was asked for: the sort of question, of an aggregate its shape. */
export type QuestionKind = Exclude<Task["kind"], "aggregate" | "compare"> | "summary" | "timeseries" | "breakdown"

/** A question that took long. Nothing that it filtered by, and nothing of what it was answered. */
export interface SlowQuestion {
  /** When it ended, epoch ms. */
  at: number
  kind: QuestionKind
  /** Undefined where it is of no single site: an area's own tables. */
  siteId: number | undefined
  /** Length of its range in days, rounded up; undefined where it has none. */
  rangeDays: number | undefined
  /** From its arrival to when a worker took it up, or to its end when none did. */
  waitedMs: number
  /** From its arrival to its end. */
  tookMs: number
  ending: Ending
}

/** Questions that took a second or more, in memory alone: they are about now, and gone with the process. */
export interface SlowQuestions {
  watch: QuestionWatch
  /** The last ones, the youngest first. */
  list(): readonly SlowQuestion[]
}

const SLOW_MS = 1_000
const KEPT = 100
const DAY_MS = 86_400_000

export function createSlowQuestions({ now, monotonic }: Clock): SlowQuestions {
  let kept: SlowQuestion[] = []

  function watch(task: Task): ReturnType<QuestionWatch> {
    const arrivedAt = monotonic()
    let begunAt: number | undefined
    return {
      begun() {
        begunAt ??= monotonic()
      },
      over(ending) {
        const overAt = monotonic()
        const [waitedMs, tookMs] = [(begunAt ?? overAt) - arrivedAt, overAt - arrivedAt]
        if (tookMs < SLOW_MS) return
        kept = [{ at: now(), ...shapeOf(task), waitedMs, tookMs, ending }, ...kept.slice(0, KEPT - 1)]
      },
    }
  }

  return { watch, list: () => kept }
}

function shapeOf(task: Task): Pick<SlowQuestion, "kind" | "siteId" | "rangeDays"> {
  if (task.kind === "row_tables") return { kind: task.kind, siteId: undefined, rangeDays: undefined }
  const range = "range" in task.query ? task.query.range : task.kind === "export_breakdown" ? task.query.query.range : undefined
  return {
    kind: task.kind === "aggregate" || task.kind === "compare" ? aggregateKind(task.query) : task.kind,
    siteId: task.query.site.id,
    rangeDays: range && Math.ceil((range.to - range.from) / DAY_MS),
  }
}

function aggregateKind({ groupings }: Extract<Task, { kind: "aggregate" }>["query"]): QuestionKind {
  if (groupings.length === 0) return "summary"
  return groupings.some(({ by }) => by === "time") ? "timeseries" : "breakdown"
}
