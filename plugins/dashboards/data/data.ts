/**
 * Data of a dashboard in one call, for members and for viewers of public links: what each widget asks, the reports, and the results as
 * they become known. Each widget fails alone.
 */
import { AppError, instantText, type WidgetAnswer } from "#plugin"
import type { DashboardsHost, StoredWidget } from "../board.ts"
import { widgetNotFound } from "../errors.ts"
import { winningRange } from "../ranges.ts"
import type { DataResponse, WidgetResult } from "../responses.ts"
import type { Reports } from "../widgets/core.ts"
import { splitFilters, withLocked } from "../widgets/core.ts"
import { CORE_WIDGETS } from "../widgets/widgets.ts"
import { type Budget, type BudgetLimits, createBudget, keyOf } from "./budget.ts"
import { csvOf } from "./csv.ts"
import { createQuestions, type Question, resolvedDays, type Shown, UnsupportedWidget } from "./question.ts"
import { reportsOf } from "./reports.ts"

/** A dashboard as it is shown to a viewer, with the widgets to compute. */
export interface ShownBoard extends Shown {
  widgets: readonly StoredWidget[]
}

export type Data = ReturnType<typeof createData>

export function createData(host: DashboardsHost, limits: BudgetLimits = {}) {
  const questionOf = createQuestions(host)

  /** Returns the answers of widgets within one budget. Equal reports of them run once. */
  function answers(shown: Shown) {
    const budget = createBudget(shown.viewer.signal, limits)
    const reports = reportsOf(host, budget)
    return (widget: StoredWidget) => answerOf(shown, widget, budget, reports)
  }

  async function answerOf(shown: Shown, widget: StoredWidget, budget: Budget, reports: Reports): Promise<WidgetAnswer | undefined> {
    const question = await questionOf(shown, widget)
    if (!question) return undefined
    const answer = await (CORE_WIDGETS[widget.type]?.run(reports, question, question.config) ?? foreignAnswer(question, budget))
    // The plugin may have been turned off meanwhile.
    return question.known.isAvailable() ? answer : undefined
  }

  async function resultOf(widget: StoredWidget, answerOf: ReturnType<typeof answers>): Promise<WidgetResult> {
    try {
      const answer = await answerOf(widget)
      return answer ? { status: "ok", data: answer.data, meta: answer.meta ?? {} } : { status: "unavailable" }
    } catch (error) {
      return { status: "error", error: errorOf(host, widget, error) }
    }
  }

  /** Yields the result of each widget when it is known. Throws `validation_failed` before the first one for unknown ids. */
  async function* results(shown: ShownBoard): AsyncGenerator<[id: number, WidgetResult]> {
    const answerOf = answers(shown)
    // Widgets that differ only in place and title ask the same.
    const known = new Map<string, Promise<WidgetResult>>()
    const resultOnce = (widget: StoredWidget): Promise<WidgetResult> => {
      const key = keyOf([widget.type, widget.source_site_id, widget.source_site_name, widget.config])
      if (!known.has(key)) known.set(key, resultOf(widget, answerOf))
      return known.get(key)! // set above
    }
    const pending = new Map(chosen(shown).map((widget) => [widget.id, resultOnce(widget).then((result) => [widget.id, result] as const)]))
    while (pending.size > 0) {
      const [id, result] = await Promise.race(pending.values())
      pending.delete(id)
      yield [id, result]
    }
  }

  const frame = ({ board, site, request }: Shown): Omit<DataResponse, "results"> => ({
    range: resolvedDays(host, site, winningRange([request, board]).range),
    generated_at: instantText(host.now()),
  })

  return {
    results,

    /** Returns the results of all chosen widgets. */
    async collect(shown: ShownBoard, lines: AsyncIterable<[id: number, WidgetResult]> = results(shown)): Promise<DataResponse> {
      const found: Record<string, WidgetResult> = {}
      for await (const [id, result] of lines) found[id] = result
      return { results: found, ...frame(shown) }
    },

    /** Returns the same as lines of JSON: one for each widget when it is known, and the rest at the end. */
    stream(shown: ShownBoard, lines: AsyncIterator<[id: number, WidgetResult]> = results(shown)): ReadableStream<Uint8Array> {
      const encoder = new TextEncoder()
      return new ReadableStream({
        async pull(controller) {
          const { value, done } = await lines.next()
          const line = done ? frame(shown) : { results: { [value[0]]: value[1] } }
          controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
          if (done) controller.close()
        },
      })
    },

    /** Returns the figures of one widget as CSV. Throws `widget_not_found`, or the error of the widget. */
    async csv(shown: ShownBoard, id: number | undefined): Promise<string> {
      const widget = shown.widgets.find((each) => each.id === id)
      if (!widget) throw widgetNotFound()
      try {
        const answer = await answers(shown)(widget)
        if (answer) return csvOf(widget.type, answer.data)
      } catch (error) {
        if (error instanceof UnsupportedWidget)
          throw new AppError("invalid_query", error.message, {
            errors: [{ pointer: "/filters", code: "unsupported_combination", detail: error.message }],
          })
        throw error
      }
      throw new AppError("feature_disabled", "The plugin of this widget is disabled on this instance.")
    },
  }
}

const chosen = ({ widgets, request }: ShownBoard): readonly StoredWidget[] =>
  request.widgets ? widgets.filter(({ id }) => request.widgets!.includes(id)) : widgets

/** Answers a widget of another plugin. */
function foreignAnswer({ known, site, config, given, filters: all, asking }: Question, budget: Budget): Promise<WidgetAnswer> {
  const { filters, rest } = splitFilters(all)
  const options = withLocked(asking, rest)
  const arguments_ = { ...given, ...(filters.length > 0 && { filters }) }
  return budget.once(keyOf([known.type, site.id, config, arguments_, options.lockedFilters]), (signal) =>
    known.resolve({ site, given: arguments_, asking: { ...options, signal } }, config),
  )
}

/** Codes that results of widgets have, by the codes of reports. */
const CODES: Readonly<Record<string, string>> = {
  broken_reference: "broken_reference",
  goal_not_found: "broken_reference",
  funnel_not_found: "broken_reference",
  segment_not_found: "broken_reference",
  forbidden: "forbidden",
  site_not_found: "site_not_found",
  identity_insufficient: "identity_insufficient",
  query_timeout: "query_timeout",
  // The pool of queries is full: the same to a viewer as a query that takes too long.
  rate_limited: "query_timeout",
  unavailable: "query_timeout",
}
/** Codes of faults in arguments that come from a range, a filter and a configuration which don't fit each other. */
const FAULTS: readonly string[] = ["validation_failed", "invalid_query"]

function errorOf(host: DashboardsHost, { id, type }: StoredWidget, error: unknown): { code: string; detail: string } {
  if (error instanceof UnsupportedWidget)
    return { code: "unsupported_combination", detail: error.message, ...(error.errors.length > 0 && { errors: error.errors }) }
  if (error instanceof AppError) {
    const { errors, etag: _, ...members } = error.members
    const code = CODES[error.code]
    if (code !== undefined) return { code, detail: error.message, ...members }
    const isGone = errors?.some((one) => one.code === "invalid_choice" && one.pointer.startsWith("/filters"))
    if (FAULTS.includes(error.code))
      return isGone
        ? { code: "broken_reference", detail: "A filter names something that the site does not have." }
        : { code: "unsupported_combination", detail: errors?.[0]?.detail ?? error.message, ...(errors && { errors }) }
  }
  host.log.error("a widget failed", { widget: id, type, error })
  return { code: "internal_error", detail: "Something went wrong. Try again." }
}
