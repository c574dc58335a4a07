import { useMemo, useRef, useState } from "preact/hooks"
import type { BoardData } from "../board/data.ts"
import { inReadingOrder } from "../board/grid.tsx"
import type { DraftWidget } from "./draft.ts"
import { startDrag } from "./drag.ts"
import { EditTile, type TileActions } from "./edit-tile.tsx"
import { fitted, type MinSize, type Place, placed, placeText } from "./layout.ts"

interface EditGridProps extends Omit<TileActions, "onGrab" | "onPlace"> {
  siteId: number
  boardId: number
  widgets: readonly DraftWidget[]
  /** Widgets as they are stored, to know whose figures are still right. */
  stored: readonly DraftWidget[]
  data: BoardData
  minSizeOf(type: string): MinSize
  /** What the server said about widgets, by their keys. */
  faults: Readonly<Record<string, string>>
  /** Called with the new places. Moves of one widget in a row are undone together. */
  onLayout(widgets: readonly DraftWidget[], about: string): void
  nameOf(widget: DraftWidget): string
}

interface Drag {
  key: string
  place: Place
  isResizing: boolean
}

/** The grid in edit mode. Widgets are dragged by their head and resized at their corner; arrow keys on the handle do the same. */
export function EditGrid({ siteId, boardId, widgets, stored, data, minSizeOf, faults, onLayout, nameOf, ...actions }: EditGridProps) {
  const grid = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<Drag>()
  const [spoken, setSpoken] = useState("")
  // Everything is worked out from the layout before the drag, so that widgets that made room go back when it moves on.
  const shown = drag ? placed(widgets, drag.key, drag.place) : widgets
  const ordered = useMemo(() => inReadingOrder(widgets).map(({ key }) => key), [widgets.length])
  const widgetOf = (key: string) => widgets.find((widget) => widget.key === key)
  const within = ({ type }: DraftWidget, place: Place) => fitted(place, minSizeOf(type))

  const latest = useRef({ widgets, onLayout })
  latest.current = { widgets, onLayout }

  const place = (key: string, wanted: Place) => {
    const widget = widgetOf(key)
    if (!widget) return
    const there = within(widget, wanted)
    setSpoken(`${nameOf(widget)}: ${placeText(there)}`)
    if (there.x !== widget.x || there.y !== widget.y || there.w !== widget.w || there.h !== widget.h)
      onLayout(placed(widgets, key, there), `place ${key}`)
  }
  const grab: TileActions["onGrab"] = (key, event, tile, isResizing) => {
    const widget = widgetOf(key)
    if (!widget || !grid.current) return
    let now: Place = widget
    setDrag({ key, place: widget, isResizing })
    startDrag(event, {
      tile,
      grid: grid.current,
      place: widget,
      isResizing,
      onPlace: (wanted) => {
        now = within(widget, wanted)
        setDrag({ key, place: now, isResizing })
      },
      onEnd: (isDone) => {
        setDrag(undefined)
        const { widgets: all, onLayout: change } = latest.current
        if (isDone && now !== widget) change(placed(all, key, { x: now.x, y: now.y, w: now.w, h: now.h }), "")
      },
    })
  }
  const handlers = useStable({ ...actions, onPlace: place, onGrab: grab })
  return (
    <>
      <p id="how-to-move" class="visually-hidden">
        Arrow keys move the widget by one cell. Shift with an arrow key makes it larger or smaller.
      </p>
      <p class="visually-hidden" aria-live="polite">
        {spoken}
      </p>
      <div class="board" data-editing ref={grid}>
        {ordered.map((key) => {
          const widget = shown.find((one) => one.key === key)
          if (!widget) return null
          const isGrabbed = drag?.key === key && !drag.isResizing
          const before = stored.find((one) => one.key === key)
          // A widget that is being moved stays in its own cells and is transformed; a ghost shows where it will be.
          const own = isGrabbed ? { ...widget, ...pick(widgetOf(key)!) } : widget
          return (
            <EditTile
              key={key}
              widget={own}
              siteId={siteId}
              boardId={boardId}
              result={widget.id === undefined ? undefined : data.results[widget.id]}
              isChanged={
                !before || JSON.stringify([before.config, before.source_site_id]) !== JSON.stringify([widget.config, widget.source_site_id])
              }
              isGrabbed={isGrabbed}
              fault={faults[key]}
              {...handlers}
            />
          )
        })}
        {drag && !drag.isResizing && (
          <div class="tile-ghost" style={{ "--x": drag.place.x + 1, "--y": drag.place.y + 1, "--w": drag.place.w, "--h": drag.place.h }} />
        )}
      </div>
    </>
  )
}

/** Returns functions that stay the same and call the latest ones, so that a drag draws only the widgets that move. */
function useStable(actions: TileActions): TileActions {
  const latest = useRef(actions)
  latest.current = actions
  return useMemo(
    () => ({
      onPlace: (key, place) => latest.current.onPlace(key, place),
      onGrab: (key, event, tile, isResizing) => latest.current.onGrab(key, event, tile, isResizing),
      onConfigure: (key) => latest.current.onConfigure(key),
      onDuplicate: (key) => latest.current.onDuplicate(key),
      onRemove: (key) => latest.current.onRemove(key),
    }),
    [],
  )
}

const pick = ({ x, y, w, h }: Place): Place => ({ x, y, w, h })
