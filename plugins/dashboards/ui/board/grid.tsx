import { useMemo } from "preact/hooks"
import { ActionMenu, ImportMark, type ReportFacts, useMe, visible } from "#plugin/ui"
import type { BoardResponse, WidgetResponse } from "../../responses.ts"
import { editAddress } from "../answers.ts"
import { titleOf } from "../labels.ts"
import { Overrides } from "../tiles/overrides.tsx"
import type { ShownWidget } from "../tiles/panel.ts"
import { Tile } from "../tiles/tile.tsx"
import { type BoardData, type BoardSource, csvAddress } from "./data.ts"
import type { Question } from "./range.ts"

/** The order in which widgets are read and stand on phones: by row, then by column. */
export const inReadingOrder = <Placed extends { x: number; y: number }>(widgets: readonly Placed[]): Placed[] =>
  widgets.toSorted((a, b) => a.y - b.y || a.x - b.x)

interface GridProps {
  widgets: readonly (ShownWidget & Partial<Pick<WidgetResponse, "source_site_id">>)[]
  data: BoardData
  source: BoardSource
  question: Question | undefined
  /** Site of the dashboard. Undefined for viewers of a public link. */
  siteId: number | undefined
  /** Whether the user may change the dashboard. */
  canRepair?: boolean
  board?: Pick<BoardResponse, "id">
}

/** The widgets of a dashboard with their figures, on a grid of twelve columns. */
export function Grid({ widgets, data, source, question, siteId, canRepair = false, board }: GridProps) {
  const ordered = useMemo(() => inReadingOrder(widgets), [widgets])
  const sites = useMe()?.sites
  return (
    <div class="board" aria-busy={data.isLoading}>
      {ordered.map((widget) => {
        const result = data.results[widget.id]
        const { source_site_id: other } = widget
        const hasFigures = result?.status === "ok" && widget.type !== "text"
        const csv = hasFigures && source.csvPath && question && csvAddress(source.csvPath(widget.id), question, source.more)
        return (
          <Tile
            key={widget.id}
            widget={widget}
            result={result}
            isPending={data.isPending(widget.id)}
            error={data.error}
            siteId={siteId}
            onRetry={() => data.refresh([widget.id])}
            repairAddress={canRepair && siteId !== undefined && board ? `${editAddress(siteId, board.id)}?widget=${widget.id}` : undefined}
            marks={
              <>
                <Overrides config={widget.config} />
                {other != null && other !== siteId && (
                  <span class="badge">{visible(sites?.find(({ id }) => id === other)?.name ?? "another site")}</span>
                )}
                {result?.status === "ok" && <ImportMark of={(result.meta as Partial<ReportFacts>).imports} />}
              </>
            }
            menu={
              csv && (
                <ActionMenu
                  kind="quiet"
                  label={`Actions for ${visible(titleOf(widget))}`}
                  actions={[{ label: "Download CSV", run: () => location.assign(csv) }]}
                />
              )
            }
          />
        )
      })}
    </div>
  )
}
