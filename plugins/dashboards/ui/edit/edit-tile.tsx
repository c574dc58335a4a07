import { memo } from "preact/compat"
import { useRef } from "preact/hooks"
import { ActionMenu, Icon, IconButton, visible } from "#plugin/ui"
import type { WidgetResult } from "../../responses.ts"
import { titleOf } from "../labels.ts"
import { Overrides } from "../tiles/overrides.tsx"
import { Unavailable } from "../tiles/tile-fault.tsx"
import type { DraftWidget } from "./draft.ts"
import { type Place, placeAfterKey, placeText } from "./layout.ts"
import { DrawnResult, Preview } from "./preview.tsx"

export interface TileActions {
  /** Gives a widget another place. `isLast` ends a series of moves that are undone together. */
  onPlace(key: string, place: Place): void
  onGrab(key: string, event: PointerEvent, tile: HTMLElement, isResizing: boolean): void
  onConfigure(key: string): void
  onDuplicate(key: string): void
  onRemove(key: string): void
}

interface EditTileProps extends TileActions {
  widget: DraftWidget
  /** Figures of the stored widget. */
  result: WidgetResult | undefined
  /** Whether the configuration differs from the stored one, so that its figures have to be requested. */
  isChanged: boolean
  isGrabbed: boolean
  /** What the server said about the widget when the dashboard was saved. */
  fault: string | undefined
  siteId: number
  boardId: number
}

/** A widget in edit mode: a handle to move it, a corner to resize it, and a menu that does the same by buttons. */
export const EditTile = memo(function EditTile(props: EditTileProps) {
  const { widget, result, isChanged, isGrabbed, fault, siteId, boardId, onPlace, onGrab, onConfigure, onDuplicate, onRemove } = props
  const tile = useRef<HTMLElement>(null)
  const { key, type, config, x, y, w, h } = widget
  const title = visible(titleOf(widget))
  const by = (change: Partial<Place>) => onPlace(key, { x, y, w, h, ...change })
  return (
    <section
      ref={tile}
      class="tile"
      data-type={type}
      data-editing
      data-grabbed={isGrabbed || undefined}
      data-fault={fault !== undefined || undefined}
      style={{ "--x": x + 1, "--y": y + 1, "--w": w, "--h": h }}
      aria-label={title}
    >
      <div
        class="tile-head tile-grip"
        onPointerDown={(event) => {
          if (event.button !== 0 || (event.target as Element).closest("button:not(.tile-handle)")) return
          onGrab(key, event, tile.current!, false)
        }}
      >
        <button
          type="button"
          class="button tile-handle"
          data-kind="quiet"
          data-icon
          aria-label={`Move ${title}`}
          aria-describedby="how-to-move"
          title="Drag to move. Arrow keys move, Shift and arrow keys resize."
          onKeyDown={(event) => {
            const place = placeAfterKey(widget, event)
            if (!place) return
            event.preventDefault()
            event.stopPropagation()
            onPlace(key, place)
          }}
        >
          <Icon name={{ path: GRIP }} />
        </button>
        <h2 title={title}>{title}</h2>
        <Overrides config={config} />
        <span class="tile-tools">
          <IconButton icon="settings" label={`Configure ${title}`} onClick={() => onConfigure(key)} />
          <ActionMenu
            kind="quiet"
            label={`Actions for ${title}`}
            actions={[
              { label: "Move left", run: () => by({ x: x - 1 }) },
              { label: "Move right", run: () => by({ x: x + 1 }) },
              { label: "Move up", run: () => by({ y: y - 1 }) },
              { label: "Move down", run: () => by({ y: y + 1 }) },
              { label: "Wider", run: () => by({ w: w + 1 }) },
              { label: "Narrower", run: () => by({ w: w - 1 }) },
              { label: "Taller", run: () => by({ h: h + 1 }) },
              { label: "Shorter", run: () => by({ h: h - 1 }) },
              { label: "Duplicate", run: () => onDuplicate(key) },
              { label: "Remove", kind: "danger", run: () => onRemove(key) },
            ]}
          />
        </span>
      </div>
      <div class="tile-body" inert>
        {fault !== undefined ? (
          <p class="field-error">{fault}</p>
        ) : !widget.available ? (
          <Unavailable />
        ) : isChanged ? (
          <Preview siteId={siteId} boardId={boardId} widget={widget} />
        ) : (
          <DrawnResult siteId={siteId} widget={widget} result={result} />
        )}
      </div>
      <span
        class="tile-corner"
        aria-hidden="true"
        title={`Drag to resize: ${placeText(widget)}`}
        onPointerDown={(event) => {
          if (event.button === 0) onGrab(key, event, tile.current!, true)
        }}
      />
    </section>
  )
})

/** Six dots, as an SVG path. */
const GRIP = "M5.5 3.5h1M9.5 3.5h1M5.5 8h1M9.5 8h1M5.5 12.5h1M9.5 12.5h1"
