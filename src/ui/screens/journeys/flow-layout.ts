/** Layout of a journey's boxes and bands: pure functions of numbers. */
import type { Journeys } from "../../../domain/journey.ts"

/** Widths of a column and of the gap after it. On a phone two columns are visible, and a part of the third. */
const WIDTHS = { wide: { column: 176, gap: 56 }, narrow: { column: 120, gap: 24 } }
/** Minimum height of a box, so that it can be tapped. */
const MIN_HEIGHT = 44
const GAP = 6
/** Height of the column with the most visits. */
const VISITS_HEIGHT = 260

export interface Box {
  column: number
  row: number
  x: number
  y: number
  height: number
  /** Height in proportion to the visits. Bands end on it. */
  bar: number
}
interface Band {
  column: number
  from: number
  to: number
  visits: number
  path: string
}
interface Layout {
  boxes: Box[][]
  bands: Band[]
  columnWidth: number
  width: number
  height: number
}

/** Lays out columns from left to right in the order of time: in end mode the chosen page is in the rightmost column. */
export function flowLayout({ columns, edges, mode }: Pick<Journeys, "columns" | "edges" | "mode">, isNarrow = false): Layout {
  const { column: columnWidth, gap } = WIDTHS[isNarrow ? "narrow" : "wide"]
  const most = Math.max(1, ...columns.map((nodes) => nodes.reduce((total, { visits }) => total + visits, 0)))
  const place = (column: number) => (mode === "start" ? column : columns.length - 1 - column)
  const boxes = columns.map((nodes, column) => {
    let y = 0
    return nodes.map(({ visits }, row): Box => {
      const bar = (visits / most) * VISITS_HEIGHT
      const box = { column, row, x: place(column) * (columnWidth + gap), y, height: Math.max(MIN_HEIGHT, bar), bar }
      y += box.height + GAP
      return box
    })
  })
  const bands = bandsOf({ boxes, columnWidth }, edges, VISITS_HEIGHT / most, mode)
  const lowest = boxes.flat().map(({ y, height }) => y + height)
  return {
    boxes,
    bands,
    columnWidth,
    width: columns.length * columnWidth + (columns.length - 1) * gap,
    height: Math.max(MIN_HEIGHT, ...lowest),
  }
}

/** Returns the bands. They leave a box one below the other, in the order of their targets. */
function bandsOf(
  { boxes, columnWidth }: Pick<Layout, "boxes" | "columnWidth">,
  edges: Journeys["edges"],
  scale: number,
  mode: Journeys["mode"],
): Band[] {
  const used = new Map<string, number>()
  const port = (side: "out" | "in", box: Box, width: number): number => {
    const key = `${side} ${box.column} ${box.row}`
    const before = used.get(key) ?? 0
    used.set(key, before + width)
    return box.y + (box.height - box.bar) / 2 + before
  }
  const inOrder = [...edges].sort((a, b) => a.column - b.column || a.from_node - b.from_node || a.to_node - b.to_node)
  return inOrder.flatMap(({ column, from_node, to_node, visits }) => {
    const from = boxes[column]?.[from_node]
    const to = boxes[column + 1]?.[to_node]
    if (!from || !to) return []
    const width = visits * scale
    const [start, end] = [port("out", from, width), port("in", to, width)]
    const [x1, x2] = mode === "start" ? [from.x + columnWidth, to.x] : [from.x, to.x + columnWidth]
    return [{ column, from: from_node, to: to_node, visits, path: ribbon(x1, start, x2, end, Math.max(1, width)) }]
  })
}

/** Returns the path of a band of constant height. It is an area, because a thick line would overlap the boxes. */
function ribbon(x1: number, y1: number, x2: number, y2: number, height: number): string {
  const middle = r((x1 + x2) / 2)
  const [top1, top2, bottom1, bottom2] = [r(y1), r(y2), r(y1 + height), r(y2 + height)]
  return `M${x1} ${top1}C${middle} ${top1} ${middle} ${top2} ${x2} ${top2}V${bottom2}C${middle} ${bottom2} ${middle} ${bottom1} ${x1} ${bottom1}Z`
}

const r = (value: number): number => Math.round(value * 10) / 10

/** Returns the box that an arrow key leads to: left and right the one at the nearest height, up and down the next one. Undefined at the edge. */
export function boxAfter(
  { boxes }: Pick<Layout, "boxes">,
  here: Pick<Box, "column" | "row">,
  key: string,
  mode: Journeys["mode"],
): Box | undefined {
  const column = boxes[here.column]
  const box = column?.[here.row]
  if (!column || !box) return undefined
  if (key === "ArrowDown") return column[here.row + 1]
  if (key === "ArrowUp") return column[here.row - 1]
  if (key === "Home") return column[0]
  if (key === "End") return column.at(-1)
  if (key !== "ArrowLeft" && key !== "ArrowRight") return undefined
  const isNextColumn = (key === "ArrowRight") === (mode === "start")
  const neighbours = boxes[here.column + (isNextColumn ? 1 : -1)] ?? []
  const middle = ({ y, height }: Box): number => y + height / 2
  return [...neighbours].sort((a, b) => Math.abs(middle(a) - middle(box)) - Math.abs(middle(b) - middle(box)))[0]
}
