import { Problem, Skeleton, visible } from "#plugin/ui"
import type { DataResponse, WidgetResult } from "../../responses.ts"
import { useSiteAnswer } from "../answers.ts"
import { titleOf } from "../labels.ts"
import { Figures } from "../tiles/tile.tsx"
import { TileFault } from "../tiles/tile-fault.tsx"
import { type DraftWidget, sentWidget } from "./draft.ts"

interface PreviewProps {
  siteId: number
  boardId: number
  widget: DraftWidget
}

/** The figures that a widget will show once it is saved. What the server refuses stands in their place. */
export function Preview({ siteId, boardId, widget }: PreviewProps) {
  const { id: _, x: __, y: ___, title: ____, ...sent } = sentWidget(widget)
  const { data, error } = useSiteAnswer<DataResponse>(siteId, `dashboards/${boardId}/preview`, {
    // In a place of its own, so that a move asks nothing.
    widgets: [{ ...sent, x: 0, y: 0, w: 12, h: 1 }],
  })
  const fault = error instanceof Problem ? error.members.errors?.[0] : undefined
  if (fault) return <p class="quiet small">{faultText(fault)}</p>
  return <DrawnResult siteId={siteId} widget={widget} result={error ? undefined : data?.results[1]} error={error ?? undefined} />
}

interface DrawnProps {
  siteId: number
  widget: DraftWidget
  result: WidgetResult | undefined
  error?: Error | undefined
}

/** Figures in edit mode, or why there are none. */
export function DrawnResult({ siteId, widget, result, error }: DrawnProps) {
  const { type, config } = widget
  const title = visible(titleOf(widget))
  if (result?.status === "ok") return <Figures type={type} props={{ data: result.data, meta: result.meta, config, title, siteId }} />
  if (!result && !error) return <Skeleton rows={Math.min(widget.h * 2, 6)} />
  return <TileFault widget={{ ...widget, id: widget.id ?? 0 }} result={result} error={error} repairAddress={undefined} />
}

/** Returns a fault of a widget as a text, after the name of its field. */
export const faultText = ({ pointer, detail }: { pointer: string; detail: string }): string =>
  `${
    pointer
      .split("/")
      .findLast((part) => /^[a-z_]+$/.test(part))
      ?.replaceAll("_", " ") ?? ""
  } ${detail}`.trim()
