import type { ComponentChildren } from "preact"
import { memo, Suspense } from "preact/compat"
import { useId } from "preact/hooks"
import { lazyPart, Skeleton, visible, widgetPanel } from "#plugin/ui"
import type { WidgetResult } from "../../responses.ts"
import { titleOf } from "../labels.ts"
import type { PanelProps, ShownWidget } from "./panel.ts"
import { TileFault } from "./tile-fault.tsx"

/** The panels of the core's own widgets are one part, loaded while the figures are on their way. */
const CorePanel = lazyPart(() => import("./core-panels.tsx"))

/** Widgets without a frame of their own for figures: their text says what they are. */
const isPlain = ({ type, title }: ShownWidget): boolean => type === "text" && title === ""

interface TileProps {
  widget: ShownWidget
  /** Undefined until the first answer. */
  result: WidgetResult | undefined
  isPending: boolean
  /** Error of the whole request, shown when there is no answer. */
  error?: Error | undefined
  siteId: number | undefined
  /** Marks after the title, such as a period of its own. */
  marks?: ComponentChildren
  /** Button at the end of the head. */
  menu?: ComponentChildren
  onRetry?(): void
  /** Address on which the widget can be repaired. Absent for those who can't change the dashboard. */
  repairAddress?: string | undefined
}

/** One widget: head, figures, and what stands there while it loads, when it fails and when it is unavailable. */
export const Tile = memo(function Tile({ widget, result, isPending, error, siteId, marks, menu, onRetry, repairAddress }: TileProps) {
  const id = useId()
  const title = visible(titleOf(widget))
  const { x, y, w, h, type } = widget
  return (
    <section
      class="tile"
      data-type={type}
      data-plain={isPlain(widget) || undefined}
      style={{ "--x": x + 1, "--y": y + 1, "--w": w, "--h": h }}
      aria-labelledby={id}
      aria-busy={isPending}
    >
      <div class="tile-head">
        <h2 id={id} title={title}>
          {title}
        </h2>
        {marks}
        {menu && <span class="tile-menu">{menu}</span>}
      </div>
      <div class="tile-body">
        {result?.status === "ok" ? (
          <Figures type={type} props={{ data: result.data, meta: result.meta, config: widget.config, title, siteId }} />
        ) : result || error ? (
          <TileFault widget={widget} result={result} error={error} onRetry={onRetry} repairAddress={repairAddress} />
        ) : (
          <Skeleton rows={Math.min(h * 2, 9)} />
        )}
      </div>
    </section>
  )
})

/** The figures of a widget. What draws them is loaded when it is first needed. */
export function Figures({ type, props }: { type: string; props: PanelProps }) {
  const Panel = widgetPanel(type)
  return <Suspense fallback={<Skeleton rows={4} />}>{Panel ? <Panel {...props} /> : <CorePanel type={type} props={props} />}</Suspense>
}
