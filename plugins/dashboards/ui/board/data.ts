/** The figures of a dashboard: one request whose answers arrive widget by widget. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { Problem, postLines, queryOf } from "#plugin/ui"
import type { DataResponse, WidgetResult } from "../../responses.ts"
import type { Question } from "./range.ts"

/** Where a dashboard's figures come from: a dashboard of a site, or a public link. */
export interface BoardSource {
  /** Path of the route that answers all widgets. */
  dataPath: string
  /** Returns the path of a widget's CSV file. Undefined if exports are not allowed. */
  csvPath: ((widgetId: number) => string) | undefined
  /** Further fields of the requests, such as the site of a public link. */
  more?: Readonly<Record<string, unknown>>
  /** Called when a public link asks for its password again. */
  onLocked?(): void
}

export interface BoardData {
  results: Readonly<Record<string, WidgetResult>>
  /** Whether a widget is still being computed. Its former figures stay meanwhile. */
  isPending(widgetId: number): boolean
  isLoading: boolean
  /** Error of the whole request. */
  error: Error | undefined
  range: DataResponse["range"] | undefined
  generatedAt: string | undefined
  /** Asks again, for some widgets or for all. Waits for a running request. */
  refresh(widgetIds?: readonly number[]): void
}

/** Time after which the figures of an open dashboard are asked again. */
export const REFRESH_MS = 60_000

interface BoardWidgets {
  /** Version of the dashboard, which changes when its widgets do. */
  version: number
  ids: readonly number[]
  /** Whether the dashboard has more widgets than these. */
  isPart?: boolean
  refreshMs: number
}

interface State extends Pick<BoardData, "results" | "error" | "range" | "generatedAt"> {
  /** Widgets whose answer is on its way; `all` before the first answer. */
  pending: ReadonlySet<number> | "all"
}

const NOTHING: State = { results: {}, error: undefined, range: undefined, generatedAt: undefined, pending: "all" }

/**
 * Asks for the figures of all widgets, and again after `refreshMs` while the tab is visible. A question that is superseded is cancelled.
 * `version` changes when the widgets do.
 */
export function useBoardData(
  { dataPath, more, onLocked }: BoardSource,
  question: Question | undefined,
  { version, ids, isPart = false, refreshMs }: BoardWidgets,
): BoardData {
  const [state, setState] = useState(NOTHING)
  const running = useRef<AbortController>(undefined)
  const key = question && JSON.stringify([dataPath, more, question, version])
  const body = { ...question, ...more }

  async function ask(wanted?: readonly number[]): Promise<void> {
    const controller = new AbortController()
    running.current = controller
    const left = new Set(wanted ?? ids)
    setState((before) => ({ ...before, pending: new Set(left), error: undefined }))
    try {
      const widgets = wanted ?? (isPart ? ids : undefined)
      await postLines<Partial<DataResponse>>(
        dataPath,
        { ...body, ...(widgets && { widgets }) },
        {
          signal: controller.signal,
          onLines: (lines) => {
            if (controller.signal.aborted) return
            const found = Object.assign({}, ...lines.map(({ results }) => results)) as Record<string, WidgetResult>
            for (const id of Object.keys(found)) left.delete(Number(id))
            const { range, generated_at } = Object.assign({}, ...lines) as Partial<DataResponse>
            setState((before) => ({
              ...before,
              results: { ...before.results, ...found },
              pending: new Set(left),
              ...(range && { range }),
              ...(generated_at && { generatedAt: generated_at }),
            }))
          },
        },
      )
    } catch (error) {
      if (controller.signal.aborted) return
      if (error instanceof Problem && error.code === "share_locked") onLocked?.()
      setState((before) => ({ ...before, pending: new Set(), error: error as Error })) // only errors are thrown
    } finally {
      if (running.current === controller) running.current = undefined
    }
  }

  const asking = useRef(ask)
  asking.current = ask
  useEffect(() => {
    if (key === undefined) return
    void asking.current()
    return () => running.current?.abort()
  }, [key])
  useEffect(() => {
    if (refreshMs === 0 || key === undefined) return
    let isDue = false
    const timer = setInterval(() => {
      if (document.hidden) isDue = true
      else if (!running.current) void asking.current()
    }, refreshMs)
    const onVisible = () => {
      if (document.hidden || !isDue) return
      isDue = false
      if (!running.current) void asking.current()
    }
    document.addEventListener("visibilitychange", onVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener("visibilitychange", onVisible)
    }
  }, [key, refreshMs])

  return useMemo(() => {
    const { pending, ...shown } = state
    return {
      ...shown,
      isPending: (id) => pending === "all" || pending.has(id),
      isLoading: pending === "all" || pending.size > 0,
      refresh(wanted) {
        if (!running.current) void asking.current(wanted)
      },
    }
  }, [state])
}

/** Returns the address of a widget's CSV file with the same range and filters. */
export const csvAddress = (path: string, { range, filters, compare }: Question, more: Readonly<Record<string, unknown>> = {}): string =>
  path +
  queryOf({
    ...(range && { range: JSON.stringify(range) }),
    ...(filters && { filters: JSON.stringify(filters) }),
    ...(compare !== undefined && { compare: typeof compare === "string" ? compare : JSON.stringify(compare) }),
    ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)])),
  })
