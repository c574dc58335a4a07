/** Places of widgets on the grid: moving, resizing and making room. Widgets never overlap. */
import { LIMITS } from "../limits.ts"

export interface Place {
  x: number
  y: number
  w: number
  h: number
}
export interface Placed extends Place {
  key: string
}
export interface MinSize {
  min_w: number
  min_h: number
}

export const overlaps = (a: Place, b: Place): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

const clamped = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value))

/** Returns a place within the grid that is at least as large as the widget must be. */
export function fitted({ x, y, w, h }: Place, { min_w, min_h }: MinSize): Place {
  const width = clamped(w, min_w, LIMITS.columns)
  return {
    w: width,
    h: clamped(h, min_h, LIMITS.maxHeight),
    x: clamped(x, 0, LIMITS.columns - width),
    y: clamped(y, 0, LIMITS.maxY),
  }
}

/**
 * Returns the widgets after one of them got another place. Those in its way move down, and those in their way after them. Nothing else
 * moves, so that a widget that goes back leaves everything as it was.
 */
export function placed<Widget extends Placed>(widgets: readonly Widget[], key: string, place: Place): Widget[] {
  const moved = widgets.map((widget) => (widget.key === key ? { ...widget, ...place } : widget))
  const settled = moved.filter((widget) => widget.key === key)
  const others = moved.filter((widget) => widget.key !== key).sort((a, b) => a.y - b.y || a.x - b.x)
  for (const widget of others) {
    let y = widget.y
    for (let hit = inWay(settled, { ...widget, y }); hit; hit = inWay(settled, { ...widget, y })) y = hit.y + hit.h
    // The same object if nothing changes, so that it is not drawn again.
    settled.push(y === widget.y ? widget : { ...widget, y })
  }
  return widgets.map(({ key: one }) => settled.find((widget) => widget.key === one)!) // all of them are settled
}

const inWay = (settled: readonly Place[], place: Place): Place | undefined => settled.find((one) => overlaps(one, place))

/** Returns the first free place of this size, row by row. */
export function freePlace(widgets: readonly Place[], { w, h }: Pick<Place, "w" | "h">): Place {
  for (let y = 0; y <= LIMITS.maxY; y++)
    for (let x = 0; x + w <= LIMITS.columns; x++) {
      const place = { x, y, w, h }
      if (!inWay(widgets, place)) return place
    }
  return { x: 0, y: LIMITS.maxY, w, h }
}

/** Returns the widgets without gaps above them: each as far up as it can go. */
export function withoutGaps<Widget extends Placed>(widgets: readonly Widget[]): Widget[] {
  const settled: Widget[] = []
  for (const widget of widgets.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    let y = widget.y
    while (y > 0 && !inWay(settled, { ...widget, y: y - 1 })) y--
    settled.push({ ...widget, y })
  }
  return widgets.map(({ key }) => settled.find((widget) => widget.key === key)!) // all of them are settled
}

const STEPS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Returns the place after an arrow key: moved by one cell, with Shift larger or smaller by one. Undefined for other keys. */
export function placeAfterKey({ x, y, w, h }: Place, { key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">): Place | undefined {
  const step = STEPS[key]
  if (!step) return undefined
  const [dx, dy] = step
  return shiftKey ? { x, y, w: w + dx, h: h + dy } : { x: x + dx, y: y + dy, w, h }
}

/** Says where a widget is and how large. Columns and rows count from 1. */
export const placeText = ({ x, y, w, h }: Place): string => `column ${x + 1}, row ${y + 1}, ${w} wide, ${h} high`
