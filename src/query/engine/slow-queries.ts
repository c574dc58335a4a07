import type { Clock } from "../../domain/clock.ts"
import type { QueryWatch } from "./pool.ts"
import type { Task } from "./queries.ts"

/** How a query ended: `late` at the time limit, `left` when its caller aborted. */
export type Ending = "answered" | "late" | "left" | "failed"

/** Kind of a query as the admin console and its API name it. An aggregate is named by its shape. */
export type SlowQueryKind = SnakeCase<Exclude<Task["kind"], "aggregate" | "compare" | "funnel">> | "summary" | "timeseries" | "breakdown"

type SnakeCase<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Text

/** A slow query, without its filters and its result. */
export interface SlowQuery {
  /** End of the query, epoch ms. */
  at: number
  kind: SlowQueryKind
  /** Undefined for queries of an area's own tables, which concern no single site. */
  siteId: number | undefined
  /** Length of the range in days, rounded up. Undefined without a range. */
  rangeDays: number | undefined
  /** Time from arrival until a worker started it, or until its end if none did. */
  waitedMs: number
  /** Time from arrival to end. */
  tookMs: number
  ending: Ending
}

/** Queries that took a second or more. Kept in memory only and lost with the process. */
export interface SlowQueries {
  watch: QueryWatch
  /** Returns up to 100 slow queries, the newest first. */
  list(): readonly SlowQuery[]
}

const SLOW_MS = 1_000
const MAX_LISTED = 100
const DAY_MS = 86_400_000

export function createSlowQueries({ now, monotonic }: Clock): SlowQueries {
  let latest: SlowQuery[] = []

  function watch(task: Task): ReturnType<QueryWatch> {
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
        latest = [{ at: now(), ...shapeOf(task), waitedMs, tookMs, ending }, ...latest.slice(0, MAX_LISTED - 1)]
      },
    }
  }

  return { watch, list: () => latest }
}

function shapeOf(task: Task): Pick<SlowQuery, "kind" | "siteId" | "rangeDays"> {
  if (task.kind === "rowTables") return { kind: "row_tables", siteId: undefined, rangeDays: undefined }
  const range = "range" in task.query ? task.query.range : task.kind === "exportBreakdown" ? task.query.query.range : undefined
  return {
    kind: task.kind === "aggregate" || task.kind === "compare" ? aggregateKind(task.query) : reportedKind(task.kind),
    siteId: task.query.site.id,
    rangeDays: range && Math.ceil((range.to - range.from) / DAY_MS),
  }
}

/** Returns the name of a kind in the API. A single funnel and several variants of one have the same name. */
function reportedKind(kind: Exclude<Task["kind"], "aggregate" | "compare" | "rowTables">): SlowQueryKind {
  if (kind === "funnel") return "funnels"
  return kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) as SlowQueryKind
}

function aggregateKind({ groupings }: Extract<Task, { kind: "aggregate" }>["query"]): SlowQueryKind {
  if (groupings.length === 0) return "summary"
  return groupings.some(({ by }) => by === "time") ? "timeseries" : "breakdown"
}
