/** Dragging and resizing with a pointer. While it moves, only a transform changes; the layout is worked out when another cell is reached. */
import type { Place } from "./layout.ts"

interface Dragging {
  /** Element that is moved. It is not transformed while it is resized. */
  tile: HTMLElement
  grid: HTMLElement
  place: Place
  isResizing: boolean
  /** Called with the place under the pointer, whenever it is another one. */
  onPlace(place: Place): void
  /** Called at the end, with false if Escape ended it. */
  onEnd(isDone: boolean): void
}

const COLUMNS = 12
/** Distance from the edges of the window in which it scrolls. */
const EDGE = 56
const SCROLL_STEP = 12

/** Follows the pointer until it is released, cancelled, or Escape is pressed. */
export function startDrag(event: PointerEvent, { tile, grid, place, isResizing, onPlace, onEnd }: Dragging): void {
  const style = getComputedStyle(grid)
  const gap = Number.parseFloat(style.columnGap) || 0
  const cellWidth = (grid.clientWidth + gap) / COLUMNS
  const cellHeight = Number.parseFloat(style.gridAutoRows) + gap
  const start = { x: event.clientX, y: event.clientY + scrollY }
  let pointer = { x: event.clientX, y: event.clientY }
  let last = place
  let frame = 0
  const ends = new AbortController()

  const draw = () => {
    frame = 0
    if (pointer.y < EDGE) scrollBy(0, -SCROLL_STEP)
    else if (pointer.y > innerHeight - EDGE) scrollBy(0, SCROLL_STEP)
    const dx = pointer.x - start.x
    const dy = pointer.y + scrollY - start.y
    if (!isResizing) tile.style.setProperty("transform", `translate3d(${dx}px, ${dy}px, 0)`)
    const [columns, rows] = [Math.round(dx / cellWidth), Math.round(dy / cellHeight)]
    const now = isResizing ? { ...place, w: place.w + columns, h: place.h + rows } : { ...place, x: place.x + columns, y: place.y + rows }
    if (now.x !== last.x || now.y !== last.y || now.w !== last.w || now.h !== last.h) onPlace(now)
    last = now
    if (pointer.y < EDGE || pointer.y > innerHeight - EDGE) frame = requestAnimationFrame(draw)
  }
  const end = (isDone: boolean) => {
    ends.abort()
    cancelAnimationFrame(frame)
    tile.style.removeProperty("transform")
    onEnd(isDone)
  }
  const { signal } = ends
  window.addEventListener(
    "pointermove",
    (move) => {
      pointer = { x: move.clientX, y: move.clientY }
      frame ||= requestAnimationFrame(draw)
    },
    { signal },
  )
  window.addEventListener("pointerup", () => end(true), { signal })
  window.addEventListener("pointercancel", () => end(false), { signal })
  window.addEventListener(
    "keydown",
    (key) => {
      if (key.key !== "Escape") return
      key.preventDefault()
      key.stopPropagation()
      end(false)
    },
    { signal, capture: true },
  )
}
